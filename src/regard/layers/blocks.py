"""The blocks of a Transformer: attention and a small network, each with a way around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.errors import ValueRangeError
from regard.layers.base import check_dropout, check_input, check_size
from regard.layers.multihead import MultiHeadAttention
from regard.layers.positions import Rotary
from regard.layers.relative import ALiBi, RelativeBias, RelativePositions
from regard.layers.softmax import mask_of
from regard.masks import Causal, Mask
from regard.scores import Score

__all__ = ["Block", "Cache", "DecoderBlock", "EncoderBlock", "FeedForward", "Residual"]

Relative = Literal["none", "rotary", "alibi", "relative"]


class FeedForward(nn.Module):
    """Two linear layers with an activation between, the same for every token.

    >>> import torch
    >>> from regard.layers import FeedForward
    >>> FeedForward(4, 8)(torch.ones(2, 3, 4)).shape
    torch.Size([2, 3, 4])

    """

    def __init__(
        self, width: int, hidden: int, dropout: float = 0.0, activation: str = "relu"
    ) -> None:
        super().__init__()
        check_size("FeedForward", "width", width)
        check_size("FeedForward", "hidden", hidden)
        known = {"relu": nn.ReLU, "gelu": nn.GELU, "silu": nn.SiLU}
        if activation not in known:
            names = ", ".join(repr(name) for name in known)
            msg = f"FeedForward: activation must be one of {names}; got {activation!r}"
            raise ValueRangeError(msg)
        self.inner = nn.Linear(width, hidden)
        self.activation = known[activation]()
        self.dropout = nn.Dropout(check_dropout("FeedForward", dropout))
        self.outer = nn.Linear(hidden, width)

    def forward(self, x: Float[Tensor, "*b n d"]) -> Float[Tensor, "*b n d"]:
        """Each token on its own."""
        return self.outer(self.dropout(self.activation(self.inner(x))))  # type: ignore[no-any-return]


class Residual(nn.Module):
    """x + f(x), and a normalisation.

    Args:
        width: of x.
        dropout: of f(x), while training.
        norm: "post" normalises the sum (Vaswani et al. 2017); "pre" normalises what f is given, and
            leaves the way around f untouched, which trains more easily when deep (Xiong et al.
            2020).

    >>> import torch
    >>> from regard.layers import Residual
    >>> Residual(4, norm="pre")(torch.ones(1, 2, 4), torch.sin).tolist()[0][0]
    [1.0, 1.0, 1.0, 1.0]

    """

    def __init__(self, width: int, dropout: float = 0.0, norm: str = "post") -> None:
        super().__init__()
        if norm not in ("pre", "post"):
            msg = f"norm must be 'pre' or 'post', got {norm!r}"
            raise ValueRangeError(msg)
        self.first = norm == "pre"
        self.norm = nn.LayerNorm(check_size("Residual", "width", width))
        self.dropout = nn.Dropout(check_dropout("Residual", dropout))

    def forward(self, x: Tensor, f: Callable[[Tensor], Tensor]) -> Tensor:
        """Go through f and around it."""
        if self.first:
            return x + self.dropout(f(self.norm(x)))  # type: ignore[no-any-return]
        return self.norm(x + self.dropout(f(x)))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Block:
    """What the blocks of a stack have in common.

    Args:
        width: of a token's vector.
        num_heads: of attention; the width is a multiple of it.
        hidden: the width inside the feed-forward network.
        dropout: of weights, of what is added, and inside the feed-forward network.
        attention_dropout: of weights, if it is another one; 0 leaves them whole.
        norm: "post" or "pre", see ``Residual``.
        activation: "relu", "gelu" or "silu".
        bias: whether the projections of attention have one.
        score: how heads compare, see ``regard.layers.heads.Heads``.
        num_kv_heads: heads of keys and values; None: as many as ``num_heads``.
        relative: positions inside self-attention: "none", "rotary", "alibi" or "relative".

    """

    width: int
    num_heads: int
    hidden: int
    dropout: float = 0.0
    norm: str = "post"
    activation: str = "relu"
    bias: bool = True
    score: str | Score = "dot"
    num_kv_heads: int | None = None
    relative: str = "none"
    attention_dropout: float | None = None

    def attention(self, *, positions: bool) -> MultiHeadAttention:
        """One layer of attention among tokens; with positions if it is self-attention."""
        d = self.width
        return MultiHeadAttention(
            d,
            d,
            d,
            d,
            self.num_heads,
            self.dropout if self.attention_dropout is None else self.attention_dropout,
            self.bias,
            score=self.score,
            num_kv_heads=self.num_kv_heads,
            positions=self._positions() if positions else None,
        )

    def _positions(self) -> Rotary | RelativePositions | None:
        if self.relative not in get_args(Relative):
            names = ", ".join(repr(name) for name in get_args(Relative))
            msg = f"relative must be one of {names}; got {self.relative!r}"
            raise ValueRangeError(msg)
        if self.relative == "rotary":
            return Rotary(max(self.width // self.num_heads, 1))
        if self.relative == "alibi":
            return ALiBi(self.num_heads)
        return RelativeBias(self.num_heads) if self.relative == "relative" else None

    def feed_forward(self) -> FeedForward:
        """One feed-forward network."""
        return FeedForward(self.width, self.hidden, self.dropout, self.activation)

    def residual(self) -> Residual:
        """One way around."""
        return Residual(self.width, self.dropout, self.norm)


class EncoderBlock(nn.Module):
    """Self-attention, then the feed-forward network.

    >>> import torch
    >>> from regard.layers import Block, EncoderBlock
    >>> block = EncoderBlock(Block(width=24, num_heads=8, hidden=48)).eval()
    >>> block(torch.ones(2, 100, 24), torch.tensor([3, 2])).shape
    torch.Size([2, 100, 24])

    """

    def __init__(self, block: Block) -> None:
        super().__init__()
        self.attention = block.attention(positions=True)
        self.around_attention = block.residual()
        self.feed_forward = block.feed_forward()
        self.around_feed_forward = block.residual()

    def forward(
        self,
        x: Float[Tensor, "b n d"],
        valid_lens: Tensor | None = None,
        *,
        mask: Mask | None = None,
    ) -> Float[Tensor, "b n d"]:
        """Tokens look at each other; ``valid_lens`` [b] or [b, n], and any mask beside it."""
        check_input("EncoderBlock", "x", x, "b n d", self.attention.W_q.in_features)
        seen = mask_of(valid_lens, mask)

        def to_each_other(y: Tensor) -> Tensor:
            return self.attention.among(*self.attention.project_all(y), seen)

        x = self.around_attention(x, to_each_other)
        return self.around_feed_forward(x, self.feed_forward)  # type: ignore[no-any-return]


class Cache(NamedTuple):
    """What a decoder block remembers: its own past, and the source, as its heads see them."""

    k: Float[Tensor, "b kv t p"]
    v: Float[Tensor, "b kv t p"]
    source_k: Float[Tensor, "b kv m p"]
    source_v: Float[Tensor, "b kv m p"]

    def rows(self, index: Tensor, *, source: bool = True) -> Cache:
        """The same for some of the sequences, in the order of ``index``: for beams.

        With ``source=False`` the source stays: rows change places among those of one source.
        """
        k, v = self.k.index_select(0, index), self.v.index_select(0, index)
        if not source:
            return self._replace(k=k, v=v)
        return Cache(k, v, *(x.index_select(0, index) for x in self[2:]))


class DecoderBlock(nn.Module):
    """Self-attention to the past, attention to the source, the feed-forward network.

    Called with a whole target it looks at no later token. Called with a cache it takes the next
    tokens and gives the cache that includes them: the same numbers, one token at a time.

    >>> import torch
    >>> from regard.layers import Block, DecoderBlock
    >>> block = DecoderBlock(Block(width=24, num_heads=8, hidden=48)).eval()
    >>> target, source = torch.randn(2, 5, 24), torch.randn(2, 7, 24)
    >>> whole, _ = block(target, block.start(source))
    >>> cache = block.start(source)
    >>> for t in range(5):
    ...     step, cache = block(target[:, t : t + 1], cache)
    >>> torch.allclose(step[:, 0], whole[:, -1], atol=1e-5)
    True

    """

    def __init__(self, block: Block) -> None:
        super().__init__()
        self.attention = block.attention(positions=True)
        self.around_attention = block.residual()
        self.to_source = block.attention(positions=False)
        self.around_source = block.residual()
        self.feed_forward = block.feed_forward()
        self.around_feed_forward = block.residual()

    def start(self, source: Float[Tensor, "b m d"]) -> Cache:
        """Before the first token: no past, and the source projected once."""
        check_input("DecoderBlock", "source", source, "b m d", self.to_source.W_k.in_features)
        source_k, source_v = self.to_source.project(source, source)
        if not torch.is_grad_enabled():  # to be looked at in many steps: laid out once
            source_k, source_v = source_k.contiguous(), source_v.contiguous()
        none = source_k[:, :, :0]
        return Cache(none, none, source_k, source_v)

    def forward(
        self, x: Float[Tensor, "b n d"], cache: Cache, valid_lens: Tensor | None = None
    ) -> tuple[Float[Tensor, "b n d"], Cache]:
        """The next n tokens; ``valid_lens`` [b] is the source's."""
        check_input("DecoderBlock", "x", x, "b n d", self.attention.W_q.in_features)
        past, n = cache.k.shape[2], x.shape[1]

        def to_past(y: Tensor) -> Tensor:
            nonlocal cache
            q, k, v = self.attention.project_all(y, offset=past)
            if past:
                k, v = torch.cat((cache.k, k), 2), torch.cat((cache.v, v), 2)
            cache = cache._replace(k=k, v=v)
            mask = Causal(offset=past) if n > 1 else None  # one token sees all there is
            return self.attention.among(q, k, v, mask, offset=past)

        x = self.around_attention(x, to_past)
        seen = mask_of(valid_lens)
        x = self.around_source(
            x, lambda y: self.to_source.over(y, cache.source_k, cache.source_v, seen)
        )
        return self.around_feed_forward(x, self.feed_forward), cache
