"""Scores of a tagger: counted by hand here."""

import math
from collections import Counter

import pytest

from regard.errors import ValueRangeError
from regard.tasks.tagging.scoring import Scores, WordScore, score
from regard.tasks.tagging.tagger import Tagger
from tests.tasks.tagging.tiny import SENTENCES, sentence, tiny_run


def word(text, found, probability=0.5, *, known=True, line=1):
    form, label = text.split("/")
    return WordScore(line, form, label, found, probability, known)


SCORES = Scores(
    (
        word("the/DET", "DET"),
        word("dog/NOUN", "NOUN"),
        word("cat/NOUN", "VERB", 0.9, line=2),
        word("gnu/NOUN", "NOUN", known=False),
        word("emu/NOUN", "VERB", 0.6, known=False),
        word("runs/VERB", "NOUN", 0.6),
        word("a\tb/X", "DET", 0.95),
    ),
    sentences=3, whole=1, seconds=1.0, signature="s",
)  # fmt: skip


def test_parts():
    assert (SCORES.all.count, SCORES.all.right) == (7, 3)
    assert (SCORES.known.count, SCORES.known.right) == (5, 2)
    assert (SCORES.unknown.count, SCORES.unknown.right) == (2, 1)
    assert SCORES.accuracy == pytest.approx(300 / 7)
    assert SCORES.unknown.accuracy == 50
    assert math.isnan(type(SCORES.all)(0, 0).accuracy)


def test_the_interval_is_wilsons():
    low, high = SCORES.interval
    n, p, z = 7, 3 / 7, 1.959964
    for x in (low / 100, high / 100):  # where the score test is just not rejected
        assert (x - p) ** 2 == pytest.approx(z * z * x * (1 - x) / n, rel=1e-6)
    assert low < SCORES.accuracy < high


def test_labels():
    noun, det, verb, x = SCORES.by_label()
    assert (noun.label, noun.count) == ("NOUN", 4)
    assert noun.recall == 50
    assert noun.precision == pytest.approx(200 / 3)
    assert noun.f1 == pytest.approx(2 * 50 * (200 / 3) / (50 + 200 / 3))
    assert (det.label, det.recall, det.precision) == ("DET", 100, 50)
    assert (verb.label, verb.recall, verb.precision, verb.f1) == ("VERB", 0, 0, 0)
    assert (x.label, x.recall) == ("X", 0)
    assert math.isnan(x.precision)


def test_mistakes():
    assert SCORES.mistakes(9) == [("NOUN", "VERB", 2), ("VERB", "NOUN", 1), ("X", "DET", 1)]
    assert SCORES.mistakes(1) == [("NOUN", "VERB", 2)]
    assert [x.word for x in SCORES.worst(2)] == ["a\tb", "cat"]


def test_a_table():
    rows = [row.split("\t") for row in SCORES.to_tsv().splitlines()]
    assert rows[0] == ["line", "word", "label", "found", "probability", "known"]
    assert rows[3] == ["2", "cat", "NOUN", "VERB", "0.9000", "yes"]
    assert rows[7][1] == "a b"
    assert {len(row) for row in rows} == {6}


@pytest.fixture(scope="module")
def tagger(tmp_path_factory):
    return Tagger.load(tiny_run(tmp_path_factory.mktemp("runs") / "run"))


def test_sentences_are_tagged_and_compared(tagger):
    some = [*SENTENCES, sentence("the/NEW giraffe/NOUN", 70)]
    scores = score(tagger, some)
    found = [tagger(x.words) for x in some]
    assert [x.found for x in scores.words] == [label for x in found for label in x.labels]
    right = [
        a == b
        for x, y in zip(some, found, strict=True)
        for a, b in zip(x.labels, y.labels, strict=True)
    ]
    assert scores.all.right == sum(right)
    assert scores.sentences == len(some)
    assert scores.whole == sum(x.labels == y.labels for x, y in zip(some, found, strict=True))
    assert [x.word for x in scores.words if not x.known] == ["giraffe"]
    assert not scores.words[-2].right
    assert scores.words[-1].line == 70
    assert scores.signature.startswith("accuracy|UPOS|regard:")
    assert tagger.sha256 in scores.signature
    assert sum(x.count for x in scores.by_label()) == len(scores.words)
    assert Counter(x.label for x in scores.words)["NEW"] == 1


def test_no_sentences(tagger):
    with pytest.raises(ValueRangeError, match="a score needs sentences, got none"):
        score(tagger, [])
