"""Bahdanau's translator: recurrent, reading both ways, looking back at each step (2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.errors import KindError, ShapeError, ValueRangeError
from regard.layers.base import check_dropout, check_size
from regard.layers.recurrent import DecoderState, Seq2SeqAttentionDecoder
from regard.models.initial import initialise

__all__ = ["Bahdanau", "BahdanauConfig", "BahdanauState"]


@dataclass(frozen=True)
class BahdanauConfig:
    """The sizes of a recurrent translator.

    Args:
        source_vocab, target_vocab: how many tokens there are on either side.
        embedding: the width of a token's vector.
        hidden: the width of a state, in each direction.
        encoder_layers, decoder_layers: how many GRUs on top of each other.
        bidirectional: whether the source is read from both ends.
        dropout: of embeddings, between layers, and of what the next token is scored from.
        attention_dropout: of the weights of attention; None: as ``dropout``.
        tied: whether the target's embedding also scores the next token.
        shared: whether source and target share one embedding.

    """

    source_vocab: int
    target_vocab: int
    embedding: int = 256
    hidden: int = 512
    encoder_layers: int = 1
    decoder_layers: int = 1
    bidirectional: bool = True
    dropout: float = 0.2
    attention_dropout: float | None = None
    tied: bool = True
    shared: bool = False

    def __post_init__(self) -> None:
        sizes = ("source_vocab", "target_vocab", "embedding", "hidden")
        for name in (*sizes, "encoder_layers", "decoder_layers"):
            check_size("BahdanauConfig", name, getattr(self, name))
        for part in (self.dropout, self.attention_dropout):
            if part is not None:
                check_dropout("BahdanauConfig", part)
        if self.shared and self.source_vocab != self.target_vocab:
            msg = (
                f"BahdanauConfig: shared=True needs one vocabulary, got source_vocab="
                f"{self.source_vocab} and target_vocab={self.target_vocab}"
            )
            raise ValueRangeError(msg)


class BahdanauState(NamedTuple):
    """Where decoding stands: the decoder's state, and which sentence each row belongs to."""

    decoder: DecoderState
    sentences: Tensor

    def rows(self, index: Tensor) -> BahdanauState:
        """The same for some of the sequences, in the order of ``index``: for beams.

        While each row keeps its sentence, the source is not copied.
        """
        source, states, lengths = self.decoder
        keys = self.decoder.projected
        sentences = self.sentences.index_select(0, index)
        if not torch.equal(sentences, self.sentences):
            source = source.index_select(0, index)
            lengths = None if lengths is None else lengths.index_select(0, index)
            keys = None if keys is None else keys.index_select(0, index)
        states = states.index_select(1, index)
        decoder = DecoderState(source, states, lengths, keys, self.decoder.stamp)
        return BahdanauState(decoder, sentences)


class Bahdanau(nn.Module):
    """Read a source with GRUs, write a target with a GRU that attends to it.

    ``forward`` scores a whole target at once, for training. ``start`` and ``step`` write it token
    by token from a state the caller holds, and give the same numbers.

    >>> import torch
    >>> from regard.models import Bahdanau, BahdanauConfig
    >>> net = Bahdanau(BahdanauConfig(20, 30, embedding=8, hidden=16)).eval()
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

    def __init__(self, config: BahdanauConfig) -> None:
        super().__init__()
        self.config = config
        width, hidden = config.embedding, config.hidden
        self.decoder = _Decoder(config)
        self.source_embedding = (
            self.decoder.embedding
            if config.shared
            else _Embedding(config.source_vocab, width, config.dropout)
        )
        self.encoder = _Reader(config)
        # from what was read in either direction to the width the decoder works in
        self.outputs_from = nn.Linear(self.encoder.width, hidden)
        self.first_state_from = nn.Linear(self.encoder.width, config.decoder_layers * hidden)
        scored = width if config.tied else hidden
        self.scored_from = nn.Linear(hidden, scored) if config.tied else nn.Identity()
        self.dropout = nn.Dropout(config.dropout)
        self.out = nn.Linear(scored, config.target_vocab, bias=not config.tied)
        initialise(self)
        if config.tied:
            self.out.weight = self.decoder.embedding.weight

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
        return self._write(target, self.start(source, source_lens).decoder)[0]

    def start(
        self, source: Int[Tensor, "b m"], source_lens: Int[Tensor, " b"] | None = None
    ) -> BahdanauState:
        """Read the source; nothing is written yet."""
        _check_tokens("source", source)
        if source_lens is not None and source_lens.shape != source.shape[:1]:
            msg = (
                f"Bahdanau: source_lens must be [{source.shape[0]}], one length a sentence, got "
                f"the shape {list(source_lens.shape)}"
            )
            raise ShapeError(msg)
        if not source.shape[1]:  # a GRU reads something: one token, which nobody may see
            source = source.new_zeros(source.shape[0], 1)
            source_lens = source.new_zeros(source.shape[0])
        if source_lens is None:
            source_lens = source.new_full(source.shape[:1], source.shape[1])
        outputs, last = self.encoder(self.source_embedding(source), source_lens)
        first = self.first_state_from(last).tanh()
        layers, hidden = self.config.decoder_layers, self.config.hidden
        first = first.unflatten(-1, (layers, hidden)).transpose(0, 1).contiguous()
        decoder = DecoderState(self.outputs_from(outputs), first, source_lens)
        return BahdanauState(decoder, torch.arange(source.shape[0], device=source.device))

    def step(
        self, tokens: Int[Tensor, " b"], state: BahdanauState
    ) -> tuple[Float[Tensor, "b vocab"], BahdanauState]:
        """Take each sequence's next token; give the scores of the one after it, and the state."""
        b = state.sentences.shape[0]
        if tokens.shape != (b,):
            msg = (
                f"Bahdanau: tokens must be [{b}], one for each sequence of the state, got the "
                f"shape {list(tokens.shape)}"
            )
            raise ShapeError(msg)
        x, decoder = self._write(tokens.unsqueeze(-1), state.decoder)
        return self.out(x[:, -1]), state._replace(decoder=decoder)

    @torch.no_grad()
    def alignment(
        self,
        source: Int[Tensor, "b m"],
        target: Int[Tensor, "b n"],
        source_lens: Int[Tensor, " b"] | None = None,
    ) -> Float[Tensor, "b n m"]:
        """How much each target position looks at each source token, when it writes the next."""
        if not source.shape[1]:
            return torch.zeros(*target.shape, 0, device=source.device)
        self._write(target, self.start(source, source_lens).decoder)
        return self.decoder.attention.attention_weights

    def _write(self, target: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        _check_tokens("target", target)
        hiddens, state = self.decoder.run(target, state)
        if not torch.is_autocast_enabled(hiddens.device.type):
            hiddens = hiddens.to(self.out.weight.dtype)
        return self.dropout(self.scored_from(hiddens)), state


class _Embedding(nn.Embedding):
    """Vectors of about unit entries from a table that is small enough to score with."""

    def __init__(self, vocab: int, width: int, dropout: float) -> None:
        super().__init__(vocab, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.dropout(super().forward(tokens) * self.embedding_dim**0.5)  # type: ignore[no-any-return]


class _Decoder(Seq2SeqAttentionDecoder):
    """The layers' decoder, without the scores: those are the model's."""

    def __init__(self, config: BahdanauConfig) -> None:
        width, hidden, p = config.embedding, config.hidden, config.dropout
        super().__init__(config.target_vocab, width, hidden, config.decoder_layers, p)
        del self.dense
        self.embedding = _Embedding(config.target_vocab, width, p)
        if config.attention_dropout is not None:
            self.attention.dropout.p = float(config.attention_dropout)


class _Reader(nn.Module):
    """GRUs over padded sentences, in one or both directions.

    Each sentence is turned around inside its own length, so both directions come to the padding
    last, and nothing real has seen it. Packing would do the same, but it wants the lengths on the
    CPU: a GPU would stand still for them in each step.
    """

    def __init__(self, config: BahdanauConfig) -> None:
        super().__init__()
        hidden, directions = config.hidden, 2 if config.bidirectional else 1
        self.width = directions * hidden
        widths = [config.embedding] + [self.width] * (config.encoder_layers - 1)
        self.layers = nn.ModuleList(
            nn.ModuleList(nn.GRU(width, hidden, batch_first=True) for _ in range(directions))
            for width in widths
        )
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, x: Float[Tensor, "b m e"], lengths: Int[Tensor, " b"]
    ) -> tuple[Float[Tensor, "b m w"], Float[Tensor, "b w"]]:
        """What each token is in its sentence, and each sentence as a whole."""
        b, m = x.shape[:2]
        lengths = lengths.to(x.device, torch.int64).unsqueeze(1)
        here = torch.arange(m, device=x.device).expand(b, m)
        turned = torch.where(here < lengths, lengths - 1 - here, here).unsqueeze(-1)
        last = (lengths - 1).clamp_min(0).unsqueeze(-1)
        ends: list[Tensor] = []
        for i, layer in enumerate(self.layers):
            assert isinstance(layer, nn.ModuleList)
            x = self.dropout(x) if i else x
            outputs, ends = [], []
            for direction, gru in enumerate(layer):
                read = gru(_taken(x, turned) if direction else x)[0]
                ends.append(_taken(read, last).squeeze(1))
                outputs.append(_taken(read, turned) if direction else read)
            x = torch.cat(outputs, -1)
        whole = torch.cat(ends, -1)
        return x, torch.where(lengths > 0, whole, torch.zeros((), dtype=x.dtype, device=x.device))


def _taken(x: Float[Tensor, "b m w"], at: Int[Tensor, "b k 1"]) -> Float[Tensor, "b k w"]:
    return x.gather(1, at.expand(-1, -1, x.shape[-1]))


def _check_tokens(name: str, tokens: Tensor) -> None:
    if tokens.dtype not in (torch.int64, torch.int32):
        msg = f"Bahdanau: {name} must hold token numbers, int64 or int32, got {tokens.dtype}"
        raise KindError(msg)
    if tokens.ndim != 2:  # noqa: PLR2004 - b, n
        msg = f"Bahdanau: {name} must be [b, tokens], got the shape {list(tokens.shape)}"
        raise ShapeError(msg)
