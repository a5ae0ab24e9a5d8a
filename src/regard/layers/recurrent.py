"""Bahdanau's translator: a recurrent encoder, and a decoder that looks back at it each step."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear

from regard.errors import KindError, ShapeError, StateError
from regard.layers.additive import AdditiveAttention
from regard.layers.base import Looked, check_dropout, check_size, projected
from regard.layers.softmax import mask_of
from regard.layers.unrolled import Arguments, Cell, Unrolled, unroll
from regard.masks import Mask
from regard.scores import Additive

__all__ = ["AttentionDecoder", "DecoderState", "Seq2SeqAttentionDecoder", "Seq2SeqEncoder"]


class Seq2SeqEncoder(nn.Module):
    """Read a sentence: an embedding and a GRU.

    Args:
        vocab_size, embed_size, num_hiddens, num_layers: as they say.
        dropout: between the layers, while training.

    >>> import torch
    >>> from regard.layers import Seq2SeqEncoder
    >>> encoder = Seq2SeqEncoder(vocab_size=10, embed_size=8, num_hiddens=16, num_layers=2)
    >>> outputs, state = encoder(torch.zeros(4, 7, dtype=torch.long))
    >>> outputs.shape, state.shape
    (torch.Size([7, 4, 16]), torch.Size([2, 4, 16]))

    """

    def __init__(
        self,
        vocab_size: int,
        embed_size: int,
        num_hiddens: int,
        num_layers: int,
        dropout: float = 0,
    ) -> None:
        super().__init__()
        _check_sizes("Seq2SeqEncoder", vocab_size, embed_size, num_hiddens, num_layers, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(
            embed_size, num_hiddens, num_layers, dropout=_between(num_layers, dropout)
        )

    def forward(
        self, X: Int[Tensor, "b m"], valid_lens: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "m b h"], Float[Tensor, "layers b h"]]:
        """Give the state after each token, and all layers' states at the end.

        With ``valid_lens`` the end is a sentence's own, and the padding is not read.
        """
        _check_tokens("Seq2SeqEncoder", X)
        embedded = self.embedding(X).transpose(0, 1)
        if valid_lens is None or not X.shape[0]:
            return self.rnn(embedded)  # type: ignore[no-any-return]
        valid_lens = torch.as_tensor(valid_lens)
        _check_lengths("Seq2SeqEncoder: valid_lens", valid_lens, embedded.transpose(0, 1))
        # a sentence of no tokens is read as one of padding: packing knows no empty sequence
        lengths = valid_lens.clamp_min(1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(embedded, lengths, enforce_sorted=False)
        outputs, state = self.rnn(packed)
        return nn.utils.rnn.pad_packed_sequence(outputs, total_length=X.shape[1])[0], state


class DecoderState(tuple[Tensor, Tensor, "Tensor | None"]):  # noqa: SLOT001 - tuples have none
    """Where a decoder stands: (encoder outputs [b, m, h], states [layers, b, h], lengths).

    A tuple of three, as in the notes; beside them the projected keys, made once a sentence.
    """

    projected: Tensor | None
    stamp: tuple[int, int] | None  # which weights projected them

    def __new__(  # noqa: PYI034 - Self came with Python 3.11
        cls,
        outputs: Tensor,
        states: Tensor,
        lengths: Tensor | None,
        projected: Tensor | None = None,
        stamp: tuple[int, int] | None = None,
    ) -> DecoderState:
        made = super().__new__(cls, (outputs, states, lengths))
        made.projected, made.stamp = projected, stamp
        return made

    def __getnewargs__(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """Copies project again: what was projected has a history that cannot be copied."""
        return self[0], self[1], self[2]

    def __reduce__(self) -> tuple[type[DecoderState], tuple[Tensor, Tensor, Tensor | None]]:
        return DecoderState, self.__getnewargs__()


class AttentionDecoder(nn.Module):
    """What every decoder that attends offers."""

    @abstractmethod
    def init_state(
        self, enc_outputs: tuple[Tensor, Tensor], enc_valid_lens: Tensor | None
    ) -> DecoderState:
        """Give the state before the first step, from what the encoder gave."""

    @property
    @abstractmethod
    def attention_weights(self) -> list[Tensor]:
        """The weights of the last call, a matrix a step."""
        raise NotImplementedError


class Seq2SeqAttentionDecoder(AttentionDecoder):
    """Write a sentence, each step looking at the source with the state of the top layer.

    The state is the caller's: a call takes one and gives the next, so calls of one step each give
    what one call of many steps gives. Source tokens are projected once a sentence, and a call is
    one operation however many its steps: see ``regard.layers.unrolled``.

    Args:
        vocab_size, embed_size, num_hiddens, num_layers: as they say; the hidden sizes are the
            encoder's.
        dropout: of the weights, and between the layers, while training.

    >>> import torch
    >>> from regard.layers import Seq2SeqAttentionDecoder, Seq2SeqEncoder
    >>> encoder = Seq2SeqEncoder(vocab_size=10, embed_size=8, num_hiddens=16, num_layers=2).eval()
    >>> decoder = Seq2SeqAttentionDecoder(10, embed_size=8, num_hiddens=16, num_layers=2).eval()
    >>> X = torch.zeros(4, 7, dtype=torch.long)
    >>> state = decoder.init_state(encoder(X), None)
    >>> output, state = decoder(X, state)
    >>> output.shape, len(state), state[0].shape, state[1].shape
    (torch.Size([4, 7, 10]), 3, torch.Size([4, 7, 16]), torch.Size([2, 4, 16]))
    >>> len(decoder.attention_weights), decoder.attention_weights[0].shape
    (7, torch.Size([4, 1, 7]))

    """

    def __init__(
        self,
        vocab_size: int,
        embed_size: int,
        num_hiddens: int,
        num_layers: int,
        dropout: float = 0,
    ) -> None:
        super().__init__()
        _check_sizes(
            "Seq2SeqAttentionDecoder", vocab_size, embed_size, num_hiddens, num_layers, dropout
        )
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(
            embed_size + num_hiddens, num_hiddens, num_layers, dropout=_between(num_layers, dropout)
        )
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(
        self, enc_outputs: tuple[Tensor, Tensor], enc_valid_lens: Tensor | None, *_: object
    ) -> DecoderState:
        """Give the state before the first step; ``enc_valid_lens`` [b] hides the padding."""
        outputs, states = enc_outputs
        if outputs.ndim == 3:  # noqa: PLR2004
            outputs = outputs.permute(1, 0, 2)
        self._check_state(outputs, states, enc_valid_lens)
        return DecoderState(outputs, states, enc_valid_lens)

    def _check_state(self, source: Tensor, states: Tensor, lengths: Tensor | None) -> Mask | None:
        """The mask of the lengths, if source [b, m, h] and states [layers, b, h] fit."""
        width, layers = self.rnn.hidden_size, self.rnn.num_layers
        fits = source.ndim == states.ndim == 3 and source.shape[0] == states.shape[1]  # noqa: PLR2004
        fits = fits and source.shape[2] == states.shape[2] == width and states.shape[0] == layers
        if not fits:
            msg = (
                f"Seq2SeqAttentionDecoder: the encoder must give outputs [b, m, {width}] (or, to "
                f"init_state, [m, b, {width}]) and states [{layers}, b, {width}], got the shapes "
                f"{list(source.shape)} and {list(states.shape)}"
            )
            raise ShapeError(msg)
        return _check_lengths("Seq2SeqAttentionDecoder: enc_valid_lens", lengths, source)

    def _keys(self, state: object, source: Tensor, mask: Mask | None) -> tuple[Tensor, Any]:
        """The projected keys: those in the state, if these weights made them as they now are."""
        weight = self.attention.W_k.weight
        stamp = None if weight.is_inference() else (id(weight), weight._version)
        keys = getattr(state, "projected", None)
        learns = torch.is_grad_enabled() and weight.requires_grad
        if keys is None or stamp != getattr(state, "stamp", None) or learns > keys.requires_grad:
            keys = projected(self.attention.W_k, source, mask)
        return keys, stamp

    def forward(
        self, X: Int[Tensor, "b t"], state: DecoderState | Sequence[Tensor | None]
    ) -> tuple[Float[Tensor, "b t vocab"], DecoderState]:
        """Give the scores of the next token after each of X's, and the state after them."""
        hiddens, state = self.run(X, state)
        if not torch.is_autocast_enabled(hiddens.device.type):
            hiddens = hiddens.to(self.dense.weight.dtype)
        return self.dense(hiddens), state

    def run(
        self, X: Int[Tensor, "b t"], state: DecoderState | Sequence[Tensor | None]
    ) -> tuple[Float[Tensor, "b t h"], DecoderState]:
        """As ``forward``, but the top layer's states instead of scores over the vocabulary."""
        _check_tokens("Seq2SeqAttentionDecoder", X)
        source, states, lengths = state
        assert source is not None
        assert states is not None
        mask, allowed = self._check_state(source, states, lengths), None
        if X.shape[0] != source.shape[0]:
            msg = (
                f"Seq2SeqAttentionDecoder: X has {X.shape[0]} sequences, the state has "
                f"{source.shape[0]}"
            )
            raise ShapeError(msg)
        keys, stamp = self._keys(state, source, mask)
        embedded = self.embedding(X).transpose(0, 1)
        W_ih, _, b_ih, _ = self.rnn.all_weights[0]
        inputs = linear(embedded, W_ih[:, self.rnn.hidden_size :], b_ih)  # the context's come first
        if mask is not None:
            batch, m = source.shape[:1], source.shape[1]
            allowed = mask.allows(batch, 1, m, source.device)[:, 0]
        got = self._unrolled(inputs, states, keys, source, allowed)
        score = Additive(self.attention.w_v.weight[0]).frozen()
        queries = got.queries.transpose(0, 1).detach()
        self.attention.looked = Looked(queries, keys.detach().to(queries.dtype), score, mask)
        after = DecoderState(source, got.states.to(states.dtype), lengths, keys, stamp)
        return got.outputs.transpose(0, 1), after

    def _unrolled(
        self,
        inputs: Tensor,
        states: Tensor,
        keys: Tensor,
        values: Tensor,
        allowed: Tensor | None,
    ) -> Unrolled:
        """Hand the steps over, in one dtype: a recurrence adds up rounding, so never in half."""
        device, steps, m = inputs.device, inputs.shape[0], keys.shape[1]
        layers = self.rnn.num_layers
        keep_weights = keep_states = None
        dtype = torch.promote_types(keys.dtype, torch.float32)
        b, h = states.shape[1:]
        if self.training and self.attention.dropout.p:
            keep_weights = _keep((steps, b, m), self.attention.dropout.p, dtype, device)
        if self.training and self.rnn.dropout and layers > 1:
            keep_states = _keep((steps, layers - 1, b, h), self.rnn.dropout, dtype, device)
        layers_of = [[x.to(dtype) for x in weights] for weights in self.rnn.all_weights]
        W_ih, W_hh, _, b_hh = layers_of[0]
        cells = [Cell(W_ih[:, : self.rnn.hidden_size], W_hh, b_hh)]
        cells += [Cell(W_ih, W_hh, b_hh, b_ih) for W_ih, W_hh, b_ih, b_hh in layers_of[1:]]
        W_q, w_v = self.attention.W_q.weight, self.attention.w_v.weight[0]
        wide = (x.to(dtype) for x in (inputs, states, keys, values, W_q, w_v))
        # autocast is seen to in there
        given = Arguments(*wide, tuple(cells), allowed, keep_weights, keep_states)  # type: ignore[call-arg, arg-type]
        return unroll(given)

    @property
    def attention_weights(self) -> list[Float[Tensor, "b 1 m"]]:
        """The weights of the last call, a matrix a step; computed now."""
        if self.attention.looked is None:
            msg = "Seq2SeqAttentionDecoder has not been called yet: it has no attention_weights"
            raise StateError(msg)
        found = self.attention.attention_weights
        return list(torch.split(found, 1, dim=1)) if found.shape[1] else []


def _keep(shape: tuple[int, ...], p: float, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Factors of 0 or 1 / (1 - p), for all steps at once."""
    return torch.empty(shape, dtype=dtype, device=device).bernoulli_(1 - p).div_(1 - p)


def _between(num_layers: int, dropout: float) -> float:
    """Dropout between layers; torch warns where there is only one."""
    return float(dropout) if num_layers > 1 else 0.0


def _check_sizes(
    owner: str, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float
) -> None:
    for name, size in (
        ("vocab_size", vocab_size),
        ("embed_size", embed_size),
        ("num_hiddens", num_hiddens),
        ("num_layers", num_layers),
    ):
        check_size(owner, name, size)
    check_dropout(owner, dropout)


def _check_tokens(owner: str, X: Tensor) -> None:
    if not isinstance(X, Tensor) or X.dtype not in (torch.int64, torch.int32):
        got = X.dtype if isinstance(X, Tensor) else type(X).__name__
        msg = f"{owner}: X must hold token numbers, int64 or int32, got {got}"
        raise KindError(msg)
    if X.ndim != 2:  # noqa: PLR2004 - b, t
        msg = f"{owner}: X must be [b, steps], got the shape {list(X.shape)}"
        raise ShapeError(msg)


def _check_lengths(what: str, lengths: Tensor | None, source: Tensor) -> Mask | None:
    """The mask of one length a sentence of source [b, m, h]."""
    if lengths is not None and torch.as_tensor(lengths).ndim != 1:
        msg = (
            f"{what} must be [b], one length a source sentence, "
            f"got the shape {list(torch.as_tensor(lengths).shape)}"
        )
        raise ShapeError(msg)
    mask = mask_of(lengths)
    if mask is not None:
        mask.check(source.shape[:1], 1, source.shape[1], source.device)
    return mask
