"""``regard compare``: its words, its flags, its figure; what it measures is tested beside it."""

import argparse
import json
import sys
from dataclasses import fields, replace

import pytest

from regard.cli import compare
from regard.cli.main import main
from regard.layers import comparison
from regard.layers.compared import ARCHITECTURES
from regard.layers.comparison import Comparison, Curve, Settings

QUICK = ["--lengths", "8,16", "--widths", "4,8", "--width", "8", "--repeats", "1"]

PLAIN = """\
n positions of width d = 128, kernel k = 5, seed 0; milliseconds for one forward
call, the least of 5; a machine

n   CNN  RNN  self-attention
--  ---  ---  --------------
8    80   80             640
16  160  160            2560

                          complexity  sequential operations  maximum path length
--------------  --------------------  ---------------------  -------------------
CNN                       O(k n d^2)                   O(1)               O(n/k)
  counted       k^1.00 n^1.00 d^2.00                 n^0.00       n^1.00 k^-1.00
  timed                n^1.00 d^2.00
RNN                         O(n d^2)                   O(n)                 O(n)
  counted              n^1.00 d^2.00                 n^1.00               n^1.00
  timed                n^1.00 d^2.00
self-attention              O(n^2 d)                   O(1)                 O(1)
  counted              n^2.00 d^1.00                 n^0.00               n^0.00
  timed                n^2.00 d^1.00

Counted: the operations torch runs, the longest chain in autograd's graph, and
the layers (for the RNN, steps in time) a gradient needs between the two
furthest positions. Timed: the slope over the larger half of the sizes, without
those that take less than 4 times as long as a size of 1, where the cost of
calling would be measured. A time also holds what memory costs, and lies off
theory more than a count. Self-attention is attend(x, x, x), as in the table;
projections would add O(n d^2).
Beware: a copy of this table that is passed around has the rows of CNN and RNN
swapped. It is the RNN whose steps wait for each other, and the CNN whose path
is shorter by its kernel.

How they grow is drawn in compare.png
"""


def as_theory_says(**changed):
    """A comparison whose every value is just what theory says; some exponents may be changed."""
    curves = []
    for a in ARCHITECTURES:
        for (quantity, axis), power in a.theory.items():
            power = changed.get(f"{a.name}_{quantity}_{axis}", power)  # noqa: PLW2901
            values = tuple(0.01 * size**power for size in (8, 16))
            curves.append(Curve(a.name, quantity, axis, (8, 16), values, power))
    return Comparison(Settings(lengths=(8, 16)), "a machine", tuple(curves))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """The plot is saved where one stands."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def measured(monkeypatch):
    """Nothing is measured: the words are tested on numbers that stay."""
    monkeypatch.setattr(comparison, "measure", lambda *_: as_theory_says())
    monkeypatch.setenv("COLUMNS", "80")


def test_plain_words_without_rich(measured, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rich", None)
    assert main(["compare"]) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == (PLAIN, "")


def test_the_same_words_with_rich(measured, capsys):
    pytest.importorskip("rich")
    assert main(["compare"]) == 0
    said = capsys.readouterr().out
    assert "─" * 60 in said  # the rule only rich draws
    wanted = [word for word in PLAIN.split() if not word.startswith("--")]
    header = {"sequential", "operations", "maximum", "path", "length", "complexity"}  # broken
    words = [word for word in said.split() if "─" not in word]
    assert [w for w in words if w not in header] == [w for w in wanted if w not in header]
    assert header < set(words)


def test_the_plot_is_saved_unless_it_is_not_wanted(measured, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    assert main(["compare", "--no-figure"]) == 0
    assert main(["compare", "--json"]) == 0
    assert list(tmp_path.iterdir()) == []
    assert "drawn" not in capsys.readouterr().out
    assert main(["compare"]) == 0
    assert (tmp_path / "compare.png").read_bytes().startswith(b"\x89PNG")
    monkeypatch.setattr(compare, "has", lambda _: False)
    capsys.readouterr()
    assert main(["compare"]) == 0
    assert capsys.readouterr().out.endswith("pip install 'regard[view]', and again\n")


def test_measured_exponents_are_printed_and_not_those_of_theory():
    cells = compare.table(as_theory_says(RNN_time_n=1.25, CNN_path_k=-0.5, RNN_steps_n=0.75))
    by_name = {cells[i][0]: cells[i + 1 : i + 3] for i in range(0, len(cells), 3)}
    assert by_name["RNN"][1][1] == "n^1.25 d^2.00"
    assert by_name["RNN"][0][2] == "n^0.75"
    assert by_name["CNN"][0][3] == "n^1.00 k^-0.50"


def test_an_exponent_that_could_not_be_measured(measured, monkeypatch, capsys):
    result = as_theory_says()
    curves = tuple(
        replace(c, floor=1e9) if (c.layer, c.quantity) == ("CNN", "time") else c
        for c in result.curves
    )
    monkeypatch.setattr(comparison, "measure", lambda *_: replace(result, curves=curves))
    assert main(["compare"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "timed n^? d^? RNN" in said
    for axis, flag in (("n", "--lengths"), ("d", "--widths")):
        assert (
            f"CNN over {axis}: fewer than two of the larger sizes take 4 times as long as {axis} "
            f"= 1, so the cost of calling hides how it grows; try larger {flag}." in said
        )


def test_the_defaults_of_the_flags_are_those_of_the_settings():
    parser = argparse.ArgumentParser()
    compare.arguments(parser)
    args = vars(parser.parse_args([]))
    for field in fields(Settings):
        assert args[field.name] in (None, field.default), field.name
    assert set(args) == {field.name for field in fields(Settings)} | {"figure", "no_figure", "json"}
    said = parser.format_help()
    assert "256 to 8192" in said  # the two that are too long to be printed
    assert Settings().lengths == tuple(2**i for i in range(8, 14))
    assert "64 to 2048" in said
    assert Settings().widths == tuple(2**i for i in range(6, 12))


def test_every_flag_reaches_the_settings(measured, monkeypatch, capsys):
    seen = []

    def measure(settings, _):
        seen.append(settings)
        return as_theory_says()

    monkeypatch.setattr(comparison, "measure", measure)
    words = "--lengths 32,16 --width 9 --widths 3,5 --kernel 7 --device cpu --seed 4 --repeats 2"
    assert main(["compare", *words.split(), "--threads", "3"]) == 0
    wanted = Settings(
        lengths=(16, 32), width=9, widths=(3, 5), kernel=7, seed=4, repeats=2, threads=3
    )
    assert seen == [wanted]


def test_json_is_all_that_was_measured(measured, capsys):
    assert main(["compare", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert set(said) == {"settings", "machine", "curves"}
    assert said["settings"]["kernel"] == 5
    assert len(said["curves"]) == 20
    path = next(c for c in said["curves"] if c["quantity"] == "path" and c["axis"] == "k")
    assert path == {
        "layer": "CNN",
        "quantity": "path",
        "axis": "k",
        "sizes": [8, 16],
        "values": [0.00125, 0.000625],
        "theory": -1,
        "floor": 0.0,
        "used": [True, True],
        "exponent": -1.0,
    }


def test_it_really_measures_and_draws(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    path = tmp_path / "new" / "a.png"
    assert main(["compare", *QUICK, "--figure", str(path)]) == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    said = capsys.readouterr()
    assert said.err == ""
    assert said.out.endswith(f"\nHow they grow is drawn in {path}\n")
    assert "k^1.00 n^1.00 d^2.00" in said.out
    assert "To see" not in said.out


SIZES = "must be a whole number from 1 to"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--lengths 0,8", f"argument --lengths: {SIZES} 1048576, got '0'"),
        ("--lengths few", f"argument --lengths: {SIZES} 1048576, got 'few'"),
        (
            "--lengths 8",
            "argument --lengths: must be two or more numbers with commas between them, got '8'",
        ),
        ("--width 0", f"argument --width: {SIZES} 16384, got '0'"),
        ("--kernel 1", "argument --kernel: must be a whole number from 3 to 255, got '1'"),
        ("--repeats 0", f"argument --repeats: {SIZES} 10000, got '0'"),
        ("--threads 0", f"argument --threads: {SIZES} 1024, got '0'"),
    ],
)
def test_a_bad_number(words, message, capsys):
    assert main(["compare", *words.split()]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"regard: {message}; see 'regard compare --help'\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--kernel 4", "kernel must be odd, from 3 to 255, got 4"),
        ("--kernel 9 --lengths 8,16", "kernel 9 is wider than the shortest of lengths, 8"),
        ("--device gpu", "device must be one torch can compute on here (cpu), got 'gpu'"),
        ("--figure a.xyz", "a figure is written as .png, .svg, .pdf, got 'a.xyz'"),
    ],
)
def test_what_cannot_be_done_is_said_before_any_work(words, message, monkeypatch, capsys):
    monkeypatch.setattr(comparison, "measure", None)
    monkeypatch.setattr(comparison.torch.accelerator, "is_available", lambda: False)
    assert main(["compare", *words.split()]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"regard: {message}\n")


def test_a_figure_that_cannot_be_written(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(comparison, "measure", None)
    (tmp_path / "file").write_text("kept")
    assert main(["compare", "--figure", str(tmp_path / "file" / "a.png")]) == 2
    assert capsys.readouterr().err == f"regard: {tmp_path}/file/a.png: Not a directory\n"
