"""The verb ``regard compare``: CNN, RNN and self-attention, measured.

The measuring is in ``regard.layers.comparison``. Here it is put into words, a table and a figure.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from regard.cli.flags import number, rising
from regard.cli.progress import progress
from regard.cli.prose import say
from regard.cli.table import print_table
from regard.optional import has

if TYPE_CHECKING:  # torch takes seconds to import, and `regard compare --help` does without
    from regard.layers.compared import Architecture, Axis, Quantity
    from regard.layers.comparison import Comparison, Curve

__all__ = ["arguments", "draw", "report", "run", "table", "times"]

HEADER = ("", "complexity", "sequential operations", "maximum path length")
SWAPPED = (
    "Beware: a copy of this table that is passed around has the rows of CNN and RNN swapped. It is "
    "the RNN whose steps wait for each other, and the CNN whose path is shorter by its kernel."
)


def _power(curve: Curve | None) -> str:
    if curve is None:
        return ""
    return f"{curve.axis}^" + ("?" if curve.exponent is None else f"{curve.exponent:.2f}")


def _powers(result: Comparison, layer: str, quantity: Quantity, axes: tuple[Axis, ...]) -> str:
    cells = (_power(result.curve(layer, quantity, axis)) for axis in axes)
    return " ".join(cell for cell in cells if cell)


def table(result: Comparison) -> list[tuple[str, ...]]:
    """The cells under ``HEADER``: what theory says, what was counted, what was timed."""
    rows: list[tuple[str, ...]] = []
    for architecture in _architectures():
        name = architecture.name
        steps = _powers(result, name, "steps", ("n",))
        path = _powers(result, name, "path", ("n", "k"))
        counted = _powers(result, name, "operations", ("k", "n", "d"))
        timed = _powers(result, name, "time", ("n", "d"))
        rows += [
            (name, architecture.complexity, architecture.sequential, architecture.path),
            ("  counted", counted, steps, path),
            ("  timed", timed, "", ""),
        ]
    return rows


def _architectures() -> tuple[Architecture, ...]:
    from regard.layers.compared import ARCHITECTURES  # noqa: PLC0415 - imports torch

    return ARCHITECTURES


def times(result: Comparison) -> list[tuple[str, ...]]:
    """Milliseconds over n: the rows under n and the names of the layers."""
    curves = [c for c in result.curves if (c.quantity, c.axis) == ("time", "n")]
    rows = zip(result.settings.lengths, *(c.values for c in curves), strict=True)
    return [(f"{n}", *(_milliseconds(seconds) for seconds in row)) for n, *row in rows]


def _milliseconds(seconds: float) -> str:
    # three digits, but never as 2.56e+03
    return f"{1e3 * seconds:.3g}" if seconds < 1 else f"{1e3 * seconds:.0f}"


def hidden(result: Comparison) -> list[str]:
    """A sentence for each exponent that could not be measured."""
    flags = {"n": "--lengths", "d": "--widths"}
    return [
        f"{c.layer} over {c.axis}: fewer than two of the larger sizes take 4 times as long as "
        f"{c.axis} = 1, so the cost of calling hides how it grows; try larger {flags[c.axis]}."
        for c in result.curves
        if c.exponent is None
    ]


def report(result: Comparison) -> None:
    """Print the times, the table of the notes with measured exponents, and how to read it."""
    settings = result.settings
    say(
        f"n positions of width d = {settings.width}, kernel k = {settings.kernel}, seed "
        f"{settings.seed}; milliseconds for one forward call, the least of {settings.repeats}; "
        f"{result.machine}"
    )
    sys.stdout.write("\n")
    print_table(("n", *(a.name for a in _architectures())), times(result))
    cells = table(result)
    print_table(HEADER, cells, strong=range(0, len(cells), 3))
    say(
        "Counted: the operations torch runs, the longest chain in autograd's graph, and the layers "
        "(for the RNN, steps in time) a gradient needs between the two furthest positions. Timed: "
        "the slope over the larger half of the sizes, without those that take less than 4 times "
        "as long as a size of 1, where the cost of calling would be measured. A time also holds "
        "what memory costs, and lies off theory more than a count. Self-attention is "
        "attend(x, x, x), as in the table; projections would add O(n d^2)."
    )
    for sentence in hidden(result):
        say(sentence)
    say(SWAPPED)


def draw(result: Comparison, path: Path) -> None:
    """Save the four quantities over n as one figure."""
    from regard.viewing import figures  # noqa: PLC0415 - imports torch
    from regard.viewing.growth import Line, comparison  # noqa: PLC0415 - imports torch

    settings = result.settings
    titles: dict[Quantity, tuple[str, str]] = {
        "time": ("Time of a forward call", "seconds"),
        "operations": ("Operations", "multiplications and additions"),
        "steps": ("Operations that wait for each other", "longest chain in the graph"),
        "path": ("Longest path between two positions", "layers, or steps in time"),
    }
    panels = {
        title: [
            Line(c.layer, c.sizes, c.values, c.used, c.exponent, c.theory)
            for c in result.curves
            if (c.quantity, c.axis) == (quantity, "n")
        ]
        for quantity, title in titles.items()
    }
    about = f"width d = {settings.width}, kernel k = {settings.kernel}; {result.machine}"
    figures.save(comparison(panels, about), path)


def as_json(result: Comparison) -> str:
    """Everything measured, as one JSON object."""
    curves = [
        {**asdict(curve), "used": curve.used, "exponent": curve.exponent} for curve in result.curves
    ]
    whole = {"settings": asdict(result.settings), "machine": result.machine, "curves": curves}
    return json.dumps(whole, indent=2)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags and the help text of ``regard compare``."""
    parser.description = (
        "Compare a convolution (CNN), a recurrence (RNN) and self-attention, all from n positions "
        "of width d to n positions of width d. Times them over n and d, counts the operations, "
        "finds the longest chain of operations that wait for each other, and the longest path "
        "between two positions from the gradients. Prints how each grows, beside what theory says. "
        "Takes about 20 seconds."
    )
    add = parser.add_argument
    add(
        "--figure",
        type=Path,
        metavar="PATH",
        help="where to save the plot, as .png, .svg or .pdf (default compare.png)",
    )
    add("--no-figure", action="store_true", help="draw nothing")
    add("--json", action="store_true", help="print everything measured as JSON, and no table")
    add(
        "--lengths",
        type=lambda text: rising(text, 1, 2**20),
        metavar="N,N,...",
        help="the n to time (default 256 to 8192, doubling)",
    )
    add(
        "--width",
        type=lambda text: number(text, int, 1, 2**14),
        default=128,
        metavar="D",
        help="d, while n grows (default %(default)s)",
    )
    add(
        "--widths",
        type=lambda text: rising(text, 1, 2**14),
        metavar="D,D,...",
        help="the d to time, at n = 512 (default 64 to 2048, doubling)",
    )
    add(
        "--kernel",
        type=lambda text: number(text, int, 3, 255),
        default=5,
        metavar="K",
        help="positions a convolution sees, an odd number (default %(default)s)",
    )
    add(
        "--device",
        default="cpu",
        metavar="NAME",
        help="where to take the times, as cuda (default %(default)s); counts need no device",
    )
    add(
        "--threads",
        type=lambda text: number(text, int, 1, 1024),
        default=1,
        metavar="N",
        help="of the CPU (default %(default)s: more would measure how work is shared, too)",
    )
    add(
        "--repeats",
        type=lambda text: number(text, int, 1, 10_000),
        default=5,
        metavar="N",
        help="rounds of timing, of which the quickest counts (default %(default)s)",
    )
    add(
        "--seed",
        type=lambda text: number(text, int, 0, 2**63 - 1),
        default=0,
        metavar="N",
        help="of the weights and the inputs (default %(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    """Measure, print and draw."""
    from regard.layers import comparison  # noqa: PLC0415 - imports torch

    path: Path | None = args.figure
    if path is None and not args.json and has("matplotlib"):
        path = Path("compare.png")
    if args.no_figure:
        path = None
    drawn = {"figure", "no_figure", "json"}
    said = {k: v for k, v in vars(args).items() if k not in drawn and v is not None}
    settings = comparison.Settings(**said)
    comparison.check_device(settings.device)
    if path is not None:
        from regard.viewing import figures  # noqa: PLC0415 - imports torch

        figures.check_path(path)  # before the work: a typing error should not cost it
    with progress() as tell:
        result = comparison.measure(settings, tell)
    if path is not None:
        draw(result, path)
    if args.json:
        sys.stdout.write(as_json(result) + "\n")
        return 0
    report(result)
    if path is not None:
        sys.stdout.write(f"\nHow they grow is drawn in {path}\n")
    elif not args.no_figure:
        sys.stdout.write("\nTo see how they grow: pip install 'regard[view]', and again\n")
    return 0
