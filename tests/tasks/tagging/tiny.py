"""A tagger small enough for a test: random weights, and words from a few sentences."""

import torch

from regard.tasks.run import Run
from regard.tasks.settings import to_toml
from regard.tasks.tagged import Sentence
from regard.tasks.tagging.settings import TaggingSettings, model_of
from regard.tasks.tagging.words import Words

TEXTS = [
    "the/DET dog/NOUN barks/VERB ./PUNCT",
    "a/DET cat/NOUN sleeps/VERB ./PUNCT",
    "dogs/NOUN bark/VERB ./PUNCT",
    "she/PRON sees/VERB the/DET cat/NOUN and/CCONJ the/DET dogs/NOUN ./PUNCT",
    "cats/NOUN see/VERB dogs/NOUN !/PUNCT",
    "the/DET dogs/NOUN saw/VERB a/DET saw/NOUN ./PUNCT",
    "Yes/INTJ ,/PUNCT she/PRON sleeps/VERB ./PUNCT",
    "he/PRON saw/VERB 12/NUM dogs/NOUN in/ADP 1999/NUM ./PUNCT",
]


def sentence(text, line=0, *, also=True):
    words, labels = zip(*(x.rsplit("/", 1) for x in text.split()), strict=True)
    return Sentence(words, labels, line, tuple(x.lower()[:2] for x in labels) if also else ())


SENTENCES = [sentence(text, i + 1) for i, text in enumerate(TEXTS)]


def tsv(sentences=SENTENCES):
    """The sentences as a file."""
    rows = [
        "".join(f"{x}\t{y}\t{y.lower()[:2]}\n" for x, y in zip(s.words, s.labels, strict=True))
        for s in sentences
    ]
    return "\n".join(rows)


def words_of(sentences=SENTENCES):
    return Words.learn(sentences, min_count=1, where="a.tsv")


def small(**changes):
    """Settings of a model that takes no time."""
    usual = {
        "width": 16, "layers": 2, "heads": 2, "hidden": 24, "embedding": 12, "spelling": 8,
        "character_embedding": 6, "affixes": 50, "max_len": 16,
    }  # fmt: skip
    return TaggingSettings(**(usual | changes))


def tiny_run(folder, *, seed=0, **changes):
    """A run in this folder, as a training leaves it."""
    settings, words = small(**changes), words_of()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = model_of(settings, words)
    with Run.create(folder, to_toml(settings), {"words": words.to_json()}) as run:
        run.save_weights(net.state_dict(), {"kind": "tagging"})
    return folder
