"""Multi-head attention: several looks at once, through learned projections."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.errors import KindError, ShapeError, ValueRangeError
from regard.layers.base import check_dropout, check_input, check_size, projected
from regard.layers.heads import Heads
from regard.layers.positions import Rotary
from regard.layers.relative import RelativePositions
from regard.layers.softmax import mask_of
from regard.masks import Mask
from regard.scores import Score

__all__ = ["MultiHeadAttention", "transpose_output", "transpose_qkv"]


class MultiHeadAttention(nn.Module):
    """Project queries, keys and values, attend in each head, project what the heads found.

    Args:
        key_size, query_size, value_size: the widths of what comes in.
        num_hiddens: the width of all heads together, and of what comes out.
        num_heads: how many; num_hiddens is a multiple of it.
        dropout: the part of the weights left out while training.
        bias: whether the projections have one.
        score: how heads compare; see ``regard.layers.heads.Heads``.
        num_kv_heads: heads of keys and values, shared by groups of query heads (Ainslie et al.
            2023); 1 is multi-query attention. None: as many as query heads.
        positions: ``Rotary``, ``ALiBi`` or ``RelativeBias``, for self-attention.

    >>> import torch
    >>> from regard.layers import MultiHeadAttention
    >>> attention = MultiHeadAttention(100, 100, 100, num_hiddens=100, num_heads=5, dropout=0.5)
    >>> X, Y = torch.ones(2, 4, 100), torch.ones(2, 6, 100)
    >>> attention.eval()(X, Y, Y, torch.tensor([3, 2])).shape
    torch.Size([2, 4, 100])
    >>> attention.attention_weights.shape
    torch.Size([2, 5, 4, 6])

    """

    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        num_heads: int,
        dropout: float,
        bias: bool = False,  # noqa: FBT001, FBT002 - the signature of the notes
        *,
        score: str | Score = "dot",
        num_kv_heads: int | None = None,
        positions: Rotary | RelativePositions | None = None,
    ) -> None:
        super().__init__()
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        for name, size in (
            ("key_size", key_size),
            ("query_size", query_size),
            ("value_size", value_size),
            ("num_hiddens", num_hiddens),
            ("num_heads", num_heads),
            ("num_kv_heads", num_kv_heads),
        ):
            check_size("MultiHeadAttention", name, size)
        if num_hiddens % num_heads:
            msg = (
                f"MultiHeadAttention: num_hiddens must be a multiple of num_heads={num_heads}, "
                f"got {num_hiddens}"
            )
            raise ValueRangeError(msg)
        if num_heads % num_kv_heads:
            msg = (
                f"MultiHeadAttention: num_heads={num_heads} must be a multiple of num_kv_heads, "
                f"got {num_kv_heads}"
            )
            raise ValueRangeError(msg)
        if not isinstance(positions, (Rotary, RelativePositions, type(None))):
            msg = (
                f"MultiHeadAttention: positions must be Rotary, ALiBi, RelativeBias or None, "
                f"got {type(positions).__name__}"
            )
            raise KindError(msg)
        check_dropout("MultiHeadAttention", dropout)
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        width = num_hiddens // num_heads
        self.rotary = positions if isinstance(positions, Rotary) else None
        relative = positions if isinstance(positions, RelativePositions) else None
        self.attention = Heads(num_heads, width, dropout, score, relative)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_kv_heads * width, bias=bias)
        self.W_v = nn.Linear(value_size, num_kv_heads * width, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(
        self,
        queries: Float[Tensor, "b n d"],
        keys: Float[Tensor, "b m e"],
        values: Float[Tensor, "b m v"],
        valid_lens: Tensor | None = None,
        *,
        mask: Mask | None = None,
    ) -> Float[Tensor, "b n o"]:
        """Attend; ``valid_lens`` [b] or [b, n] says how many keys are real."""
        seen = mask_of(valid_lens, mask)
        k, v = self.project(keys, values, mask=seen)
        return self.over(queries, k, v, seen)

    def project(
        self,
        keys: Float[Tensor, "b m e"],
        values: Float[Tensor, "b m v"],
        offset: int = 0,
        mask: Mask | None = None,
    ) -> tuple[Float[Tensor, "b kv m p"], Float[Tensor, "b kv m p"]]:
        """Keys and values as the heads see them: what a cache keeps.

        The first stands at ``offset``. With a mask, what it hides may hold NaN.
        """
        check_input("MultiHeadAttention", "keys", keys, "b m e", self.W_k.in_features)
        check_input("MultiHeadAttention", "values", values, "b m v", self.W_v.in_features)
        if keys is values and mask is None:
            pair = _beside((self.W_k, self.W_v), keys)
        else:
            pair = tuple(
                projected(linear, x, mask) for linear, x in ((self.W_k, keys), (self.W_v, values))
            )
        k, v = (_split(x, self.num_kv_heads) for x in pair)
        return (k if self.rotary is None else self.rotary(k, offset)), v

    def project_all(
        self, x: Float[Tensor, "b n d"], offset: int = 0
    ) -> tuple[Float[Tensor, "b heads n p"], Float[Tensor, "b kv n p"], Float[Tensor, "b kv n p"]]:
        """Queries, keys and values of the same tokens, as the heads see them."""
        for linear in (self.W_q, self.W_k, self.W_v):
            check_input("MultiHeadAttention", "x", x, "b n d", linear.in_features)
        every = _beside((self.W_q, self.W_k, self.W_v), x)
        heads = (self.num_heads, self.num_kv_heads, self.num_kv_heads)
        q, k, v = (_split(y, count) for y, count in zip(every, heads, strict=True))
        if self.rotary is not None:
            q, k = self.rotary(q, offset), self.rotary(k, offset)
        return q, k, v

    def over(
        self,
        queries: Float[Tensor, "b n d"],
        k: Float[Tensor, "b kv m p"],
        v: Float[Tensor, "b kv m p"],
        mask: Mask | None = None,
        offset: int = 0,
    ) -> Float[Tensor, "b n o"]:
        """As ``forward``, over what ``project`` gave before; query 0 stands at ``offset``."""
        check_input("MultiHeadAttention", "queries", queries, "b n d", self.W_q.in_features)
        q = _split(self.W_q(queries), self.num_heads)
        if self.rotary is not None:
            q = self.rotary(q, offset)
        return self.among(q, k, v, mask, offset)

    def among(
        self,
        q: Float[Tensor, "b heads n p"],
        k: Float[Tensor, "b kv m p"],
        v: Float[Tensor, "b kv m p"],
        mask: Mask | None = None,
        offset: int = 0,
    ) -> Float[Tensor, "b n o"]:
        """As ``over``, of queries that are projected, too."""
        group = self.num_heads // self.num_kv_heads
        if group > 1:
            k, v = (x.repeat_interleave(group, 1) for x in (k, v))
        out = self.attention(q, k, v, mask, offset)
        return self.W_o(out.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]

    @property
    def attention_weights(self) -> Float[Tensor, "b heads n m"]:
        """The weights of the last call; computed now."""
        return self.attention.weights_by_head

    @classmethod
    def from_torch(cls, other: nn.MultiheadAttention) -> MultiHeadAttention:
        """The same layer as one of torch's, with copies of its weights; batch axis first.

        >>> import torch
        >>> from regard.layers import MultiHeadAttention
        >>> theirs = torch.nn.MultiheadAttention(8, num_heads=2, batch_first=True)
        >>> ours, x = MultiHeadAttention.from_torch(theirs), torch.randn(3, 5, 8)
        >>> torch.allclose(ours(x, x, x), theirs(x, x, x)[0], atol=1e-6)
        True

        """
        if not isinstance(other, nn.MultiheadAttention):
            msg = f"from_torch takes a torch.nn.MultiheadAttention, got {type(other).__name__}"
            raise KindError(msg)
        if other.bias_k is not None or other.add_zero_attn:
            wrong = "add_bias_kv" if other.bias_k is not None else "add_zero_attn"
            msg = f"from_torch: {wrong}=True adds keys of its own, which regard's layer has not"
            raise ValueRangeError(msg)
        bias = other.in_proj_bias is not None
        kdim, width, vdim = other.kdim or 0, other.embed_dim, other.vdim or 0
        made = cls(kdim, width, vdim, width, other.num_heads, other.dropout, bias)
        made.to(other.out_proj.weight)
        if other.in_proj_weight is not None:
            weights = other.in_proj_weight.chunk(3)
        else:
            weights = (other.q_proj_weight, other.k_proj_weight, other.v_proj_weight)
        ours = (made.W_q, made.W_k, made.W_v)
        with torch.no_grad():
            for mine, theirs in zip(ours, weights, strict=True):
                mine.weight.copy_(theirs)
            made.W_o.weight.copy_(other.out_proj.weight)
            if bias:
                for mine, theirs in zip(ours, other.in_proj_bias.chunk(3), strict=True):
                    mine.bias.copy_(theirs)
                made.W_o.bias.copy_(other.out_proj.bias)
        return made.train(other.training)


def _beside(linears: Sequence[nn.Linear], x: Tensor) -> tuple[Tensor, ...]:
    """Several projections of the same rows; while they are learned, in one product.

    One wide product is faster than three, and more so are its gradients, of which the sum to x is
    part. Where nothing is learned, putting the weights side by side at each token would cost more.
    """
    plain = all(_is_plain(linear) for linear in linears)
    biases: list[Tensor] = [linear.bias for linear in linears if linear.bias is not None]
    if not torch.is_grad_enabled() or not plain or 0 < len(biases) < len(linears):
        return tuple(linear(x) for linear in linears)
    weights: list[Tensor] = [linear.weight for linear in linears]
    wide = nn.functional.linear(x, torch.cat(weights), torch.cat(biases) if biases else None)
    return torch.split(wide, [linear.out_features for linear in linears], -1)


def _is_plain(linear: nn.Module) -> bool:
    """Whether a product with its weights is all that calling it does."""
    watched = any(getattr(linear, hooks) for hooks in _HOOKS)
    return type(linear) is nn.Linear and not watched and "forward" not in vars(linear)


_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def _split(x: Float[Tensor, "b n h"], heads: int) -> Float[Tensor, "b heads n p"]:
    b, n, h = x.shape
    return x.reshape(b, n, heads, h // heads).transpose(1, 2)


def transpose_qkv(X: Float[Tensor, "b n h"], num_heads: int) -> Float[Tensor, "b*heads n p"]:
    """Cut the features into heads, and lay the heads beside the sequences.

    >>> import torch
    >>> from regard.layers import transpose_output, transpose_qkv
    >>> X = torch.arange(24).reshape(2, 3, 4)
    >>> heads = transpose_qkv(X, num_heads=2)
    >>> heads.shape
    torch.Size([4, 3, 2])
    >>> torch.equal(transpose_output(heads, num_heads=2), X)
    True

    """
    if X.ndim != 3 or X.shape[2] % num_heads:  # noqa: PLR2004 - b, n, h
        msg = (
            f"transpose_qkv: X must be [b, n, h] with h a multiple of num_heads={num_heads}, "
            f"got the shape {list(X.shape)}"
        )
        raise ShapeError(msg)
    return _split(X, num_heads).flatten(0, 1)


def transpose_output(X: Float[Tensor, "b*heads n p"], num_heads: int) -> Float[Tensor, "b n h"]:
    """Undo ``transpose_qkv``."""
    if X.ndim != 3 or X.shape[0] % num_heads:  # noqa: PLR2004 - b * heads, n, p
        msg = (
            f"transpose_output: X must be [b * heads, n, p] with heads={num_heads}, "
            f"got the shape {list(X.shape)}"
        )
        raise ShapeError(msg)
    return X.reshape(X.shape[0] // num_heads, num_heads, *X.shape[1:]).transpose(1, 2).flatten(2)
