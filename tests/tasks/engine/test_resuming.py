"""What a training finds in its folder, and what it refuses to go on with."""

import re

import pytest
import torch

from regard.errors import FileError, StateError, ValueRangeError
from regard.tasks.engine.progress import Progress
from regard.tasks.engine.resuming import (
    Found,
    config_text,
    find,
    kept_settings,
    limits_of,
    refuse_leftovers,
    refuse_other_data,
)
from regard.tasks.run import Run
from regard.tasks.settings import parse_settings, to_toml
from tests.tasks.engine.lines import LINES, LineSettings, line

X = {"loss": torch.zeros(1)}


def made(out, settings=None, *, config=None, about=None):
    """A run, with a checkpoint if something is said of it."""
    config = to_toml(settings or line()) if config is None else config
    with Run.create(out, config, {"nothing": b"0"}) as run:
        if about is not None:
            run.save_last(X, {"progress": Progress(step=3).as_json(), **about})
    return out


def test_an_empty_folder(tmp_path):
    assert find(LINES, line(), tmp_path / "new", resume=True) == Found(line())
    assert find(LINES, line(), tmp_path, resume=False) == Found(line())


def test_a_run_is_gone_on_with_only_if_asked_for(tmp_path):
    made(tmp_path, about={})
    with pytest.raises(StateError) as raised:
        find(LINES, line(), tmp_path, resume=False)
    assert str(raised.value) == (
        f"{tmp_path}: holds a run already; give --resume to go on, or another --out"
    )
    found = find(LINES, line(), tmp_path, resume=True)
    assert (found.settings, found.kept.progress) == (line(), Progress(step=3))
    with pytest.raises(StateError, match="another process is writing to this run"):
        find(LINES, line(), tmp_path, resume=True)
    found.run.close()


def test_limits_are_those_of_the_checkpoint_then_those_asked_for(tmp_path):
    made(tmp_path, line(epochs=2), about={"limits": limits_of(line(epochs=5, patience=7))})
    assert kept_settings(LINES, tmp_path) == line(epochs=5, patience=7)
    for given, wanted in (
        ((), line(epochs=5, patience=7)),
        (("steps",), line(epochs=5, patience=7, steps=9)),
        (("steps", "epochs"), line(epochs=2, patience=7, steps=9)),
        (None, line(steps=9)),
    ):
        found = find(LINES, line(steps=9), tmp_path, resume=True, given=given)
        found.run.close()
        assert found.settings == wanted


def test_nothing_else_can_be_asked_for(tmp_path):
    made(tmp_path)
    with pytest.raises(ValueRangeError) as raised:
        find(LINES, line(width=2), tmp_path, resume=True, given=("width",))
    assert str(raised.value) == (
        f"{tmp_path}: this run has width = 1, and goes on with it, not with 2; leave it out, or "
        "give another --out"
    )
    found = find(LINES, line(width=2), tmp_path, resume=True, given=())  # nor is the run locked
    found.run.close()


@pytest.mark.parametrize(
    ("config", "kind"), [('task = "tagging"\nseed = 1\n', "tagging"), ("seed = 1\n", "translation")]
)
def test_a_run_of_another_task(tmp_path, config, kind):
    made(tmp_path, config=config)
    for call in (
        lambda: find(LINES, line(), tmp_path, resume=True, given=()),
        lambda: kept_settings(LINES, tmp_path),
    ):
        with pytest.raises(StateError) as raised:
            call()
        assert str(raised.value) == (
            f"{tmp_path}: is a run of {kind}, and cannot go on as line; go on with: regard train "
            f"{kind} --out {tmp_path} --resume, or give another --out"
        )


@pytest.mark.parametrize("name", ["notes.txt", "weights.safetensors", "metrics.jsonl", "A.model"])
def test_a_folder_with_something_in_it(tmp_path, name):
    (tmp_path / name).write_text("")
    with pytest.raises(FileError) as raised:
        find(LINES, line(), tmp_path, resume=True)
    assert str(raised.value) == (
        f"{tmp_path}: must be new or empty, and holds {name!r}, which is no part of a run; give "
        "another --out"
    )
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_what_a_killed_beginning_left_is_no_hindrance(tmp_path):
    for name in (".lock", ".regard-writing-1-2", "source.model", "config.toml"):
        (tmp_path / name).write_text("seed = 1\n")
    assert find(LINES, line(), tmp_path, resume=False) == Found(line())
    refuse_leftovers(tmp_path, "seed = 1\n")
    with pytest.raises(FileError, match=re.escape("holds 'config.toml', which is no part")):
        refuse_leftovers(tmp_path, "seed = 2\n")


def test_settings_are_kept_with_the_data_they_are_for(tmp_path):
    config = config_text(line(epochs=7), "ab12")
    assert parse_settings(LineSettings, config, "config.toml") == line(epochs=7)
    made(tmp_path, config=config)
    found = find(LINES, line(), tmp_path, resume=True, given=())
    found.run.close()
    refuse_other_data(found, "ab12")
    refuse_other_data(Found(line()), "cd34")
    with pytest.raises(FileError) as raised:
        refuse_other_data(found, "cd34")
    assert str(raised.value) == (
        f"{tmp_path}: the data are not those this run began with; give the same files, or another "
        "--out"
    )


def test_a_checkpoint_knows_its_data_too(tmp_path):
    made(tmp_path, about={"corpus": "ab12"})
    found = find(LINES, line(), tmp_path, resume=True, given=())
    found.run.close()
    refuse_other_data(found, "ab12")
    with pytest.raises(FileError, match="the data are not those"):
        refuse_other_data(found, "cd34")


def test_a_checkpoint_of_something_else(tmp_path):
    made(tmp_path, about={"progress": {"epoch": 1}})
    with pytest.raises(FileError, match="holds no progress of a training"):
        find(LINES, line(), tmp_path, resume=True)
    Run.open(tmp_path).lock()  # it was let go
