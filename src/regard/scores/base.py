"""What a score is: how well each key answers each query, before the softmax."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from regard.errors import KindError, ShapeError, ValueRangeError
from regard.scores.expression import evaluate, parse
from regard.shapes import same_width, spreads_to

if TYPE_CHECKING:
    from regard.scores.bias import Bias

__all__ = ["Biased", "Form", "Score", "check_positive", "finite_rows", "parameter"]


@dataclass(frozen=True, eq=False)
class Form:
    """A score in the one form every kernel knows.

    ::

        score(i, j) = scale * sum over features of phi(q, k, p0, p1)  +  bias by distance

    ``q`` and ``k`` may be projections of what the caller passed; ``phi`` is the text of a formula.
    """

    q: Float[Tensor, "*b n h"]
    k: Float[Tensor, "*b m h"]
    phi: str = "q * k"
    p0: Tensor | None = None  # broadcasts against [*b, h]; float64, as its gradient is a long sum
    p1: Tensor | None = None
    scale: float = 1.0
    bias: Bias | None = None

    def pairwise(self) -> Float[Tensor, "*b n m"]:
        """Evaluate the form: what the kernels compute, without its bias."""
        if self.phi == "q * k":  # the same as below, without the n x m x h products
            return self.q @ self.k.transpose(-1, -2) * self.scale
        values = {"q": self.q.unsqueeze(-2), "k": self.k.unsqueeze(-3)}
        for name, p in (("p0", self.p0), ("p1", self.p1)):
            if p is not None:
                p = p.to(self.q.dtype)  # noqa: PLW2901 - the same parameter
                values[name] = p.unsqueeze(-2).unsqueeze(-2) if p.ndim else p
        return evaluate(parse(self.phi), values).sum(-1) * self.scale


class Score(ABC):
    """How well a key answers a query. Immutable; holds its parameters, learned or not.

    A new score needs ``pairwise`` alone. It then runs on the reference implementation; to run
    fused it also gives its ``form``. Most new scores are one line with ``Elementwise``.
    """

    @abstractmethod
    def pairwise(
        self, q: Float[Tensor, "*b n d"], k: Float[Tensor, "*b m e"]
    ) -> Float[Tensor, "*b n m"]:
        """Every query against every key: the definition."""

    def form(self, q: Tensor, k: Tensor) -> Form | None:
        """Bring the score to the form kernels know, or None if it has none."""
        return None

    @property
    def has_form(self) -> bool:
        """Whether kernels can run this score."""
        return type(self).form is not Score.form

    def check(self, q: Tensor, k: Tensor) -> None:
        """Raise unless this score can compare these queries and keys."""
        same_width(type(self).__name__, q, k)

    def at(self, q: Tensor, k: Tensor, i: Tensor, j: Tensor) -> Tensor:
        """As ``pairwise``, for queries and keys that stand at the positions i and j."""
        return self.pairwise(q, k)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors among the parameters: what may want a gradient."""
        found = (getattr(self, f.name) for f in fields(self))  # type: ignore[arg-type]
        return tuple(x for x in found if isinstance(x, Tensor))

    def frozen(self) -> Score:
        """Copy the score as it is now: its tensors neither learn nor follow those that do."""
        return replace(self, **_copies(self))  # type: ignore[type-var]

    def __add__(self, bias: Bias) -> Biased:
        from regard.scores.bias import Bias  # noqa: PLC0415 - bias.py builds on this file

        if not isinstance(bias, Bias):
            msg = (
                f"only a position bias can be added to a score, got {type(bias).__name__}; "
                f"there are Slope and Distances"
            )
            raise KindError(msg)
        return Biased(self, bias)


@dataclass(frozen=True, eq=False)
class Biased(Score):
    """A score plus a bias that depends on the distance from query to key."""

    score: Score
    bias: Bias

    def pairwise(self, q: Tensor, k: Tensor) -> Tensor:
        i = torch.arange(q.shape[-2], device=q.device)
        j = torch.arange(k.shape[-2], device=q.device)
        return self.at(q, k, i, j)

    def at(self, q: Tensor, k: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return self.score.at(q, k, i, j) + self.bias.between(i, j).to(q.dtype)

    @property
    def has_form(self) -> bool:
        return self.score.has_form and not isinstance(self.score, Biased)

    def form(self, q: Tensor, k: Tensor) -> Form | None:
        form = self.score.form(q, k)
        if form is None or form.bias is not None:  # two biases: left to the reference
            return None
        return Form(form.q, form.k, form.phi, form.p0, form.p1, form.scale, self.bias)

    def check(self, q: Tensor, k: Tensor) -> None:
        self.score.check(q, k)
        self.bias.check(q)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return (*self.score.tensors, *self.bias.tensors)

    def frozen(self) -> Biased:
        return Biased(self.score.frozen(), replace(self.bias, **_copies(self.bias)))  # type: ignore[type-var]


def _copies(x: object) -> dict[str, Tensor]:
    """Copies of the tensors among the fields of a dataclass, by the fields' names."""
    found = ((f.name, getattr(x, f.name)) for f in fields(x) if f.init)  # type: ignore[arg-type]
    return {name: value.detach().clone() for name, value in found if isinstance(value, Tensor)}


def check_positive(owner: str, name: str, value: float | Tensor) -> None:
    """Raise unless a number is positive and finite. A tensor that learns is taken as it is."""
    if isinstance(value, Tensor):
        if not value.is_floating_point():
            msg = f"{owner}: {name} must be a floating point tensor, got {value.dtype}"
            raise KindError(msg)
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        msg = f"{owner}: {name} must be a number or a tensor, got {type(value).__name__}"
        raise KindError(msg)
    if not 0 < value < float("inf"):
        msg = f"{owner}: {name} must be positive and finite, got {value!r}"
        raise ValueRangeError(msg)


def parameter(owner: str, name: str, value: float | Tensor, q: Tensor) -> Tensor:
    """A parameter beside q [*b, n, d]: in float64, and known to broadcast against [*b, d]."""
    p = torch.as_tensor(value, dtype=torch.float64, device=q.device)
    wanted = (*q.shape[:-2], q.shape[-1])
    if not spreads_to(p.shape, wanted):
        msg = (
            f"{owner}: {name} must be a number, or broadcast against the batch axes and features "
            f"of q {list(wanted)}; got the shape {list(p.shape)}"
        )
        raise ShapeError(msg)
    return p


def finite_rows(f: Callable[[Tensor], Tensor], x: Float[Tensor, "*b n d"]) -> Tensor:
    """Apply a row-wise f where a row is finite and give NaN elsewhere, with no gradient there.

    A masked row may hold garbage; 0 * NaN in the backward pass of f would spread it.
    """
    fine = x.isfinite().all(-1, keepdim=True)
    return torch.where(fine, f(torch.where(fine, x, 0)), torch.nan)
