"""``regard train translation``: its flags, its words and its exit codes; not what is learned."""

import contextlib
import importlib
import json
import os
import signal
import sys

import pytest

from regard.cli import train as cli
from regard.cli.main import main
from regard.tasks.engine import training
from regard.tasks.engine.stopping import Elsewhere, Stopped
from regard.tasks.translation.settings import TranslationSettings
from tests.tasks.translation.toy import write_pairs

SMALL = (
    "--width 16 --heads 2 --encoder-layers 1 --decoder-layers 1 --vocab-size 300 --epochs 1 "
    "--batch-tokens 256 --device cpu"
)

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_pairs(tmp_path / "pairs.tsv", 60)
    return tmp_path


def call(words):
    return main(["train", "translation", *words.split()])


@pytest.fixture
def told(monkeypatch):
    """What ``train`` was called with, instead of training."""
    found = {}

    def train(task, settings, data, valid, out, **more):
        found.update(task=task.kind, settings=settings, data=data, valid=valid, out=out, **more)

    monkeypatch.setattr(training, "train", train)
    return found


def test_a_training_from_the_command_line(here, capsys):
    assert call(f"--data pairs.tsv --out run {SMALL}") == 0
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    assert lines[0] == "pairs.tsv: 60 pairs of 60 rows"
    assert lines[1] == "1 pair is held out for validation"
    assert lines[-1].endswith("use it with: regard translate --model run")
    assert {"config.toml", "source.model", "target.model", "weights.safetensors"} <= {
        path.name for path in (here / "run").iterdir()
    }
    rows = (here / "run" / "metrics.jsonl").read_text().splitlines()
    assert json.loads(rows[-1])["step"] > 0
    assert call(f"--data pairs.tsv --out run {SMALL}") == 2
    assert capsys.readouterr().err == (
        "regard: run: holds a run already; give --resume to go on, or another --out\n"
    )
    assert call("--out run --resume --device cpu") == 0
    assert call("--out run --resume --device cpu --width 32") == 2
    assert "this run has width = 16, and goes on with it, not with 32" in capsys.readouterr().err


def test_defaults_then_the_file_then_the_flags(told, here):
    (here / "x.toml").write_text("width = 64\nheads = 8\n")
    assert call("--data pairs.tsv --valid pairs.tsv --out run --config x.toml --heads 2") == 0
    assert told["settings"] == TranslationSettings(width=64, heads=2)
    assert [str(path) for path in told["data"]] == ["pairs.tsv"]
    assert str(told["valid"]) == "pairs.tsv"
    rest = {"resume": False, "device": "auto", "sharded": False}
    assert {name: told[name] for name in rest} == rest
    assert call("--data pairs.tsv pairs.tsv --out run --resume --device cuda:1 --shard") == 0
    rest = {"resume": True, "device": "cuda:1", "sharded": True}
    assert {name: told[name] for name in rest} == rest
    assert len(told["data"]) == 2


def test_a_resumed_run_is_told_what_was_given(told, here):
    assert call("--out run --resume --steps 9") == 0
    assert (told["settings"].steps, told["given"] - {"task"}) == (9, {"steps"})
    (here / "x.toml").write_text("\ufeffpatience = 8\n", "utf-8")
    assert call("--out run --resume --epochs 3 --config x.toml") == 0
    assert told["given"] - {"task"} == {"epochs", "patience"}


def test_a_file_of_settings_goes_with_a_resumed_run(here, capsys):
    (here / "x.toml").write_text("width = 16\nheads = 2\n")
    rest = SMALL.replace("--width 16 --heads 2", "--config x.toml")
    assert call(f"--data pairs.tsv --out run {rest}") == 0
    assert call("--out run --resume --config x.toml --device cpu") == 0
    (here / "x.toml").write_text("width = 32\n")
    capsys.readouterr()
    assert call("--out run --resume --config x.toml --device cpu") == 2
    assert "this run has width = 16, and goes on with it, not with 32" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--out run", "--data must name one or more files to learn from; a run is resumed without"),
        ("--data none.tsv --out run", "none.tsv: No such file or directory"),
        ("--data pairs.tsv --valid v.tsv --out run", "v.tsv: No such file or directory"),
        ("--data pairs.tsv --out run --config c.toml", "c.toml: No such file or directory"),
        ("--data . --out run", ".: Is a directory"),
        (
            "--data pairs.tsv --out pairs.tsv",
            f"{'{here}'}/pairs.tsv: Not a directory",
        ),
        (
            "--data pairs.tsv",
            "the following arguments are required: --out; see 'regard train translation --help'",
        ),
        (
            "--data pairs.tsv --out run --width 0",
            "argument --width: must be a whole number from 1 to 65536, got 0; see 'regard train "
            "translation --help'",
        ),
        (
            "--data pairs.tsv --out run --width 255",
            "TransformerConfig: width must be a multiple of num_heads=4, got 255",
        ),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_in_one_line(words, message, here, capsys):
    before = sorted(here.iterdir())
    assert call(words) == 2
    said = capsys.readouterr().err
    assert said.replace(str(here) + "/", "") == f"regard: {message}\n".replace("{here}/", "")
    assert sorted(here.iterdir()) == before


def test_data_that_cannot_be_used(here, capsys):
    (here / "bad.tsv").write_bytes(b"no tab\n\xff\t\xff\na\t\n")
    assert call(f"--data bad.tsv --out run {SMALL}") == 2
    assert capsys.readouterr().err.startswith("regard: bad.tsv: 1 row without a tab, 1 row with")
    (here / "half.tsv").write_bytes((here / "pairs.tsv").read_bytes() + b"no tab\n")
    assert call(f"--data half.tsv --out run {SMALL}") == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == [
        "half.tsv: 60 pairs of 61 rows",
        "half.tsv: 1 row without a tab (line 61)",
    ]


@pytest.mark.parametrize(("kind", "said"), [(Stopped, "regard: enough\n"), (Elsewhere, "")])
def test_a_stop_has_a_line_and_a_code(monkeypatch, capsys, kind, said):
    def train(*args, **more):
        raise kind("enough", 143)

    monkeypatch.setattr(training, "train", train)
    assert call("--data pairs.tsv --out run") == 143
    assert capsys.readouterr().err == said


LEFT = {
    (): " before the first checkpoint; nothing was saved",
    ("run.json",): " before the first checkpoint; begin with the same command and --resume",
    ("run.json", "last.safetensors"): "; the last checkpoint is whole, go on with: regard train "
    "translation --out 'a run' --resume",
}


@pytest.mark.parametrize("files", LEFT, ids=str)
@pytest.mark.parametrize(
    ("number", "word"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "told to stop")]
)
def test_an_interrupt_before_the_training_has_a_line_too(
    here, monkeypatch, capsys, number, word, files
):
    def train(*args, **more):
        (here / "a run").mkdir()
        for name in files:
            (here / "a run" / name).write_text("")
        os.kill(os.getpid(), number)

    monkeypatch.setattr(training, "train", train)
    before = signal.getsignal(number)
    assert main(["train", "translation", "--data", "pairs.tsv", "--out", "a run"]) == 128 + number
    assert capsys.readouterr().err == f"regard: {word}{LEFT[files]}\n"
    assert signal.getsignal(number) is before


@pytest.mark.parametrize("error", [None, ImportError("half a module")], ids=["none", "another"])
def test_so_it_has_if_an_import_swallows_it(monkeypatch, capsys, error):
    def swallowing(name):
        with contextlib.suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        if error is not None:
            raise error
        return importlib.import_module(name)

    real = cli._settings("translation")
    monkeypatch.setattr(cli, "_settings", lambda _: real)
    monkeypatch.setattr(cli, "import_module", swallowing)
    monkeypatch.delattr(training, "find")
    assert call("--data pairs.tsv --out run") == 143
    assert capsys.readouterr().err.startswith("regard: told to stop before the first checkpoint")


def test_other_errors_of_imports_stay(monkeypatch):
    real = cli._settings("translation")

    def broken(name):
        raise ImportError("half a module")

    monkeypatch.setattr(cli, "_settings", lambda _: real)
    monkeypatch.setattr(cli, "import_module", broken)
    with pytest.raises(ImportError, match="half a module"):
        call("--data pairs.tsv --out run")


def test_the_other_processes_die_of_signals_without_a_word(monkeypatch, capsys):
    found = []

    def train(*args, **more):
        found.extend(signal.getsignal(x) for x in (signal.SIGINT, signal.SIGTERM))

    monkeypatch.setattr(training, "train", train)
    monkeypatch.setenv("RANK", "1")
    assert call("--data pairs.tsv --out run") == 0
    assert found == [signal.SIG_DFL] * 2
    assert capsys.readouterr().err == ""


def test_a_pipe_is_no_file(here, capsys):
    os.mkfifo(here / "pipe")
    assert call("--data pipe --out run") == 2
    assert capsys.readouterr().err == (
        "regard: pipe: is a pipe or a device, not a file; copy what it gives into a file first\n"
    )


def test_nothing_heavy_for_help():
    code = (
        "import sys; from regard.cli.main import main; main(['train', 'translation', '--help']); "
        "sys.exit(bool({'torch', 'numpy', 'sentencepiece'} & sys.modules.keys()))"
    )
    import subprocess

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    for name in TranslationSettings.__dataclass_fields__.keys() - {"task"}:
        assert f"--{name.replace('_', '-')}" in done.stdout
    assert "--task" not in done.stdout
