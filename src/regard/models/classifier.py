"""A classifier: a sequence of any length in, one label out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.errors import KindError, ShapeError, ValueRangeError
from regard.layers.base import check_dropout, check_input, check_size
from regard.layers.pooling import AttentionPooling
from regard.models.encoder import Encoder, EncoderConfig, settled_lens
from regard.models.initial import initialise

__all__ = ["SOURCES", "Classifier", "ClassifierConfig"]

SOURCES = ("tokens", "frames", "patches")


@dataclass(frozen=True)
class ClassifierConfig:
    """The sizes of a classifier.

    Args:
        labels: how many there are to choose from.
        encoder: what tells each vector of the others.
        source: what comes in: "tokens" of a text, "frames" of sound, "patches" of an image, which
            makes the encoder one of two axes.
        size: how many tokens there are in the vocabulary, 0 being padding, or the features of a
            frame or patch.
        stride: how many frames become one vector: 1, 2, 4, 8, ...
        heads: how many looks the pooling has; the encoder's width is a multiple of it.
        dropout: of what the encoder is given, and of what the labels are scored from.

    """

    labels: int
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    source: str = "tokens"
    size: int = 2
    stride: int = 4
    heads: int = 1
    dropout: float = 0.1

    def __post_init__(self) -> None:
        for name in ("labels", "size", "stride", "heads"):
            check_size("ClassifierConfig", name, getattr(self, name))
        check_dropout("ClassifierConfig", self.dropout)
        if self.source not in SOURCES:
            names = ", ".join(repr(name) for name in SOURCES)
            msg = f"ClassifierConfig: source must be one of {names}; got {self.source!r}"
            raise ValueRangeError(msg)
        if self.stride & (self.stride - 1):
            msg = f"ClassifierConfig: stride must be a power of 2, got {self.stride}"
            raise ValueRangeError(msg)
        if self.encoder.width % self.heads:
            msg = (
                f"ClassifierConfig: the encoder's width must be a multiple of heads={self.heads}, "
                f"got {self.encoder.width}"
            )
            raise ValueRangeError(msg)
        if self.source == "patches" and self.encoder.axes == 1:
            object.__setattr__(self, "encoder", replace(self.encoder, axes=2))


class Classifier(nn.Module):
    """Score the labels of a text, a sound or an image.

    The vectors are encoded, then pooled by attention: what the pooling looked at is what the label
    was found from.

    >>> import torch
    >>> from regard.models.classifier import Classifier, ClassifierConfig
    >>> from regard.models.encoder import EncoderConfig
    >>> net = Classifier(ClassifierConfig(10, EncoderConfig(width=32), "frames", size=40)).eval()
    >>> net(torch.randn(2, 101, 40), torch.tensor([101, 50])).shape
    torch.Size([2, 10])
    >>> net.attention_weights.shape  # a vector stands for 4 frames
    torch.Size([2, 1, 26])

    """

    def __init__(self, config: ClassifierConfig) -> None:
        super().__init__()
        self.config = config
        width = config.encoder.width
        self.reader: nn.Module
        if config.source == "tokens":
            self.reader = nn.Embedding(config.size, width)
        elif config.source == "frames":
            self.reader = _Frames(config.size, width, config.stride)
        else:
            self.reader = nn.Linear(config.size, width)
        self.place = nn.Linear(width, width) if config.source == "patches" else None
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = Encoder(config.encoder)
        self.pooling = AttentionPooling(width, num_heads=config.heads)
        self.out = nn.Linear(width, config.labels)
        initialise(self)

    def forward(
        self,
        x: Int[Tensor, "b n"] | Float[Tensor, "b n size"],
        lens: Int[Tensor, " b"] | None = None,
        places: Int[Tensor, "b n 2"] | None = None,
    ) -> Float[Tensor, "b labels"]:
        """Score the labels; ``lens`` [b] tokens, frames or patches of each are real."""
        self._check(x)
        lens = settled_lens("Classifier", lens, x)
        padding = torch.arange(x.shape[1], device=x.device) >= lens.unsqueeze(1)
        if self.config.source == "tokens":
            read = self.reader(x.masked_fill(padding, 0)) * self.config.encoder.width**0.5
        elif self.config.source == "frames":
            read, lens = self.reader(x.masked_fill(padding.unsqueeze(-1), 0), lens)
        else:
            read = self.reader(x.masked_fill(padding.unsqueeze(-1), 0)) + self._placed(x, places)
        read = self.encoder(self.dropout(read), lens, places)
        pooled = self.pooling(read, lens)
        return self.out(self.dropout(pooled))  # type: ignore[no-any-return]

    def _placed(self, x: Tensor, places: Tensor | None) -> Tensor:
        """What is added to a patch, so that it knows its row and its column."""
        if places is None or places.shape != (*x.shape[:2], 2):
            got = "None" if places is None else f"the shape {list(places.shape)}"
            msg = (
                f"Classifier: places must be [{x.shape[0]}, {x.shape[1]}, 2], the row and column "
                f"of each patch; got {got}"
            )
            raise ShapeError(msg)
        assert self.place is not None
        width = self.config.encoder.width
        half = width - width // 2
        step = 10000 ** (-torch.arange(0, half, 2, device=x.device).double() / half)
        angle = places.double().unsqueeze(-1) * step
        waves = torch.stack((angle.sin(), angle.cos()), -1).flatten(2)[..., :width]
        return self.place(waves.to(x.dtype))  # type: ignore[no-any-return]

    def _check(self, x: Tensor) -> None:
        if self.config.source != "tokens":
            check_input("Classifier", "x", x, "b n size", self.config.size)
            return
        if x.dtype not in (torch.int64, torch.int32):
            msg = f"Classifier: x must hold token numbers, int64 or int32, got {x.dtype}"
            raise KindError(msg)
        if x.ndim != 2:  # noqa: PLR2004 - b, n
            msg = f"Classifier: x must be [b, tokens], got the shape {list(x.shape)}"
            raise ShapeError(msg)

    @property
    def attention_weights(self) -> Float[Tensor, "b heads n"]:
        """What the pooling looked at in the last call; vectors of frames stand for several."""
        return self.pooling.attention_weights.squeeze(2)


class _Frames(nn.Module):
    """Convolutions, each of which halves the number of frames; none is left out.

    Vector i stands for the frames ``stride * i`` to ``stride * (i + 1)``, or to the last one.
    """

    def __init__(self, size: int, width: int, stride: int) -> None:
        super().__init__()
        halvings = stride.bit_length() - 1
        widths = [size] + [width] * max(halvings, 1)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(a, b, kernel_size=3, stride=2 if halvings else 1, padding=1)
            for a, b in pairwise(widths)
        )
        self.width, self.halves = width, bool(halvings)

    def forward(
        self, x: Float[Tensor, "b n size"], lens: Int[Tensor, " b"]
    ) -> tuple[Float[Tensor, "b k d"], Int[Tensor, " b"]]:
        for convolution in self.convolutions:
            x = convolution(x.mT).relu().mT if x.numel() else self._nothing(x)
            if self.halves:
                lens = (lens + 1) // 2
            real = torch.arange(x.shape[1], device=x.device) < lens.unsqueeze(1)
            x = x.masked_fill(~real.unsqueeze(-1), 0)
        return x, lens

    def _nothing(self, x: Tensor) -> Tensor:
        """What a convolution of torch would not take."""
        b, n = x.shape[:2]
        return x.new_zeros(b, (n + 1) // 2 if self.halves else n, self.width)
