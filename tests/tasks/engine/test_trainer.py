"""The loop: a training goes on bit for bit wherever it was killed, and stops in good order."""

import random
import shutil
import signal

import pytest

from regard.tasks.checkpoint import read_tensors
from regard.tasks.run import Run
from tests.tasks.translation.compared import assert_same, rows


def test_the_same_twice(forks, whole, tmp_path):
    words, run = whole
    forks(words=[*words, "--out", str(tmp_path / "again")])
    assert_same(tmp_path / "again", run)
    forks(words=[*words, "--out", str(tmp_path / "other"), "--seed", "2"])
    assert rows(tmp_path / "other") != rows(run)


def test_killed_at_any_moment_it_goes_on_bit_for_bit(forks, whole, tmp_path):
    words, run = whole
    draw = random.Random(1)
    out, kills, inside, finished = tmp_path / "run", 0, 0, 0
    while kills < 20 or not finished:
        asked = {"signal": int(signal.SIGKILL), "folder": str(out), "after": draw.uniform(0.1, 1.2)}
        asked |= {"inside": kills % 2 == 0, "slow": 0.001 if kills % 2 == 0 else 0}
        asked = asked if kills < 20 else {}
        answer = forks(words=[*words, "--out", str(out), "--resume"], **asked)
        if answer["code"] == 0:
            assert_same(out, run)
            shutil.rmtree(out)
            finished += 1
        else:
            assert answer["code"] == -signal.SIGKILL, answer["said"]
            kills += 1
            inside += bool(list(out.glob("**/.regard-writing-*")))
    assert inside >= 5


@pytest.mark.parametrize(
    ("number", "why"), [(signal.SIGTERM, "told to stop"), (signal.SIGINT, "interrupted")]
)
def test_asked_to_stop_it_saves_and_says_how_to_go_on(forks, whole, tmp_path, number, why):
    words, run = whole
    out = tmp_path / "run"
    asked = {"signal": int(number), "folder": str(out), "inside": True, "slow": 0.001}
    asked |= {"first": str(out / "weights.safetensors")}
    answer = forks(words=[*words, "--out", str(out)], **asked)
    assert answer["code"] == 128 + number
    step = read_tensors(out / "last.safetensors")[1]["progress"]["step"]
    assert step < 10  # it did not wait for the validation of that step
    assert answer["said"].splitlines()[-1] == (
        f"regard: {why} at step {step:,}; the checkpoint of step {step:,} is whole, go on with: "
        f"regard train translation --out {out} --resume"
    )
    assert not list(out.glob("**/.regard-writing-*"))
    answer = forks(words=f"train translation --out {out} --resume --device cpu".split())
    assert answer["code"] == 0, answer["said"]
    assert_same(out, run)


def test_a_full_disk_leaves_the_last_checkpoint_whole(forks, whole, tmp_path):
    words, run = whole
    out = tmp_path / "run"
    first = forks(words=[*words, "--out", str(out), "--steps", "2"])
    assert first["code"] == 0, first["said"]
    shutil.rmtree(out)
    # the first checkpoint has no moments of the optimiser yet: it still fits
    answer = forks(words=[*words, "--out", str(out)], full=150_000)
    assert answer["code"] == 1
    assert answer["said"].splitlines()[-1] == (
        f"regard: {out}/last.safetensors: File too large; the checkpoint of step 0 is whole, go on "
        f"with: regard train translation --out {out} --resume"
    )
    Run.open(out).verify()
    answer = forks(words=[*words, "--out", str(out), "--resume"])
    assert answer["code"] == 0, answer["said"]
    assert_same(out, run)
