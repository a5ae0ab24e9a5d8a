"""``regard tag``: what goes to standard output, and what does not."""

import io
import json
import subprocess
import sys

import pytest

from regard.cli import tag
from regard.cli.main import main
from regard.tasks.packed import ship
from regard.tasks.tagged import read_tagged
from regard.tasks.tagging import tagger as module
from regard.tasks.tagging.tagger import Tagger
from regard.viewing.terminal import alignment_lines
from tests.tasks.tagging.tiny import tiny_run

TEXT = "The dog can't bark. Cats see dogs!"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return str(tiny_run(tmp_path_factory.mktemp("runs") / "run"))


@pytest.fixture(scope="module")
def tagger(run):
    return Tagger.load(run)


@pytest.fixture
def typed(monkeypatch):
    """Gives a function that puts bytes on standard input."""

    def put(data, *, terminal=False):
        stdin = io.TextIOWrapper(io.BytesIO(data), encoding="ascii")
        stdin.isatty = lambda: terminal
        monkeypatch.setattr(sys, "stdin", stdin)

    return put


def said(capsys, *words, code=0):
    assert main(["tag", *words]) == code
    return capsys.readouterr()


def test_a_sentence_a_line(run, tagger, capsys):
    got = said(capsys, TEXT, "dogs", "--model", run)
    wanted = [*map(str, tagger(TEXT).sentences), str(tagger("dogs"))]
    assert got.out.splitlines() == wanted
    assert wanted[0].startswith("The/")
    assert " n't/" in wanted[0]
    assert got.err == ""


def test_words_with_spaces_between_them(run, tagger, capsys):
    got = said(capsys, "The dog can't bark. Cats", "--words", "--model", run).out
    assert got == f"{tagger(['The', 'dog', 'can' + chr(39) + 't', 'bark.', 'Cats'])}\n"


def test_the_table_can_be_learned_from(run, tagger, tmp_path, capsys):
    path = tmp_path / "tagged.tsv"
    path.write_text(said(capsys, TEXT, "--tsv", "--model", run).out, encoding="utf-8")
    read = read_tagged(path)
    assert [(x.words, x.labels) for x in read] == [
        (x.words, x.labels) for x in tagger(TEXT).sentences
    ]


def test_json(run, tagger, capsys):
    told = json.loads(said(capsys, TEXT, "--json", "--model", run).out)
    assert list(told) == ["sentences"]
    for sentence, wanted in zip(told["sentences"], tagger(TEXT).sentences, strict=True):
        assert list(sentence) == ["words", "labels", "probabilities"]
        assert tuple(sentence["words"]) == wanted.words
        assert tuple(sentence["labels"]) == wanted.labels
        assert sentence["probabilities"] == pytest.approx(wanted.probabilities, abs=1e-5)


def test_weights_in_json(run, tagger, capsys):
    told = json.loads(said(capsys, TEXT, "--json", "--weights", "--model", run).out)
    first = tagger(TEXT).parts[0]
    for row, wanted in zip(told["sentences"][0]["weights"], first.weights.tolist(), strict=True):
        assert row == pytest.approx(wanted, abs=1e-5)
    told = json.loads(
        said(capsys, TEXT, "--json", "--weights", "--layer", "2", "--head", "2", "--model", run).out
    )
    wanted = first.attention[1, 1].tolist()
    assert told["sentences"][0]["weights"][1] == pytest.approx(wanted[1], abs=1e-5)


def test_json_where_letters_cannot_be_shown(tagger, monkeypatch):
    assert "中" in tag.as_json(tagger("中"))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    told = tag.as_json(tagger("中"))
    assert told.isascii()
    assert json.loads(told)["sentences"][0]["words"] == ["中"]


def test_a_file_by_lines(run, tagger, tmp_path, capsys):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfdogs bark.\n\nthe cat\r\n\xff\n")
    got = said(capsys, "--file", str(path), "--model", run).out.split("\n")
    assert got[:3] == [str(tagger("dogs bark.")), "", str(tagger("the cat"))]
    assert got[3].startswith("\ufffd/")
    assert got[4:] == [""]


def test_standard_input_line_by_line(run, tagger, typed, capsys):
    typed(b"dogs bark.\nthe cat")
    got = said(capsys, "--model", run)
    assert got.out.splitlines() == [str(tagger("dogs bark.")), str(tagger("the cat"))]
    assert got.err == ""
    typed(b"dogs\n", terminal=True)
    assert said(capsys, "--model", run).err == "> > \n"


def test_nothing_on_standard_input(run, typed, capsys):
    typed(b"")
    assert said(capsys, "--model", run).out == ""


@pytest.mark.parametrize("text", ["", "   ", "\x00", "\u202e", "😀", "a" * 10_000])
def test_any_text(run, text, capsys):
    assert said(capsys, text, "--model", run).out.count("\n") == 1


def test_what_was_looked_at_goes_to_standard_error(run, tagger, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    got = said(capsys, TEXT, "--show", "--model", run)
    assert got.out.splitlines() == [*map(str, tagger(TEXT).sentences)]
    rows = got.err.splitlines()
    assert rows[0].split() == ["The", "dog", "ca", "n't", "bark", "."]
    assert rows[1].startswith(f"The/{tagger(TEXT).labels[0]}")
    assert rows[7] == ""
    assert len(rows) == 13


def test_one_head_is_drawn(run, tagger, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    one = said(capsys, "dogs bark", "--show", "--layer", "1", "--head", "2", "--model", run).err
    found = tagger("dogs bark")
    rows = [f"{word}/{label}" for word, label in found]
    wanted = alignment_lines(found.attention[0, 1], found.words, rows, width=100)
    assert one.splitlines() == wanted


def test_a_figure(run, tmp_path, capsys):
    path = tmp_path / "look.svg"
    got = said(capsys, TEXT, "--figure", str(path), "--model", run)
    assert got.err == f"The drawing is in {path}\n"
    assert path.read_text(encoding="utf-8").startswith("<?xml")
    got = said(capsys, "", "--figure", str(tmp_path / "none.png"), "--model", run)
    assert got.err == "Nothing to draw\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["a", "--file", "b"], "tag takes a TEXT or --file, got both"),
        (["a", "--weights"], "--weights are printed with --json only; give that, too, or --show"),
        (["a", "--head", "1"], "--layer and --head say what is drawn; give --show, --figure, --p"),
        (["a", "b", "--figure", "c.png"], "--figure draws one TEXT, got 2"),
        (["--figure", "c.png"], "--figure draws one TEXT, got none"),
        (["a", "--figure", "/dev/null"], "/dev/null is a device or a pipe, not a file"),
        (["a", "--figure", "c.doc"], "a figure is written as .png, .svg, .pdf, got"),
        (["a", "--layer", "0", "--show"], "argument --layer: must be a whole number from 1 to 100"),
        (["a", "--tsv", "--json"], "argument --json: not allowed with argument --tsv"),
        (["--file", "nowhere.txt"], "nowhere.txt: No such file or directory"),
        (["a", "--model", "nowhere"], "there is no model and no folder 'nowhere'"),
        (
            ["a", "--model", "{run}", "--show", "--layer", "3"],
            "--layer must be from 1 to 2, as many",
        ),
        (["a", "--model", "{run}", "--show", "--head", "9"], "--head must be from 1 to 2, as many"),
    ],
)
def test_what_is_asked_wrongly_is_answered_in_a_line(
    words, told, run, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    got = said(capsys, *(x.replace("{run}", run) for x in words), code=2)
    assert got.out == ""
    assert got.err.startswith(f"regard: {told}")
    assert got.err.count("\n") == 1


@pytest.mark.parametrize("flags", [["--show"], ["--figure", "a.png"], ["--json", "--weights"]])
def test_an_encoder_without_attention(flags, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = str(tiny_run(tmp_path / "run", encoder="rnn"))
    got = said(capsys, "dogs", "--model", folder, *flags, code=2)
    assert got.err.startswith("regard: this model's encoder is 'rnn', which has no attention to")
    assert said(capsys, "dogs", "--model", folder).out


def test_a_file_that_is_no_text(run, tmp_path, capsys):
    path = tmp_path / "a.txt"
    path.write_bytes("dogs bark".encode("utf-16"))
    got = said(capsys, "--file", str(path), "--model", run, code=2)
    assert "this is UTF-16; give it as plain text in UTF-8" in got.err


def test_the_default_is_a_model_that_came_with_the_package(run, tmp_path, monkeypatch, capsys):
    ship(run, tmp_path / "shipped" / "en")
    monkeypatch.setattr(module, "_shipped", lambda: tmp_path / "shipped")
    tiny_run(tmp_path / "en", seed=1)  # which is not meant, unless somebody says so
    monkeypatch.chdir(tmp_path)
    assert said(capsys, "dogs bark").out.startswith("dogs/")
    assert "say ./en for the run" in said(capsys, "dogs", "--model", "en", code=2).err


def test_help_needs_no_torch():
    code = (
        "import sys, argparse\nfrom regard.cli import tag\n"
        "tag.arguments(argparse.ArgumentParser())\nsys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
