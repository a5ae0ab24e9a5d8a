"""The loop: a training goes on bit for bit wherever it was killed, and stops in good order."""

import random
import re
import shutil
import signal

import pytest

from regard.tasks.checkpoint import read_tensors
from regard.tasks.engine import trainer
from regard.tasks.engine.live import Live
from regard.tasks.engine.training import train
from regard.tasks.run import Run
from tests.tasks.engine.lines import LINES, line
from tests.tasks.translation.compared import assert_same, rows


@pytest.fixture
def shown(tmp_path, monkeypatch, one_thread):
    """Train lines of so many batches an epoch; gives every state of the live line."""

    def run(size, **settings):
        found = []
        monkeypatch.setattr(Live, "show", lambda _, say, *, now=False: found.append(str(say())))
        (tmp_path / "data").write_bytes(b"." * size)
        train(LINES, line(**settings), [tmp_path / "data"], None, tmp_path / "run", device="cpu")
        return [text for text in found if text and "validating" not in text]

    return run


def test_the_live_line_has_loss_and_speed_from_the_first_step_on(shown):
    first, *_ = shown(10, log_every=50)
    assert re.fullmatch(
        r"step 1 of 20  epoch 1  loss \d+\.\d\d  [\d,]+ points/s  \d+ s left", first
    )


def test_a_gpu_is_not_waited_for_at_each_step(shown, monkeypatch):
    monkeypatch.setattr(trainer, "PEEK", 1000.0)
    texts = shown(10, log_every=6, validate_every=1000)
    losses = [re.search(r"loss (\S+)", text)[1] for text in texts]
    assert len(losses) == 20
    # looked at in the first step, then written down in every sixth
    assert [i for i in range(1, 20) if losses[i] != losses[i - 1]] == [5, 11, 17]


def test_and_is_looked_at_again_after_seconds(shown, monkeypatch):
    monkeypatch.setattr(trainer, "PEEK", -1.0)
    losses = [re.search(r"loss (\S+)", text)[1] for text in shown(10, log_every=50)]
    assert len(set(losses)) > 10


def test_what_is_said_of_a_validation_has_the_loss_of_its_step(shown, monkeypatch, capsys):
    monkeypatch.setattr(trainer, "PEEK", 1000.0)
    shown(10, log_every=50)
    said = re.findall(r"^step \d+, epoch \d: loss (\S+),", capsys.readouterr().err, re.MULTILINE)
    assert len(set(said)) == 2


def test_the_loss_of_the_live_line_is_that_of_the_log(shown, monkeypatch, tmp_path):
    monkeypatch.setattr(trainer, "PEEK", -1.0)
    last = shown(10, log_every=50)[9]
    row = dict(re.findall(r"(loss) (\S+)", last))
    monkeypatch.undo()
    shutil.rmtree(tmp_path / "run")
    train(LINES, line(log_every=10), [tmp_path / "data"], None, tmp_path / "run", device="cpu")
    (logged, *_) = (x["loss"] for x in Run.open(tmp_path / "run").rows() if "loss" in x)
    assert row["loss"] == f"{logged:.2f}"


def test_time_left_knows_the_minutes(shown):
    limits = {"epochs": 1_000_000, "patience": 0, "minutes": 0.01}
    texts = shown(1000, save_every=1000, log_every=1000, **limits)
    assert {text.split("  ")[-1] for text in texts} <= {"1 s left", "0 s left"}


def test_time_left_is_told_by_the_later_steps(shown, monkeypatch):
    monkeypatch.setattr(trainer.Pace, "of_a_step", lambda _, done: 60.0 if done < 11 else 1.0)
    ends = [text.split("  ")[-1] for text in shown(10)]
    assert (ends[4], ends[14]) == ("15 min left", "5 s left")


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
