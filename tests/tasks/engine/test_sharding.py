"""Weights in parts, in two processes."""

import pytest

from tests.tasks.translation.compared import assert_close_weights


@pytest.mark.parametrize("model", ["transformer", "bahdanau"])
def test_two_processes_with_a_part_each_are_one(forks, alone, tmp_path, model):
    words, run = alone[model]
    out = tmp_path / "run"
    for steps in ("3", "1000"):  # it ends in the middle and goes on
        answer = forks(
            words=[*words, "--shard", "--out", str(out), "--steps", steps, "--resume"], world=2
        )
        assert answer["codes"] == [0, 0], answer["said"]
    assert_close_weights(out, run)
