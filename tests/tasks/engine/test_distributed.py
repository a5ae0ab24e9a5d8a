"""Two processes are one, one alone, and devices that are not there."""

import os
import signal
import subprocess
import sys

import pytest
import torch
import torch.distributed as dist

from regard.errors import FileError, ImplError, StateError, ValueRangeError
from regard.tasks.engine.distributed import LostError, heard, joined
from regard.tasks.run import Run
from tests.tasks.translation.compared import assert_close, assert_close_weights


def test_one_alone_sends_to_nobody():
    with joined("cpu") as world:
        assert (world.rank, world.size, world.first) == (0, 1, True)
        assert world.total(3, 4) == [3, 4]
        assert world.each(0.5) == [0.5]
        assert world.send(b"bytes") == b"bytes"
        x = torch.ones(2)
        assert world.send_tensors({"x": x})["x"] is x
        assert world.together(lambda: 5) == 5
        with pytest.raises(FileError, match="so"):
            world.together(lambda: refuse("so"))


def refuse(text):
    raise FileError(text)


@pytest.mark.parametrize(
    ("error", "lost"),
    [
        (RuntimeError("[gloo/transport/tcp/pair.cc] Connection closed by peer"), True),
        (dist.DistNetworkError("so"), True),
        (RuntimeError("so"), False),
        (RuntimeError("nccl: out of memory"), False),
        (StateError("the folder gloo"), False),
        (ValueError("gloo"), False),
    ],
    ids=str,
)
def test_a_lost_process_is_told_from_other_errors(error, lost):
    with pytest.raises(LostError if lost else type(error)) as raised, heard():
        raise error
    assert (raised.value is error) is not lost


def test_no_gpu_is_said(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with joined("auto") as world:
        assert world.device == torch.device("cpu")
    with pytest.raises(ImplError) as raised, joined("cuda"):
        pass
    assert str(raised.value) == (
        "device 'cuda' needs GPU number 0, and torch sees no GPU here; give --device cpu, or start "
        "fewer processes"
    )


def test_more_processes_than_gpus(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setitem(os.environ, "LOCAL_RANK", "1")
    with pytest.raises(ImplError, match="needs GPU number 1, and torch sees 1 GPU here"), joined():
        pass


@pytest.mark.parametrize("name", ["tpu", "", "mps", "cuda:x", "meta"])
def test_other_devices_are_refused(name):
    with pytest.raises(ValueRangeError, match="device must be 'auto', 'cpu'"), joined(name):
        pass


def test_two_processes_are_one(alone, tmp_path):
    words, run = alone["transformer"]
    out = tmp_path / "run"
    start = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "-m", "regard"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*start, *words, "--out", str(out)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "on cpu, 2 processes: begins" in done.stderr
    assert done.stderr.count("begins") == 1  # one speaks
    assert_close(out, run)


def test_two_processes_go_on_together(forks, alone, tmp_path):
    words, run = alone["bahdanau"]
    out = tmp_path / "run"
    for steps in ("3", "1000"):
        answer = forks(words=[*words, "--out", str(out), "--steps", steps, "--resume"], world=2)
        assert answer["codes"] == [0, 0], answer["said"]
    assert_close_weights(out, run)


def test_two_processes_stop_together(forks, whole, tmp_path):
    words, _ = whole
    out = tmp_path / "run"
    asked = {"signal": int(signal.SIGTERM), "folder": str(out), "world": 2}
    answer = forks(
        words=[*words, "--epochs", "1000", "--patience", "0", "--out", str(out)],
        first=str(out / "weights.safetensors"),
        **asked,
    )
    assert answer["codes"] == [143, 143]
    assert "regard: told to stop at step" in answer["said"]
    Run.open(out).verify()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--out", "{taken}"], "{taken}: holds a run already; give --resume to go on, or another"),
        (["--device", "cuda:7"], "device 'cuda:7' needs GPU number 7, and torch sees"),
        (["--max-len", "2"], "there is nothing to learn from; 118 pairs are left out: more than 2"),
        (["--heads", "3"], "TransformerConfig: width must be a multiple of num_heads=3, got 16"),
        (["--data", "{none}"], "{none}: No such file or directory"),
    ],
    ids=lambda x: str(x[0]) if isinstance(x, list) else "",
)
def test_what_is_refused_one_says(forks, whole, tmp_path, more, message):
    words, run = whole
    names = {"taken": str(run), "none": str(tmp_path / "none")}
    more = [word.format(**names) for word in more]
    answer = forks(words=[*words, "--out", str(tmp_path / "run"), *more], world=2)
    assert answer["codes"] == [2, 2], answer["said"]
    lines = answer["said"].splitlines()
    assert lines[-1].startswith(f"regard: {message.format(**names)}")
    assert sum(line.startswith("regard: ") for line in lines) == 1
    assert "Traceback" not in answer["said"]
    assert not (tmp_path / "run").exists()


def test_one_that_dies_is_missed(forks, whole, tmp_path):
    words, _ = whole
    out = tmp_path / "run"
    asked = {"signal": int(signal.SIGKILL), "only": 1, "folder": str(out), "world": 2}
    answer = forks(
        words=[*words, "--epochs", "1000", "--patience", "0", "--out", str(out)],
        first=str(out / "weights.safetensors"),
        **asked,
    )
    assert answer["codes"] == [1, -signal.SIGKILL], answer["said"]
    step = Run.open(out).load_last()[1]["progress"]["step"]
    assert answer["said"].splitlines()[-1] == (
        "regard: another process of this training has ended; the checkpoint of step "
        f"{step:,} is whole, go on with: regard train translation --out {out} --resume"
    )
    assert "Traceback" not in answer["said"]
    Run.open(out).verify()
