"""Hard attention: a query looks at one key, drawn by its weight, instead of at their average."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import reference
from regard.attention.absent import clean_rows
from regard.attention.api import cast_for_autocast, check_score_and_mask
from regard.errors import KindError, ShapeError, StateError, ValueRangeError
from regard.layers.base import Attending, check_input, check_size, look
from regard.layers.heads import Heads
from regard.layers.softmax import mask_of
from regard.masks import Mask
from regard.scores import Score
from regard.shapes import check_qkv

__all__ = ["Estimator", "HardAttention"]

Estimator = Literal["straight-through", "score-function"]


class HardAttention(Attending):
    """Draw one key a query, with the softmax weights as probabilities; take its value whole.

    While training the key is drawn, from torch's generator; in eval mode it is the likeliest. A
    draw has no derivative, so one of two estimators stands in:

    - "straight-through" (Bengio et al. 2013): backward as if the output had been the soft average.
      Little noise, but not the gradient of the expected loss.
    - "score-function" (Williams 1992): the output's gradient goes to the drawn value alone, and
      ``surrogate`` adds what is missing. The gradient of the expected loss on average, with noise;
      a baseline takes some of it away.

    All n x m weights are made, as every one of them may be drawn.

    Args:
        width: the features of a query.
        score: how queries and keys compare; see ``regard.layers.heads.Heads``.
        estimator: "straight-through" or "score-function".
        momentum: how much of the running mean loss, the baseline, stays at each step.

    >>> import torch
    >>> from regard.layers.hard import HardAttention
    >>> attention = HardAttention(width=2, estimator="score-function").eval()
    >>> queries, keys = torch.tensor([[[0.0, 3.0]]]), torch.tensor([[[3.0, 0.0], [0.0, 3.0]]])
    >>> attention(queries, keys, torch.tensor([[[10.0], [20.0]]])).tolist()
    [[[20.0]]]
    >>> attention.choices.tolist()
    [[1]]
    >>> out = attention.train()(queries, keys, torch.tensor([[[10.0], [20.0]]]))
    >>> loss = (out - 20).square().sum((1, 2))  # one number an example
    >>> total = loss.mean() + attention.surrogate(loss)

    """

    baseline: Tensor
    steps: Tensor

    def __init__(
        self,
        width: int,
        *,
        score: str | Score = "dot",
        estimator: Estimator = "straight-through",
        momentum: float = 0.9,
    ) -> None:
        super().__init__()
        self.width = check_size("HardAttention", "width", width)
        if estimator not in get_args(Estimator):
            names = " or ".join(repr(name) for name in get_args(Estimator))
            msg = f"HardAttention: estimator must be {names}, got {estimator!r}"
            raise ValueRangeError(msg)
        if isinstance(momentum, bool) or not isinstance(momentum, (int, float)):
            msg = f"HardAttention: momentum must be a number, got {momentum!r}"
            raise KindError(msg)
        if not 0 <= momentum < 1:
            msg = f"HardAttention: momentum must be at least 0 and below 1, got {momentum!r}"
            raise ValueRangeError(msg)
        self.estimator, self.momentum = estimator, momentum
        self.head = Heads(1, width, score=score)  # for its score, and what that learns
        self.register_buffer("baseline", torch.zeros((), dtype=torch.float64))
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
        self._chosen: Tensor | None = None
        self._log_probability: Tensor | None = None
        self._sampled = False

    def forward(
        self,
        queries: Float[Tensor, "b n d"],
        keys: Float[Tensor, "b m e"],
        values: Float[Tensor, "b m v"],
        valid_lens: Tensor | None = None,
        *,
        mask: Mask | None = None,
    ) -> Float[Tensor, "b n v"]:
        """The values of the keys drawn; zeros for a query that sees none."""
        check_input("HardAttention", "queries", queries, "b n d", self.width)
        queries, keys, values = cast_for_autocast(queries, keys, values)
        check_qkv(queries, keys, values)
        score, mask = self.head.score(), mask_of(valid_lens, mask)
        check_score_and_mask(queries, keys, score, mask)
        self.looked = look(queries, keys, score, mask)
        q, k, v = (reference.widened(x) for x in (queries, keys, values))
        with torch.autocast(q.device.type, enabled=False):
            return self._draw(q, k, v, score, mask).to(values.dtype)

    def _draw(self, q: Tensor, k: Tensor, v: Tensor, score: Score, mask: Mask | None) -> Tensor:
        batch, n, m = q.shape[:1], q.shape[1], k.shape[1]
        seen = torch.ones(n, m, dtype=torch.bool, device=q.device)
        if mask is not None:
            seen = mask.allows(batch, n, m, q.device)
        allowed = seen.expand(*batch, n, m)
        fine = clean_rows(q, k, v, allowed)
        p = reference.softmax(score.pairwise(fine.q, fine.k), allowed)  # [b, n, m]
        # one more outcome, "none", with a value of zeros: certain for a query that sees nothing
        none = (p == 0).all(-1, keepdim=True).to(p.dtype)
        p = torch.cat((p, none), -1)
        v = nn.functional.pad(fine.v, (0, 0, 0, 1))
        drawn = _race(p.detach()) if self.training else p.argmax(-1, keepdim=True)  # [b, n, 1]
        self._chosen = torch.where(drawn < m, drawn, -1).squeeze(-1)
        self._log_probability = p.gather(-1, drawn).squeeze(-1).log()
        self._sampled = self.training
        picked = v.gather(1, drawn.expand(-1, -1, v.shape[-1]))
        if self.estimator == "straight-through":
            soft = p @ v
            picked = picked.detach() + (soft - soft.detach())  # + 0, with the gradient of soft
        return fine.spoil(picked)

    def surrogate(
        self,
        loss: Float[Tensor, " b"] | Float[Tensor, "b n"],
        baseline: float | Tensor | None = None,
    ) -> Float[Tensor, ""]:
        """What to add to ``loss.mean()`` so that its gradient is that of the expected loss.

        Its value means nothing; its gradient is (loss - baseline) * grad log p(choices), averaged.

        Args:
            loss: of the last call, [b], one an example, or [b, n], one a query, where a query's
                loss follows from its own choice alone. For a reward give its negative.
            baseline: what loss was to be expected, a number or the shape of loss; it must not know
                the choices. None: the running mean of the losses of earlier calls. 0: no baseline.

        """
        if self.estimator != "score-function":
            msg = (
                f"HardAttention: surrogate belongs to estimator='score-function'; with "
                f"{self.estimator!r} the output has the gradient already"
            )
            raise StateError(msg)
        log_p = self.log_probability
        if not self._sampled:
            msg = (
                "HardAttention: surrogate needs keys that were drawn, and the last call was in "
                "eval mode; call train() first"
            )
            raise StateError(msg)
        if loss.shape not in (log_p.shape, log_p.shape[:1]):
            b, n = log_p.shape
            msg = (
                f"HardAttention: loss must be [b] = [{b}] or [b, n] = [{b}, {n}], "
                f"got the shape {list(loss.shape)}; keep it apart for each example"
            )
            raise ShapeError(msg)
        loss = loss.detach()
        expected = self.baseline.to(loss.dtype) if baseline is None else baseline
        if isinstance(expected, Tensor):
            if expected.shape not in (loss.shape, torch.Size()):
                msg = (
                    f"HardAttention: baseline must be a number or have the shape of loss "
                    f"{list(loss.shape)}, got the shape {list(expected.shape)}"
                )
                raise ShapeError(msg)
            expected = expected.detach()
        advantage = loss - expected
        if baseline is None and loss.numel():  # after its use: it must not know these choices
            rate = (1 / (self.steps + 1)).clamp_min(1 - self.momentum)
            self.baseline += rate * (loss.double().mean() - self.baseline)
            self.steps += 1
        return (advantage * (log_p.sum(-1) if loss.ndim == 1 else log_p)).mean()

    @property
    def choices(self) -> Int[Tensor, "b n"]:
        """The keys of the last call; -1 where a query saw none."""
        return self._last(self._chosen, "choices")

    @property
    def log_probability(self) -> Float[Tensor, "b n"]:
        """Of the choices of the last call, with its gradient; 0 where a query saw nothing."""
        return self._last(self._log_probability, "log_probability")

    def _last(self, found: Tensor | None, name: str) -> Tensor:
        if found is None:
            msg = f"HardAttention has not been called yet: it has no {name}"
            raise StateError(msg)
        return found

    def __getstate__(self) -> dict[str, object]:
        """Leave the last call out of copies and of what is saved."""
        return {**super().__getstate__(), "_chosen": None, "_log_probability": None}


def _race(p: Float[Tensor, "*b m"]) -> Int[Tensor, "*b 1"]:
    """Draw one index a row: that of the first of exponential clocks with the rates p to ring."""
    clocks = torch.empty_like(p).exponential_()
    # a clock at 0 would let a key of probability 0 win, as 0 / 0
    return (p / clocks.clamp_min_(torch.finfo(p.dtype).tiny)).argmax(-1, keepdim=True)
