"""``regard translate``: what goes to standard output, and what does not."""

import io
import json
import os
import select
import signal
import subprocess
import sys

import pytest
import torch

from regard.cli import alignments, texts, translate
from regard.cli.main import main
from regard.tasks.packed import ship
from regard.tasks.translation import translator as module
from regard.tasks.translation.translated import Alternative, Translation
from regard.tasks.translation.translator import Translator
from tests.tasks.translation.tiny import PAIRS, tiny_run

SOURCES = [source for source, _ in PAIRS[:3]]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return str(tiny_run(tmp_path_factory.mktemp("runs") / "run"))


@pytest.fixture(scope="module")
def wanted(run):
    translator = Translator.load(run)
    return [translator(source).text for source in SOURCES]


@pytest.fixture
def typed(monkeypatch):
    """Gives a function that puts bytes on standard input."""

    def put(data, *, terminal=False):
        stdin = io.TextIOWrapper(io.BytesIO(data), encoding="ascii")
        stdin.isatty = lambda: terminal
        monkeypatch.setattr(sys, "stdin", stdin)

    return put


def said(capsys, *words, code=0):
    assert main(["translate", *words]) == code
    return capsys.readouterr()


def test_texts(run, wanted, capsys):
    got = said(capsys, *SOURCES, "--model", run)
    assert got.out.splitlines() == wanted
    assert got.err == ""


def test_the_default_is_a_model_that_came_with_the_package(run, tmp_path, monkeypatch, capsys):
    ship(run, tmp_path / "shipped" / "zh-en")
    monkeypatch.setattr(module, "_shipped", lambda: tmp_path / "shipped")
    assert said(capsys, "你好").out.count("\n") == 1
    got = said(capsys, "你好", "--model", "en-zh", code=2)
    assert got.err.startswith("regard: there is no model and no folder 'en-zh'; of models there")


def test_a_run_of_the_defaults_name_is_meant_by_its_path_alone(tmp_path, monkeypatch, capsys):
    ship(tiny_run(tmp_path / "run"), tmp_path / "shipped" / "zh-en")
    tiny_run(tmp_path / "here" / "zh-en", seed=1)
    monkeypatch.setattr(module, "_shipped", lambda: tmp_path / "shipped")
    monkeypatch.chdir(tmp_path / "here")
    default = said(capsys, "你好").out
    assert default == Translator.load(tmp_path / "shipped" / "zh-en")("你好").text + "\n"
    assert said(capsys, "你好", "--model", "./zh-en").out != default
    got = said(capsys, "你好", "--model", "zh-en", code=2)
    assert (got.out, got.err.count("\n")) == ("", 1)
    assert got.err.startswith("regard: 'zh-en' is a model that comes with regard, and the folder")


def test_a_file_by_lines(run, wanted, tmp_path, capsys, monkeypatch):
    path = tmp_path / "a.txt"
    lines = [SOURCES[0], "", f"{SOURCES[1]}\r", SOURCES[2]]
    path.write_bytes(b"\xef\xbb\xbf" + "\n".join(lines).encode() + b"\n\xff\n")
    monkeypatch.setattr(texts, "LINES", 2)
    got = said(capsys, "--file", str(path), "--model", run).out.split("\n")
    assert got[:4] == [wanted[0], "", wanted[1], wanted[2]]
    assert len(got) == 6  # the line that is no UTF-8, and the end


def test_utf_16_is_not_translated_as_if_it_were_text(run, typed, tmp_path, capsys):
    path = tmp_path / "a.txt"
    path.write_text("你好。\n谢谢你。\n", encoding="utf-16")
    typed(path.read_bytes())
    for words, name in [(["--file", str(path)], path), ([], "standard input")]:
        got = said(capsys, *words, "--model", run, code=2)
        assert (got.out, got.err) == (
            "",
            f"regard: {name}: wanted lines of text, this is UTF-16; give it as plain text in "
            "UTF-8\n",
        )


def test_standard_input_line_by_line(run, wanted, typed, capsys):
    typed("\n".join(SOURCES[:2]).encode())
    got = said(capsys, "--model", run)
    assert got.out.splitlines() == wanted[:2]
    assert got.err == ""


def test_a_person_is_asked(run, wanted, typed, capsys):
    typed(f"{SOURCES[0]}\n".encode(), terminal=True)
    got = said(capsys, "--model", run)
    assert (got.out, got.err) == (wanted[0] + "\n", "> > \n")


def test_no_input_no_output(run, typed, capsys, monkeypatch):
    typed(b"")
    assert said(capsys, "--model", run).out == ""
    monkeypatch.setattr(sys, "stdin", None)  # as under pythonw
    assert said(capsys, "--model", run).out == ""


@pytest.mark.parametrize("text", ["", " ", "\x00", "\udcff", "😀", "-"])
def test_odd_texts_have_one_line(run, text, capsys):
    assert said(capsys, text, "--model", run).out.count("\n") == 1


def test_words_in_bytes_are_read_as_what_they_are(run, wanted, capsys, monkeypatch):
    monkeypatch.setattr(texts, "fsencode", lambda x: x.encode("ascii", "surrogateescape"))
    escaped = SOURCES[0].encode().decode("ascii", "surrogateescape")
    assert said(capsys, escaped, "--model", run).out == wanted[0] + "\n"


def test_fewer_than_asked_for_are_told_of_in_one_line(run, typed, capsys, monkeypatch):
    def called(self, asked, **options):
        ways = {"no": 0, "one": 1, "two": 2}
        return [
            Translation("x", text, alternatives=(Alternative("x", (), -1.0),) * ways[text])
            for text in asked
        ]

    monkeypatch.setattr(Translator, "__call__", called)
    few = "fewer than 2 different translations in a beam of 100\n"
    words = ["--n-best", "2", "--model", run]
    assert said(capsys, "no", "two", *words).err == ""
    assert said(capsys, "no", "one", "two", *words).err == f"regard: a text has {few}"
    typed(b"one\none\n")
    assert said(capsys, *words).err == f"regard: 2 texts have {few}"


def test_n_best(run, wanted, capsys):
    got = said(capsys, SOURCES[0], SOURCES[1], "--n-best", "5", "--model", run).out
    first, second = got.split("\n\n")
    rows = [line.split("\t") for line in first.splitlines()]
    scores = [float(score) for score, _ in rows]
    assert 1 < len(rows) <= 5
    assert scores == sorted(scores, reverse=True)
    assert len({text for _, text in rows}) == len(rows)
    assert len(second.splitlines()) > 1


def test_beam_and_length_penalty_arrive(run, capsys, monkeypatch):
    seen = []

    def called(self, texts, **options):
        options.pop("tell")
        seen.append(options)
        return [Translation("x", "y") for _ in texts]

    monkeypatch.setattr(Translator, "__call__", called)
    said(capsys, "a", "--model", run)
    said(capsys, "a", "--model", run, "--n-best", "7")
    said(capsys, "a", "--model", run, "--beam", "2", "--length-penalty", "0.5", "--n-best", "2")
    assert seen == [
        {"beam": 4, "n_best": 1, "length_penalty": 1.0},
        {"beam": 7, "n_best": 7, "length_penalty": 1.0},
        {"beam": 2, "n_best": 2, "length_penalty": 0.5},
    ]


def test_json(run, wanted, capsys):
    got = said(capsys, *SOURCES, "", "--json", "--n-best", "2", "--model", run)
    *rows, empty = [json.loads(line) for line in got.out.splitlines()]
    assert [row["translation"] for row in rows] == wanted
    assert list(rows[0]) == [
        "source", "translation", "source_tokens", "tokens", "score", "weights", "alternatives"
    ]  # fmt: skip
    found = Translator.load(run)(SOURCES[0], n_best=2)
    assert rows[0]["tokens"] == list(found.tokens)
    assert rows[0]["score"] == pytest.approx(found.score, rel=1e-5)
    torch.testing.assert_close(torch.tensor(rows[0]["weights"]), found.weights, atol=1e-6, rtol=0)
    assert [way["translation"] for way in rows[0]["alternatives"]] == [
        way.text for way in found.alternatives
    ]
    assert (empty["translation"], empty["weights"]) == ("", [])
    assert got.err == ""


def test_json_of_several_sentences_has_their_weights_apart(run, capsys):
    got = said(capsys, f"{SOURCES[0]}\n{SOURCES[1]}", "--json", "--model", run)
    (row,) = [json.loads(line) for line in got.out.splitlines()]
    assert row["weights"] is None
    assert [part["source"] for part in row["parts"]] == list(SOURCES[:2])
    for part in row["parts"]:
        assert len(part["weights"]) == len(part["tokens"])
        assert "parts" not in part


def test_json_has_no_nan_and_can_be_read_in_any_encoding(monkeypatch):
    nan = torch.full((1, 2), torch.nan)
    translation = Translation("é", "西", ("a", "b"), ("c",), -torch.inf, look=lambda: nan)
    row = json.loads(translate.as_json(translation))
    assert (row["score"], row["weights"]) == (None, [[None, None]])
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="latin-1"))
    assert translate.as_json(translation).isascii()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    assert "西" in translate.as_json(translation)


def test_show_draws_on_standard_error(run, wanted, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    got = said(capsys, *SOURCES[:1], "--show", "--model", run)
    assert got.out == wanted[0] + "\n"
    assert "░" in got.err or "▒" in got.err
    assert "好" in got.err.splitlines()[0]
    long = said(capsys, "".join(SOURCES) * 5, "--show", "--model", run)
    assert long.err.split("\n\n")[1].split()[0]  # a drawing a sentence
    assert long.err.count("\n\n") == 14
    assert said(capsys, "", "--show", "--model", run).err == ""


@pytest.mark.parametrize(
    ("encoding", "terminal", "environment", "wanted"),
    [
        ("utf-8", True, {"COLORTERM": "truecolor"}, "\x1b[48;2;"),
        ("utf-8", True, {"COLORTERM": "truecolor", "NO_COLOR": ""}, "█"),
        ("utf-8", True, {}, "█"),
        ("utf-8", False, {"COLORTERM": "truecolor"}, "█"),
        ("latin-1", False, {}, "#"),
    ],
)
def test_a_drawing_is_as_good_as_the_terminal(encoding, terminal, environment, wanted, monkeypatch):
    for name in ("COLORTERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    stream.isatty = lambda: terminal
    drawn = Translation("a", "b", ("西",), ("c",), look=lambda: torch.ones(1, 1))
    alignments.show(drawn, stream)
    text = stream.buffer.getvalue().decode(encoding)
    assert wanted in text
    assert ("\x1b" in text) == ("\x1b" in wanted)


@pytest.mark.parametrize(("name", "magic"), [("a.png", b"\x89PNG"), ("new/b.svg", b"<?xml")])
def test_the_figure(run, wanted, tmp_path, name, magic, capsys):
    pytest.importorskip("matplotlib")
    path = tmp_path / name
    got = said(capsys, SOURCES[0], "--figure", str(path), "--model", run)
    assert got.out == wanted[0] + "\n"
    assert got.err == f"The alignment is in {path}\n"
    assert path.read_bytes().startswith(magic)
    assert said(capsys, " ", "--figure", str(path), "--model", run).err == "Nothing to draw\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a", "--file", "b"], "translate takes a TEXT or --file, got both"),
        (["--file", "nothing.txt"], "nothing.txt: No such file or directory"),
        (["a", "b", "--figure", "a.png"], "--figure draws one TEXT, got 2"),
        (["--figure", "a.png"], "--figure draws one TEXT, got none"),
        (["a", "--figure", "a.txt"], "a figure is written as .png, .svg, .pdf, got 'a.txt'"),
        (["a", "--n-best", "3", "--beam", "2"], "--n-best must be at most --beam 2, got 3"),
        (
            ["a", "--beam", "0"],
            "argument --beam: must be a whole number from 1 to 100, got '0'; see 'regard "
            "translate --help'",
        ),
        (
            ["a", "--n-best", "101"],
            "argument --n-best: must be a whole number from 1 to 100, got '101'; see 'regard "
            "translate --help'",
        ),
        (
            ["a", "--length-penalty", "nan"],
            "argument --length-penalty: must be a number from -10 to 10, got 'nan'; see 'regard "
            "translate --help'",
        ),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_wrong_words_are_answered_before_any_work(words, message, capsys, monkeypatch):
    monkeypatch.setattr(Translator, "load", None)
    got = said(capsys, *words, code=2)
    assert (got.out, got.err) == ("", f"regard: {message}\n")


def test_the_widest_beam_is_the_translators():
    assert translate.WIDEST == module.WIDEST


def test_a_figure_replaces_no_pipe(run, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    path = tmp_path / "a.png"
    os.mkfifo(path)
    got = said(capsys, "a", "--figure", str(path), "--model", run, code=2)
    assert got.err == f"regard: {path} is a device or a pipe, not a file; give another name\n"
    assert path.is_fifo()


def test_a_text_too_long_for_a_figure_is_translated_all_the_same(
    run, tmp_path, capsys, monkeypatch
):
    pytest.importorskip("matplotlib")
    path, long = tmp_path / "a.png", Translation("x", "y", ("b",), ("a",) * 2001)
    monkeypatch.setattr(Translator, "__call__", lambda self, asked, **_: [long])
    got = said(capsys, "y", "--figure", str(path), "--model", run, code=2)
    assert got.out == "x\n"
    assert got.err == (
        "regard: a figure of an alignment has at most 2,000 tokens on a side, got 2,001 written "
        "and 1 read; draw a part of the text\n"
    )
    assert not path.exists()


def test_without_sentencepiece_the_remedy_is_told(run, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    got = said(capsys, "a", "--model", run, code=2)
    assert got.err.endswith("needs sentencepiece, which is not installed; pip install "
                            "'regard[text]'\n")  # fmt: skip


def test_a_process_answers_each_line_and_leaves_on_ctrl_c(run):
    """Also that nothing is imported that a translation does not need."""
    code = (
        "import sys, regard.cli.main as m; code = m.main(); "
        "print(sorted({'matplotlib', 'sacrebleu', 'sklearn', 'scipy', 'numba', 'pandas', "
        "'torch.distributed.tensor'} & set(sys.modules)), file=sys.stderr); sys.exit(code)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, "translate", "--model", run],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONUNBUFFERED": ""},
    ) as process:
        process.stdin.write(f"{SOURCES[0]}\n".encode())
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], 60)
        assert ready  # while its input is still open
        assert process.stdout.readline().endswith(b"\n")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stderr.read() == b"[]\n"
