"""What is written, and what is said when it cannot be."""

import errno
import shutil

import pytest
import torch

from regard.tasks.engine.keeping import Keeper
from regard.tasks.engine.place import Place
from regard.tasks.engine.progress import Progress
from regard.tasks.engine.stopping import Stopped
from regard.tasks.run import Run

X = {"w": torch.ones(2)}


@pytest.fixture
def run(tmp_path):
    with Run.create(tmp_path / "run", "seed = 1\n", {"source": b"s"}) as made:
        yield made


def test_everything_has_its_place(run):
    place = Place("translation", run.folder)
    keeper = Keeper(run, {"kind": "translation"}, {"data": ["a"]}, place)
    keeper.best(X, {"bleu": 3.0})
    for step in (1, 2, 3):
        keeper.recent(step, {"w": torch.full((2,), step)}, {}, keep=2)
    assert place.saved is None
    keeper.last(Progress(step=3), X)
    assert place.saved == 3
    assert run.load_weights()[1] == {"kind": "translation", "bleu": 3.0}
    assert [x["w"][0].item() for x in keeper.kept()] == [2, 3]
    assert run.load_last()[1] == {"data": ["a"], "progress": Progress(step=3).as_json()}
    keeper.log({"step": 3, "bleu": 1.0})
    for _ in range(2):
        keeper.log_once({"step": 3, "averaged": 5}, "averaged")
    keeper.log_once({"step": 4, "averaged": 5}, "averaged")
    assert [row["step"] for row in run.rows()] == [3, 3, 4]
    keeper.close()


def test_the_other_processes_write_nothing(tmp_path):
    keeper = Keeper(None, {}, {}, Place("translation", tmp_path))
    keeper.log({"step": 1})
    keeper.log_once({"step": 1}, "loss")
    keeper.best(X, {})
    keeper.recent(1, X, {}, keep=1)
    keeper.last(Progress(), X)
    keeper.close()
    assert keeper.kept() == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("method", "call"),
    [
        ("save_last", lambda keeper: keeper.last(Progress(step=9), X)),
        ("save_weights", lambda keeper: keeper.best(X, {})),
        ("keep_recent", lambda keeper: keeper.recent(9, X, {}, keep=1)),
        ("log", lambda keeper: keeper.log({"step": 9})),
    ],
    ids=["last", "best", "recent", "log"],
)
def test_a_full_disk_is_a_stop(run, monkeypatch, method, call):
    keeper = Keeper(run, {"kind": "translation"}, {}, Place("translation", run.folder))
    keeper.last(Progress(step=7), X)

    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device", "there/it")

    monkeypatch.setattr(Run, method, full)
    with pytest.raises(Stopped) as raised:
        call(keeper)
    assert raised.value.code == 1
    assert str(raised.value) == (
        "there/it: No space left on device; the checkpoint of step 7 is whole, go on with: regard "
        f"train translation --out {run.folder} --resume"
    )


def test_a_folder_that_is_gone_holds_no_checkpoint(run):
    keeper = Keeper(run, {}, {}, Place("translation", run.folder))
    keeper.last(Progress(step=7), X)
    shutil.rmtree(run.folder)
    with pytest.raises(Stopped) as raised:
        keeper.last(Progress(step=8), X)
    assert str(raised.value) == (
        f"{run.folder}/last.safetensors: No such file or directory; the folder of the run is gone"
    )
