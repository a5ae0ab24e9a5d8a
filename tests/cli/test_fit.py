"""``regard fit``: its numbers, its words, its files and figures; not what the estimator does."""

import argparse
import json
import math
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from regard.cli import fit as verb
from regard.cli import fitted, pictures
from regard.cli.columns import Columns, read
from regard.cli.main import main

pytest.importorskip("pyarrow")
pytest.importorskip("sklearn")

from regard.regression import NadarayaWatson
from regard.regression.algorithms import ALGORITHMS
from regard.regression.kernels import KERNELS
from regard.regression.nadaraya_watson import CHOSEN

N = 120
DRAW = np.random.default_rng(0)
X = DRAW.uniform(0, 5, N)
Y = 2 * np.sin(X) + X**0.8 + 0.5 * DRAW.standard_normal(N)
Z = DRAW.uniform(0, 5, N)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Files are named as they were given, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    rows = zip(X, Y, Z, strict=True)
    lines = [f"{x!r},{y!r},{z!r},{i % 3},text" for i, (x, y, z) in enumerate(rows)]
    # as numpy's numbers are written by numpy 1, too
    text = "\n".join(lines).replace("np.float64(", "").replace(")", "")
    Path("data.csv").write_text("temp,demand,wind,times,note\n" + text + "\n,1,1,1,\n1,,1,1,\n")
    Path("grid.csv").write_text("temp\n0\n2.5\n5\n")
    return tmp_path


def call(words):
    """The exit code."""
    return main(["fit", *words.split()])


def said(capsys):
    """What was printed, one space between words."""
    got = capsys.readouterr()
    assert got.err == ""
    return " ".join(got.out.split())


def model(**settings):
    return NadarayaWatson(**settings).fit(X[:, None], Y)


def brute_left_out(x, y, width, weight=None):
    """By the definition: each row from all those at other places."""
    weight = np.ones(len(x)) if weight is None else weight
    k = np.exp(-0.5 * ((x[:, None] - x) / width) ** 2) * weight * (x[:, None] != x)
    return float(weight @ (k @ y / k.sum(1) - y) ** 2 / weight.sum())


PLAIN = """\
demand by temp, from 120 rows of data.csv; 2 more were skipped, with a value missing

                                  demand
--------------------------------  ------
leave-one-out error, mean square  {error}
its root                          {root}
R^2 against the mean              {r2}

The width of the gaussian kernel: 0.25 for temp, as given. Degree 0, summed by the algorithm 'fast'.
"""


def test_plain_words_without_rich(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rich", None)
    assert call("data.csv --x temp --y demand --bandwidth 0.25") == 0
    got = capsys.readouterr()
    error = brute_left_out(X, Y, 0.25)
    numbers = {"error": error, "root": math.sqrt(error), "r2": 1 - error / Y.var()}
    words = PLAIN.format(**{name: f"{value:.4g}" for name, value in numbers.items()})
    out, _, last = got.out.removesuffix("\n").rpartition("\n")
    assert (out + "\n", got.err) == (words, "")
    assert last.partition(" seconds: ")[2].replace(",", "").rstrip(".").split()[1::2] == [
        "loading",
        "reading",
        "fitting",
    ]


def test_the_width_is_chosen_by_leaving_out(capsys):
    assert call("data.csv --x temp --y demand") == 0
    words, chosen = said(capsys), model()
    assert (
        f"The width of the gaussian kernel: {chosen.bandwidth_[0]:.4g} for temp, chosen by the "
        f"least leave-one-out error among {chosen.n_iter_} tried." in words
    )
    assert f"{chosen.loo_score_:.4g}" in words


def test_a_rule_of_thumb_tries_nothing(capsys):
    assert call("data.csv --x temp --y demand --bandwidth scott") == 0
    assert "for temp, chosen by Scott's rule of thumb. Degree 0" in said(capsys)


def table(**values):
    return Columns({name: np.asarray(x, dtype=float) for name, x in values.items()}, 0)


def test_rows_at_one_place_do_not_tell_each_other():
    x = np.repeat(X, 2)
    y = np.repeat(Y, 2) + np.tile([0.3, -0.3], N)
    weight = np.tile([1.0, 3.0], N)
    found = fitted.fit(table(x=x, y=y, w=weight), ["x"], ["y"], "w", bandwidth=0.2)
    assert found.left_out[0] == pytest.approx(brute_left_out(x, y, 0.2, weight), rel=1e-7)
    middle = weight @ y / weight.sum()
    assert found.about_mean[0] == pytest.approx(weight @ (y - middle) ** 2 / weight.sum())
    assert found.r2[0] == pytest.approx(1 - found.left_out[0] / found.about_mean[0])


def test_rows_of_weight_0_count_as_none():
    x, y = np.append(X, 2.0), np.append(Y, 1e6)
    found = fitted.fit(
        table(x=x, y=y, w=np.append(np.ones(N), 0)), ["x"], ["y"], "w", bandwidth=0.2
    )
    assert len(found.x) == N
    assert found.left_out[0] == pytest.approx(brute_left_out(X, Y, 0.2), rel=1e-7)


def test_no_column_decides_the_width_by_its_unit():
    small = fitted.fit(table(x=X, a=Y, b=Z), ["x"], ["a", "b"])
    large = fitted.fit(table(x=X, a=Y, b=1e6 * Z), ["x"], ["a", "b"])
    assert large.widths["x"] == pytest.approx(small.widths["x"], rel=1e-4)
    assert large.left_out[1] == pytest.approx(1e12 * small.left_out[1], rel=1e-4)
    assert large.model.predict([[1.0]])[0, 1] == pytest.approx(
        1e6 * small.model.predict([[1.0]])[0, 1], rel=1e-4
    )
    assert small.left_out[0] == pytest.approx(brute_left_out(X, Y, small.widths["x"]), rel=1e-7)
    assert (large.search.n_iter_ > 1, large.model.n_iter_) == (True, 1)


def test_a_constant_column_has_no_r2_and_noise_is_no_better_than_the_mean(capsys):
    lines = Path("data.csv").read_text().splitlines()
    Path("data.csv").write_text("\n".join([lines[0] + ",flat"] + [row + ",7" for row in lines[1:]]))
    assert call("data.csv --x temp --y wind,flat --bandwidth 0.1 --json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["r2"]["flat"] is None
    assert found["r2"]["wind"] < 0
    assert call("data.csv --x temp --y wind,flat,demand --bandwidth 0.1") == 0
    assert "For wind, flat this is no better than the mean." in said(capsys)


def test_a_width_at_the_end_of_the_search_is_said(capsys):
    Path("line.csv").write_text("a,b\n" + "\n".join(f"{i},{i % 2}" for i in range(99)))
    assert call("line.csv --x a --y b --json") == 0
    assert json.loads(capsys.readouterr().out)["width_on_edge"] is True
    assert call("line.csv --x a --y b") == 0
    assert (
        "The best width lies at an end of the search: so wide that the curve is flat, or with "
        "degree 1 straight, or so narrow that it follows single rows." in said(capsys)
    )


def test_predictions_where_they_are_wanted(capsys):
    words = "fit data.csv --x temp --y demand --at grid.csv --bandwidth 0.3"
    assert main(words.split()) == 0
    wanted = model(bandwidth=0.3)
    values, errors = wanted.predict([[0.0], [2.5], [5.0]], return_std=True)
    band = wanted.predict_interval([[0.0], [2.5], [5.0]])
    printed = said(capsys)
    assert "temp demand_predicted demand_error demand_low demand_high" in printed
    for x, value, error, (low, high) in zip((0, 2.5, 5), values, errors, band, strict=True):
        assert f" {x} {value:.4g} {error:.4g} {low:.4g} {high:.4g}" in printed
    assert main([*words.split(), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["predictions"]
    assert found["temp"] == [0.0, 2.5, 5.0]
    assert found["demand_predicted"] == values.tolist()
    assert found["demand_error"] == errors.tolist()
    assert np.allclose(np.transpose([found["demand_low"], found["demand_high"]]), band, rtol=1e-12)


def test_many_predictions_are_not_all_printed(capsys):
    Path("grid.csv").write_text("temp\n" + "\n".join(map(str, range(500))) + "\n\nNA\n")
    assert call("data.csv --x temp --y demand --at grid.csv --bandwidth 0.3") == 0
    printed = said(capsys)
    assert " 19 " in printed
    assert " 20 " not in printed.partition("demand_high")[2].partition("These")[0]
    assert "These are 20 of 500; --out writes them all." in printed
    assert printed.endswith("1 row of grid.csv was skipped, with a value missing")


@pytest.mark.parametrize("name", ["new/p.csv", "p.parquet"])
def test_predictions_in_a_file(name, capsys):
    words = (
        f"fit data.csv --x temp,wind --y demand --y times --bandwidth 0.3,9 --out {name}".split()
    )
    assert main(words) == 0
    assert said(capsys).endswith(f"120 predictions are in {name}")
    columns = ["temp", "wind"]
    columns += [
        f"{y}_{z}" for y in ("demand", "times") for z in ("predicted", "error", "low", "high")
    ]
    found = read(Path(name), columns)
    places, y = np.column_stack((X, Z)), np.column_stack((Y, np.arange(N) % 3))
    wanted = NadarayaWatson(bandwidth=[0.3, 9.0]).fit(places, y)
    assert found.values["wind"].tolist() == Z.tolist()
    assert np.allclose(found.values["times_predicted"], wanted.predict(places)[:, 1], rtol=1e-9)
    assert np.allclose(found.values["demand_high"], wanted.predict_interval(places)[:, 0, 1])
    assert main(words) == 2
    assert capsys.readouterr().err == (
        f"regard: {name} is there already; give another name, or --force to write over it\n"
    )
    assert main([*words, "--force"]) == 0


def test_holes_are_left_empty_and_counted(capsys):
    Path("grid.csv").write_text("temp\n2.5\n99\n")
    words = "fit data.csv --x temp --y demand,wind --at grid.csv --kernel boxcar --bandwidth 0.5"
    assert main([*words.split(), "--empty", "nan", "--out", "p.csv"]) == 0
    last = "1 of 2 places have no data in reach of the kernel, and no prediction"
    assert said(capsys).endswith(f"2 predictions are in p.csv {last}")
    assert Path("p.csv").read_text().splitlines()[2] == "99" + 8 * ","
    assert main([*words.split(), "--empty", "nan"]) == 0
    assert " 99 - - - - - - - - 1 of 2 places" in said(capsys)
    assert main([*words.split(), "--empty", "raise"]) == 2
    assert capsys.readouterr().err == (
        "regard: 1 of 2 queries have no data in reach of the kernel; use a wider bandwidth, or "
        "empty='nearest', 'mean' or 'nan'\n"
    )


def test_json_is_everything(capsys):
    words = "fit data.csv --x temp --y demand --weight times --bandwidth 0.3 --degree 1 --json"
    assert main(words.split()) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found.pop("seconds")) == {"loading", "reading", "fitting"}
    assert found.pop("leave_one_out")["demand"] == pytest.approx(0.3, abs=0.1)
    assert found.pop("r2")["demand"] == pytest.approx(0.85, abs=0.1)
    assert found == {
        "data": "data.csv",
        "rows": 80,
        "skipped": 2,
        "x": ["temp"],
        "y": ["demand"],
        "kernel": "gaussian",
        "degree": 1,
        "algorithm": "fast",
        "width": {"temp": 0.3},
        "width_by": "given",
        "widths_tried": 1,
        "width_on_edge": False,
    }


def test_every_flag_reaches_the_estimator(monkeypatch):
    seen = {}

    def fit(table, x_names, y_names, weight, **settings):
        seen.update(settings, names=(x_names, y_names, weight))
        raise KeyboardInterrupt

    monkeypatch.setattr(verb, "fit", fit)
    words = (
        "fit data.csv --x temp --x wind --y demand --weight times --kernel tricube --bandwidth 2,3 "
        "--degree 1 --per-feature --tol 1e-6 --algorithm brute --empty mean"
    )
    assert main(words.split()) == 130
    assert seen == {
        "names": (["temp", "wind"], ["demand"], "times"),
        "kernel": "tricube",
        "bandwidth": [2.0, 3.0],
        "degree": 1,
        "per_feature": True,
        "tol": 1e-6,
        "algorithm": "brute",
        "empty": "mean",
    }


def test_the_flags_are_those_of_the_estimator():
    parser = argparse.ArgumentParser()
    verb.arguments(parser)
    args = vars(parser.parse_args(["d", "--x", "a", "--y", "b"]))
    defaults = NadarayaWatson().get_params()
    settings = ("kernel", "bandwidth", "degree", "per_feature", "tol", "algorithm", "empty")
    assert {name: args[name] for name in settings} == {name: defaults[name] for name in settings}
    assert tuple(KERNELS) == verb.KERNELS
    assert tuple(verb.CHOSEN) == CHOSEN
    assert verb.ALGORITHMS == ALGORITHMS


NAMES = "scott, silverman, loo, aicc, learn"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--y demand", "the following arguments are required: --x"),
        (
            "--x temp,,b --y demand",
            "argument --x: must be names of columns with commas between them, got 'temp,,b'",
        ),
        (
            "--x temp --y demand --kernel round",
            f"argument --kernel: must be one of {', '.join(KERNELS)}; got 'round'",
        ),
        (
            "--x temp --y demand --bandwidth best",
            f"argument --bandwidth: must be {NAMES}, or a number above 0, or one for each --x; "
            "got 'best'",
        ),
        (
            "--x temp --y demand --bandwidth 1,0",
            f"argument --bandwidth: must be {NAMES}, or a number above 0, or one for each --x; "
            "got '1,0'",
        ),
        ("--x temp --y demand --degree 2", "argument --degree: must be one of 0, 1; got '2'"),
        (
            "--x temp --y demand --tol 1",
            "argument --tol: must be a number above 0 and below 1, got '1'",
        ),
        (
            "--x temp --y demand --algorithm slow",
            "argument --algorithm: must be one of auto, fast, window, brute; got 'slow'",
        ),
        (
            "--x temp --y demand --empty no",
            "argument --empty: must be one of nearest, nan, mean, raise; got 'no'",
        ),
    ],
)
def test_a_bad_flag(words, message, capsys):
    assert main(["fit", "data.csv", *words.split()]) == 2
    got = capsys.readouterr()
    assert (got.out, got.err) == ("", f"regard: {message}; see 'regard fit --help'\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("none.csv --x a --y b", "none.csv: No such file or directory"),
        (". --x a --y b", ".: Is a directory"),
        (
            "data.csv --x tmep --y demand",
            "data.csv has no column 'tmep', only 'temp', 'demand', 'wind', 'times', 'note'",
        ),
        (
            "data.csv --x temp --y note",
            "column 'note' of data.csv must hold numbers, got the text 'text' in row 1 below the "
            "header; correct it, or leave it empty to skip the row",
        ),
        (
            "data.csv --x temp --y temp",
            "the column 'temp' is asked for twice, after --x and --y; it can have one part only",
        ),
        (
            "data.csv --x temp,temp --y demand",
            "the column 'temp' is asked for twice, after --x; it can have one part only",
        ),
        (
            "data.csv --x temp --y demand --weight demand",
            "the column 'demand' is asked for twice, after --y and --weight; it can have one part "
            "only",
        ),
        (
            "data.csv --x a_low --y a --out p.csv",
            "--out would have two columns named 'a_low'; rename one in the data",
        ),
        (
            "one.csv --x a --y b",
            "a curve needs data at two places at least, got 1 row",
        ),
        (
            "same.csv --x a --y b",
            "a curve needs data at two places at least, got 2 rows, all with the same 'a'",
        ),
        (
            "data.csv --x temp --y demand --weight minus",
            "data.csv has no column 'minus', only 'temp', 'demand', 'wind', 'times', 'note'",
        ),
        ("same.csv --x b --y a --weight c", "column 'c' must hold weights of 0 or more, got -1"),
        (
            "same.csv --x b --y a --weight d",
            "column 'd' must hold a weight above 0 in at least one row, got 0 in all",
        ),
        (
            "data.csv --x temp --y demand --at data.csv --out data.csv --force",
            "data.csv is read here, and will not be written over; give another name",
        ),
        (
            "data.csv --x temp --y demand --figure a.xyz",
            "a figure is written as .png, .svg, .pdf, got 'a.xyz'",
        ),
        (
            "data.png --x temp --y demand --figure data.png",
            "data.png is read here, and will not be written over; give another name",
        ),
        (
            "data.csv --x temp --y demand --at one.csv",
            "one.csv has no column 'temp', only 'a', 'b'",
        ),
        (
            "data.csv --x temp --y demand --bandwidth 1,2",
            "bandwidth must be a number or one for each of 1 features, got shape (2,)",
        ),
    ],
)
def test_what_cannot_be_done_is_one_line(words, message, capsys):
    Path("one.csv").write_text("a,b\n1,2\n,3\n")
    Path("same.csv").write_text("a,b,c,d\n1,2,1,0\n1,3,-1,0\n")
    Path("data.png").write_bytes(Path("data.csv").read_bytes())
    before = sorted(Path().iterdir())
    assert main(["fit", *words.split()]) == 2
    got = capsys.readouterr()
    assert (got.out, got.err) == ("", f"regard: {message}\n")
    assert sorted(Path().iterdir()) == before


def test_without_scikit_learn(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert call("data.csv --x temp --y demand") == 2
    assert capsys.readouterr().err == (
        "regard: kernel regression needs sklearn, which is not installed; pip install "
        "'regard[fit]'\n"
    )


def test_names_with_markup_and_commands_are_printed_as_they_are(capsys):
    pytest.importorskip("rich")
    text = Path("data.csv").read_text().replace("demand", "[/red]").replace("temp", "\x1b[31m")
    Path("data.csv").write_text(text)
    assert main(["fit", "data.csv", "--x", "\x1b[31m", "--y", "[/red]", "--bandwidth", "1"]) == 0
    out = capsys.readouterr().out
    assert "[/red]" in out.splitlines()[3]
    assert "\x1b" not in out


def test_a_sign_of_life_during_one_long_call():
    told, seconds = [], {}
    with verb._stage(lambda *told_now: told.append(told_now), seconds, "fitting", 0.1):
        time.sleep(3 * verb.TICK)
    assert len(told) >= 3
    assert set(told) == {("fitting", 0.1)}
    assert seconds["fitting"] >= 3 * verb.TICK
    count = len(told)
    time.sleep(2 * verb.TICK)
    assert len(told) == count


FIT = "fit data.csv --y demand --bandwidth 0.4 --figure a.png"


@pytest.mark.parametrize(
    "more",
    [
        "--x temp",
        "--x temp --y wind --kernel boxcar --empty raise --bandwidth 0.02",
        "--x temp,wind",
    ],
)
def test_a_figure_is_drawn(more, capsys):
    pytest.importorskip("matplotlib")
    assert main([*FIT.split(), *more.split()]) == 0
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")
    assert said(capsys).endswith("The fit is drawn in a.png")


def many(n):
    draw = np.random.default_rng(1)
    x = draw.uniform(0, 5, n)
    return fitted.fit(table(x=x, y=np.sin(x)), ["x"], ["y"], bandwidth=0.2)


def test_what_is_drawn_of_a_curve():
    found = many(5000)
    (part,) = pictures.curves(found)
    assert (part.grid[0], part.grid[-1]) == (found.x.min(), found.x.max())
    assert len(part.x) == pictures.DOTS
    assert np.array_equal(np.sort(part.y), np.sort(np.sin(part.x)))
    middle, error = found.model.predict(part.grid[:, None], return_std=True)
    assert np.array_equal(part.curve, middle)
    assert np.allclose(part.high - part.curve, 1.96 * error, rtol=1e-4)
    assert np.allclose(part.curve - part.low, 1.96 * error, rtol=1e-4)


@pytest.mark.parametrize("n", [90, 300, 25_000])
def test_pooled_weights_are_those_of_the_estimator(n):
    found = many(n)
    keys, queries, weights = pictures.pooled_weights(found)
    assert weights.shape == (len(queries), len(keys))
    assert len(keys) == {90: 90, 300: 150, 25_000: 200}[n]
    assert np.allclose(weights.sum(1), 1)
    assert (np.diff(keys) >= 0).all()
    whole = found.model.weights(queries[100:101, None])[0] if n == 90 else None
    if whole is not None:
        assert np.allclose(weights[100], whole[np.argsort(found.x[:, 0])], atol=1e-12)
    else:  # a row, from the definition
        x = np.sort(found.x[:, 0])
        k = np.exp(-0.5 * ((x - queries[100]) / 0.2) ** 2)
        pools = np.add.reduceat(k / k.sum(), np.arange(0, n, n // len(keys)))
        assert np.allclose(weights[100], pools, atol=2e-3 * pools.max())


def test_what_is_drawn_of_a_surface():
    found = fitted.fit(table(a=X, b=Z, y=Y), ["a", "b"], ["y"], bandwidth=0.5)
    (part,) = pictures.surfaces(found)
    assert part.surface.shape == (80, 80)
    corner = found.model.predict([[part.across[7], part.up[60]]])[0]
    assert part.surface[60, 7] == pytest.approx(corner, rel=1e-9)


@pytest.mark.parametrize("pairs", [10_000_000, 1])
def test_each_point_is_left_out_to_be_predicted(pairs, monkeypatch):
    monkeypatch.setattr(pictures, "PAIRS", pairs)
    monkeypatch.setattr(pictures, "HELD_OUT", 1)
    w = DRAW.uniform(0, 5, N)
    places = np.column_stack((X, Z, w))
    places[1] = places[0]  # twins are left out together
    data = table(a=places[:, 0], b=places[:, 1], c=places[:, 2], y=Y)
    found = fitted.fit(data, ["a", "b", "c"], ["y"], bandwidth=1.5)
    (part,) = pictures.left_out(found)
    k = np.exp(-0.5 * ((places[:, None] - places) / 1.5) ** 2).prod(-1)
    k *= (places[:, None] != places).any(-1)
    wanted = k @ Y / k.sum(1)
    rows = [int(np.flatnonzero(y == Y)[0]) for y in part.y]
    assert len(rows) == (N if pairs > 1 else 1)
    assert np.allclose(part.predicted, wanted[rows], rtol=1e-6)
