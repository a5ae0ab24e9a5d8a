"""``regard classify``: what goes to standard output, and what does not."""

import io
import json
import subprocess
import sys

import numpy as np
import pytest

from regard.cli import classify as module
from regard.cli.main import VERBS, main
from regard.tasks.classification import Classifier
from tests.tasks.classification.tiny import LABELS, striped, tiny_run, write_images, write_sounds

TEXTS = ["very sweet sugar", "lemon", "some\tmore   honey"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return {kind: str(tiny_run(folder / kind, kind)) for kind in LABELS}


@pytest.fixture(scope="module")
def sounds(tmp_path_factory):
    return write_sounds(tmp_path_factory.mktemp("data") / "sounds", 3)


@pytest.fixture(autouse=True)
def verb(monkeypatch):
    monkeypatch.setitem(VERBS, "classify", "")


def said(capsys, *words, code=0):
    assert main(["classify", *map(str, words)]) == code
    return capsys.readouterr()


def test_texts(runs, capsys):
    got = said(capsys, *TEXTS, "--model", runs["text"])
    classify = Classifier.load(runs["text"])
    wanted = [classify(text) for text in TEXTS]
    assert got.out.splitlines() == [
        f"{x.label}\t{x.probability:.4f}\t{' '.join(text.split())}"
        for x, text in zip(wanted, TEXTS, strict=True)
    ]
    assert got.err == ""


def test_texts_of_standard_input(runs, capsys, monkeypatch):
    data = b"\xef\xbb\xbfvery sweet\r\n\xff\n"
    stdin = io.TextIOWrapper(io.BytesIO(data), encoding="ascii")
    monkeypatch.setattr(sys, "stdin", stdin)
    got = said(capsys, "--model", runs["text"])
    assert [line.split("\t")[2] for line in got.out.splitlines()] == ["very sweet", "\ufffd"]


def test_sounds_and_their_folder(runs, sounds, capsys):
    files = sorted(sounds.rglob("*.wav"))
    one = said(capsys, *files, "--model", runs["sound"]).out
    assert [line.split("\t")[2] for line in one.splitlines()] == list(map(str, files))
    assert said(capsys, sounds, "--model", runs["sound"]).out == one


def test_images_of_one_file(runs, tmp_path, capsys):
    path = write_images(tmp_path / "x.npz", 70)  # more than are classified together
    lines = said(capsys, path, "--model", runs["images"]).out.splitlines()
    assert [line.split("\t")[2] for line in lines] == [f"{path}[{i}]" for i in range(70)]
    classify = Classifier.load(runs["images"])
    found = classify(list(np.load(path)["images"]))
    assert [line.split("\t")[0] for line in lines] == [x.label for x in found]


def test_what_is_bad_is_told_counted_and_passed_over(runs, sounds, tmp_path, capsys):
    good = next(sounds.rglob("*.wav"))
    bad = tmp_path / "bad.wav"
    bad.write_bytes(b"RIFF")
    missing, empty = tmp_path / "missing.wav", tmp_path / "empty"
    empty.mkdir()
    got = said(capsys, bad, good, missing, empty, good, "--model", runs["sound"], code=2)
    assert [line.split("\t")[2] for line in got.out.splitlines()] == [str(good)] * 2
    lines = got.err.splitlines()
    assert len(lines) == 4
    for path in (bad, missing, empty):
        assert sum(line.startswith(f"regard: {path}: ") for line in lines) == 1
    assert "No such file or directory" in got.err
    assert lines[-1] == "regard: 3 of 5 could not be classified"


def test_one_that_is_bad(runs, tmp_path, capsys):
    (tmp_path / "x.png").write_bytes(b"none")
    got = said(capsys, tmp_path / "x.png", "--model", runs["images"], code=2)
    assert got.out == ""
    assert got.err.count("\n") == 1


def test_top(runs, capsys):
    got = said(capsys, "sugar", "lemon", "--top", 5, "--model", runs["text"])
    rows = [line.split("\t") for line in got.out.splitlines()]
    assert [row[2] for row in rows] == ["sugar", "sugar", "lemon", "lemon"]
    assert float(rows[0][1]) >= float(rows[1][1])
    assert {rows[0][0], rows[1][0]} == {"sweet", "sour"}


@pytest.mark.parametrize("kind", LABELS)
def test_json(runs, sounds, tmp_path, capsys, kind):
    np.savez(tmp_path / "x.npz", images=striped(0, np.random.default_rng(0))[None], labels=[1])
    sound = next(sounds.rglob("*.wav"))
    what = {"text": "very sweet 猫", "sound": sound, "images": tmp_path / "x.npz"}[kind]
    (line,) = said(capsys, what, "--json", "--model", runs[kind]).out.splitlines()
    told = json.loads(line)
    assert told["what"].startswith(str(what))
    assert set(told["probabilities"]) == set(LABELS[kind])
    assert told["probability"] == told["probabilities"][told["label"]]
    assert len(told["places"]) == len(told["weights"])
    assert sum(told["weights"]) == pytest.approx(1, abs=1e-4)


def test_show_and_figure(runs, sounds, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    sound = next(sounds.rglob("*.wav"))
    plain = said(capsys, sound, "--model", runs["sound"]).out
    out = tmp_path / "deep" / "x.png"
    got = said(capsys, sound, "--show", "--figure", out, "--model", runs["sound"])
    assert got.out == plain
    assert out.read_bytes().startswith(b"\x89PNG")
    assert got.err.splitlines()[-1] == f"The figure is in {out}"
    assert len(got.err.splitlines()) == 6 + 2 + 1


def test_a_figure_of_a_text_that_is_no_name_of_a_file(runs, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    said(capsys, "sweet " * 1000, "--figure", tmp_path / "x.svg", "--model", runs["text"])
    said(capsys, "/", "--figure", tmp_path / "y.svg", "--model", runs["text"])
    assert (tmp_path / "x.svg").exists()
    assert (tmp_path / "y.svg").exists()


def test_a_figure_is_of_one(runs, sounds, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    images = write_images(tmp_path / "x.npz", 3)
    for kind, path in (("sound", sounds), ("images", images)):
        words = (path, "--figure", tmp_path / "x.png", "--model", runs[kind])
        got = said(capsys, *words, code=2)
        assert got.err == (
            f"regard: --figure draws one PATH_OR_TEXT, and there are several in {path}\n"
        )
        assert got.out == ""


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("a", "b", "--figure", "x.png"), "--figure draws one PATH_OR_TEXT, got 2"),
        (("--figure", "x.png"), "--figure draws one PATH_OR_TEXT, got none"),
        (("a", "--figure", "x.doc"), "a figure is written as .png, .svg, .pdf"),
        (("a", "--json", "--top", "2"), "--json prints all labels anyway"),
        (("a", "--top", "0"), "must be a whole number from 1"),
    ],
)
def test_typing_errors_are_told_before_the_work(words, complaint, capsys):
    got = said(capsys, *words, "--model", "nowhere", code=2)
    assert complaint in got.err
    assert got.out == ""


def test_no_model_and_no_files(runs, capsys):
    assert "no folder 'nowhere'" in said(capsys, "a", "--model", "nowhere", code=2).err
    got = said(capsys, "--model", runs["sound"], code=2)
    assert got.err == "regard: the model takes WAV files; give one or more PATHs\n"


def test_a_name_that_cannot_be_printed(runs, capsys, tmp_path):
    name = "x\udcff.wav"
    (line,) = said(capsys, "a\ud800", "--json", "--model", runs["text"]).out.splitlines()
    assert json.loads(line)["what"]
    got = said(capsys, tmp_path / name, "--model", runs["sound"], code=2)
    assert got.err.count("\n") == 1


def test_help_needs_no_torch():
    code = (
        "import sys, argparse; from regard.cli import classify; "
        "classify.arguments(argparse.ArgumentParser()); "
        "print('torch' in sys.modules, 'matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False False"


def test_numbers_that_are_none_are_null(runs):
    found = Classifier.load(runs["text"])("sugar")
    broken = type(found)(
        found.label, dict.fromkeys(found.probabilities, float("nan")), found.kind, found.content,
        found.places, found.pitches, found.look,
    )  # fmt: skip
    assert json.loads(module.as_json("x", broken))["probability"] is None
