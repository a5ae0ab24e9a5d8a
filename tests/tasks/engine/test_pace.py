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


def test_the_first_steps_do_not_promise_days(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(pace.time, "perf_counter", lambda: now[0])
    watch = Pace()
    now[0] = 60.0  # a compiler
    assert watch.of_a_step(1) == 60.0
    told = []
    for done in range(2, 200):
        now[0] += 0.5
        if done % 3 == 0:  # nobody looks at each
            told.append((done, watch.of_a_step(done)))
    assert all(seconds == 0.5 for done, seconds in told if done >= 6)
    assert watch.of_a_step(198) == 0.5  # nothing was done since
    assert len(watch._marks) < 60


def test_a_pace_that_changes_is_followed(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(pace.time, "perf_counter", lambda: now[0])
    watch = Pace()
    for done in range(1, 101):
        now[0] += 1.0 if done <= 50 else 3.0
        watch.of_a_step(done)
    assert watch.of_a_step(100) == pytest.approx(3.0)
