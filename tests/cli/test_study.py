"""The verb ``regard study``."""

import json
import subprocess
import sys

import numpy as np
import pytest

from regard.cli import study
from regard.cli.main import main
from regard.errors import FileError


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(0)
    for name, count in (("train", 40), ("test", 10)):
        np.savez(
            tmp_path / f"{name}.npz",
            images=draw.integers(0, 255, (count, 4, 4, 1)).astype(np.uint8),
            labels=np.arange(count) % 2,
        )
    return tmp_path


@pytest.fixture
def tried(monkeypatch):
    """The trainings asked for, and made-up answers in their place."""
    asked = []

    def answer(cell, told, out):
        asked.append((cell.name, told, out))
        if cell.encoder == "rnn":
            msg = "it broke"
            raise FileError(msg)
        score = 50.0 + cell.size + cell.seed
        return {"score": score, "seconds": 2.0, "mib": 9.0, "weights": 77, "device": "cpu"}

    monkeypatch.setattr(study, "_tried", answer)
    return asked


def call(words):
    return main(["study", *words.split()])


def test_a_table_a_plot_and_going_on(here, tried, capsys):
    words = "images --data train.npz --test test.npz --out s --encoders cnn,window --seeds 2"
    assert call(f"{words} --sizes 10,20 --steps 5 --width 8") == 0
    said = capsys.readouterr()
    assert [name for name, _, _ in tried] == [
        "cnn-10-1", "window-10-1", "cnn-10-2", "window-10-2",
        "cnn-20-1", "window-20-1", "cnn-20-2", "window-20-2",
    ]  # fmt: skip
    settings = tried[0][1]["settings"]
    assert (settings["steps"], settings["width"], settings["input"]) == (5, 8, "images")
    assert "61.50 ± 0.71" in said.out
    assert "cnn, 10, seed 1: 61.00 % in 2 s" in said.err
    rows = (here / "s" / "results.md").read_text().splitlines()
    assert rows[2].startswith("| 10 | cnn | 61.50 ± 0.71 | 2 | 9 | 77 | 2 |")
    assert len(rows) == 6
    assert (here / "s" / "results.png").read_bytes().startswith(b"\x89PNG")
    tried.clear()
    assert call(f"{words} --sizes 10,30 --steps 5 --width 8") == 0
    said = capsys.readouterr()
    assert "4 of 8 trainings are done already" in said.err
    assert {name.split("-")[1] for name, _, _ in tried} == {"30"}
    assert " 20 " not in said.out
    assert call(f"{words} --sizes 10 --steps 6") == 2
    assert "of a study with other data or settings" in capsys.readouterr().err


def test_encoders_come_in_the_order_they_were_asked_for(here, tried):
    words = "images --data train.npz --test test.npz --out s --seeds 1 --sizes 10"
    for encoders in ("cnn", "window,cnn"):
        assert call(f"{words} --encoders {encoders}") == 0
    rows = (here / "s" / "results.md").read_text().splitlines()[2:]
    assert [row.split(" | ")[1] for row in rows] == ["window", "cnn"]


def test_a_training_that_breaks_does_not_take_the_others_with_it(here, tried, capsys):
    words = "images --data train.npz --test test.npz --out s --encoders rnn,cnn --seeds 1"
    assert call(f"{words} --sizes 10") == 1
    said = capsys.readouterr()
    assert said.err.splitlines()[-1] == "regard: rnn-10-1 came to nothing: it broke"
    assert "cnn" in said.out
    assert "rnn" not in said.out


def test_sizes_are_those_of_the_data(here, tried):
    words = "images --data train.npz --test test.npz --out s --encoders cnn --seeds 1"
    assert call(words) == 0
    assert [name for name, _, _ in tried] == ["cnn-36-1"]  # a tenth is held out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("images --data none.npz --test test.npz --out s", "none.npz: No such file or directory"),
        ("images --data train.npz --test t.npz --out s", "t.npz: No such file or directory"),
        (
            "images --data train.npz --test test.npz --out s --encoders cnn,lstm",
            "--encoder must be one of self-attention, truncated, window, cnn, rnn, got 'lstm'",
        ),
        (
            "images --data train.npz --test test.npz --out s --sizes 0",
            "argument --sizes: must be a whole number from 1 to 1000000000, got '0'",
        ),
        ("images --data train.npz --out s", "the following arguments are required: --test"),
        ("weather", "argument SUBJECT: invalid choice: 'weather'"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_in_one_line(here, tried, capsys, words, message):
    assert call(words) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"regard: {message}")
    assert said.count("\n") == 1
    assert tried == []
    assert not (here / "s").exists()


@pytest.mark.usefixtures("one_thread")
def test_one_real_training(here, capsys):
    words = "images --data train.npz --test test.npz --out s --encoders cnn --seeds 1 --sizes 20"
    assert call(f"{words} --steps 2 --width 8 --heads 2 --layers 1 --patch 2 --device cpu") == 0
    (row,) = (here / "s" / "results.jsonl").read_text().splitlines()
    found = json.loads(row)
    assert found["encoder"] == "cnn"
    assert 0 <= found["score"] <= 100
    assert (here / "s" / "runs" / "cnn-20-1" / "weights.safetensors").exists()
    assert call(f"{words.replace('20', '9999')} --steps 2 --device cpu --width 16") == 2
    assert "other data or settings" in capsys.readouterr().err


def test_nothing_heavy_for_help():
    code = (
        "import sys; from regard.cli.main import main; main(['study', 'speech', '--help']); "
        "sys.exit(bool({'torch', 'numpy', 'matplotlib'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--encoders" in done.stdout
    assert "--hop" in done.stdout
