"""The verb ``regard demo``: Nadaraya-Watson kernel regression, written as attention.

Three ways to guess a curve from noisy points, each one call of ``attend`` with another score. The
numbers are made by ``compare``, which prints and draws nothing.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from regard.cli import demo_translation, pages
from regard.cli.flags import number
from regard.cli.prose import say
from regard.cli.table import print_table

if TYPE_CHECKING:  # torch takes seconds to import, and `regard demo --help` does without
    from torch import Tensor

    from regard.scores import Score
    from regard.viewing.view import View

__all__ = ["Fit", "Result", "Settings", "arguments", "compare", "page", "report", "run"]

END = 5.0  # the points lie on [0, END]
STEP = 0.1  # between test points


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Every setting of the demo, with its default."""

    points: int = 50  # training points
    noise: float = 0.5  # standard deviation of what is added to the true curve
    seed: int = 0  # of the points and the noise
    epochs: int = 30  # steps of the optimiser that learns the width


@dataclass(frozen=True, eq=False)
class Fit:
    """One method: how wrong it is, the curve it draws, and the weights it draws it with."""

    method: str
    width: float | None  # None: average pooling has none
    left_out: float  # mean squared error at training points, each guessed from the others
    off_truth: float  # mean squared error against the true curve at the test points
    curve: Tensor  # [n], at the test points
    weights: Tensor  # [n, m], of test points on training points


@dataclass(frozen=True, eq=False)
class Result:
    """The data and the three fits to it."""

    settings: Settings
    x: Tensor  # [m], training points, sorted
    y: Tensor  # [m]
    grid: Tensor  # [n], test points
    truth: Tensor  # [n], the true curve there
    average: Fit
    fixed: Fit
    learned: Fit

    @property
    def fits(self) -> tuple[Fit, Fit, Fit]:
        """All of them, in the order of the table."""
        return self.average, self.fixed, self.learned


def true_curve(x: Tensor) -> Tensor:
    """2 sin x + x^0.8, what the noisy points are drawn around."""
    return 2 * x.sin() + x**0.8


def sample(settings: Settings) -> tuple[Tensor, Tensor]:
    """Training points [m], sorted so that neighbours are neighbours in a heatmap, and values."""
    import torch  # noqa: PLC0415 - seconds to import; not for --help

    generator = torch.Generator().manual_seed(settings.seed)
    # Uniform on [0, 5] and never negative: one of the notes draws randn(n) * 5, where x ** 0.8 is
    # NaN for half of the points.
    x = END * torch.rand(settings.points, generator=generator, dtype=torch.float64)
    x = x.sort().values
    noise = torch.randn(settings.points, generator=generator, dtype=torch.float64)
    return x, true_curve(x) + settings.noise * noise


def left_out_error(x: Tensor, y: Tensor, score: Score) -> Tensor:
    """The mean squared error at the training points, each guessed from all the others."""
    from regard.attention.api import attend  # noqa: PLC0415 - imports torch
    from regard.masks import NotSelf  # noqa: PLC0415 - imports torch

    # NotSelf: a point that may look at itself is guessed best with a width of 0
    guess = attend(x[:, None], x[:, None], y[:, None], score=score, mask=NotSelf())
    return (guess[:, 0] - y).square().mean()


def learn_width(x: Tensor, y: Tensor, epochs: int) -> float:
    """Descend the leave-one-out error from a width of 1, never going up."""
    import torch  # noqa: PLC0415 - seconds to import; not for --help

    from regard.scores import Gaussian  # noqa: PLC0415 - imports torch

    # The notes learn w = 1 / width itself. There w = 0 is a trap: the score is -(w u)^2 / 2, whose
    # gradient at 0 is 0 whatever the data. The logarithm has no such point and needs no bounds.
    log_width = torch.zeros((), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([log_width], max_iter=1, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimiser.zero_grad()
        error = left_out_error(x, y, Gaussian(width=log_width.exp()))
        torch.autograd.backward(error)
        return error

    for _ in range(epochs):
        optimiser.step(closure)  # type: ignore[no-untyped-call] # torch has not typed it
    return log_width.exp().item()


def compare(settings: Settings) -> Result:
    """Make the data, fit it in the three ways, and measure each."""
    import torch  # noqa: PLC0415 - seconds to import; not for --help

    from regard.attention.api import attend  # noqa: PLC0415 - imports torch
    from regard.attention.inspect import weights  # noqa: PLC0415 - imports torch
    from regard.scores import Gaussian, Uniform  # noqa: PLC0415 - imports torch

    x, y = sample(settings)
    grid = torch.arange(0, END, STEP, dtype=torch.float64)
    truth = true_curve(grid)

    def fit(method: str, width: float | None) -> Fit:
        score = Uniform() if width is None else Gaussian(width=width)
        queries, keys = grid[:, None], x[:, None]
        curve = attend(queries, keys, y[:, None], score=score)[:, 0]
        return Fit(
            method=method,
            width=width,
            left_out=left_out_error(x, y, score).item(),
            off_truth=(curve - truth).square().mean().item(),
            curve=curve,
            weights=weights(queries, keys, score=score),
        )

    return Result(
        settings=settings,
        x=x,
        y=y,
        grid=grid,
        truth=truth,
        average=fit("average pooling", None),
        fixed=fit("Gaussian, fixed width", 1.0),
        learned=fit("Gaussian, learned width", learn_width(x, y, settings.epochs)),
    )


HEADER = ("method", "width", "leave-one-out error", "error to true curve")


def rows(result: Result) -> list[tuple[str, ...]]:
    """The cells of the table under ``HEADER``."""
    return [
        (
            fit.method,
            "-" if fit.width is None else f"{fit.width:.3g}",
            f"{fit.left_out:.4f}",
            f"{fit.off_truth:.4f}",
        )
        for fit in result.fits
    ]


def meaning(result: Result) -> str:
    """What the table says, in a few sentences that hold for these numbers."""
    fixed, learned, floor = result.fixed, result.learned, result.settings.noise**2
    if learned.left_out < fixed.left_out:
        first = (
            f"Learning the width took it from {fixed.width:.3g} to {learned.width:.3g} and the "
            f"leave-one-out error from {fixed.left_out:.4f} to {learned.left_out:.4f}. Noise "
            f"alone, which nobody can guess, is worth {floor:.4g} on average."
        )
    else:
        first = "Learning found no width with a lower leave-one-out error than the fixed one."
    best = min(result.fits, key=lambda fit: fit.off_truth)
    if learned.off_truth < fixed.off_truth:
        second = (
            f"It never saw the true curve, and is closer to it too: {learned.off_truth:.4f} "
            f"against {fixed.off_truth:.4f}."
        )
    elif learned.off_truth > fixed.off_truth:
        second = (
            f"The true curve, which it never saw, it is further from: {learned.off_truth:.4f} "
            f"against {fixed.off_truth:.4f}. With few or noisy points a lower leave-one-out error "
            "promises little."
        )
    else:
        second = "Against the true curve the two are the same."
    if best is result.average:
        second += " Closest of the three is the plain average."
    return f"{first} {second}"


def report(result: Result) -> None:
    """Print the table and what it means."""
    settings = result.settings
    say(
        f"y = 2 sin x + x^0.8 + noise of {settings.noise:g}, {settings.points} points, "
        f"seed {settings.seed}; errors are mean squares"
    )
    sys.stdout.write("\n")
    cells = rows(result)
    print_table(HEADER, cells, strong={len(cells) - 1})  # the learned one: what the demo is about
    say(meaning(result))


def draw(result: Result, path: Path) -> None:
    """Save the curves and the weights as one figure."""
    from regard.viewing import figures  # noqa: PLC0415 - imports torch

    fixed = f"width {result.fixed.width:.3g}, fixed"
    learned = f"width {result.learned.width:.3g}, learned"
    figure = figures.regression(
        x=result.x,
        y=result.y,
        grid=result.grid,
        truth=result.truth,
        curves={
            "average pooling": result.average.curve,
            fixed: result.fixed.curve,
            learned: result.learned.curve,
        },
        weights={fixed: result.fixed.weights, learned: result.learned.weights},
    )
    figures.save(figure, path)


def page(result: Result) -> View:
    """The points and the learned width, as a page."""
    from regard.viewing.looking import look  # noqa: PLC0415 - imports torch

    data = result.x.numpy(), result.y.numpy()
    title = "Kernel regression is attention"
    return look(data, kernel="gaussian", width=result.learned.width, title=title)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags and the help text of ``regard demo``."""
    parser.description = (
        "Guess the curve y = 2 sin x + x^0.8 from noisy points in three ways, each of them "
        "attention with another score: average pooling (every point counts the same), a Gaussian "
        "kernel of width 1 (near points count more), and one whose width is learned by guessing "
        "each point from the others. Prints how wrong each is. Then translates a few "
        "sentences, and draws which words each word looked at."
    )
    parser.add_argument(
        "--figure",
        type=Path,
        metavar="PATH",
        help="save the curves and the attention weights there, as .png, .svg or .pdf, and the "
        "translation's weights beside it",
    )
    pages.flag(parser, "the points, with a query and a width to be moved,")
    parser.add_argument(
        "--points",
        type=lambda text: number(text, int, 2, 100_000),  # all pairs are looked at
        default=Settings.points,
        metavar="N",
        help="how many training points (default %(default)s)",
    )
    parser.add_argument(
        "--noise",
        type=lambda text: number(text, float, 0, 1_000_000),  # far beyond, squares overflow
        default=Settings.noise,
        metavar="SD",
        help="standard deviation of the noise added to them (default %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=lambda text: number(text, int, 0, 2**63 - 1),
        default=Settings.seed,
        metavar="N",
        help="which points and which noise (default %(default)s)",
    )
    parser.add_argument(
        "--epochs",
        type=lambda text: number(text, int, 1, 100_000),
        default=Settings.epochs,
        metavar="N",
        help="optimiser steps that learn the width (default %(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    """Compare, print, and draw where asked to."""
    path: Path | None = args.figure
    if path is not None:
        from regard.viewing import figures  # noqa: PLC0415 - imports torch

        figures.check_path(path)  # before the work: a typing error should not cost it
    if args.page is not None:
        pages.check(args.page)
    result = compare(
        Settings(points=args.points, noise=args.noise, seed=args.seed, epochs=args.epochs)
    )
    report(result)
    sys.stdout.write("\n")
    if path is None:
        sys.stdout.write("To see the curves and the weights: regard demo --figure demo.png\n")
    else:
        draw(result, path)
        sys.stdout.write(f"The curves and the weights are in {path}\n")
    if args.page is not None:
        page(result).save(args.page)
        sys.stdout.write(f"To move the query and the width yourself, open {args.page}\n")
    sys.stdout.write("\n")
    demo_translation.show(path)
    return 0
