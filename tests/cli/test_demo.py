"""``regard demo``: its numbers against the notes' own form, its words, its figure, its page."""

import json
import re
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from regard.cli import demo, demo_translation
from regard.cli.demo import Settings, compare, left_out_error, meaning, sample, true_curve
from regard.cli.main import main
from regard.scores import Gaussian

PLAIN = """\
y = 2 sin x + x^0.8 + noise of 0.5, 50 points, seed 0; errors are mean squares

method                   width  leave-one-out error  error to true curve
-----------------------  -----  -------------------  -------------------
average pooling              -               0.9983               1.0399
Gaussian, fixed width        1               0.6590               0.6750
Gaussian, learned width  0.286               0.4242               0.1097

Learning the width took it from 1 to 0.286 and the leave-one-out error from
0.6590 to 0.4242. Noise alone, which nobody can guess, is worth 0.25 on average.
It never saw the true curve, and is closer to it too: 0.1097 against 0.6750.

To see the curves and the weights: regard demo --figure demo.png

A few words in Chinese, and in English.
"""


@pytest.fixture(autouse=True)
def no_translation(monkeypatch):
    """A line in place of it: it has tests of its own, and takes its time."""
    said = "A few words in Chinese, and in English.\n"
    monkeypatch.setattr(demo_translation, "show", lambda path: sys.stdout.write(said))


@pytest.fixture(scope="module")
def result():
    return compare(Settings())


@pytest.fixture
def columns(monkeypatch):
    """80 columns, whatever the terminal the tests run in."""
    monkeypatch.setenv("COLUMNS", "80")


def _softmax(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# the numbers


def test_the_points_are_those_of_the_notes(result):
    x, y = result.x, result.y
    assert x.shape == y.shape == (50,)
    assert (x.min() >= 0) & (x.max() <= 5) & (x.diff() >= 0).all()
    assert torch.isfinite(y).all()  # a negative x would make x ** 0.8 NaN
    assert 0.3 < (y - true_curve(x)).std() < 0.7  # 50 draws of noise of 0.5
    grid = np.arange(50) / 10
    np.testing.assert_allclose(result.grid, grid, rtol=1e-14)
    np.testing.assert_allclose(result.truth, 2 * np.sin(grid) + grid**0.8, rtol=1e-12)


def test_points_noise_and_seed_do_what_they_say():
    x, y = sample(Settings(points=7, noise=0.0, seed=3))
    assert x.shape == (7,)
    assert torch.equal(y, true_curve(x))
    assert torch.equal(sample(Settings(points=7, seed=3))[0], x)
    assert not torch.equal(sample(Settings(points=7, seed=4))[0], x)


def test_average_pooling_is_the_mean(result):
    np.testing.assert_allclose(
        result.average.curve, np.full(50, result.y.numpy().mean()), rtol=1e-13
    )
    np.testing.assert_allclose(result.average.weights, np.full((50, 50), 1 / 50), rtol=1e-13)


def test_the_fixed_width_is_the_notes_softmax(result):
    grid, x, y = result.grid.numpy(), result.x.numpy(), result.y.numpy()
    weights = _softmax(-((grid[:, None] - x) ** 2) / 2)
    np.testing.assert_allclose(result.fixed.weights, weights, rtol=1e-12)
    np.testing.assert_allclose(result.fixed.curve, weights @ y, rtol=1e-12)


def test_the_learned_width_is_the_notes_parametric_softmax(result):
    grid, x, y = result.grid.numpy(), result.x.numpy(), result.y.numpy()
    w = 1 / result.learned.width  # what the notes call w
    weights = _softmax(-(((grid[:, None] - x) * w) ** 2) / 2)
    np.testing.assert_allclose(result.learned.weights, weights, rtol=1e-11)
    np.testing.assert_allclose(result.learned.curve, weights @ y, rtol=1e-11)


def test_errors_are_those_of_leaving_out_by_hand(result):
    x, y = result.x.numpy(), result.y.numpy()
    for fit in result.fits:
        w = 0.0 if fit.width is None else 1 / fit.width
        guesses = []
        for i in range(len(x)):
            others, values = np.delete(x, i), np.delete(y, i)
            guesses.append(_softmax(-(((x[i] - others) * w) ** 2) / 2) @ values)
        np.testing.assert_allclose(fit.left_out, np.mean((guesses - y) ** 2), rtol=1e-11)
        off = np.mean((fit.curve.numpy() - result.truth.numpy()) ** 2)
        np.testing.assert_allclose(fit.off_truth, off, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_learning_lowers_the_left_out_error_to_a_minimum(seed):
    result = compare(Settings(seed=seed))
    learned = result.learned
    assert learned.left_out < result.fixed.left_out
    for factor in (0.98, 1.02):  # converged: on either side it is higher
        beside = left_out_error(result.x, result.y, Gaussian(width=learned.width * factor))
        assert beside.item() > learned.left_out


def test_epochs_are_optimiser_steps():
    few, many = (compare(Settings(epochs=n)).learned for n in (1, 30))
    assert many.left_out < few.left_out < compare(Settings()).fixed.left_out


def test_two_points_leave_nothing_to_learn():
    result = compare(Settings(points=2))
    assert result.learned.width == 1.0
    assert meaning(result).startswith("Learning found no width with a lower leave-one-out error")


# the words


CLOSER = "It never saw the true curve, and is closer to it too: 1.0000 against 2.0000."
FURTHER = (
    "The true curve, which it never saw, it is further from: 2.0000 against 1.0000. "
    "With few or noisy points a lower leave-one-out error promises little."
)


@pytest.mark.parametrize(
    ("average", "fixed", "learned", "said"),
    [
        (3, 2, 1, CLOSER),
        (3, 1, 2, FURTHER),
        (3, 2, 2, "Against the true curve the two are the same."),
        (0.5, 2, 1, f"{CLOSER} Closest of the three is the plain average."),
    ],
)
def test_the_test_error_is_told_as_it_is(result, average, fixed, learned, said):
    changed = replace(
        result,
        average=replace(result.average, off_truth=average),
        fixed=replace(result.fixed, off_truth=fixed),
        learned=replace(result.learned, off_truth=learned),
    )
    first = "is worth 0.25 on average. "
    assert meaning(changed).partition(first)[2] == said


def test_plain_words_without_rich(monkeypatch, columns, capsys):
    monkeypatch.setitem(sys.modules, "rich", None)
    assert main(["demo"]) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == (PLAIN, "")


def test_the_same_words_with_rich(monkeypatch, columns, capsys):
    pytest.importorskip("rich")
    assert main(["demo"]) == 0
    said = capsys.readouterr().out
    assert "─" * 60 in said  # the rule only rich draws
    words = [word for word in said.split() if "─" not in word]
    assert words == [word for word in PLAIN.split() if "--" not in word[:2] or word == "--figure"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--points", "1"], "--points: must be a whole number from 2 to 100000, got '1'"),
        (["--points", "many"], "--points: must be a whole number from 2 to 100000, got 'many'"),
        (["--points", "2.5"], "--points: must be a whole number from 2 to 100000, got '2.5'"),
        (
            ["--points", "9" * 30],
            f"--points: must be a whole number from 2 to 100000, got '{'9' * 30}'",
        ),
        (["--noise", "-1"], "--noise: must be a number from 0 to 1000000, got '-1'"),
        (["--noise", "nan"], "--noise: must be a number from 0 to 1000000, got 'nan'"),
        (["--seed", "-1"], f"--seed: must be a whole number from 0 to {2**63 - 1}, got '-1'"),
        (["--epochs", "0"], "--epochs: must be a whole number from 1 to 100000, got '0'"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_a_bad_number(words, message, capsys):
    assert main(["demo", *words]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"regard: argument {message}; see 'regard demo --help'\n")


@pytest.mark.parametrize("words", [["--noise", "1000000"], ["--seed", str(2**63 - 1)]], ids=str)
def test_the_ends_of_the_ranges_work(words, capsys):
    assert main(["demo", "--points", "3", *words]) == 0
    assert "nan" not in capsys.readouterr().out


# the figure


@pytest.mark.parametrize(
    ("name", "magic"),
    [
        ("a.png", b"\x89PNG"),
        ("b.svg", b"<?xml"),
        ("new/folder/c.pdf", b"%PDF"),
        ("D.PNG", b"\x89PNG"),
    ],
)
def test_the_figure_is_saved_by_suffix(tmp_path, capsys, name, magic):
    pytest.importorskip("matplotlib")
    path = tmp_path / name
    assert main(["demo", "--figure", str(path)]) == 0
    assert path.read_bytes().startswith(magic)
    assert path.stat().st_size > 5000
    said = capsys.readouterr().out
    assert f"\nThe curves and the weights are in {path}\n\nA few words" in said
    assert "To see" not in said


def _refused(path, capsys, monkeypatch):
    """What is said of the path, before any work is done."""
    monkeypatch.setattr(demo, "compare", None)
    assert main(["demo", "--figure", str(path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


@pytest.mark.parametrize("name", ["a.xyz", "a", "a.png.gz"])
def test_an_unknown_suffix(tmp_path, capsys, monkeypatch, name):
    path = tmp_path / name
    wanted = f"regard: a figure is written as .png, .svg, .pdf, got '{path}'\n"
    assert _refused(path, capsys, monkeypatch) == wanted


def test_a_path_that_cannot_be_written(tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    (tmp_path / "file").write_text("kept")
    (tmp_path / "folder.png").mkdir()
    for name, why in [
        ("file/a.png", "file/a.png: Not a directory"),
        ("file/b/a.png", "file/b: Not a directory"),
        ("folder.png", "folder.png: Is a directory"),
    ]:
        assert _refused(tmp_path / name, capsys, monkeypatch) == f"regard: {tmp_path}/{why}\n"
    assert (tmp_path / "file").read_text() == "kept"


def test_without_matplotlib_only_the_figure_is_missed(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["demo"]) == 0
    capsys.readouterr()
    wanted = (
        "regard: a figure needs matplotlib, which is not installed; pip install 'regard[view]'\n"
    )
    assert _refused(tmp_path / "a.png", capsys, monkeypatch) == wanted
    assert not (tmp_path / "a.png").exists()


# the page


def test_the_page_has_the_points_and_the_learned_width(tmp_path, capsys, result):
    path = tmp_path / "new" / "demo.html"
    assert main(["demo", "--page", str(path)]) == 0
    assert f"To move the query and the width yourself, open {path}\n" in capsys.readouterr().out
    text = path.read_text(encoding="utf-8")
    found = re.search(r'id="regard-document">(.*?)</script>', text)
    told = json.loads(found[1])
    assert told["kind"] == "kernel"
    assert told["kernel"]["width"] == pytest.approx(result.learned.width)
    assert told["kernel"]["x"]["count"] == 50


def test_a_page_is_refused_before_the_work(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(demo, "compare", None)
    assert main(["demo", "--page", str(tmp_path / "demo.png")]) == 2
    assert "a page is written as .html" in capsys.readouterr().err
