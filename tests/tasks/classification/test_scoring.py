"""Scores are counted by hand here, and compared."""

import math

import numpy as np
import pytest
import torch

from regard.errors import ValueRangeError
from regard.tasks.classification import Classifier
from regard.tasks.classification.examples import Example, read_examples
from regard.tasks.classification.scoring import ExampleScore, Scores, score
from tests.tasks.classification.tiny import write_any


class Told:
    """Answers what is written in an example."""

    labels = ("a", "b", "c")
    sha256 = "0" * 64

    def probabilities(self, contents):
        return torch.tensor(contents)


def judged(pairs, **kwargs):
    examples = [
        Example(label, f"{i}", b"", (), lambda row=row: row) for i, (label, row) in enumerate(pairs)
    ]
    return score(Told(), examples, **kwargs)


A, B, C = [0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.1, 0.1, 0.8]
SCORES = judged([("a", A), ("a", B), ("b", B), ("c", A), ("c", A), ("x", C), ("b", B), ("a", A)])


def test_accuracy():
    assert SCORES.accuracy == 50
    low, high = SCORES.interval
    assert (round(low, 1), round(high, 1)) == (21.5, 78.5)  # Wilson's, for 4 of 8
    assert judged([("a", A)]).interval[1] == 100


def test_what_was_taken_for_what():
    assert SCORES.labels == ("a", "b", "c", "x")
    assert SCORES.confusion.tolist() == [[2, 1, 0, 0], [0, 2, 0, 0], [2, 0, 0, 0], [0, 0, 1, 0]]
    assert SCORES.mistakes(2) == [("c", "a", 2), ("a", "b", 1)]
    assert SCORES.mistakes(10)[2:] == [("x", "c", 1)]


def test_labels_one_by_one():
    found = {x.label: x for x in SCORES.by_label()}
    assert (found["a"].count, found["a"].recall, found["a"].precision) == (
        3, pytest.approx(200 / 3), 50,
    )  # fmt: skip
    assert found["a"].f1 == pytest.approx(2 / (1.5 + 2) * 100)
    assert (found["c"].recall, found["c"].precision, found["c"].f1) == (0, 0, 0)
    assert (found["x"].count, found["x"].recall) == (1, 0)
    assert math.isnan(found["x"].precision)


def test_loss_is_over_known_labels():
    wanted = [0.7, 0.1, 0.6, 0.1, 0.1, 0.6, 0.7]
    assert SCORES.loss == pytest.approx(-np.log(wanted).mean(), abs=1e-6)
    assert math.isnan(judged([("x", A)]).loss)


def test_the_worst_are_those_it_was_surest_of():
    assert [x.name for x in SCORES.worst(2)] == ["5", "3"]
    assert len(SCORES.worst(100)) == 4


def test_rows_hold_no_tabs():
    scores = Scores(("a",), (ExampleScore("x\ty\nz", "a", "a", 0.5, 0.5),), 0.0, "")
    assert scores.to_tsv().splitlines()[1] == "x y z\ta\ta\t0.5000\t0.5000"


def test_no_examples():
    with pytest.raises(ValueRangeError, match="needs examples"):
        judged([])


@pytest.mark.parametrize("kind", ["text", "sound", "images"])
def test_of_a_real_classifier(runs, kind, tmp_path):
    classify = Classifier.load(runs[kind])
    examples = read_examples(write_any(tmp_path, kind, 6), classify.settings, kind).all
    told = []
    scores = score(classify, examples, tell=told.append)
    found = classify.classified([example.load() for example in examples])
    assert [x.found for x in scores.examples] == [x.label for x in found]
    assert [x.probability for x in scores.examples] == pytest.approx([x.probability for x in found])
    right = [x.label == example.label for x, example in zip(found, examples, strict=True)]
    assert scores.accuracy == pytest.approx(100 * sum(right) / 6)
    assert classify.sha256 in scores.signature
    assert told == [1.0]
