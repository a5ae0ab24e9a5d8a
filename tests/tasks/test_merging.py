"""Merges are left out as often as they should be, and again by the same seed."""

from collections import Counter

import numpy as np
import pytest

from regard.tasks.merging import Merger

PIECES = {"▁": 4, "a": 5, "b": 6, "ab": 7, "▁ab": 8, "abab": 9}
SCORES = np.array([0, 0, 0, 0, -9.0, -9.0, -9.0, -1.0, -2.0, -3.0])
SPELL = range(100, 356)


def merger(lines, share=0.0):
    return Merger(lines, PIECES, SCORES, SPELL, share)


@pytest.mark.parametrize(
    ("line", "ids"),
    [
        ("ab", [8]),
        ("abab", [8, 7]),
        ("a b", [4, 5, 4, 6]),
        ("baba", [4, 6, 7, 5]),
        ("aabab", [4, 5, 9]),
        ("", []),
        ("é", [4, *(SPELL[byte] for byte in "é".encode())]),
        ("ab ab", [8, 8]),
    ],
)
def test_merged_in_the_order_of_the_scores(line, ids):
    assert merger(["b", line, line]).draw(0).lists() == [[4, 6], ids, ids]


def test_a_neighbour_that_is_gone_is_not_merged():
    pieces = {"▁": 4, "a": 5, "b": 6, "c": 7, "bc": 8, "ab": 9, "▁a": 3}
    scores = np.array([0, 0, 0, -9.0, -9.0, -9.0, -9.0, -9.0, -1.0, -2.0])
    assert Merger(["abc"], pieces, scores, SPELL, 0.0).draw(0).lists() == [[3, 8]]


def test_all_left_out_leaves_characters():
    assert merger(["abab é"], share=1.0).draw(0).lists() == [
        [4, 5, 6, 5, 6, 4, *(SPELL[byte] for byte in "é".encode())]
    ]


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_each_is_left_out_as_often_as_it_should_be(share):
    count, drawn = 3000, Counter()
    made = merger(["ab"], share)
    for seed in range(count):
        drawn.update(map(tuple, made.draw(seed).lists()))
    expected = {(4, 5, 6): share, (4, 7): (1 - share) * share, (8,): (1 - share) ** 2}
    assert set(drawn) == set(expected)
    for ids, p in expected.items():
        assert abs(drawn[ids] / count - p) < 5 * np.sqrt(p * (1 - p) / count)


def test_a_word_is_cut_in_several_ways_and_each_as_often():
    drawn = Counter(map(tuple, merger(["ab"] * 20_000, 0.5).draw(3).lists()))
    assert len(drawn) == 3
    assert all(abs(n / 20_000 * 8 - round(n / 20_000 * 8)) < 0.1 for n in drawn.values())


def test_the_same_seed_gives_the_same_and_another_does_not():
    lines = ["abab ab", "ab", "", "baba"] * 20
    first = merger(lines, 0.3).draw(5).lists()
    assert merger(lines, 0.3).draw(5).lists() == first
    assert merger(lines, 0.3).draw(6).lists() != first
    assert merger(lines, 0.3).draw((5, 1)).lists() != first
    assert merger([]).draw(0).lists() == []


def test_a_long_line_ends():
    assert merger(["ab" * 50_000]).draw(0).lists() == [[8, *[9] * 24_999, 7]]
