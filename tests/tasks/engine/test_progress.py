"""Where a training is, and that it can be kept."""

import json

import pytest

from regard.errors import FileError
from regard.tasks.engine.progress import Progress


def test_it_comes_back_from_json_as_it_was():
    progress = Progress(epoch=2, batch=5, step=77, total=900, tokens=4, done=True)
    progress.judge(12.5, 3.25)
    assert Progress.from_json(json.loads(json.dumps(progress.as_json()))) == progress


@pytest.mark.parametrize("kept", [None, [], {"epoch": 1}, {**Progress().as_json(), "more": 1}])
def test_anything_else_is_refused(kept):
    with pytest.raises(FileError, match="holds no progress of a training"):
        Progress.from_json(kept)


def test_one_from_before_epochs_were_counted():
    kept = Progress(step=7, total=30).as_json()
    del kept["per_epoch"]
    assert Progress.from_json(kept) == Progress(step=7, total=30)


@pytest.mark.parametrize(("steps", "total"), [(0, 120), (50, 50), (500, 120)])
def test_the_steps_to_come_are_those_of_the_limits(steps, total):
    progress = Progress(per_epoch=30, total=7)
    progress.plan(4, steps)
    assert progress.total == total


def test_patience_is_counted_from_the_best():
    progress = Progress()
    found = []
    for step, score in enumerate([1.0, 3.0, 2.0, 3.0, 4.0], start=1):
        progress.step = step
        found.append((progress.judge(score, 1.0), progress.waiting, progress.best_step))
    assert found == [(True, 0, 1), (True, 0, 2), (False, 1, 2), (False, 2, 2), (True, 0, 5)]
    assert (progress.score, progress.best_score, progress.validated) == (4.0, 4.0, 5)
