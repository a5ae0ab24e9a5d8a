"""Vectors in, as many vectors out: each learns of those around it, in one of five ways."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.errors import KindError, ShapeError, StateError, ValueRangeError
from regard.layers.base import check_dropout, check_input, check_size
from regard.layers.blocks import Block, EncoderBlock
from regard.layers.positions import LearnedPositions, PositionalEncoding
from regard.masks import Lengths, Window
from regard.models.both_ways import BothWays
from regard.models.initial import initialise
from regard.models.neighbours import ConvolutionBlock, InGrid, InLine, WindowBlock

__all__ = ["ENCODERS", "POSITIONS", "Encoder", "EncoderConfig", "settled_lens"]

ENCODERS = ("self-attention", "truncated", "window", "cnn", "rnn")
POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "relative", "none")

_REACH = {"truncated": 16, "window": 2, "cnn": 1}


@dataclass(frozen=True)
class EncoderConfig:
    """The kind and the sizes of an encoder.

    Args:
        kind: "self-attention": each vector looks at all; "truncated": at its neighbours only;
            "window": a fully connected network over the neighbours; "cnn": residual blocks of two
            convolutions; "rnn": GRUs that read from both ends.
        width: of a vector.
        layers: how many blocks, or GRUs, on top of each other.
        heads: of attention; the width is a multiple of it.
        hidden: the width inside a block's feed-forward or fully connected network (None: 4 times
            the width), between a block's convolutions (None: the width), or of a GRU's state in
            each direction (None: half the width).
        reach: how many neighbours on either side a truncated or window layer, or one convolution,
            sees; None: 16, 2 and 1.
        dropout: everywhere.
        attention_dropout: of the weights of attention, if it is another one; None: as ``dropout``.
        positions: "sinusoidal", "learned", "rotary", "alibi", "relative" or "none"; for attention,
            which knows no order without them.
        norm: "pre" or "post", see ``regard.layers.Residual``; GRUs have none.
        activation: "relu", "gelu" or "silu".
        max_len: of learned positions.
        axes: 1 if the vectors stand in a line; 2 if they are patches of images, whose neighbours,
            to "window" and "cnn", are also those above and below.
        beneath: "window", "cnn" or "rnn": one layer of that kind, of the usual sizes, comes first,
            so that attention starts from vectors that know their neighbours; "": none does.

    >>> from regard.models.encoder import EncoderConfig
    >>> EncoderConfig("window", layers=3, reach=2).sees
    6

    """

    kind: str = "self-attention"
    width: int = 128
    layers: int = 2
    heads: int = 4
    hidden: int | None = None
    reach: int | None = None
    dropout: float = 0.1
    attention_dropout: float | None = None
    positions: str = "sinusoidal"
    norm: str = "pre"
    activation: str = "relu"
    max_len: int = 1024
    axes: int = 1
    beneath: str = ""

    def __post_init__(self) -> None:
        for name in ("width", "layers", "heads", "max_len"):
            check_size("EncoderConfig", name, getattr(self, name))
        if self.hidden is not None:
            check_size("EncoderConfig", "hidden", self.hidden)
        self._check_choices()
        if self.reach is not None:
            if isinstance(self.reach, bool) or not isinstance(self.reach, int):
                msg = f"EncoderConfig: reach must be an integer, got {self.reach!r}"
                raise KindError(msg)
            if self.reach < 0:
                msg = f"EncoderConfig: reach must be 0 or more, got {self.reach}"
                raise ValueRangeError(msg)
        for part in (self.dropout, self.attention_dropout):
            if part is not None:
                check_dropout("EncoderConfig", part)
        if self.attends and self.width % self.heads:
            msg = f"EncoderConfig: width must be a multiple of heads={self.heads}, got {self.width}"
            raise ValueRangeError(msg)

    def _check_choices(self) -> None:
        choices = (
            ("kind", ENCODERS),
            ("positions", POSITIONS),
            ("norm", ("pre", "post")),
            ("activation", ("relu", "gelu", "silu")),
            ("axes", (1, 2)),
            ("beneath", ("", "window", "cnn", "rnn")),
        )
        for name, known in choices:
            if getattr(self, name) not in known:
                names = ", ".join(repr(x) for x in known)
                msg = f"EncoderConfig: {name} must be one of {names}; got {getattr(self, name)!r}"
                raise ValueRangeError(msg)

    @property
    def attends(self) -> bool:
        """Whether it is made of attention."""
        return self.kind in ("self-attention", "truncated")

    @property
    def near(self) -> int:
        """How far one layer sees, where it sees neighbours only."""
        return _REACH.get(self.kind, 0) if self.reach is None else self.reach

    @property
    def sees(self) -> int | None:
        """How far away a vector can stand that still changes another one; None: anywhere."""
        if self.kind in ("self-attention", "rnn"):
            return None
        here = self.layers * self.near * (2 if self.kind == "cnn" else 1)
        first = self.first.sees if self.beneath else 0
        return None if first is None else here + first

    @property
    def first(self) -> EncoderConfig:
        """What is beneath."""
        return replace(self, kind=self.beneath, beneath="", layers=1, hidden=None, reach=None)

    @property
    def inside(self) -> int:
        """The width inside a layer."""
        if self.hidden is not None:
            return self.hidden
        return {"cnn": self.width, "rnn": (self.width + 1) // 2}.get(self.kind, 4 * self.width)

    def block(self) -> Block:
        """What blocks of attention have in common."""
        return Block(
            width=self.width,
            num_heads=self.heads,
            hidden=self.inside,
            dropout=self.dropout,
            norm=self.norm,
            activation=self.activation,
            relative=self.positions
            if self.positions in ("rotary", "alibi", "relative")
            else "none",
            attention_dropout=self.attention_dropout,
        )


class Encoder(nn.Module):
    """Tell each vector of a sequence what it needs to know of the others.

    Padding changes nothing, whatever it holds, and comes out as zeros.

    >>> import torch
    >>> from regard.models.encoder import Encoder, EncoderConfig
    >>> net = Encoder(EncoderConfig("self-attention", width=16, heads=2)).eval()
    >>> net(torch.randn(2, 5, 16), torch.tensor([5, 3])).shape
    torch.Size([2, 5, 16])
    >>> [list(weights.shape) for weights in net.attention_weights]
    [[2, 2, 5, 5], [2, 2, 5, 5]]

    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.config = config
        width, inside = config.width, config.inside
        self.beneath = Encoder(config.first) if config.beneath else None
        self.dropout = nn.Dropout(config.dropout)
        self.positions: nn.Module | None = None
        if config.attends and config.positions == "sinusoidal":
            self.positions = PositionalEncoding(width, 0.0)
        elif config.attends and config.positions == "learned":
            self.positions = LearnedPositions(width, config.max_len)
        self.layers = nn.ModuleList(self._layer(i) for i in range(config.layers))
        self.last: nn.Module = nn.Identity()
        if config.kind == "rnn":
            self.last = nn.Linear(2 * inside, width)
        elif config.norm == "pre":  # the sums of pre-norm blocks are normalised by nobody else
            self.last = nn.LayerNorm(width)
        initialise(self)

    def _layer(self, i: int) -> nn.Module:
        config = self.config
        if config.attends:
            return EncoderBlock(config.block())
        if config.kind == "rnn":
            return BothWays(2 * config.inside if i else config.width, config.inside)
        made = WindowBlock if config.kind == "window" else ConvolutionBlock
        return made(
            config.width,
            config.inside,
            (2 * config.near + 1) ** config.axes,
            dropout=config.dropout,
            activation=config.activation,
            norm=config.norm,
        )

    def forward(
        self,
        x: Float[Tensor, "b n d"],
        lens: Int[Tensor, " b"] | None = None,
        places: Int[Tensor, "b n 2"] | None = None,
    ) -> Float[Tensor, "b n d"]:
        """Encode; ``lens`` [b] vectors of each sequence are real, None: all of them.

        ``places`` are the rows and columns of patches, for an encoder of two axes.
        """
        check_input("Encoder", "x", x, "b n d", self.config.width)
        lens = settled_lens("Encoder", lens, x)
        if not x.numel():
            return x
        real = torch.arange(x.shape[1], device=x.device) < lens.unsqueeze(1)
        padding = ~real.unsqueeze(-1)
        # once here, and not only among keys: 0 * NaN would reach the gradients of the weights
        x = x.masked_fill(padding, 0)
        if self.beneath is not None:
            x = self.beneath(x, lens, places)
        if self.positions is not None:
            x = self.positions(x)
        x = self.dropout(x)
        if self.config.attends:
            x = self._attend(x, lens)
        elif self.config.kind == "rnn":
            for i, layer in enumerate(self.layers):
                x = layer(self.dropout(x) if i else x, lens)
        else:
            near = self._neighbours(real, places)
            for layer in self.layers:
                x = layer(x, near)
        if self.config.kind == "rnn":
            x = self.dropout(x)
        return self.last(x).masked_fill(padding, 0)  # type: ignore[no-any-return]

    def _attend(self, x: Tensor, lens: Tensor) -> Tensor:
        mask = None
        if self.config.kind == "truncated":
            mask = Window(self.config.near, self.config.near)
        for layer in self.layers:
            x = layer(x, lens, mask=mask)
        return x

    def _neighbours(self, real: Tensor, places: Tensor | None) -> InLine | InGrid:
        if self.config.axes == 1:
            return InLine(real, self.config.near)
        if places is None or places.shape != (*real.shape, 2):
            got = "None" if places is None else f"the shape {list(places.shape)}"
            msg = (
                f"Encoder: places must be {[*real.shape, 2]}, the row and column of each vector, "
                f"because axes=2; got {got}"
            )
            raise ShapeError(msg)
        return InGrid(real, places, self.config.near)

    @property
    def looks(self) -> bool:
        """Whether there are weights of attention to look at."""
        return self.config.attends

    @property
    def attention_weights(self) -> list[Float[Tensor, "b heads n n"]]:
        """The weights of the last call, layer by layer; computed now, n x n.

        Rows of padding hold weights, too, which nobody used.
        """
        if not self.looks:
            msg = (
                f"an encoder of the kind {self.config.kind!r} has no attention_weights; "
                f"'self-attention' and 'truncated' have"
            )
            raise StateError(msg)
        return [layer.attention.attention_weights for layer in self.layers]  # type: ignore[union-attr, misc]


def settled_lens(owner: str, lens: Tensor | None, x: Tensor) -> Int[Tensor, " b"]:
    """The lengths of the sequences x [b, n, ...], checked where that costs no waiting for a GPU."""
    b, n = x.shape[:2]
    if lens is None:
        return torch.full((b,), n, device=x.device)
    mask = Lengths(lens)
    if lens.ndim != 1 or lens.shape[0] != b:
        msg = (
            f"{owner}: lens must be [{b}], one length a sequence, got the shape {list(lens.shape)}"
        )
        raise ShapeError(msg)
    mask.check(torch.Size([b]), n, n, x.device)
    return lens.to(x.device, torch.int64)
