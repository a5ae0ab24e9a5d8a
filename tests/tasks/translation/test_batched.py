"""Batches of sentences: bounded, in order, and one at a time."""

import threading

import pytest
import torch

from regard.tasks.translation import batched
from regard.tasks.translation.batched import search_in_batches
from regard.tasks.translation.search import Found

SOURCES = [[4 + i % 7] * (1 + i % 5) for i in range(40)]


@pytest.fixture
def searched(monkeypatch):
    """A search that gives the source back, and what it was asked."""
    asked = []

    def search(model, source, lengths, *, beam, n_best, length_penalty, max_len):
        assert turn.locked()
        assert torch.is_inference_mode_enabled()
        asked.append((tuple(source.shape), beam, n_best, length_penalty, tuple(max_len)))
        rows = [row[:n].tolist() for row, n in zip(source, lengths.tolist(), strict=True)]
        return [[Found(tuple(row), -1.0, -1.0, ended=True)] for row in rows]

    monkeypatch.setattr(batched, "search", search)
    monkeypatch.setattr(batched, "TOGETHER", 24)
    turn = threading.Lock()
    return turn, asked


def found(turn, tell, sources=SOURCES, beam=2):
    return search_in_batches(
        None,
        sources,
        [100 + i for i in range(len(sources))],
        turn=turn,
        device=torch.device("cpu"),
        beam=beam,
        n_best=1,
        length_penalty=0.5,
        tell=tell,
    )


def test_all_are_found_in_their_order_by_batches_of_one_length(searched):
    turn, asked = searched
    told = []

    def tell(part):
        assert not turn.locked()  # others may have the model between two batches
        told.append(part)

    assert [list(best.tokens) for (best,) in found(turn, tell)] == SOURCES
    assert len(asked) == len(told) > 10
    for (rows, longest), *rest, limits in asked:
        assert rows * longest * 2 <= 24
        assert rest == [2, 1, 0.5]
        assert all(len(SOURCES[limit - 100]) <= longest for limit in limits)
    assert sorted(limit for *_, limits in asked for limit in limits) == list(range(100, 140))
    assert told == sorted(told)
    assert told[-1] == 1


def test_one_too_long_for_a_batch_is_alone(searched):
    turn, asked = searched
    assert len(found(turn, lambda _: None, [[4] * 50, [5] * 50, [6]], beam=3)) == 3
    assert [shape for shape, *_ in asked] == [(1, 50), (1, 50), (1, 1)]
    assert found(turn, lambda _: pytest.fail("there is nothing to tell"), []) == []
