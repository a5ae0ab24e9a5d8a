"""Attention is score, mask, softmax, average: one operation, and its weights can be looked at."""

from importlib import import_module
from typing import TYPE_CHECKING

from regard.errors import (
    FileError,
    ImplError,
    KindError,
    MissingError,
    RegardError,
    ShapeError,
    StateError,
    ValueRangeError,
)
from regard.version import __version__

if TYPE_CHECKING:
    from regard import masks, scores
    from regard.attention.api import attend, explain
    from regard.attention.inspect import entropy, overview, received, rectangle, top, weights
    from regard.masks import Causal, Dense, Documents, Lengths, NotSelf, Window
    from regard.scores import (
        Additive,
        Bilinear,
        Biweight,
        Boxcar,
        Cauchy,
        Cosine,
        CosineKernel,
        Distances,
        Dot,
        Elementwise,
        Epanechnikov,
        Gaussian,
        Laplacian,
        Slope,
        Triangular,
        Tricube,
        Uniform,
    )
    from regard.viewing.capturing import capture
    from regard.viewing.heatmaps import show_heatmaps
    from regard.viewing.looking import look

__all__ = [
    "Additive",
    "Bilinear",
    "Biweight",
    "Boxcar",
    "Cauchy",
    "Causal",
    "Cosine",
    "CosineKernel",
    "Dense",
    "Distances",
    "Documents",
    "Dot",
    "Elementwise",
    "Epanechnikov",
    "FileError",
    "Gaussian",
    "ImplError",
    "KindError",
    "Laplacian",
    "Lengths",
    "MissingError",
    "NotSelf",
    "RegardError",
    "ShapeError",
    "Slope",
    "StateError",
    "Triangular",
    "Tricube",
    "Uniform",
    "ValueRangeError",
    "Window",
    "__version__",
    "attend",
    "capture",
    "entropy",
    "explain",
    "layers",
    "look",
    "masks",
    "models",
    "overview",
    "received",
    "rectangle",
    "scores",
    "show_heatmaps",
    "top",
    "weights",
]

# Where each name lives, imported when first asked for: torch takes seconds to import, and
# `regard --help` does without.
_HOME = {
    "regard.attention.api": (
        "attend",
        "explain",
    ),
    "regard.attention.inspect": (
        "entropy",
        "overview",
        "received",
        "rectangle",
        "top",
        "weights",
    ),
    "regard.masks": (
        "Causal",
        "Dense",
        "Documents",
        "Lengths",
        "NotSelf",
        "Window",
    ),
    "regard.scores": (
        "Additive",
        "Bilinear",
        "Biweight",
        "Boxcar",
        "Cauchy",
        "Cosine",
        "CosineKernel",
        "Distances",
        "Dot",
        "Elementwise",
        "Epanechnikov",
        "Gaussian",
        "Laplacian",
        "Slope",
        "Triangular",
        "Tricube",
        "Uniform",
    ),
    "regard.viewing.capturing": ("capture",),
    "regard.viewing.heatmaps": ("show_heatmaps",),
    "regard.viewing.looking": ("look",),
}


def __getattr__(name: str) -> object:
    if name in ("layers", "masks", "models", "scores"):
        return import_module(f"regard.{name}")
    for home, names in _HOME.items():
        if name in names:
            value = globals()[name] = getattr(import_module(home), name)
            return value
    msg = f"module 'regard' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return __all__
