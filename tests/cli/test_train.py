"""``regard train translation``: its flags, its words and its exit codes; not what is learned."""

import json
import sys

import pytest

from regard.cli.main import main
from regard.tasks.engine import training
from regard.tasks.engine.stopping import Stopped
from regard.tasks.settings import to_toml
from regard.tasks.translation.settings import TranslationSettings
from tests.tasks.translation.toy import small, write_pairs

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


def test_a_resumed_run_has_its_own_settings(told, here):
    assert call(f"--data pairs.tsv --out run {SMALL}") == 0
    training.Run.create(here / "run", to_toml(small(width=24)), {"source": b"s"}).close()
    assert call("--out run --resume --steps 9") == 0
    assert told["settings"] == small(width=24, steps=9)


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


@pytest.mark.parametrize(("rank", "said"), [("0", "regard: enough\n"), ("1", "")])
def test_a_stop_has_a_line_and_a_code(monkeypatch, capsys, rank, said):
    def train(*args, **more):
        raise Stopped("enough", 143)

    monkeypatch.setattr(training, "train", train)
    monkeypatch.setenv("RANK", rank)
    assert call("--data pairs.tsv --out run") == 143
    assert capsys.readouterr().err == said


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
