"""Few lengths, and rows dealt out whole."""

from itertools import pairwise

import pytest

from regard.tasks.batching import dealt, sizes_up_to


@pytest.mark.parametrize("longest", [0, 1, 7, 8, 9, 100, 4096, 360_000])
def test_lengths_grow_by_half_or_a_third(longest):
    sizes = sizes_up_to(longest)
    assert sizes[-1] == max(longest, 1)
    assert sizes == sorted(set(sizes))
    assert all(b <= 1.5 * a for a, b in pairwise(sizes))


@pytest.mark.parametrize("count", [0, 1, 3, 4, 7, 9])
def test_every_place_is_dealt_once(count):
    parts = [slice(0, 3), slice(5, 9)]
    first, rest = dealt(parts, count)
    places = [i for part in (*first, *rest) for i in range(part.start, part.stop)]
    assert places == [0, 1, 2, 5, 6, 7, 8]
    assert sum(part.stop - part.start for part in first) == min(count, 7)
    assert parts == [slice(0, 3), slice(5, 9)]
