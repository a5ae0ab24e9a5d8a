"""Which trainings a study has, and what each is given."""

from collections import Counter
from itertools import pairwise
from typing import NamedTuple

import pytest

from regard.errors import ValueRangeError
from regard.tasks.studies.cells import Cell, cells, some_of, usual_sizes


class Example(NamedTuple):
    number: int
    label: str


def test_small_sizes_come_first_and_nothing_twice():
    found = cells(["rnn", "cnn", "rnn"], [30, 10, 30], 2)
    assert [(c.size, c.seed, c.encoder) for c in found] == [
        (10, 1, "rnn"), (10, 1, "cnn"), (10, 2, "rnn"), (10, 2, "cnn"),
        (30, 1, "rnn"), (30, 1, "cnn"), (30, 2, "rnn"), (30, 2, "cnn"),
    ]  # fmt: skip
    assert len({c.name for c in found}) == 8


@pytest.mark.parametrize(
    ("count", "sizes"),
    [(60_000, (937, 3750, 15_000, 60_000)), (300, (75, 300)), (60, (60,)), (1, (1,))],
)
def test_usual_sizes(count, sizes):
    assert usual_sizes(count) == sizes


def test_a_larger_part_holds_the_smaller_one():
    examples = [Example(i, "ab"[i % 5 == 0]) for i in range(100)]
    parts = [some_of(examples, n, seed=3) for n in (1, 7, 50, 100)]
    for small, large in pairwise(parts):
        assert large[: len(small)] == small
    assert sorted(parts[-1]) == examples
    assert some_of(examples, 50, seed=4) != parts[2]


def test_a_small_part_has_all_labels_alike():
    examples = [Example(i, str(min(i % 100, 3))) for i in range(1000)]  # 97 % are of one label
    drawn = Counter(x.label for x in some_of(examples, 24, seed=1))
    assert drawn == {"0": 6, "1": 6, "2": 6, "3": 6}


@pytest.mark.parametrize("count", [0, 11])
def test_not_more_than_there_are(count):
    with pytest.raises(ValueRangeError, match=r"from 1 to the 10 there are .* got (0|11)"):
        some_of(range(10), count, seed=1)


def test_names_of_folders():
    assert Cell("self-attention", 1000, 2).name == "self-attention-1000-2"
