"""Two processes are one, one alone, and devices that are not there."""

import os
import signal
import subprocess
import sys

import pytest
import torch

from regard.errors import ImplError, ValueRangeError
from regard.tasks.engine.distributed import joined
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
