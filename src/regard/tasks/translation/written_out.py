"""The translators in plain operations: what other programs can be told to compute.

``attend`` and the decoder's unrolled steps are operators of regard's own. Here are the same layers
once more, over the same weights, as two modules: one reads the source, one takes a token and scores
the next. All they remember are tensors.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from regard.errors import ValueRangeError
from regard.layers.blocks import DecoderBlock, EncoderBlock
from regard.layers.multihead import MultiHeadAttention
from regard.layers.positions import LearnedPositions, PositionalEncoding
from regard.models import Bahdanau, Transformer

__all__ = ["WrittenOut", "written_out"]

LEAST = -1e30  # the score of a hidden key: its weight is then exactly 0, and no row is empty


class WrittenOut(NamedTuple):
    """A model as two modules.

    Args:
        encoder: (source [b, m], source_lens [b]) -> the tensors named in ``axes``, in this order.
        decoder: (tokens [b], source_lens [b], these tensors) -> scores [b, vocab], and the next
            values of those in ``changing``.
        axes: which axes of each tensor have which length: b sentences, m tokens, t written.
        changing: the names of the tensors that change with each step; the last ones.

    """

    encoder: nn.Module
    decoder: nn.Module
    axes: dict[str, dict[int, str]]
    changing: tuple[str, ...]


def written_out(model: Transformer | Bahdanau) -> WrittenOut:
    """Write a model out; dropout is left out.

    Raises:
        ValueRangeError: a Transformer with other scores than dot products, or with distances in
            its scores.

    """
    if isinstance(model, Bahdanau):
        axes = {"outputs": {0: "b", 1: "m"}, "keys": {0: "b", 1: "m"}, "states": {1: "b"}}
        return WrittenOut(_BahdanauEncoder(model), _BahdanauDecoder(model), axes, ("states",))
    config = model.config
    if config.score != "dot" or config.positions in ("alibi", "relative"):
        msg = (
            "only a Transformer with score='dot' and positions 'sinusoidal', 'learned', 'rotary' "
            f"or 'none' can be exported, this has {config.score!r} and {config.positions!r}"
        )
        raise ValueRangeError(msg)
    axes = {name: {1: "b", 3: "m"} for name in ("source_keys", "source_values")}
    axes |= {name: {1: "b", 3: "t"} for name in ("keys", "values")}
    parts = _TransformerEncoder(model), _TransformerDecoder(model)
    return WrittenOut(*parts, axes, ("keys", "values"))


def _present(lengths: Tensor, m: int) -> Tensor:
    """[b, m]: which source tokens are real."""
    return torch.arange(m, device=lengths.device) < lengths.unsqueeze(1)


def _weights(scores: Tensor, allowed: Tensor | None) -> Tensor:
    if allowed is None:
        return scores.softmax(-1)
    return scores.masked_fill(~allowed, LEAST).softmax(-1) * allowed


def _over(
    layer: MultiHeadAttention,
    x: Tensor,
    kv: tuple[Tensor, Tensor],
    allowed: Tensor | None,
    offset: int = 0,
) -> Tensor:
    """``layer.over``; ``allowed`` broadcasts to [b, heads, n, m]."""
    b, n, width = x.shape
    q = layer.W_q(x).view(b, n, layer.num_heads, -1).transpose(1, 2)
    if layer.rotary is not None:
        q = layer.rotary(q, offset)
    k, v = kv
    group = layer.num_heads // layer.num_kv_heads
    if group > 1:
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    weights = _weights(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, allowed)
    out: Tensor = layer.W_o((weights @ v).transpose(1, 2).reshape(b, n, width))
    return out


class _TransformerEncoder(nn.Module):
    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, source: Tensor, source_lens: Tensor) -> tuple[Tensor, ...]:
        model = self.model
        allowed = _present(source_lens, source.shape[1])[:, None, None]
        x = _embedded(model, model.source_embedding, source, 0)
        for block in model.encoder:
            assert isinstance(block, EncoderBlock)

            def to_each_other(y: Tensor, layer: MultiHeadAttention = block.attention) -> Tensor:
                return _over(layer, y, layer.project(y, y), allowed)

            x = block.around_attention(x, to_each_other)
            x = block.around_feed_forward(x, block.feed_forward)
        x = model.encoder_norm(x)
        read = [block.to_source.project(x, x) for block in _blocks(model)]
        keys, values = (torch.stack(each) for each in zip(*read, strict=True))
        return keys, values, keys[:, :, :, :0], values[:, :, :, :0]


class _TransformerDecoder(nn.Module):
    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        tokens: Tensor,
        source_lens: Tensor,
        source_keys: Tensor,
        source_values: Tensor,
        keys: Tensor,
        values: Tensor,
    ) -> tuple[Tensor, ...]:
        model, past = self.model, keys.shape[3]
        allowed = _present(source_lens, source_keys.shape[3])[:, None, None]
        x = _embedded(model, model.target_embedding, tokens.unsqueeze(1), past)
        seen: list[tuple[Tensor, Tensor]] = []
        for i, block in enumerate(_blocks(model)):

            def to_past(y: Tensor, block: DecoderBlock = block, i: int = i) -> Tensor:
                k, v = block.attention.project(y, y, offset=past)
                seen.append((torch.cat((keys[i], k), 2), torch.cat((values[i], v), 2)))
                return _over(block.attention, y, seen[-1], None, past)

            def to_source(y: Tensor, block: DecoderBlock = block, i: int = i) -> Tensor:
                return _over(block.to_source, y, (source_keys[i], source_values[i]), allowed)

            x = block.around_attention(x, to_past)
            x = block.around_source(x, to_source)
            x = block.around_feed_forward(x, block.feed_forward)
        after = (torch.stack(each) for each in zip(*seen, strict=True))
        return (model.out(model.decoder_norm(x)[:, 0]), *after)


def _blocks(model: Transformer) -> list[DecoderBlock]:
    return [block for block in model.decoder if isinstance(block, DecoderBlock)]


def _embedded(model: Transformer, embedding: nn.Embedding, tokens: Tensor, offset: int) -> Tensor:
    x: Tensor = embedding(tokens) * model.config.width**0.5
    if model.positions is None:
        return x
    position = torch.arange(offset, offset + tokens.shape[1], device=x.device)
    if isinstance(model.positions, LearnedPositions):
        return x + model.positions.table[position].to(x)
    assert isinstance(model.positions, PositionalEncoding)
    # computed, for a table in the graph would end somewhere
    return x + _sinusoids(position, model.config.width).to(x)


def _sinusoids(position: Tensor, width: int) -> Tensor:
    """Rows of ``PositionalEncoding``'s table, in float64 as it is."""
    even = torch.arange(0, width, 2, dtype=torch.float64, device=position.device)
    angle = position.double()[:, None] / 10000 ** (even / width)
    return torch.stack((angle.sin(), angle.cos()), -1).flatten(1)[:, :width]


class _BahdanauEncoder(nn.Module):
    def __init__(self, model: Bahdanau) -> None:
        super().__init__()
        self.model = model

    def forward(self, source: Tensor, source_lens: Tensor) -> tuple[Tensor, ...]:
        outputs, states, _ = self.model.start(source, source_lens).decoder
        return outputs, self.model.decoder.attention.W_k(outputs), states


class _BahdanauDecoder(nn.Module):
    def __init__(self, model: Bahdanau) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, tokens: Tensor, source_lens: Tensor, outputs: Tensor, keys: Tensor, states: Tensor
    ) -> tuple[Tensor, ...]:
        model, decoder = self.model, self.model.decoder
        attention = decoder.attention
        query = attention.W_q(states[-1]).unsqueeze(1)
        scores = attention.w_v((query + keys).tanh()).squeeze(-1)
        weights = _weights(scores, _present(source_lens, keys.shape[1]))
        context = (weights.unsqueeze(1) @ outputs).squeeze(1)
        x = torch.cat((context, decoder.embedding(tokens)), -1)
        after = []
        for state, (W_ih, W_hh, b_ih, b_hh) in zip(states, decoder.rnn.all_weights, strict=True):
            gi, gh = linear(x, W_ih, b_ih).chunk(3, -1), linear(state, W_hh, b_hh).chunk(3, -1)
            r, z = (gi[0] + gh[0]).sigmoid(), (gi[1] + gh[1]).sigmoid()
            c = (gi[2] + r * gh[2]).tanh()
            x = c + z * (state - c)
            after.append(x)
        return model.out(model.scored_from(x)), torch.stack(after)
