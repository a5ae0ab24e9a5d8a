"""Everything around the loop, with a task that takes no time."""

import os
import re
import signal

import pytest

from regard.errors import FileError, StateError, ValueRangeError
from regard.tasks.engine import memory, training
from regard.tasks.engine.live import Live
from regard.tasks.engine.schedule import learning_rate
from regard.tasks.engine.stopping import Stopped
from regard.tasks.engine.training import train
from regard.tasks.run import Run
from tests.tasks.engine import lines
from tests.tasks.engine.lines import LINES, line
from tests.tasks.translation.compared import assert_same

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def data(tmp_path):
    (tmp_path / "data").write_bytes(b"0123456789")
    return tmp_path / "data"


@pytest.fixture
def out(tmp_path):
    return tmp_path / "run"


@pytest.fixture
def killed(monkeypatch):
    """Let a training die, as of SIGKILL, before its step of this number."""

    class KilledError(Exception):
        pass

    step = training.Trainer._step

    def at(number):
        def dying(self):
            if self.progress.step + 1 == number:
                raise KilledError
            step(self)

        monkeypatch.setattr(training.Trainer, "_step", dying)
        return pytest.raises(KilledError)

    yield at
    monkeypatch.setattr(training.Trainer, "_step", step)


def trained(settings, data, out, **more):
    return train(LINES, settings, [data] if data else [], None, out, device="cpu", **more)


def test_a_line_is_learned(data, out, capsys):
    run = trained(line(learning_rate=0.1, epochs=30), data, out)
    assert run.load_weights()[1]["closeness"] > 99
    said = capsys.readouterr().err.splitlines()
    assert said[:4] == [
        "10 bytes",
        "learned nothing",
        "a line has two ends",
        "2 weights, on cpu: begins, of about 300 steps",
    ]
    assert said[-1] == (
        f"done after {run.load_last()[1]['progress']['step']} steps, closeness "
        f"{run.load_weights()[1]['closeness']:.1f} in validation; use it with: regard draw --model "
        f"{out}"
    )


def test_one_step(data, out, capsys):
    trained(line(steps=1), data, out)
    said = capsys.readouterr().err
    assert "begins, of about 1 step\n" in said
    assert "done after 1 step, " in said


def progress(out):
    return Run.open(out).load_last()[1]["progress"]


def test_new_limits_are_kept_for_the_next_time(data, out, killed):
    trained(line(steps=3, epochs=9), data, out)
    with killed(12):
        trained(line(steps=15), None, out, resume=True, given=("steps",))
    kept = training.kept_settings(LINES, out)
    assert kept == line(steps=15, epochs=9)
    assert progress(out)["step"] < 12


def test_so_they_are_before_the_next_step(data, out, killed):
    trained(line(steps=3, epochs=9), data, out)
    with killed(4):
        trained(line(steps=15), None, out, resume=True, given=("steps",))
    assert training.kept_settings(LINES, out).steps == 15


def test_and_used(data, out, killed, capsys):
    trained(line(steps=3, epochs=9), data, out)
    with killed(6):
        trained(line(steps=15), None, out, resume=True, given=("steps",))
    assert "goes on after step 3, of about 15 steps\n" in capsys.readouterr().err


def test_a_run_with_new_limits_ends_at_them(data, out, killed, monkeypatch):
    trained(line(steps=3, epochs=9), data, out)
    with killed(6):
        trained(line(steps=15), None, out, resume=True, given=("steps",))
    monkeypatch.undo()
    trained(line(), None, out, resume=True, given=())
    assert progress(out)["step"] == 15


def test_a_longer_training_has_a_longer_schedule(data, out, monkeypatch):
    told = []
    step = training.Stepper.step

    def noted(self, batches, lr, total_tokens, *, seed):
        told.append(lr)
        return step(self, batches, lr, total_tokens, seed=seed)

    monkeypatch.setattr(training.Stepper, "step", noted)
    settings = line(schedule="cosine", epochs=1)
    trained(settings, data, out)
    assert progress(out)["total"] == 10
    trained(line(schedule="cosine", epochs=3), None, out, resume=True)
    assert progress(out)["total"] == 30
    wanted = [learning_rate(settings, i, 10 if i <= 10 else 30) for i in range(1, 31)]
    assert told == wanted


def test_with_the_same_limits_it_goes_on_bit_for_bit(data, tmp_path, killed):
    settings = line(schedule="cosine")
    trained(settings, data, tmp_path / "one")
    with killed(7):
        trained(settings, data, tmp_path / "two")
    killed(0)
    trained(settings, None, tmp_path / "two", resume=True)
    assert_same(tmp_path / "two", tmp_path / "one")


def test_other_data_before_the_first_checkpoint(data, out, monkeypatch):
    def killed(self):
        raise ZeroDivisionError

    with monkeypatch.context() as broken, pytest.raises(ZeroDivisionError):
        broken.setattr(training.Trainer, "begin", killed)
        trained(line(), data, out)
    assert not Run.open(out).has_last
    data.write_bytes(b"abcdefghij")
    with pytest.raises(FileError, match="the data are not those this run began with"):
        trained(line(), data, out, resume=True)
    data.write_bytes(b"0123456789")
    trained(line(), data, out, resume=True)


def test_nothing_is_written_when_there_is_nothing_to_learn(data, out):
    data.write_bytes(b"")
    with pytest.raises(FileError) as raised:
        trained(line(), data, out)
    assert str(raised.value) == "there is nothing to learn from; a line has two ends"
    assert not out.exists()


def test_nor_when_there_is_no_judge_or_no_model(data, out, monkeypatch):
    for name in ("judge", "model", "losses", "epochs"):

        def missing(*_, **__):
            raise StateError("missing")

        with monkeypatch.context() as broken, pytest.raises(StateError, match="missing"):
            broken.setattr(lines.Lesson, name, missing)
            trained(line(), data, out)
        assert not out.exists()


def test_a_folder_of_others_is_refused_before_anything_is_learned(data, out, monkeypatch):
    monkeypatch.delattr(lines.Lines, "learn")
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    with pytest.raises(FileError, match=re.escape("holds 'notes.txt', which is no part of a run")):
        trained(line(), data, out)


def test_no_memory_left(data, out, monkeypatch):
    forward = lines.Losses.forward
    calls = []

    def growing(self, *parts):
        calls.append(1)
        if len(calls) > 6:
            raise RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8")
        return forward(self, *parts)

    monkeypatch.setattr(lines.Losses, "forward", growing)
    with pytest.raises(Stopped) as raised:
        trained(line(), data, out)
    assert raised.value.code == 1
    assert str(raised.value) == (
        "out of memory (DefaultCPUAllocator: not enough memory: you tried to allocate 8); the "
        f"checkpoint of step 4 is whole, go on with: regard train line --out {out} --resume; try "
        "it where there is more memory, or begin another run with a smaller --batch-tokens, and a "
        "larger --accumulate to make up for it, or with a smaller model"
    )
    Run.open(out).verify()


def test_no_memory_to_begin_with(data, out, monkeypatch):
    def huge(self):
        raise MemoryError

    monkeypatch.setattr(lines.Lesson, "model", huge)
    with pytest.raises(Stopped, match=r"^out of memory; nothing was saved yet; try it where"):
        trained(line(), data, out)
    assert not out.exists()


def test_a_model_larger_than_the_memory(data, out, monkeypatch):
    monkeypatch.setattr(memory, "total_memory", lambda device: 31)
    with pytest.raises(ValueRangeError, match="the model has 2 weights, and needs at least"):
        trained(line(), data, out)
    assert not out.exists()


def test_interrupted_twice_it_does_not_wait_for_the_step(data, out, monkeypatch):
    forward = lines.Losses.forward
    calls = []

    def long(self, *parts):
        calls.append(1)
        if len(calls) == 6:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
        return forward(self, *parts)

    monkeypatch.setattr(lines.Losses, "forward", long)
    with pytest.raises(Stopped) as raised:
        trained(line(), data, out)
    assert raised.value.code == 130
    assert str(raised.value) == (
        "interrupted inside step 6; the checkpoint of step 4 is whole, go on with: regard train "
        f"line --out {out} --resume"
    )


def test_a_warmup_longer_than_the_training_is_announced(data, out, capsys):
    trained(line(warmup=80), data, out)
    assert (
        "the learning rate rises for 80 steps, longer than the training: it ends at 0.0025 instead "
        "of 0.01; see --warmup\n"
    ) in capsys.readouterr().err


@pytest.mark.parametrize("warmup", [0, 20])
def test_a_shorter_one_is_not(data, out, capsys, warmup):
    trained(line(warmup=warmup), data, out)
    assert "the learning rate rises" not in capsys.readouterr().err


def test_what_is_said_is_on_the_disk(data, out, monkeypatch):
    found = []
    say = Live.say

    def noted(self, text):
        if text.startswith(("step", "mean")):
            found.append((text.split(",")[0], progress(out)["validated"], progress(out)["done"]))
        say(self, text)

    monkeypatch.setattr(Live, "say", noted)
    trained(line(average=2), data, out)
    assert found == [
        ("step 10", 10, False),
        ("step 20", 20, False),
        (found[-1][0], 20, True),
    ]
    assert found[-1][0].startswith("mean of the last 2 checkpoints: closeness")
