"""How the learning rate rises and falls."""

import math

import pytest

from regard.tasks.engine.schedule import learning_rate
from regard.tasks.engine.settings import TrainingSettings


def rates(schedule, steps, warmup=10, total=110):
    settings = TrainingSettings(learning_rate=2.0, warmup=warmup, schedule=schedule)
    return [learning_rate(settings, step, total) for step in steps]


@pytest.mark.parametrize("schedule", ["inverse_sqrt", "cosine", "constant"])
def test_it_rises_in_a_line(schedule):
    assert rates(schedule, [1, 5, 10]) == pytest.approx([0.2, 1.0, 2.0])


def test_it_falls_as_the_schedule_says():
    assert rates("inverse_sqrt", [40, 90]) == pytest.approx([1.0, 2 / 3])
    assert rates("cosine", [60, 110, 500]) == pytest.approx([1.01, 0.02, 0.02])
    assert rates("constant", [40, 90]) == [2.0, 2.0]


@pytest.mark.parametrize("schedule", ["inverse_sqrt", "cosine", "constant"])
def test_no_warm_up_and_no_steps_give_numbers(schedule):
    found = rates(schedule, [1, 2, 3], warmup=0, total=0)
    assert all(math.isfinite(x) and 0 < x <= 2.0 for x in found)
