"""Rows of different lengths in one array."""

import numpy as np
import pytest

from regard.tasks.ragged import Ragged

ROWS = [[1, 2, 3], [], [4], [5, 6], []]


def test_rows_come_back():
    ragged = Ragged.of(ROWS)
    assert ragged.lists() == ROWS
    assert len(ragged) == 5
    assert ragged.lengths.tolist() == [3, 0, 1, 2, 0]
    assert ragged.flat.dtype == np.int32


@pytest.mark.parametrize("which", [[], [1], [3, 0, 0, 4, 2], [4, 1]])
def test_some_of_them(which):
    ragged, rows = Ragged.of(ROWS), np.array(which, np.int64)
    assert ragged.take(rows).lists() == [ROWS[i] for i in which]
    assert ragged.lengths_of(rows).tolist() == [len(ROWS[i]) for i in which]


def test_no_rows():
    assert Ragged.of([]).lists() == []
    assert len(Ragged.of([])) == 0
