"""The verb ``regard fit``: a curve through the columns of a table, by kernel regression."""

from __future__ import annotations

import argparse
import json
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli import columns, pages, pictures
from regard.cli.columns import shown
from regard.cli.fitted import Fitted, fit, prediction_names, predictions
from regard.cli.progress import progress
from regard.cli.prose import say
from regard.cli.table import print_table
from regard.errors import ValueRangeError
from regard.optional import need

if TYPE_CHECKING:  # seconds to import, and `regard fit --help` does without
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["arguments", "report", "run"]

# as in regard.regression, which takes seconds to import
KERNELS = (
    "gaussian", "laplace", "matern32", "matern52", "epanechnikov", "boxcar", "triangular",
    "tricube", "biweight", "triweight", "cosine",
)  # fmt: skip
CHOSEN = {
    "scott": "Scott's rule of thumb",
    "silverman": "Silverman's rule of thumb",
    "loo": "the least leave-one-out error",
    "aicc": "the least corrected information criterion",
    "learn": "the least leave-one-out error, by its gradient",
}
ALGORITHMS = ("auto", "fast", "window", "brute")
EMPTY = ("nearest", "nan", "mean", "raise")
PRINTED = 20  # predictions on the terminal
TICK = 0.2  # seconds between two signs of life

Tell = Callable[[str, float], None]


def _four(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "-"


def report(source: Path, fitted: Fitted) -> None:
    """Print the errors, the widths, and how long it took."""
    names = ", ".join(map(shown, fitted.x_names))
    rows = f"{len(fitted.x):,} rows of {source}"
    said = f"{', '.join(map(shown, fitted.y_names))} by {names}, from {rows}"
    if fitted.skipped:
        was = "was" if fitted.skipped == 1 else "were"
        said += f"; {fitted.skipped:,} more {was} skipped, with a value missing"
    say(said)
    sys.stdout.write("\n")
    errors = fitted.left_out.tolist()
    print_table(
        ("", *map(shown, fitted.y_names)),
        [
            ("leave-one-out error, mean square", *map(_four, errors)),
            ("its root", *(_four(math.sqrt(error)) for error in errors)),
            ("R^2 against the mean", *map(_four, fitted.r2)),
        ],
    )
    for sentence in sentences(fitted):
        say(sentence)
    parts = ", ".join(f"{value:.2f} {what}" for what, value in fitted.seconds.items())
    say(f"{sum(fitted.seconds.values()):.2f} seconds: {parts}.")


def sentences(fitted: Fitted) -> Iterator[str]:
    """What there is to say about the width and the errors."""
    model, search = fitted.model, fitted.search
    widths = ", ".join(f"{h:.4g} for {shown(name)}" for name, h in fitted.widths.items())
    if isinstance(search.bandwidth, str):
        how = f", chosen by {CHOSEN[search.bandwidth]}"
        how += f" among {search.n_iter_} tried" if search.bandwidth_path_ else ""
    else:
        how = ", as given"
    few = "width" if len(fitted.widths) == 1 else "widths"
    yield (
        f"The {few} of the {model.kernel} kernel: {widths}{how}. Degree {model.degree}, summed by "
        f"the algorithm {model.algorithm_!r}."
    )
    if search.bandwidth_on_edge_:
        yield (
            "The best width lies at an end of the search: so wide that the curve is flat, or with "
            "degree 1 straight, or so narrow that it follows single rows."
        )
    worse = [shown(name) for name, r2 in zip(fitted.y_names, fitted.r2, strict=True) if not r2 > 0]
    if worse:
        yield f"For {', '.join(worse)} this is no better than the mean."


def print_predictions(found: dict[str, Array]) -> None:
    """The first rows as a table."""
    rows = list(zip(*(values[:PRINTED].tolist() for values in found.values()), strict=True))
    print_table([shown(name) for name in found], [[_four(value) for value in row] for row in rows])
    count = len(next(iter(found.values())))
    if count > PRINTED:
        say(f"These are {PRINTED} of {count:,}; --out writes them all.")


def as_json(args: argparse.Namespace, fitted: Fitted, found: dict[str, Array] | None) -> str:
    """Everything of the report, and the predictions where places were given, as one object."""

    def clean(value: float) -> float | None:
        return value if math.isfinite(value) else None

    model, search = fitted.model, fitted.search
    whole: dict[str, Any] = {
        "data": str(args.data),
        "rows": len(fitted.x),
        "skipped": fitted.skipped,
        "x": fitted.x_names,
        "y": fitted.y_names,
        "kernel": model.kernel,
        "degree": model.degree,
        "algorithm": model.algorithm_,
        "width": {name: clean(h) for name, h in fitted.widths.items()},
        "width_by": search.bandwidth if isinstance(search.bandwidth, str) else "given",
        "widths_tried": search.n_iter_,
        "width_on_edge": bool(search.bandwidth_on_edge_),
        "leave_one_out": dict(
            zip(fitted.y_names, map(clean, fitted.left_out.tolist()), strict=True)
        ),
        "r2": dict(zip(fitted.y_names, map(clean, fitted.r2), strict=True)),
        "seconds": fitted.seconds,
    }
    if found is not None:
        whole["predictions"] = {
            name: [clean(value) for value in values.tolist()] for name, values in found.items()
        }
    return json.dumps(whole, indent=2, ensure_ascii=False)


def _one_of(names: Sequence[str]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in names:
            msg = f"must be one of {', '.join(names)}; got {text!r}"
            raise argparse.ArgumentTypeError(msg)
        return text

    return read


def _columns(text: str) -> list[str]:
    names = text.split(",")
    if not all(names):
        msg = f"must be names of columns with commas between them, got {text!r}"
        raise argparse.ArgumentTypeError(msg)
    return names


def _bandwidth(text: str) -> str | float | list[float]:
    if text in CHOSEN:
        return text
    try:
        widths = [float(part) for part in text.split(",")]
    except ValueError:
        widths = [math.nan]
    if not all(width > 0 for width in widths):
        known = ", ".join(CHOSEN)
        msg = f"must be {known}, or a number above 0, or one for each --x; got {text!r}"
        raise argparse.ArgumentTypeError(msg)
    return widths[0] if len(widths) == 1 else widths


def _tol(text: str) -> float:
    try:
        tol = float(text)
    except ValueError:
        tol = math.nan
    if not 0 < tol < 1:
        msg = f"must be a number above 0 and below 1, got {text!r}"
        raise argparse.ArgumentTypeError(msg)
    return tol


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags and the help text of ``regard fit``."""
    parser.description = (
        "Predict columns of a table from others: kernel regression, which averages the rows, each "
        "weighted by its nearness. Prints the width it chose, the error of each row predicted from "
        "the others, and how much better than the mean that is. Rows with a missing value in a "
        "column that is used are skipped, and counted."
    )
    add = parser.add_argument
    add("data", type=Path, metavar="DATA", help="the table: CSV with a header, or Parquet")
    add(
        "--x",
        type=_columns,
        action="append",
        required=True,
        metavar="NAME,...",
        help="the column to predict from, or several; may be repeated",
    )
    add(
        "--y",
        type=_columns,
        action="append",
        required=True,
        metavar="NAME,...",
        help="the column to predict, or several; may be repeated",
    )
    add("--weight", metavar="NAME", help="a column of weights: 2 counts as two rows, 0 as none")
    add(
        "--kernel",
        type=_one_of(KERNELS),
        default="gaussian",
        metavar="NAME",
        help=f"how nearness is weighted (default %(default)s): {', '.join(KERNELS)}",
    )
    add(
        "--bandwidth",
        type=_bandwidth,
        default="loo",
        metavar="HOW",
        help="the width: a number, one for each --x with commas, or how to choose it (default "
        f"%(default)s): {', '.join(CHOSEN)}",
    )
    add("--per-feature", action="store_true", help="choose a width for each --x")
    add(
        "--degree",
        type=lambda text: int(_one_of(("0", "1"))(text)),
        default=0,
        metavar="0|1",
        help="0 averages (the default); 1 fits lines, which bend less at the edges",
    )
    add(
        "--tol",
        type=_tol,
        default=1e-9,
        metavar="SHARE",
        help="error of the sums, as a share of the largest distance to the mean (default "
        "%(default)s)",
    )
    add(
        "--algorithm",
        type=_one_of(ALGORITHMS),
        default="auto",
        metavar="NAME",
        help=f"how to sum (default %(default)s): {', '.join(ALGORITHMS)}",
    )
    add(
        "--empty",
        type=_one_of(EMPTY),
        default="nearest",
        metavar="NAME",
        help="what to predict where a kernel with an edge reaches no data (default %(default)s): "
        f"{', '.join(EMPTY)}",
    )
    add(
        "--at",
        type=Path,
        metavar="PATH",
        help="a table with the columns --x: where to predict (default: at the rows of the data)",
    )
    add(
        "--out",
        type=Path,
        metavar="PATH",
        help="write the predictions, their standard errors and 95%% bands there, as .csv or "
        ".parquet",
    )
    add("--force", action="store_true", help="write over what is at --out")
    add(
        "--figure",
        type=Path,
        metavar="PATH",
        help="save a figure there, as .png, .svg or .pdf: for one --x the data, the curve, its "
        "band and the attention weights; for two a map; for more what was predicted beside what "
        "was measured",
    )
    pages.flag(parser, "of one --x and one --y the data and the curve, with a width to move,")
    add("--json", action="store_true", help="print everything as JSON, and no table")


def _roles(args: argparse.Namespace) -> tuple[list[str], list[str]]:
    """The names after --x and --y, each once."""
    x_names = [name for names in args.x for name in names]
    y_names = [name for names in args.y for name in names]
    roles = [("--x", name) for name in x_names] + [("--y", name) for name in y_names]
    roles += [("--weight", args.weight)] * (args.weight is not None)
    seen: dict[str, str] = {}
    for flag, name in roles:
        if name in seen:
            flags = flag if flag == seen[name] else f"{seen[name]} and {flag}"
            msg = (
                f"the column {name!r} is asked for twice, after {flags}; it can have one part only"
            )
            raise ValueRangeError(msg)
        seen[name] = flag
    names = [*x_names, *(made for name in y_names for made in prediction_names(name))]
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if args.out is not None and twice is not None:
        msg = f"--out would have two columns named {twice!r}; rename one in the data"
        raise ValueRangeError(msg)
    return x_names, y_names


def _check(args: argparse.Namespace) -> None:
    """Before the work: a typing error should not cost it."""
    sources = (args.data, args.at)
    if args.out is not None:
        columns.check_target(args.out, sources, force=args.force)
    if args.figure is not None:
        from regard.viewing import figures  # noqa: PLC0415 - imports torch

        columns.check_not_read(args.figure, sources)
        figures.check_path(args.figure)
    if args.page is not None:
        for flag in ("x", "y"):
            names = [name for names in getattr(args, flag) for name in names]
            if len(names) > 1:
                msg = f"--page shows one --{flag}, got {', '.join(names)}"
                raise ValueRangeError(msg)
        if args.degree:
            msg = "--page shows averages, --degree 0, got --degree 1; use --figure for lines"
            raise ValueRangeError(msg)
        columns.check_not_read(args.page, sources)
        pages.check(args.page)


@contextmanager
def _stage(tell: Tell, seconds: dict[str, float], what: str, part: float) -> Iterator[None]:
    """Take the time, and tell now and then, so that a bar is shown during one long call."""
    done = threading.Event()

    def tick() -> None:
        tell(what, part)
        while not done.wait(TICK):
            tell(what, part)

    start = time.perf_counter()
    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        seconds[what] = time.perf_counter() - start


def run(args: argparse.Namespace) -> int:
    """Read, fit, predict, draw, and print."""
    x_names, y_names = _roles(args)
    _check(args)
    settings = ("kernel", "bandwidth", "degree", "per_feature", "tol", "algorithm", "empty")
    found: dict[str, Array] | None = None
    seconds: dict[str, float] = {}
    with progress() as tell:
        with _stage(tell, seconds, "loading", 0.0):  # libraries take seconds to import
            need("sklearn", extra="fit", why="kernel regression")
            import_module("regard.regression")
        with _stage(tell, seconds, "reading", 0.1):
            names = [*x_names, *y_names, *([args.weight] if args.weight is not None else [])]
            table = columns.read(args.data, names)
            places = None if args.at is None else columns.read(args.at, x_names)
        with _stage(tell, seconds, "fitting", 0.2):
            chosen = {name: getattr(args, name) for name in settings}
            fitted = fit(table, x_names, y_names, args.weight, **chosen)
        if args.out is not None or places is not None:
            with _stage(tell, seconds, "predicting", 0.7):
                at = fitted.x if places is None else places.matrix(x_names)
                found = predictions(fitted, at)
                if args.out is not None:
                    columns.write(args.out, found)
        if args.figure is not None:
            with _stage(tell, seconds, "drawing", 0.8):
                pictures.draw(fitted, args.figure)
        if args.page is not None:
            with _stage(tell, seconds, "showing", 0.9):
                title = f"{y_names[0]} by {x_names[0]}"
                pages.of_fit(fitted, title).save(args.page)
    fitted.seconds.update(seconds)
    if args.json:
        shown_too = found if places is not None and args.out is None else None
        sys.stdout.write(as_json(args, fitted, shown_too) + "\n")
        return 0
    report(args.data, fitted)
    _close(args, found, 0 if places is None else places.skipped)
    return 0


def _close(args: argparse.Namespace, found: dict[str, Array] | None, skipped: int) -> None:
    """What became of the predictions and the figure."""
    if found is not None or args.figure is not None or args.page is not None:
        sys.stdout.write("\n")
    if found is not None:
        if args.out is None:
            print_predictions(found)
        else:
            count = len(next(iter(found.values())))
            say(f"{count:,} predictions are in {args.out}")
        values = found[prediction_names(args.y[0][0])[0]]  # holes are the same for every --y
        if holes := sum(map(math.isnan, values.tolist())):
            reach = "no data in reach of the kernel, and no prediction"
            say(f"{holes:,} of {len(values):,} places have {reach}")
        if skipped:
            was = "row of {} was" if skipped == 1 else "rows of {} were"
            say(f"{skipped:,} {was.format(args.at)} skipped, with a value missing")
    if args.figure is not None:
        say(f"The fit is drawn in {args.figure}")
    if args.page is not None:
        say(f"The page is {args.page}")
