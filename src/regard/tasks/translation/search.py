"""Finding the best translations: beam search, many sentences at once.

A model is anything that reads a source (``start``) and then takes a token and scores the next one
(``step``). In each step the ``beam`` best continuations of a sentence's hypotheses are kept; those
that end leave. A sentence is done when no hypothesis that goes on can come to be among its best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from numbers import Real
from typing import Any, NamedTuple, Protocol

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad

from regard.errors import KindError, ShapeError, ValueRangeError
from regard.layers.base import check_size
from regard.tasks.vocabulary import BOS, EOS, PAD

__all__ = ["Found", "Scorer", "check_search", "greedy", "most_tokens", "search"]

NEVER = -1e30  # a log-probability below comes of a score of infinity beside it
PENALTY = 10  # of length, at most, in either direction; 266 tokens to the 10th is a number still
KEPT = 0.75  # once fewer sentences than this are under way, the others are taken out


class Scorer(Protocol):
    """What is asked of a model. A state is its own affair, but ``rows(index)`` picks from one."""

    def start(self, source: Tensor, source_lens: Tensor) -> Any:  # noqa: ANN401
        """Read source [b, m]; give a state with b rows."""

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:  # noqa: ANN401
        """Take tokens [b]; give scores of the next [b, vocab], of any scale, and the state."""


@dataclass(frozen=True)
class Found:
    """A translation.

    Args:
        tokens: without BOS and EOS.
        score: log_prob / ((5 + length) / 6) ** length_penalty (Wu et al. 2016); EOS counts.
        log_prob: of the tokens, and of EOS.
        ended: whether EOS came. If not, it was cut off, or the model scored nothing any more.

    """

    tokens: tuple[int, ...]
    score: float
    log_prob: float
    ended: bool


@torch.no_grad()
def search(
    model: Scorer,
    source: Int[Tensor, "b m"],
    source_lens: Int[Tensor, " b"] | None = None,
    *,
    beam: int = 4,
    n_best: int = 1,
    length_penalty: float = 1.0,
    max_len: int | Sequence[int] | None = None,
) -> list[list[Found]]:
    """Translate: for each sentence at most ``n_best`` different translations, best first.

    Those that ended come before those that were cut off. PAD and BOS are never written; a score
    of NaN is none. Of equal continuations the earlier hypothesis's and the smaller token is taken.

    Args:
        model: see ``Scorer``.
        source: token numbers, padded at the end.
        source_lens: how many are real; None: all.
        beam: hypotheses followed at a time; 1 is greedy.
        n_best: how many are given; at most ``beam``.
        length_penalty: 0 compares log-probabilities, more favours longer translations; from -10
            to 10.
        max_len: of a translation, EOS counts; one number, or one a sentence. None: as
            ``most_tokens`` has it.

    Raises:
        ValueRangeError: a number is out of its range.

    """
    source_lens = _lengths(source, source_lens)
    limits = _limits(max_len, source_lens)
    check_search("search", beam, n_best, length_penalty)
    best = [_Best(limit, n_best, float(length_penalty)) for limit in limits]
    if not best:
        return []
    device = source.device
    state = model.start(source, source_lens)
    under_way = list(range(len(best)))
    totals = torch.zeros(len(best), 1, dtype=torch.float64, device=device)
    tokens = torch.full((len(best),), BOS, device=device)
    written = torch.empty(len(best), 0, dtype=torch.int64, device=device)
    for length in range(1, max(limits) + 1):
        scores, state = model.step(tokens, state)
        chosen = _choose(scores, totals, beam)
        totals, token, row = chosen.totals, chosen.tokens, chosen.rows
        history = torch.cat((written.index_select(0, row.flatten()), token.reshape(-1, 1)), 1)
        last = torch.tensor([limits[s] <= length for s in under_way], device=device).unsqueeze(1)
        leaves = totals.isfinite() & ((token == EOS) | last)
        of = leaves.nonzero()[:, 0].tolist()
        leaving = (
            x[leaves].tolist()
            for x in (history.view(*token.shape, -1), chosen.totals, chosen.stuck)
        )
        for a, found, log_prob, stuck in zip(of, *leaving, strict=True):
            kept = found[:-1] if found[-1] == EOS else found
            best[under_way[a]].add(kept, log_prob, ended=found[-1] == EOS and not stuck)
        totals = totals.masked_fill(leaves, -inf)
        tops = totals.amax(1).tolist()
        open_ = [a for a, s in enumerate(under_way) if not best[s].settled(tops[a], length)]
        if not open_:
            break
        if len(open_) <= KEPT * len(under_way):
            here = torch.tensor(open_, device=device)
            under_way = [under_way[a] for a in open_]
            history = history.view(*token.shape, -1)[here].flatten(0, 1)
            totals, token, row = totals[here], token[here], row[here]
        if not torch.equal(row.flatten(), torch.arange(len(tokens), device=device)):
            state = state.rows(row.flatten())
        tokens, written = token.flatten(), history
    return [x.sorted() for x in best]


@torch.no_grad()
def greedy(
    model: Scorer,
    source: Int[Tensor, "b m"],
    source_lens: Int[Tensor, " b"] | None = None,
    *,
    length_penalty: float = 1.0,
    max_len: int | Sequence[int] | None = None,
) -> list[Found]:
    """Take the likeliest token each time: what ``search`` with a beam of 1 does, spelled out."""
    check_search("greedy", 1, 1, length_penalty)
    source_lens = _lengths(source, source_lens)
    best = [_Best(limit, 1, float(length_penalty)) for limit in _limits(max_len, source_lens)]
    tokens = torch.full((len(best),), BOS, device=source.device)
    state = model.start(source, source_lens)
    written: list[list[int]] = [[] for _ in best]
    log_probs, done = [0.0] * len(best), [False] * len(best)
    while not all(done):
        scores, state = model.step(tokens, state)
        scores, stuck = _cleaned(scores)
        top, tokens = scores.max(-1)
        step = (top.double() - scores.logsumexp(-1).double()).tolist()
        for i, token in enumerate(tokens.tolist()):
            if done[i]:
                continue
            log_probs[i] += step[i]
            if token != EOS:
                written[i].append(token)
            done[i] = token == EOS or len(written[i]) >= best[i].limit
            if done[i]:
                best[i].add(written[i], log_probs[i], ended=token == EOS and not bool(stuck[i]))
    return [x.sorted()[0] for x in best]


@dataclass
class _Best:
    """The best translations of one sentence so far."""

    limit: int
    n_best: int
    length_penalty: float
    ended: list[Found] = field(default_factory=list)
    cut_off: list[Found] = field(default_factory=list)

    def add(self, tokens: list[int], log_prob: float, *, ended: bool) -> None:
        score = self._score(log_prob, len(tokens) + ended)
        which = self.ended if ended else self.cut_off
        which.append(Found(tuple(tokens), score, log_prob, ended))
        which.sort(key=lambda x: -x.score)  # stable: of equals the first
        del which[self.n_best :]

    def settled(self, top: float, length: int) -> bool:
        """Whether hypotheses of at most this log-probability can change nothing any more.

        It can only fall. The length that suits it best is the shortest or the longest possible.
        """
        if top == -inf:
            return True
        if len(self.ended) < self.n_best:
            return False
        hope = max(self._score(top, length + 1), self._score(top, self.limit))
        return hope <= self.ended[-1].score

    def sorted(self) -> list[Found]:
        return [*self.ended, *self.cut_off][: self.n_best]

    def _score(self, log_prob: float, length: int) -> float:
        return float(log_prob / ((5 + length) / 6) ** self.length_penalty)


class _Chosen(NamedTuple):
    """The best continuations of each sentence; one of log-probability -inf is none."""

    totals: Float[Tensor, "a k"]
    tokens: Int[Tensor, "a k"]
    rows: Int[Tensor, "a k"]  # of the state
    stuck: Tensor  # [a, k], whether it goes on from a row where nothing had a score


def _choose(scores: Float[Tensor, "rows v"], totals: Float[Tensor, "a w"], beam: int) -> _Chosen:
    a, w = totals.shape
    scores, stuck = _cleaned(scores)
    # the best of all are among the best of each row; those few in float64, which adds without ties
    values, tokens = _top(scores, min(beam, scores.shape[-1]))
    k = values.shape[-1]
    log_probs = values.double() - scores.logsumexp(-1, keepdim=True).double()
    log_probs = log_probs.masked_fill(log_probs < NEVER, -inf)
    sums = (totals.reshape(-1, 1) + log_probs.clamp_max(0)).view(a, w * k)
    sums, order = sums.sort(dim=-1, descending=True, stable=True)
    sums, order = sums[:, :beam], order[:, :beam]
    rows = order // k + w * torch.arange(a, device=order.device).unsqueeze(1)
    return _Chosen(sums, tokens.reshape(a, w * k).gather(1, order), rows, stuck[rows])


def _cleaned(scores: Float[Tensor, "rows v"]) -> tuple[Float[Tensor, "rows v"], Tensor]:
    """Scores without NaN, PAD and BOS, and in which rows nothing is left: there EOS is all."""
    scores = scores if scores.dtype == torch.float64 else scores.float()
    most = torch.finfo(scores.dtype).max
    scores = scores.nan_to_num(nan=-inf, posinf=most, neginf=-inf)  # a copy
    scores = pad(scores, (0, max(0, EOS + 1 - scores.shape[-1])), value=-inf)
    scores[:, [PAD, BOS]] = -inf
    stuck = scores.amax(-1) == -inf
    scores[:, EOS] = scores[:, EOS].masked_fill(stuck, 0)
    return scores, stuck


def _top(x: Float[Tensor, "rows v"], k: int) -> tuple[Tensor, Tensor]:
    """The k largest of each row and where they are; of equals the first."""
    values, at = x.topk(min(k + 1, x.shape[-1]))
    equals = (values[:, 1:] == values[:, :-1]) & (values[:, 1:] > -inf)
    rows = equals.any(-1)
    if bool(rows.any()):  # topk does not say which of them it takes
        some, order = x[rows].sort(dim=-1, descending=True, stable=True)
        values[rows], at[rows] = some[:, : values.shape[-1]], order[:, : values.shape[-1]]
    return values[:, :k], at[:, :k]


def _lengths(source: Tensor, source_lens: Tensor | None) -> Tensor:
    if source.ndim != 2:  # noqa: PLR2004 - b, m
        msg = f"search: source must be [b, tokens], got the shape {list(source.shape)}"
        raise ShapeError(msg)
    if source_lens is None:
        return torch.full(source.shape[:1], source.shape[1], device=source.device)
    if source_lens.shape != source.shape[:1]:
        msg = (
            f"search: source_lens must be [{source.shape[0]}], one length a sentence, got the "
            f"shape {list(source_lens.shape)}"
        )
        raise ShapeError(msg)
    return source_lens


def _limits(max_len: int | Sequence[int] | None, source_lens: Tensor) -> list[int]:
    b = len(source_lens)
    if max_len is None:
        return [most_tokens(m) for m in source_lens.tolist()]
    if not isinstance(max_len, Sequence):
        return [check_size("search", "max_len", max_len)] * b
    if len(max_len) != b:
        msg = f"search: max_len must be one number or {b}, one a sentence, got {len(max_len)}"
        raise ShapeError(msg)
    return [check_size("search", "max_len", x) for x in max_len]


def most_tokens(source: int) -> int:
    """How many tokens the translation of so many may have: twice as many, and 10."""
    return 2 * source + 10


def check_search(owner: str, beam: int, n_best: int, length_penalty: float) -> None:
    """Raise unless a search can be made with these; ``owner`` is who asks."""
    check_size(owner, "beam", beam)
    if check_size(owner, "n_best", n_best) > beam:
        msg = f"{owner}: n_best must be at most beam={beam}, got {n_best}; a wider beam gives more"
        raise ValueRangeError(msg)
    if isinstance(length_penalty, bool) or not isinstance(length_penalty, Real):
        msg = f"{owner}: length_penalty must be a number, got {length_penalty!r}"
        raise KindError(msg)
    if not -PENALTY <= length_penalty <= PENALTY:
        msg = (
            f"{owner}: length_penalty must be from -{PENALTY} to {PENALTY}, got {length_penalty!r}"
        )
        raise ValueRangeError(msg)
