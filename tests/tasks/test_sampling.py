"""Segmentations are drawn with the probability they have, and again by the same seed."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from regard.tasks.sampling import Sampler

PIECES = {"▁": 4, "a": 5, "b": 6, "ab": 7, "▁a": 8, "▁ab": 9, "ba": 10, "▁b": 11, "aba": 12}
SCORES = np.array([0, 0, 0, 0, -2.0, -3.0, -2.5, -1.5, -2.2, -4.0, -3.5, -2.7, -5.0])
SPELL = range(100, 356)


def sampler(lines, alpha=1.0, pieces=PIECES):
    return Sampler(lines, pieces, SCORES, SPELL, alpha)


def segmentations(text):
    """All of them, by trying every cut."""
    if not text:
        yield ()
    for end in range(1, len(text) + 1):
        if text[:end] in PIECES:
            for rest in segmentations(text[end:]):
                yield (PIECES[text[:end]], *rest)


@pytest.mark.parametrize("alpha", [1.0, 0.3, 0.0])
@pytest.mark.parametrize("line", ["abab", "ab ba", "b"])
def test_each_is_drawn_as_often_as_it_should_be(line, alpha):
    count = 40_000
    drawn = Counter(map(tuple, sampler([line] * count, alpha).draw(0).lists()))
    all_of_them = list(segmentations("▁" + line.replace(" ", "▁")))
    weights = np.array([np.exp(alpha * SCORES[list(ids)].sum()) for ids in all_of_them])
    expected = weights / weights.sum()
    assert set(drawn) <= set(all_of_them)
    for ids, p in zip(all_of_them, expected, strict=True):
        assert abs(drawn[ids] / count - p) < 5 * np.sqrt(p * (1 - p) / count) + 1e-9
    assert len(all_of_them) > 1


def test_pieces_across_spaces_are_drawn_too():
    pieces = {**PIECES, "a▁b": 3}
    drawn = Counter(map(tuple, sampler(["a b"] * 2000, 0.5, pieces).draw(1).lists()))
    assert (4, 3) in drawn
    assert (8, 11) in drawn


def test_the_most_likely_one_when_alpha_is_large():
    best = max(segmentations("▁abab"), key=lambda ids: SCORES[list(ids)].sum())
    assert sampler(["abab"], alpha=200.0).draw(0).lists() == [list(best)]


def test_a_character_without_a_piece_is_spelled():
    found = sampler(["aé", "猫", "猫 aé"], alpha=200.0).draw(0).lists()
    e, cat = ([SPELL[byte] for byte in text.encode()] for text in "é猫")
    assert found[0][-2:] == e
    assert found[1] == [4, *cat]
    assert found[2] == found[1] + found[0]


def test_the_same_seed_gives_the_same_and_another_does_not():
    made = sampler(["abab ba", "ab", "", "ba"] * 20, 0.1)
    first = made.draw(5).lists()
    assert made.draw(5).lists() == first
    assert sampler(["abab ba", "ab", "", "ba"] * 20, 0.1).draw(5).lists() == first
    assert made.draw(6).lists() != first
    assert made.draw((5, 1)).lists() not in (first, made.draw((5, 2)).lists())
    assert all(row == [] for row in first[2::4])
    assert any(a != b for a, b in pairwise(first[::4]))  # equal lines are drawn by themselves


@pytest.mark.parametrize("lines", [[], [""], ["", ""]])
def test_nothing_to_cut(lines):
    assert sampler(lines).draw(0).lists() == [[] for _ in lines]


def test_no_pieces_at_all():
    assert sampler(["é"], pieces={}).draw(0).lists() == [[SPELL[byte] for byte in "▁é".encode()]]


def test_a_long_line_ends():
    found = sampler(["ab" * 5000], 0.1).draw(0).lists()[0]
    texts = {number: piece for piece, number in PIECES.items()}
    assert "".join(texts[i] for i in found) == "▁" + "ab" * 5000
