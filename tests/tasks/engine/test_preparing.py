"""What is read and learned before there are weights."""

import threading

import pytest
import torch

from regard.errors import FileError, ValueRangeError
from regard.tasks.engine.distributed import World
from regard.tasks.engine.preparing import prepare
from regard.tasks.engine.resuming import Found, config_text
from tests.tasks.engine.lines import LINES, Lines, line

ALONE = World(0, 1, torch.device("cpu"))


@pytest.fixture
def data(tmp_path):
    (tmp_path / "data").write_bytes(b"12345")
    return tmp_path / "data"


def prepared(data, out, found=None, say=lambda text: None):
    return prepare(ALONE, LINES, found or Found(line()), data, None, out, say)


def test_everything_a_run_needs(data, tmp_path):
    said = []
    found = prepared([data], tmp_path / "run", say=said.append)
    assert said == ["5 bytes", "learned nothing"]
    assert found.learned == {"nothing": b"0"}
    assert found.about["data"] == [str(data)]
    assert found.config == config_text(line(), found.about["corpus"])
    assert not (tmp_path / "run").exists()


def test_learning_lets_signals_through(data, tmp_path, monkeypatch):
    threads = []

    def learn(self, corpus, settings, say):
        threads.append(threading.current_thread())
        return {"nothing": b"0"}

    monkeypatch.setattr(Lines, "learn", learn)
    prepared([data], tmp_path / "run")
    assert threads[0] is not threading.main_thread()


def test_nothing_is_learned_for_a_folder_that_cannot_be_used(data, tmp_path, monkeypatch):
    monkeypatch.delattr(Lines, "learn")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.toml").write_text("of another run")
    with pytest.raises(FileError, match=r"holds 'config\.toml', which is no part"):
        prepared([data], tmp_path / "run")


def test_no_data(tmp_path):
    with pytest.raises(ValueRangeError) as raised:
        prepared([], tmp_path / "run")
    assert str(raised.value) == (
        f"{tmp_path}/run: there is no checkpoint to go on from; give --data, to begin"
    )
