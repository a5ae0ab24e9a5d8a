"""The tagger that comes with the package: it is whole, small, and as good as its card says."""

import re

import pytest

from regard.tasks.run import Run
from regard.tasks.tagging.tagger import Tagger, shipped_models

TAGGED = [
    "The/DET dogs/NOUN saw/VERB a/DET saw/NOUN ./PUNCT",
    "She/PRON wants/VERB to/PART record/VERB a/DET record/NOUN ./PUNCT",
    "I/PRON ca/AUX n't/PART e-mail/VERB Mr./PROPN Li/PROPN ,/PUNCT who/PRON rose/VERB ./PUNCT",
    "Please/INTJ book/VERB the/DET book/NOUN on/ADP the/DET table/NOUN ./PUNCT",
    "'Twas/AUX brillig/ADJ ,/PUNCT and/CCONJ the/DET slithy/ADJ toves/NOUN did/AUX gyre/VERB",
]


@pytest.fixture(scope="module")
def tagger():
    return Tagger.load("en")


def test_it_is_whole_and_small():
    folder = shipped_models()["en"]
    Run.open(folder).verify()
    assert sum(path.stat().st_size for path in folder.iterdir()) < 12 << 20
    assert {path.name for path in folder.iterdir()} == {
        "CARD.md", "config.toml", "run.json", "weights.safetensors", "words.model"
    }  # fmt: skip


def test_its_card_is_that_of_its_weights(tagger):
    card = (tagger.folder / "CARD.md").read_text(encoding="utf-8")
    assert tagger.sha256 in card
    assert f"{sum(x.numel() for x in tagger.model.parameters()):,} weights" in card
    words = tagger.words
    assert (
        f"{len(words.words):,} words in small letters, {len(words.characters)} characters" in card
    )
    settings = tagger.settings
    for flag, value in re.findall(r"--([a-z-]+) (?=\S)([a-z0-9.-]+)", card.split("```")[1]):
        name = flag.replace("-", "_")
        if hasattr(settings, name):
            assert str(getattr(settings, name)) == value, flag


@pytest.mark.parametrize("wanted", TAGGED)
def test_it_tags(tagger, wanted):
    words = [word.rsplit("/", 1)[0] for word in wanted.split()]
    assert str(tagger(words)) == wanted
    assert tagger(" ".join(words)).words == tuple(words)


def test_it_can_be_looked_at(tagger):
    found = tagger(TAGGED[0].split())
    assert found.attention.shape == (1, 4, 6, 6)
