"""Folders and devices: found, or told apart in words."""

from pathlib import Path

import pytest
import torch

from regard.errors import FileError, KindError, ValueRangeError
from regard.tasks.places import device_of, folder_of


def test_a_device_is_what_it_is_called():
    assert device_of("cpu") == device_of(torch.device("cpu")) == torch.device("cpu")


@pytest.mark.parametrize("name", ["gpu", "", "meta", "mps", "xpu", "cuda:x", "cpu,cuda"])
def test_only_two_kinds_of_device_are_known(name):
    with pytest.raises(ValueRangeError) as raised:
        device_of(name)
    assert str(raised.value) == f"device must be cpu or cuda, got {name!r}"


def test_a_device_that_is_not_there(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueRangeError) as raised:
        device_of("cuda")
    assert str(raised.value) == (
        "device cuda: there is no GPU here, or this torch has no CUDA; take cpu"
    )
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert device_of("cuda") == torch.device("cuda")
    assert device_of("cuda:1") == torch.device("cuda:1")
    with pytest.raises(ValueRangeError) as raised:
        device_of("cuda:2")
    assert str(raised.value) == "device cuda:2: GPUs are counted from 0, and there are 2 here"


@pytest.mark.parametrize("what", [None, 3, b"cpu", ["cpu"]])
def test_what_names_nothing_is_refused(what):
    with pytest.raises(KindError) as raised:
        device_of(what)
    got = type(what).__name__
    assert str(raised.value) == f"device must be a str or a torch.device, got {got}"
    with pytest.raises(KindError) as raised:
        folder_of(what, {})
    assert str(raised.value) == f"a model is found by a str or a Path, got {got}"


def test_a_name_is_a_str_and_a_path_is_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shipped = {"a": Path("/shipped/a")}
    assert folder_of("a", shipped) == Path("/shipped/a")
    with pytest.raises(ValueRangeError, match="there is no model and no folder 'a'; of models"):
        folder_of(Path("a"), shipped)
    Path("a").mkdir()
    assert folder_of("a", shipped) == Path("/shipped/a")  # an empty folder is no run
    assert folder_of(Path("a"), shipped) == Path("a")
    Path("a", "run.json").touch()
    with pytest.raises(ValueRangeError, match=r"say \./a for the run, /shipped/a for the model"):
        folder_of("a", shipped)
    Path("b").touch()
    with pytest.raises(FileError, match="b: must be the folder of a run, and is a file"):
        folder_of("b", shipped)
    with pytest.raises(ValueRangeError, match="there is no model and no folder ''; of models"):
        folder_of("", shipped)
