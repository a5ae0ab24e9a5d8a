"""Numbers for TensorBoard, if it is there."""

import sys
from types import ModuleType

import pytest

from regard.tasks.engine import events
from regard.tasks.engine.events import Events


@pytest.fixture
def written(monkeypatch):
    """What a writer in the place of TensorBoard's was told."""
    told = []

    class Writer:
        def __init__(self, folder, purge_step):
            told.append((folder, purge_step))

        def add_scalar(self, name, value, step):
            told.append((name, value, step))

        def close(self):
            told.append("closed")

    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    monkeypatch.setattr(events, "has", lambda name: name == "tensorboard")
    return told


def test_every_number_of_a_row(written, tmp_path):
    made = Events(tmp_path)
    made.add({"step": 3, "loss": 2.5, "best": True, "note": "text"})
    made.close()
    folder = str(tmp_path)
    assert written == [(folder, None), ("loss", 2.5, 3), ("best", True, 3), "closed"]


def test_what_came_after_the_checkpoint_is_forgotten(written, tmp_path):
    Events(tmp_path, 40)
    assert written == [(str(tmp_path), 41)]


def test_nothing_without_it(monkeypatch, tmp_path):
    monkeypatch.setattr(events, "has", lambda name: False)
    made = Events(tmp_path / "events")
    made.add({"step": 1, "loss": 2.0})
    made.close()
    assert list(tmp_path.iterdir()) == []
