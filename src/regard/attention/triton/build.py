"""Kernels for a formula: ``features.py`` with the formula's lines written in."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from regard.attention.generated import loaded
from regard.scores.expression import NAMES, derivative, parse, source

__all__ = ["kernels", "written"]

_OPEN, _CLOSE = "# <formula>\n", "# </formula>\n"
_PHI = """
@triton.jit
def {name}(q, k, p0, p1):
    return {text}

"""
_CALLS = {
    **{name: f"tl.{name}" for name in ("exp", "log", "sqrt", "sin", "cos", "abs")},
    "maximum": "larger",
    "minimum": "smaller",
    "select": "tl.where",
}
_HERE = Path(__file__).parent


def _for_triton(text: str) -> str:
    """The source of an expression in the words of Triton's language."""
    text = re.sub(r"REAL\(([^()]*)\)", r"\1", text)
    text = re.sub(r"\bINF\b", 'float("inf")', text)
    return re.sub(r"\b(\w+)\(", lambda call: f"{_CALLS.get(call[1], call[1])}(", text)


def written(phi: str) -> str:
    """The source of ``features.py`` for a formula."""
    before, rest = (_HERE / "features.py").read_text(encoding="utf-8").split(_OPEN)
    _, after = rest.split(_CLOSE)
    formula = parse(phi)
    lines = f"EDGED = tl.constexpr({'inf' in phi})\n"
    text = _for_triton(source(formula))
    if "inf" in phi:  # where() drops a NaN; who sees one must still be given it
        text = f"{text} + (q * 0.0 + k * 0.0)"
    lines += _PHI.format(name="phi", text=text)
    for name in NAMES:
        slope = _for_triton(source(derivative(formula, name)))
        lines += _PHI.format(name=f"phi_{name}", text=slope)
    return before + _OPEN + lines + _CLOSE + after


@lru_cache(maxsize=256)
def kernels(phi: str) -> ModuleType:
    """The kernels of a formula, compiled when first wanted."""
    # Triton finds out by itself what else a kernel calls, but a file in the cache must be new
    # when any of them is
    names = ("additive.py", "elementary.py", "matrix.py", "tile.py", "visible.py")
    others = (_HERE / name for name in names)
    beside = hashlib.sha256(b"".join(other.read_bytes() for other in others)).hexdigest()[:16]
    return loaded(f"{written(phi)}\n# with {beside}\n", "features")
