"""Scores that sum one function over the features, and the door for a user's own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from torch import Tensor

from regard.errors import KindError
from regard.scores.base import Form, Score, check_positive, parameter
from regard.scores.expression import Formula, trace

__all__ = ["Elementwise", "FeatureSum", "Kernel"]


class FeatureSum(Score):
    """score(q, k) = sum over features of phi(q, k, p0, p1)."""

    @property
    @abstractmethod
    def formula(self) -> str:
        """The text of phi."""

    def parameters(self, q: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """Give p0 and p1, each broadcasting against [*b, d]."""
        return None, None

    def form(self, q: Tensor, k: Tensor) -> Form:
        p0, p1 = self.parameters(q)
        return Form(q, k, self.formula, p0, p1)

    def pairwise(self, q: Tensor, k: Tensor) -> Tensor:
        return self.form(q, k).pairwise()


@dataclass(frozen=True, eq=False)
class Kernel(FeatureSum):
    """A smoothing kernel K as a score: log K((q - k) / width), added over the features.

    So the softmax gives the Nadaraya-Watson weights of the product kernel. Factors that are the
    same for every key are left out: they cancel.

    Args:
        width: a number, or a tensor that broadcasts against [*b, d]: one width a feature
            [d], one a head [heads, 1], one a head and feature [heads, d]. It may learn; learn its
            logarithm, ``width=log_width.exp()``, and it stays positive.

    """

    width: float | Tensor = 1.0
    PHI: ClassVar[str]  # the text of log K(p0 * (q - k)), p0 = 1 / width

    def __post_init__(self) -> None:
        check_positive(type(self).__name__, "width", self.width)

    @property
    def formula(self) -> str:
        return self.PHI

    def parameters(self, q: Tensor) -> tuple[Tensor, None]:
        return 1 / parameter(type(self).__name__, "width", self.width, q), None


@dataclass(frozen=True, eq=False)
class Elementwise(FeatureSum):
    """A score of one's own: the sum over features of ``phi(q, k)`` or ``phi(q, k, p0, p1)``.

    ``phi`` is a Python function made of ``+ - * / **``, ``abs``, comparisons and the functions of
    ``regard.scores.expression`` (exp, log, tanh, sqrt, sin, cos, maximum, minimum, where). It is
    called once, with symbols; its derivatives and its kernel follow from the formula it leaves.
    Return ``-inf`` for a pair that shall not see each other. Make the score outside of a function
    that torch.compile compiles.

    Args:
        phi: the function of one feature of the query, one of the key, and up to two parameters.
        p0, p1: its parameters, each a number or a tensor that broadcasts against [*b, d]; they
            receive gradients.

    >>> import torch
    >>> from regard import Elementwise, attend
    >>> fractional = Elementwise(lambda q, k, sharp: -sharp * abs(q - k) ** 1.5, p0=4.0)
    >>> x = torch.tensor([[0.0], [1.0], [2.0]])
    >>> attend(x, x, 10 * x, score=fractional).double().flatten().round(decimals=1).tolist()
    [0.2, 10.0, 19.8]

    """

    phi: Callable[..., Formula | float]
    p0: float | Tensor | None = None
    p1: float | Tensor | None = None
    text: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not callable(self.phi):
            msg = f"Elementwise: phi must be a function, got {type(self.phi).__name__}"
            raise KindError(msg)
        if self.p0 is None and self.p1 is not None:
            msg = "Elementwise: p1 was given without p0; phi takes them in that order"
            raise KindError(msg)
        given = sum(p is not None for p in (self.p0, self.p1))
        object.__setattr__(self, "text", str(trace(self.phi, given)))

    @property
    def formula(self) -> str:
        return self.text

    def parameters(self, q: Tensor) -> tuple[Tensor | None, Tensor | None]:
        p0, p1 = (
            None if p is None else parameter("Elementwise", name, p, q)
            for name, p in (("p0", self.p0), ("p1", self.p1))
        )
        return p0, p1
