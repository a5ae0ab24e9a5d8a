"""Data with a curve through them that averages their neighbours: what a kernel page shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regard.errors import KindError, ShapeError, StateError, ValueRangeError
from regard.viewing import notes
from regard.viewing.block import Block
from regard.viewing.document import Document, header
from regard.viewing.figures import Figure
from regard.viewing.fit import Along, along
from regard.viewing.heads import DenseHead

__all__ = ["KERNELS", "Kernel", "data_of", "is_regression", "kernel_document", "kernel_of"]

Array = NDArray[np.float64]
POINTS = 5_000  # data of a page: as many as are averaged while a slider moves
FINE = 1e4  # times further from 0 than wide: float32 would run the data together
GRID, CELLS = 400, 200  # places of a curve, and of a heatmap
FAR = 1e-300  # where a kernel with an edge is 0, so that no logarithm is taken of it


def _edged(k: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda u: np.where(u < 1, np.log(np.maximum(k(np.minimum(u, 1.0)), FAR)), -np.inf)


def _matern(rate: float, third: float) -> Callable[[Array], Array]:
    return lambda u: np.log1p(rate * u + third * (rate * u) ** 2) - rate * u


# log K(u) of |u|; as in regard.regression, which looking does not depend on
KERNELS: dict[str, Callable[[Array], Array]] = {
    "gaussian": lambda u: -0.5 * u * u,
    "laplace": lambda u: -u,
    "cauchy": lambda u: -np.log1p(u * u),
    "matern32": _matern(3**0.5, 0.0),
    "matern52": _matern(5**0.5, 1 / 3),
    "boxcar": lambda u: np.where(u <= 1, 0.0, -np.inf),
    "triangular": _edged(lambda u: 1 - u),
    "epanechnikov": _edged(lambda u: 1 - u * u),
    "biweight": _edged(lambda u: (1 - u * u) ** 2),
    "triweight": _edged(lambda u: (1 - u * u) ** 3),
    "tricube": _edged(lambda u: (1 - u**3) ** 3),
    "cosine": _edged(lambda u: np.cos(0.5 * np.pi * u)),
}


@dataclass(frozen=True, eq=False)
class Kernel:
    """Data of one feature, and the kernel that weighs them.

    Args:
        x: [n].
        y: [n].
        kernel: a name in ``KERNELS``.
        width: of the kernel, above 0.
        said: what a reader must know of them.

    """

    x: Array
    y: Array
    kernel: str = "gaussian"
    width: float = 1.0
    said: tuple[notes.Note, ...] = ()

    def __post_init__(self) -> None:
        if self.kernel not in KERNELS:
            msg = f"kernel must be one of {', '.join(KERNELS)}; got {self.kernel!r}"
            raise ValueRangeError(msg)
        if not 0 < self.width < np.inf:
            msg = f"width must be a number above 0, got {self.width!r}"
            raise ValueRangeError(msg)
        if self.x.ndim != 1 or self.x.shape != self.y.shape or not self.x.size:
            msg = (
                "x and y must be [n] each, and not empty, got the shapes "
                f"{list(self.x.shape)} and {list(self.y.shape)}"
            )
            raise ShapeError(msg)
        if not (np.isfinite(self.x).all() and np.isfinite(self.y).all()):
            msg = "x and y must be finite; drop the rows with a value missing"
            raise ValueRangeError(msg)

    def weights(self, queries: Array) -> Array:
        """[q, n]: how much each query takes from each of the data; no data in reach: the nearest.

        >>> Kernel(np.array([0.0, 1.0]), np.zeros(2), "boxcar").weights(np.array([0.5])).tolist()
        [[0.5, 0.5]]
        """
        u = np.abs(queries[:, None] - self.x) / self.width
        scores = KERNELS[self.kernel](u)
        lost = np.isneginf(scores).all(1)
        scores[lost] = np.where(u[lost] == u[lost].min(1, keepdims=True), 0.0, -np.inf)
        found = np.exp(scores - scores.max(1, keepdims=True))
        return np.asarray(found / found.sum(1, keepdims=True))

    def head(self) -> DenseHead:
        """The same as attention: queries along the curve, the data as keys, both sorted."""
        import torch  # noqa: PLC0415 - heads are tensors, the rest here is not

        data = self.thinned().in_order()
        return DenseHead(torch.from_numpy(data.weights(data.queries(CELLS))).float(), "kernel")

    def queries(self, count: int) -> Array:
        """Places along x, from the first of the data to the last."""
        return np.linspace(self.x.min(), self.x.max(), count)

    def in_order(self) -> Kernel:
        """The same data, sorted by x."""
        order = np.argsort(self.x, kind="stable")
        return Kernel(self.x[order], self.y[order], self.kernel, self.width, self.said)

    def thinned(self, most: int = POINTS) -> Kernel:
        """At most so many of the data, evenly along x."""
        if len(self.x) <= most:
            return self
        order = np.argsort(self.x, kind="stable")
        rows = order[((np.arange(most) + 0.5) * len(order) / most).astype(np.intp)]
        said = (*self.said, notes.a_part_of_the_data(most, len(self.x)))
        return Kernel(self.x[rows], self.y[rows], self.kernel, self.width, said)

    def draw(self, title: str) -> Figure:
        """The data, the curve and the weights, on paper."""
        data = self.thinned().in_order()
        grid = data.queries(GRID)
        curve = data.weights(grid) @ data.y
        nothing = np.full(GRID, np.nan)
        part = Along(title or "y", data.x, data.y, grid, curve, nothing, nothing)
        few = data.thinned(CELLS).in_order()
        places = data.queries(CELLS)
        return along([part], "x", few.x, places, few.weights(places))


def is_regression(source: object) -> bool:
    """Whether it is a kernel regression, fitted or not: told by what it can."""
    return all(hasattr(type(source), name) for name in ("fit", "loo_predict", "places_"))


def kernel_of(model: Any, output: int = 0) -> Kernel:  # noqa: ANN401 - regard.NadarayaWatson, not imported
    """The data and the kernel of a fitted regression.

    Args:
        model: a fitted NadarayaWatson of one feature.
        output: which measured quantity, if there are several.

    """
    if not hasattr(model, "bandwidth_"):
        msg = "the regression is not fitted yet; call fit(x, y) first"
        raise StateError(msg)
    x, y, counts = (np.asarray(x) for x in (model.places_, model.values_, model.counts_))
    if x.shape[1] != 1:
        msg = f"the page draws a curve over one feature, got a fit of {x.shape[1]}"
        raise ShapeError(msg)
    if not isinstance(model.kernel, str) or model.degree != 0:
        msg = (
            "the page draws averages (degree=0) by a kernel with a name, got degree="
            f"{model.degree} and kernel={model.kernel!r}; fit such a one to look at it"
        )
        raise KindError(msg)
    if y.ndim > 1:
        if not 0 <= output < y.shape[1]:
            msg = f"entry must be one of the {y.shape[1]} outputs, from 0 on, got {output!r}"
            raise ValueRangeError(msg)
        y = y[:, output]
    said: tuple[notes.Note, ...] = ()
    whole = np.rint(counts).astype(np.int64)
    if (counts != counts[0]).any():
        if (whole == counts).all() and whole.sum() <= POINTS:  # equal places became one: undo it
            x, y = np.repeat(x, whole, 0), np.repeat(y, whole, 0)
        else:
            said = (notes.without_weights(),)
    return Kernel(
        x[:, 0].astype(np.float64),
        y.astype(np.float64),
        model.kernel,
        float(np.asarray(model.bandwidth_)[0]),
        said,
    )


def data_of(x: ArrayLike, y: ArrayLike, kernel: str | None, width: float | None) -> Kernel:
    """Data as they were given; without a width, Scott's rule of thumb."""
    given, values = (np.asarray(z, np.float64) for z in (x, y))
    given = given[:, 0] if given.ndim > 1 and given.shape[1] == 1 else given
    if width is None:
        spread = float(given.std()) if given.size else 0.0
        width = 1.06 * spread * max(given.size, 1) ** -0.2 or 1.0
    return Kernel(given, values, kernel or "gaussian", width)


def kernel_document(data: Kernel, *, title: str, language: str | None) -> Document:
    """The document of a kernel page."""
    data = data.thinned()
    low, high = float(data.x.min()), float(data.x.max())
    said = list(data.said)
    origin = 0.0
    if max(abs(low), abs(high)) > FINE * (high - low) > 0:
        origin = round((low + high) / 2, 6)
        said.append(notes.counted_from(origin))
    block = Block(1 << 62)
    runs = {
        name: {"at": block.add(numbers, "f4"), "type": "f4", "count": len(numbers)}
        for name, numbers in (("x", data.x - origin), ("y", data.y))
    }
    about = {
        "kernel": data.kernel,
        "width": data.width,
        **runs,
        "from": low - origin,
        "to": high - origin,
    }
    head = header("kernel", title=title, language=language, notes=said, kernel=about)
    return Document(head, block.data, block.deflated())
