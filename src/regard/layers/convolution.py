"""Convolution as self-attention: heads that look by position alone (Cordonnier et al. 2020)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.reference import widened
from regard.errors import KindError, ShapeError, StateError, ValueRangeError
from regard.layers.base import Attending, check_size
from regard.scores import Gaussian
from regard.scores.base import check_positive

__all__ = ["NARROW", "PositionalSelfAttention", "from_conv"]

# A neighbour, 1 away, gets exp(-1 / (2 width^2)) = exp(-800) of the weight: 0 even in float64.
NARROW = 0.025
_MODES = {
    "zeros": "constant",
    "reflect": "reflect",
    "replicate": "replicate",
    "circular": "circular",
}


class PositionalSelfAttention(Attending):
    """Each head looks ``offset`` away from where it stands, whatever is written there.

    ::

        score of head t (i, j) = -|position_i + offset_t - position_j|^2 / (2 width_t^2)
        out_i = bias + sum over t of weight_t * (the average of x by the softmax of the scores)

    With narrow widths and whole offsets this is a convolution: see ``from_conv``. Offsets and
    widths learn, so the receptive field does too; where all weight is on one position their
    gradient is zero, so start wider to let heads move. A head that looks past the edge sees what
    is nearest to it.

    Args:
        weight: [o, i, heads], what a head does to what it found; i is the inputs of one group.
        offsets: [heads, axes], in positions; axes is 1 for sequences, 2 for images, 3 for volumes.
        bias: [o] or None.
        width: of every head's look, in positions.
        groups: the channels are cut into as many parts, which do not mix.
        padding: positions to add before and after, one pair an axis.
        padding_mode: "zeros", "reflect", "replicate" or "circular".
        grow: how many more queries than positions along each axis, before padding; may be negative.

    >>> import torch
    >>> from regard.layers.convolution import PositionalSelfAttention
    >>> left = PositionalSelfAttention(torch.ones(1, 1, 1), torch.tensor([[-1.0]]))
    >>> left(torch.tensor([[[1.0, 2.0, 3.0, 4.0]]])).tolist()
    [[[1.0, 1.0, 2.0, 3.0]]]
    >>> left.attention_weights[0, 3].tolist()  # of the only head's last query
    [0.0, 0.0, 1.0, 0.0]

    """

    def __init__(
        self,
        weight: Float[Tensor, "o i heads"],
        offsets: Float[Tensor, "heads axes"],
        bias: Float[Tensor, " o"] | None = None,
        *,
        width: float = NARROW,
        groups: int = 1,
        padding: Sequence[tuple[int, int]] | None = None,
        padding_mode: str = "zeros",
        grow: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        check_size("PositionalSelfAttention", "groups", groups)
        check_positive("PositionalSelfAttention", "width", width)
        heads, axes = _check_parameters(weight, offsets, bias, groups)
        if padding_mode not in _MODES:
            names = ", ".join(repr(name) for name in _MODES)
            msg = (
                f"PositionalSelfAttention: padding_mode must be one of {names}; "
                f"got {padding_mode!r}"
            )
            raise ValueRangeError(msg)
        self.groups, self.padding_mode = groups, padding_mode
        self.padding = tuple(padding or ((0, 0),) * axes)
        self.grow = tuple(grow or (0,) * axes)
        for name, given in (("padding", self.padding), ("grow", self.grow)):
            if len(given) != axes:
                msg = (
                    f"PositionalSelfAttention: {name} must have one entry for each of the {axes} "
                    f"axes of offsets, got {len(given)}"
                )
                raise ShapeError(msg)
        self.weight = nn.Parameter(weight.detach().clone())
        self.bias = None if bias is None else nn.Parameter(bias.detach().clone())
        self.offsets = nn.Parameter(offsets.detach().clone().to(weight))
        self.log_width = nn.Parameter(torch.full((heads, 1), width).log().to(weight))

    def forward(
        self, x: Float[Tensor, "b c *size"] | Float[Tensor, " c *size"]
    ) -> Float[Tensor, "b o *places"] | Float[Tensor, " o *places"]:
        """Channels first, as convolutions take them; finite, as every position is averaged over."""
        self._check(x)
        axes, (out, inside, heads) = self.offsets.shape[1], self.weight.shape
        batched = x.ndim == axes + 2
        x = x if batched else x[None]
        places = [s + g for s, g in zip(x.shape[2:], self.grow, strict=True)]
        found = self._look(x, places).to(x.dtype)
        found = found.view(*found.shape[:2], len(x), self.groups, inside)
        weight = self.weight.view(self.groups, out // self.groups, inside, heads)
        y = torch.einsum("tnbgi,goit->bgon", found, weight).reshape(len(x), out, *places)
        if self.bias is not None:
            y = y + self.bias.to(y.dtype).view(out, *(1,) * axes)
        return y if batched else y[0]

    def _look(self, x: Float[Tensor, "b c *size"], places: list[int]) -> Tensor:
        """What each head sees at each place, [heads, n, b * c].

        No weight depends on x, so the whole batch lies in the value's features and is averaged
        with one set of weights. And x itself is averaged, not each head's own projection of it: the
        same number, as both are linear, and the heads then share their values.
        """
        flat = [end for pair in reversed(self.padding) for end in pair]
        if any(flat):
            x = nn.functional.pad(x, flat, mode=_MODES[self.padding_mode])
        # in float32 at least: half precision does not know the whole numbers beyond 256 or 2048
        v = widened(x.flatten(2)).permute(2, 0, 1).flatten(1)  # [m, b * c]
        starts = [-before for before, _ in self.padding]
        k = _grid(x.shape[2:], starts, v)
        q = _grid(places, [0] * len(places), v) + self.offsets.to(v.dtype).unsqueeze(1)
        heads = q.shape[0]
        with torch.autocast(x.device.type, enabled=False):
            return self.attend(
                q,
                k.expand(heads, -1, -1),
                v.expand(heads, -1, -1),
                score=Gaussian(self.log_width.exp()),
            )

    def _check(self, x: Tensor) -> None:
        if not isinstance(x, Tensor):
            msg = f"PositionalSelfAttention: x must be a torch.Tensor, got {type(x).__name__}"
            raise KindError(msg)
        axes, channels = self.offsets.shape[1], self.weight.shape[1] * self.groups
        letters = "l" if axes == 1 else ", ".join("dhw"[-axes:])
        if x.ndim not in (axes + 1, axes + 2) or x.shape[-axes - 1] != channels:
            msg = (
                f"PositionalSelfAttention: x must be [b, {channels}, {letters}] or "
                f"[{channels}, {letters}], got the shape {list(x.shape)}"
            )
            raise ShapeError(msg)
        if x.dtype != self.weight.dtype and not torch.is_autocast_enabled(x.device.type):
            msg = (
                f"PositionalSelfAttention: x must have the dtype of the weight, "
                f"{self.weight.dtype}, got {x.dtype}"
            )
            raise ShapeError(msg)
        size = list(x.shape[-axes:])
        least = [max(1 - g, 0) for g in self.grow]
        if any(s < few for s, few in zip(size, least, strict=True)):
            msg = (
                f"PositionalSelfAttention: x must have at least {least} positions, or no output "
                f"is left; got {size}"
            )
            raise ShapeError(msg)
        most = [s - (self.padding_mode == "reflect") for s in size]
        if self.padding_mode in ("reflect", "circular") and any(
            max(pair) > limit for pair, limit in zip(self.padding, most, strict=True)
        ):
            msg = (
                f"PositionalSelfAttention: padding_mode={self.padding_mode!r} can add at most "
                f"{most} positions to the {size} of x, and padding is {list(self.padding)}"
            )
            raise ShapeError(msg)


def _check_parameters(
    weight: Tensor, offsets: Tensor, bias: Tensor | None, groups: int
) -> tuple[int, int]:
    """Heads and axes, if weight, offsets and bias fit together."""
    for name, x, wanted, axes in (
        ("weight", weight, "[o, i, heads]", 3),
        ("offsets", offsets, "[heads, axes]", 2),
        ("bias", bias, "[o]", 1),
    ):
        if x is None and name == "bias":
            continue
        if not isinstance(x, Tensor) or x.ndim != axes:
            got = f"the shape {list(x.shape)}" if isinstance(x, Tensor) else type(x).__name__
            msg = f"PositionalSelfAttention: {name} must be a tensor {wanted}, got {got}"
            raise ShapeError(msg) if isinstance(x, Tensor) else KindError(msg)
    out, _, heads = weight.shape
    axes = offsets.shape[1]
    if len(offsets) != heads or not 1 <= axes <= len("dhw"):
        msg = (
            f"PositionalSelfAttention: offsets must have a row for each of the {heads} heads of "
            f"weight, and 1 to 3 axes; got the shape {list(offsets.shape)}"
        )
        raise ShapeError(msg)
    if bias is not None and len(bias) != out:
        msg = f"PositionalSelfAttention: bias must be [{out}] as weight, got {list(bias.shape)}"
        raise ShapeError(msg)
    if out % groups:
        msg = (
            f"PositionalSelfAttention: the {out} outputs of weight must be a multiple of "
            f"groups={groups}"
        )
        raise ShapeError(msg)
    return heads, axes


def _grid(size: Sequence[int], starts: Sequence[int], like: Tensor) -> Float[Tensor, "m axes"]:
    """The coordinates of all positions, the last axis running fastest."""
    lines = [
        torch.arange(start, start + length, dtype=like.dtype, device=like.device)
        for start, length in zip(starts, size, strict=True)
    ]
    return torch.cartesian_prod(*lines).view(-1, len(lines))


def from_conv(
    conv: nn.Conv1d | nn.Conv2d | nn.Conv3d, *, width: float = NARROW
) -> PositionalSelfAttention:
    """The self-attention layer that is this convolution: one head for each entry of its kernel.

    The output is the convolution's, up to the order of its sums, for finite input; so are the
    gradients. The weights are copies. Time and memory are those of attention, n x m.

    Args:
        conv: with stride 1; any kernel, padding, padding mode, dilation and groups.
        width: of every head's look. The default sees one position; about 1 sees its neighbours
            too, so that the offsets have a gradient and can learn.

    >>> import torch
    >>> from regard.layers.convolution import from_conv
    >>> conv = torch.nn.Conv2d(3, 8, kernel_size=(3, 2), padding=1)
    >>> attention, x = from_conv(conv), torch.randn(4, 3, 10, 9)
    >>> torch.allclose(attention(x), conv(x), atol=1e-5)
    True
    >>> attention.attention_weights.shape  # heads, queries, positions with the padding
    torch.Size([6, 100, 132])

    """
    if not isinstance(conv, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        msg = f"from_conv takes a torch.nn.Conv1d, Conv2d or Conv3d, got {type(conv).__name__}"
        raise KindError(msg)
    if nn.parameter.is_lazy(conv.weight):
        msg = "from_conv: the convolution does not know its channels yet; call it once before"
        raise StateError(msg)
    if any(step != 1 for step in conv.stride):
        msg = (
            f"from_conv: stride must be 1, got {conv.stride}; convert the same convolution with "
            f"stride 1 and keep out[..., {', '.join(f'::{step}' for step in conv.stride)}]"
        )
        raise ValueRangeError(msg)
    reach = [d * (k - 1) for d, k in zip(conv.dilation, conv.kernel_size, strict=True)]
    if conv.padding == "same":
        padding = [(r // 2, r - r // 2) for r in reach]
    elif conv.padding == "valid":
        padding = [(0, 0)] * len(reach)
    else:
        padding = [(int(p), int(p)) for p in conv.padding]
    # kernel entry t of a query lies t * dilation after the start of the padding
    offsets = _grid(conv.kernel_size, [0] * len(reach), conv.weight.detach())
    offsets = offsets * offsets.new_tensor(conv.dilation) - offsets.new_tensor(
        [p[0] for p in padding]
    )
    made = PositionalSelfAttention(
        conv.weight.flatten(2),
        offsets,
        conv.bias,
        width=width,
        groups=conv.groups,
        padding=padding,
        padding_mode=conv.padding_mode,
        grow=[before + after - r for (before, after), r in zip(padding, reach, strict=True)],
    )
    return made.train(conv.training)
