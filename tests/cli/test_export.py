"""``regard export``: graphs, vocabularies and a README in a folder."""

import pytest

from regard.cli.main import main
from regard.tasks.translation import exported as module
from regard.tasks.translation.exported import NAMES, Exported
from tests.tasks.translation.tiny import tiny_run, vocabulary


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return tiny_run(tmp_path_factory.mktemp("runs") / "run", "bahdanau")


@pytest.fixture
def quick(monkeypatch):
    """Without torch's seconds; what the graphs compute is tested beside ``exported``."""
    seen = []

    def export(model):
        seen.append(model)
        return Exported(b"reads", b"writes", ("outputs", "keys", "states"), ("states",))

    monkeypatch.setattr(module, "export", export)
    return seen


@pytest.mark.usefixtures("quick")
def test_the_folder_has_all_of_it(run, tmp_path, capsys):
    out = tmp_path / "new" / "onnx"
    assert main(["export", str(run), "--out", str(out)]) == 0
    said = capsys.readouterr()
    wanted = f"{out} has {', '.join(NAMES)}: {size(out):.1f} MiB."
    assert " ".join(said.out.split()) == wanted
    assert said.err == ""
    assert sorted(path.name for path in out.iterdir()) == sorted(NAMES)
    assert (out / "encoder.onnx").read_bytes() == b"reads"
    assert (out / "decoder.onnx").read_bytes() == b"writes"
    assert (out / "source.model").read_bytes() == vocabulary(0).model
    assert (out / "target.model").read_bytes() == vocabulary(1).model
    assert "`next_states`" in (out / "README.md").read_text(encoding="utf-8")
    assert main(["export", str(run), "--out", str(out)]) == 0


def size(folder):
    return sum(path.stat().st_size for path in folder.iterdir()) / 2**20


def test_it_is_the_runs_model(run, tmp_path, quick):
    assert main(["export", str(run), "--out", str(tmp_path / "a")]) == 0
    (model,) = quick
    assert model.config.hidden == 24
    assert not model.training


def test_one_vocabulary_for_both_is_there_twice(tmp_path, quick):
    run = tiny_run(tmp_path / "run", shared=True)
    assert main(["export", str(run), "--out", str(tmp_path / "a")]) == 0
    assert (tmp_path / "a" / "source.model").read_bytes() == vocabulary(2).model
    assert (tmp_path / "a" / "target.model").read_bytes() == vocabulary(2).model
    assert len(quick) == 1


def test_mistakes_are_one_line(run, tmp_path, quick, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    for words, wanted in (
        (
            [str(run), "--out", str(tmp_path)],
            f"regard: {tmp_path}: wanted a new or empty folder, or an earlier export to write "
            "over; other files are there, such as mine.txt\n",
        ),
        (
            [str(run), "--out", str(tmp_path / "mine.txt")],
            f"regard: {tmp_path / 'mine.txt'}: Not a directory\n",
        ),
        (
            [str(run)],
            "regard: the following arguments are required: --out; see 'regard export --help'\n",
        ),
    ):
        assert main(["export", *words]) == 2
        assert capsys.readouterr().err == wanted
    assert main(["export", str(tmp_path / "nowhere"), "--out", str(tmp_path / "b")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "b").exists()
    assert quick == []
