"""Settings of a tagger, and the model they describe."""

import subprocess
import sys
from dataclasses import fields

import pytest
import torch

from regard.errors import ValueRangeError
from regard.models.encoder import ENCODERS, POSITIONS
from regard.tasks.settings import check, parse_settings, to_toml
from regard.tasks.tagged import COLUMNS
from regard.tasks.tagging.settings import TaggingSettings, check_together, config_of, model_of
from tests.tasks.tagging.tiny import small, words_of

WORDS = words_of()


def choices(name):
    return next(x.metadata["choices"] for x in fields(TaggingSettings) if x.name == name)


def test_the_defaults_are_allowed_and_fit_together():
    check(TaggingSettings())
    check_together(TaggingSettings())


def test_a_file_gives_them_back():
    settings = small(encoder="rnn", auxiliary="", seed=7)
    assert parse_settings(TaggingSettings, to_toml(settings), "config.toml") == settings


def test_the_choices_are_those_there_are():
    assert choices("encoder") == ENCODERS
    assert choices("positions") == POSITIONS
    assert choices("column") == tuple(COLUMNS)
    assert choices("auxiliary") == ("", *COLUMNS)


def test_the_model_is_what_they_say():
    settings = small(
        encoder="truncated", beneath="cnn", reach=3, positions="relative", dropout=0.5,
        encoder_dropout=0.2, attention_dropout=0.25,
    )  # fmt: skip
    config = config_of(settings, WORDS)
    assert (config.words, config.characters) == (WORDS.word_count, WORDS.character_count)
    assert (config.labels, config.auxiliary) == (len(WORDS.labels), len(WORDS.auxiliary))
    assert (config.embedding, config.spelling, config.character_embedding) == (12, 8, 6)
    assert (config.affixes, config.dropout, config.word_dropout) == (50, 0.5, 0.0)
    encoder = config.encoder
    assert (encoder.kind, encoder.width, encoder.layers, encoder.heads) == ("truncated", 16, 2, 2)
    assert (encoder.hidden, encoder.reach, encoder.positions) == (24, 3, "relative")
    assert encoder.beneath == "cnn"
    assert (encoder.dropout, encoder.attention_dropout, encoder.max_len) == (0.2, 0.25, 16)


def test_what_is_usual():
    encoder = config_of(small(hidden=0, reach=-1), WORDS).encoder
    assert encoder.hidden is None
    assert encoder.reach is None


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("parts", [{}, {"spelling": 0, "affixes": 0}])
def test_every_encoder_can_be_had(encoder, parts):
    torch.manual_seed(0)
    model = model_of(small(encoder=encoder, **parts), WORDS)
    words = torch.randint(2, WORDS.word_count, (2, 5))
    spellings = torch.randint(1, WORDS.character_count, (2, 5, 6))
    assert model(words, spellings, torch.tensor([5, 3])).shape == (2, 5, len(WORDS.labels))


def test_settings_that_do_not_fit_together():
    with pytest.raises(
        ValueRangeError, match="auxiliary must be another column than column='XPOS'"
    ):
        check_together(small(column="XPOS"))
    check_together(small(column="XPOS", auxiliary="UPOS"))
    with pytest.raises(ValueRangeError, match="width must be a multiple of heads=3, got 16"):
        check_together(small(heads=3))


def test_torch_is_not_needed_to_list_them():
    code = "import sys, regard.tasks.tagging.settings; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
