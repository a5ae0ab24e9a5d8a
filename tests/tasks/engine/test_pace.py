"""A watch that stands still in between."""

import pytest
import torch

from regard.tasks.engine import pace
from regard.tasks.engine.pace import Pace


def test_pauses_do_not_count(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(pace.time, "perf_counter", lambda: now[0])
    watch = Pace()
    watch.tokens += 50
    now[0] += 2
    with watch.paused(torch.zeros(())):
        now[0] += 1000
    watch.tokens += 50
    now[0] += 3
    assert watch.speed == 20.0
    assert watch.lap() == (20.0, 5.0)
    assert watch.seconds == 5.0
    now[0] += 1
    assert watch.lap() == (0.0, 1.0)


def test_a_pause_ends_with_an_error(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(pace.time, "perf_counter", lambda: now[0])
    watch = Pace()
    with pytest.raises(ValueError, match="so"), watch.paused(torch.zeros(())):
        now[0] += 10
        raise ValueError("so")
    assert watch.seconds == 0.0
