"""Settings of a translator: what they refuse, and the models they describe."""

import pytest

from regard.errors import ValueRangeError
from regard.models import Bahdanau, Transformer
from regard.tasks.settings import check, parse_settings, to_toml
from regard.tasks.translation.settings import TranslationSettings, model_of


def test_every_setting_is_explained_and_its_default_is_allowed():
    check(TranslationSettings())
    text = to_toml(TranslationSettings(seed=7))
    assert parse_settings(TranslationSettings, text, "here") == TranslationSettings(seed=7)
    fields = TranslationSettings.__dataclass_fields__.values()
    assert [field.name for field in fields if not field.metadata["help"]] == []


def test_sizes_that_are_left_to_the_model():
    transformer, bahdanau = TranslationSettings(), TranslationSettings(model="bahdanau")
    assert (transformer.layers, transformer.hidden_width) == ((3, 3), 1024)
    assert (bahdanau.layers, bahdanau.hidden_width) == ((1, 1), 512)
    given = TranslationSettings(encoder_layers=2, decoder_layers=5, hidden=12)
    assert (given.layers, given.hidden_width) == ((2, 5), 12)


@pytest.mark.parametrize(
    ("kind", "name"), [(Transformer, "transformer"), (Bahdanau, "bahdanau")], ids=str
)
def test_the_model_has_the_sizes_of_the_settings(kind, name):
    settings = TranslationSettings(
        model=name, width=8, hidden=12, heads=2, encoder_layers=2, decoder_layers=1,
        dropout=0.25, attention_dropout=0.5, tied=False,
    )  # fmt: skip
    model = model_of(settings, 20, 30)
    assert type(model) is kind
    config = model.config
    assert (config.source_vocab, config.target_vocab, config.hidden) == (20, 30, 12)
    assert (config.encoder_layers, config.decoder_layers) == (2, 1)
    assert (config.dropout, config.attention_dropout, config.tied) == (0.25, 0.5, False)
    assert model.source_embedding.weight.shape == (20, 8)
    assert not config.shared


@pytest.mark.parametrize("name", ["transformer", "bahdanau"])
def test_one_vocabulary_is_one_embedding(name):
    model = model_of(TranslationSettings(model=name, width=8, heads=2, shared_vocab=True), 20, 20)
    assert model.source_embedding.weight is model.out.weight


def test_how_often_files_are_seen():
    assert TranslationSettings().repeats(3) == (1, 1, 1)
    assert TranslationSettings(repeat=" 4, 1 ").repeats(2) == (4, 1)


@pytest.mark.parametrize("text", ["4", "4,1,1", "4,0", "4,-1", "4,1.5", "4,", "4,²", "4,1001"])
def test_repeats_that_do_not_fit_are_refused(text):
    with pytest.raises(ValueRangeError) as raised:
        TranslationSettings(repeat=text).repeats(2)
    assert str(raised.value) == (
        "repeat must be 2 whole numbers from 1 to 1000 with commas between, one a data file, got "
        f"{text!r}"
    )


def test_one_file_has_one_number():
    with pytest.raises(ValueRangeError) as raised:
        TranslationSettings(repeat="1,2").repeats(1)
    assert str(raised.value) == (
        "repeat must be a whole number from 1 to 1000, as there is one data file, got '1,2'"
    )
