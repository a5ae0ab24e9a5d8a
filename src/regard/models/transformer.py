"""The Transformer: an encoder that reads, a decoder that writes (Vaswani et al. 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.errors import KindError, ShapeError, ValueRangeError
from regard.layers.base import check_size
from regard.layers.blocks import Block, Cache, DecoderBlock, EncoderBlock
from regard.layers.positions import LearnedPositions, PositionalEncoding
from regard.models.initial import initialise

__all__ = ["Transformer", "TransformerConfig", "TransformerState"]

POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "relative", "none")


@dataclass(frozen=True)
class TransformerConfig:
    """The sizes of a Transformer.

    Args:
        source_vocab, target_vocab: how many tokens there are on either side.
        width: of a token's vector.
        num_heads: of attention.
        hidden: the width inside the feed-forward networks; None: 4 times the width.
        encoder_layers, decoder_layers: how many blocks.
        dropout: everywhere.
        attention_dropout: of the weights of attention, if it is another one; None: as ``dropout``.
        norm: "pre" or "post", see ``regard.layers.Residual``.
        activation: "relu", "gelu" or "silu".
        positions: "sinusoidal", "learned", "rotary", "alibi", "relative" or "none".
        score: how heads compare: "dot", "additive", "gaussian", ...
        num_kv_heads: heads of keys and values, shared by groups; None: one for each head.
        tied: whether the target's embedding also scores the next token.
        shared: whether source and target share one embedding.
        max_len: of learned positions.

    """

    source_vocab: int
    target_vocab: int
    width: int = 256
    num_heads: int = 4
    hidden: int | None = None
    encoder_layers: int = 3
    decoder_layers: int = 3
    dropout: float = 0.1
    norm: str = "pre"
    activation: str = "relu"
    positions: str = "sinusoidal"
    score: str = "dot"
    num_kv_heads: int | None = None
    tied: bool = True
    shared: bool = False
    max_len: int = 1024
    attention_dropout: float | None = None

    def __post_init__(self) -> None:
        sizes = ("source_vocab", "target_vocab", "width", "num_heads")
        for name in (*sizes, "encoder_layers", "decoder_layers", "max_len"):
            check_size("TransformerConfig", name, getattr(self, name))
        if self.width % self.num_heads:
            msg = (
                f"TransformerConfig: width must be a multiple of num_heads={self.num_heads}, "
                f"got {self.width}"
            )
            raise ValueRangeError(msg)
        if self.positions not in POSITIONS:
            names = ", ".join(repr(name) for name in POSITIONS)
            msg = f"TransformerConfig: positions must be one of {names}; got {self.positions!r}"
            raise ValueRangeError(msg)
        if self.shared and self.source_vocab != self.target_vocab:
            msg = (
                f"TransformerConfig: shared=True needs one vocabulary, got source_vocab="
                f"{self.source_vocab} and target_vocab={self.target_vocab}"
            )
            raise ValueRangeError(msg)

    def block(self) -> Block:
        """What its blocks have in common."""
        inside = self.positions if self.positions in ("rotary", "alibi", "relative") else "none"
        return Block(
            width=self.width,
            num_heads=self.num_heads,
            hidden=4 * self.width if self.hidden is None else self.hidden,
            dropout=self.dropout,
            norm=self.norm,
            activation=self.activation,
            score=self.score,
            num_kv_heads=self.num_kv_heads,
            relative=inside,
            attention_dropout=self.attention_dropout,
        )


class TransformerState(NamedTuple):
    """Where decoding stands.

    The blocks' caches, the source's lengths, tokens so far, and which sentence a row belongs to.
    """

    caches: tuple[Cache, ...]
    lengths: Tensor | None
    steps: int
    sentences: Tensor

    def rows(self, index: Tensor) -> TransformerState:
        """The same for some of the sequences, in the order of ``index``: for beams.

        While each row keeps its sentence, the source is not copied.
        """
        sentences = self.sentences.index_select(0, index)
        others = not torch.equal(sentences, self.sentences)
        lengths = self.lengths
        if others and lengths is not None:
            lengths = lengths.index_select(0, index)
        caches = tuple(cache.rows(index, source=others) for cache in self.caches)
        return TransformerState(caches, lengths, self.steps, sentences)


class Transformer(nn.Module):
    """Read a source, write a target.

    ``forward`` scores a whole target at once, for training. ``start`` and ``step`` write it token
    by token from a state the caller holds, and give the same numbers.

    >>> import torch
    >>> from regard.models import Transformer, TransformerConfig
    >>> net = Transformer(TransformerConfig(20, 30, width=16, num_heads=2)).eval()
    >>> source, target = torch.randint(20, (2, 5)), torch.randint(30, (2, 4))
    >>> scores = net(source, target, source_lens=torch.tensor([5, 3]))
    >>> scores.shape
    torch.Size([2, 4, 30])
    >>> state = net.start(source, torch.tensor([5, 3]))
    >>> for t in range(4):
    ...     step, state = net.step(target[:, t], state)
    >>> torch.allclose(step, scores[:, -1], atol=1e-5)
    True

    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        block, width = config.block(), config.width
        self.target_embedding = nn.Embedding(config.target_vocab, width)
        self.source_embedding = (
            self.target_embedding if config.shared else nn.Embedding(config.source_vocab, width)
        )
        self.positions: nn.Module | None = None
        if config.positions == "sinusoidal":
            self.positions = PositionalEncoding(width, config.dropout)
        elif config.positions == "learned":
            self.positions = LearnedPositions(width, config.max_len, config.dropout)
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = nn.ModuleList(EncoderBlock(block) for _ in range(config.encoder_layers))
        self.decoder = nn.ModuleList(DecoderBlock(block) for _ in range(config.decoder_layers))
        # the sums of pre-norm blocks are not normalised by anyone else
        pre = config.norm == "pre"
        self.encoder_norm = nn.LayerNorm(width) if pre else nn.Identity()
        self.decoder_norm = nn.LayerNorm(width) if pre else nn.Identity()
        self.out = nn.Linear(width, config.target_vocab, bias=not config.tied)
        initialise(self)
        if config.tied:
            self.out.weight = self.target_embedding.weight

    def forward(
        self,
        source: Int[Tensor, "b m"],
        target: Int[Tensor, "b n"],
        source_lens: Int[Tensor, " b"] | None = None,
    ) -> Float[Tensor, "b n vocab"]:
        """Score the next token after each of the target's; no token looks ahead."""
        return self.out(self.states(source, target, source_lens))  # type: ignore[no-any-return]

    def states(
        self,
        source: Int[Tensor, "b m"],
        target: Int[Tensor, "b n"],
        source_lens: Int[Tensor, " b"] | None = None,
    ) -> Float[Tensor, "b n d"]:
        """As ``forward``, before the last projection: what a loss in pieces starts from."""
        return self._write(target, self.start(source, source_lens))[0]

    def encode(
        self, source: Int[Tensor, "b m"], source_lens: Int[Tensor, " b"] | None = None
    ) -> Float[Tensor, "b m d"]:
        """Read the source."""
        if source_lens is not None and source_lens.ndim != 1:
            msg = (
                f"Transformer: source_lens must be [b], one length a sentence, got the shape "
                f"{list(source_lens.shape)}"
            )
            raise ShapeError(msg)
        x = self._embed("source", source, self.source_embedding, 0)
        for block in self.encoder:
            x = block(x, source_lens)
        return self.encoder_norm(x)  # type: ignore[no-any-return]

    def start(
        self, source: Int[Tensor, "b m"], source_lens: Int[Tensor, " b"] | None = None
    ) -> TransformerState:
        """Read the source; nothing is written yet."""
        read = self.encode(source, source_lens)
        caches = tuple(block.start(read) for block in self._decoder_blocks())
        sentences = torch.arange(source.shape[0], device=source.device)
        return TransformerState(caches, source_lens, 0, sentences)

    def step(
        self, tokens: Int[Tensor, " b"], state: TransformerState
    ) -> tuple[Float[Tensor, "b vocab"], TransformerState]:
        """Take each sequence's next token; give the scores of the one after it, and the state."""
        b = state.caches[0].source_k.shape[0]
        if tokens.shape != (b,):
            msg = (
                f"Transformer: tokens must be [{b}], one for each sequence of the state, got the "
                f"shape {list(tokens.shape)}"
            )
            raise ShapeError(msg)
        x, state = self._write(tokens.unsqueeze(-1), state)
        return self.out(x[:, -1]), state

    @torch.no_grad()
    def alignment(
        self,
        source: Int[Tensor, "b m"],
        target: Int[Tensor, "b n"],
        source_lens: Int[Tensor, " b"] | None = None,
    ) -> Float[Tensor, "b n m"]:
        """How much each target position looks at each source token, when it writes the next.

        The mean of the heads of the last block but one: the last one's look least like word
        alignments (Garg et al. 2019).
        """
        self._write(target, self.start(source, source_lens))
        block = self._decoder_blocks()[-2:][0]
        return block.to_source.attention_weights.mean(1)

    def _write(self, target: Tensor, state: TransformerState) -> tuple[Tensor, TransformerState]:
        x = self._embed("target", target, self.target_embedding, state.steps)
        caches = []
        for block, cache in zip(self._decoder_blocks(), state.caches, strict=True):
            x, cached = block(x, cache, state.lengths)
            caches.append(cached)
        after = state._replace(caches=tuple(caches), steps=state.steps + target.shape[1])
        return self.decoder_norm(x), after

    def _embed(self, name: str, tokens: Tensor, embedding: nn.Embedding, offset: int) -> Tensor:
        if tokens.dtype not in (torch.int64, torch.int32):
            msg = f"Transformer: {name} must hold token numbers, int64 or int32, got {tokens.dtype}"
            raise KindError(msg)
        if tokens.ndim != 2:  # noqa: PLR2004 - b, n
            msg = f"Transformer: {name} must be [b, tokens], got the shape {list(tokens.shape)}"
            raise ShapeError(msg)
        x = embedding(tokens) * self.config.width**0.5
        return self.dropout(x) if self.positions is None else self.positions(x, offset)  # type: ignore[no-any-return]

    def _decoder_blocks(self) -> list[DecoderBlock]:
        return [block for block in self.decoder if isinstance(block, DecoderBlock)]
