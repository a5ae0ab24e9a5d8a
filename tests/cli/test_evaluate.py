"""``regard evaluate``: scores, signatures, the worst, and a file of all."""

import gzip
import os
import sys

import pytest

from regard.cli import evaluate
from regard.cli.main import main
from regard.tasks.pairs import Pair
from regard.tasks.translation.scoring import SentenceScore, score
from regard.tasks.translation.translator import Translator
from regard.viewing.terminal import columns_of
from tests.tasks.translation.tiny import PAIRS, tiny_run

pytest.importorskip("sacrebleu")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return str(tiny_run(tmp_path_factory.mktemp("runs") / "run"))


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "test.tsv"
    path.write_text("".join(f"{source}\t{target}\tby me\n" for source, target in PAIRS))
    return path


@pytest.fixture(autouse=True)
def columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")


def said(capsys, *words, code=0):
    assert main(["evaluate", *map(str, words)]) == code
    return capsys.readouterr()


def test_what_is_printed(run, data, capsys):
    got = said(capsys, run, "--data", data, "--beam", "2")
    pairs = [Pair(*pair, i + 1) for i, pair in enumerate(PAIRS)]
    wanted = score(Translator.load(run), pairs, beam=2)
    lines = got.out.splitlines()
    assert lines[0] == f"BLEU {wanted.bleu:6.2f}  {wanted.bleu_signature}"
    assert lines[1] == f"chrF {wanted.chrf:6.2f}  {wanted.chrf_signature}"
    assert lines[2].strip() == wanted.signature
    assert "|beam:2|length_penalty:1|weights:" in lines[2]
    assert lines[4].startswith("10 sentences in ")
    assert lines[6] == "The 10 with the lowest chrF:"
    worst = wanted.worst(20)
    assert [line.split()[1] for line in lines[10:20]] == [str(x.line) for x in worst]
    assert got.err == ""


def test_the_file_has_every_sentence(run, data, tmp_path, capsys):
    out = tmp_path / "new" / "scores.tsv"
    got = said(capsys, run, "--data", data, "--out", out)
    assert got.out.endswith(f"The scores of 10 sentences are in {out}\n")
    rows = [line.split("\t") for line in out.read_text().splitlines()]
    assert rows[0] == ["line", "chrf", "bleu", "source", "reference", "output"]
    assert [row[0] for row in rows[1:]] == [str(i + 1) for i in range(10)]
    assert [row[4] for row in rows[1:]] == [target for _, target in PAIRS]
    before = out.read_bytes()
    again = said(capsys, run, "--data", data, "--out", out, code=2)
    assert again.err == (
        f"regard: {out} is there already; give another name, or --force to write over it\n"
    )
    said(capsys, run, "--data", data, "--out", out, "--force")
    assert out.read_bytes() == before


def test_bad_rows_are_told_and_double_ones_count(run, tmp_path, capsys):
    path = tmp_path / "bad.tsv.gz"
    path.write_bytes(gzip.compress("你好\tHello.\nno tab\n你好\tHello.\n".encode()))
    got = said(capsys, run, "--data", path, "--beam", "1")
    assert "2 sentences in " in got.out
    assert f"{path}: 1 row without a tab (line 2)\n" in got.err


def test_of_one_sentence(run, tmp_path, capsys):
    path, out = tmp_path / "one.tsv", tmp_path / "out.tsv"
    path.write_text("你好\tHello.\n")
    got = said(capsys, run, "--data", path, "--beam", "1", "--out", out).out
    assert "\n1 sentence in " in got
    assert got.endswith(f"The scores of 1 sentence are in {out}\n")


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_what_is_no_file_stays_what_it_is(run, data, tmp_path, force, capsys, monkeypatch):
    monkeypatch.setattr(Translator, "load", None)
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to("/dev/null")
    for out in (pipe, link, "/dev/null"):
        got = said(capsys, run, "--data", data, "--out", out, *force, code=2)
        assert got.err == f"regard: {out} is a device or a pipe, not a file; give another name\n"
    assert pipe.is_fifo()
    assert link.is_symlink()
    got = said(capsys, run, "--data", data, "--out", tmp_path, *force, code=2)
    assert got.err == f"regard: {tmp_path}: Is a directory\n"


def test_a_link_stays_a_link(run, data, tmp_path, capsys):
    link, target = tmp_path / "link", tmp_path / "new" / "target"
    link.symlink_to(target)
    said(capsys, run, "--data", data, "--beam", "1", "--out", link)
    assert link.is_symlink()
    assert target.read_text().startswith("line\tchrf")


def test_where_standard_output_goes_is_not_written_over(run, data, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(Translator, "load", None)
    out = tmp_path / "out"
    with out.open("w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert main(["evaluate", run, "--data", str(data), "--out", str(out), "--force"]) == 2
    monkeypatch.undo()
    wanted = f"regard: {out} is where standard output goes; give another name\n"
    assert capsys.readouterr().err == wanted


def test_a_folder_that_cannot_be_written_is_told_by_the_name_that_was_given(
    run, data, tmp_path, capsys, monkeypatch
):
    def refuse(dir):  # noqa: A002 - as tempfile has it
        raise PermissionError(13, "Permission denied", f"{dir}/tmpabc123")

    monkeypatch.setattr(evaluate.tempfile, "TemporaryFile", refuse)
    monkeypatch.setattr(Translator, "load", None)
    out = tmp_path / "out.tsv"
    got = said(capsys, run, "--data", data, "--out", out, code=2)
    assert got.err == f"regard: {out}: Permission denied\n"


@pytest.mark.parametrize(
    ("content", "message"), [("no tab at all\n", "no pair is left"), ("", "the file is empty")]
)
def test_nothing_usable(run, tmp_path, content, message, capsys):
    path = tmp_path / "bad.tsv"
    path.write_text(content)
    got = said(capsys, run, "--data", path, code=2)
    assert got.out == ""
    assert got.err.startswith("regard: ")
    assert got.err.count("\n") == 1
    assert message in got.err


def test_wrong_words_are_answered_before_any_work(run, data, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(Translator, "load", None)
    missing, circle = tmp_path / "nothing.tsv", tmp_path / "circle"
    circle.symlink_to(circle)
    for words, message in [
        ([run, "--data", missing], f"{missing}: No such file or directory"),
        (
            [run, "--data", data, "--out", data, "--force"],
            f"{data} is read here, and will not be written over; give another name",
        ),
        ([run, "--data", data, "--out", tmp_path, "--force"], f"{tmp_path}: Is a directory"),
        (
            [run, "--data", data, "--out", circle],
            f"{circle}: Too many levels of symbolic links",
        ),
        ([run, "--data", data, "--out", data / "a"], f"{data / 'a'}: Not a directory"),
        ([run], "the following arguments are required: --data; see 'regard evaluate --help'"),
    ]:
        got = said(capsys, *words, code=2)
        assert (got.out, got.err) == ("", f"regard: {message}\n")
    assert data.read_text().startswith(PAIRS[0][0])
    assert circle.is_symlink()


def test_a_model_that_is_not_there(data, capsys):
    got = said(capsys, "zh-fr", "--data", data, code=2)
    assert got.err.startswith("regard: there is no model and no folder 'zh-fr'")


def test_without_sacrebleu_the_remedy_is_told(run, data, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    got = said(capsys, run, "--data", data, code=2)
    assert got.err == (
        "regard: a score needs sacrebleu, which is not installed; pip install 'regard[text]'\n"
    )


def test_the_worst_in_lines_that_fit():
    rows = [
        SentenceScore(12, 3.25, 0.0, "西" * 80, "a" * 80, "\x1b[2J"),
        SentenceScore(1234, 99.9, 9.0, "短", "short", ""),
    ]
    lines = evaluate.worst_lines(rows, 90)
    assert max(map(columns_of, lines)) <= 90
    assert lines[0].split() == ["chrF", "line", "source", "reference", "output"]
    assert lines[2].split() == ["3.2", "12", "西" * 11 + "…", "a" * 23 + "…", "\ufffd[2J"]
    assert lines[3].split()[:4] == ["99.9", "1234", "短", "short"]
    starts = [line.index("reference") if i == 0 else None for i, line in enumerate(lines)]
    assert columns_of(lines[3][: lines[3].index("short")]) == starts[0]
