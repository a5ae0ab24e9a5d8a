"""Translators as their users write them: what ours are timed beside, with the same weights."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from benchmarks.textbook import TextbookDecoder, TextbookPositions
from regard.layers import MultiHeadAttention
from regard.models import Bahdanau, BahdanauConfig, Transformer
from regard.models.transformer import TransformerConfig
from regard.tasks.translation.batches import Batch
from regard.tasks.vocabulary import PAD

__all__ = ["PlainStepper", "TextbookTranslator", "TorchTransformer"]


class _Scaled(nn.Embedding):
    """An embedding of unit entries, and dropout."""

    def __init__(self, vocab: int, width: int, dropout: float) -> None:
        super().__init__(vocab, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor) -> Tensor:
        """Look up and scale."""
        return self.dropout(super().forward(tokens) * self.embedding_dim**0.5)


class TorchTransformer(nn.Module):
    """torch.nn.Transformer between embeddings and scores, with padding masks and a causal one."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        width, dropout = config.width, config.dropout
        self.source_embedding = _Scaled(config.source_vocab, width, 0.0)
        self.target_embedding = _Scaled(config.target_vocab, width, 0.0)
        self.register_buffer("positions", TextbookPositions(width).P, persistent=False)
        self.dropout = nn.Dropout(dropout)
        layers = config.encoder_layers, config.decoder_layers
        hidden = 4 * width if config.hidden is None else config.hidden
        with warnings.catch_warnings():  # that nested tensors are not for norm_first
            warnings.simplefilter("ignore")
            self.transformer = nn.Transformer(
                width, config.num_heads, *layers, hidden, dropout, batch_first=True, norm_first=True
            )
        for x in self.transformer.modules():  # the same work as ours: the weights stay whole
            if isinstance(x, nn.MultiheadAttention) and config.attention_dropout is not None:
                x.dropout = config.attention_dropout
        self.out = nn.Linear(width, config.target_vocab, bias=False)
        self.out.weight = self.target_embedding.weight

    def forward(self, source: Tensor, source_lens: Tensor, target: Tensor) -> Tensor:
        """Scores of the token after each of the target's."""
        m, n = source.shape[1], target.shape[1]
        lens = source_lens.to(source.device, non_blocking=True)
        padding = torch.arange(m, device=source.device) >= lens[:, None]
        later = torch.ones(n, n, dtype=torch.bool, device=source.device).triu(1)
        found = self.transformer(
            self.dropout(self.source_embedding(source) + self.positions[:, :m]),
            self.dropout(self.target_embedding(target) + self.positions[:, :n]),
            tgt_mask=later,
            src_key_padding_mask=padding,
            tgt_key_padding_mask=target == PAD,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,  # else torch compares the mask with a causal one, and waits for it
        )
        return self.out(found)

    @torch.no_grad()
    def copy_from(self, ours: Transformer) -> None:
        """Take over the weights of ours."""
        _copy(self.source_embedding, ours.source_embedding)
        _copy(self.target_embedding, ours.target_embedding)
        _copy(self.transformer.encoder.norm, ours.encoder_norm)
        _copy(self.transformer.decoder.norm, ours.decoder_norm)
        for theirs, mine in zip(self.transformer.encoder.layers, ours.encoder, strict=True):
            _copy_attention(theirs.self_attn, mine.attention)
            norms = mine.around_attention.norm, mine.around_feed_forward.norm
            _copy_others(theirs, mine.feed_forward, norms)
        for theirs, mine in zip(self.transformer.decoder.layers, ours.decoder, strict=True):
            _copy_attention(theirs.self_attn, mine.attention)
            _copy_attention(theirs.multihead_attn, mine.to_source)
            around = mine.around_attention, mine.around_source, mine.around_feed_forward
            _copy_others(theirs, mine.feed_forward, [x.norm for x in around])


def _copy(theirs: nn.Module, mine: nn.Module) -> None:
    theirs.load_state_dict(mine.state_dict())


def _copy_attention(theirs: nn.MultiheadAttention, mine: MultiHeadAttention) -> None:
    parts = mine.W_q, mine.W_k, mine.W_v
    theirs.in_proj_weight.copy_(torch.cat([x.weight for x in parts]))
    theirs.in_proj_bias.copy_(torch.cat([x.bias for x in parts]))
    _copy(theirs.out_proj, mine.W_o)


def _copy_others(theirs: nn.Module, mine: nn.Module, norms: Sequence[nn.Module]) -> None:
    _copy(theirs.linear1, mine.inner)
    _copy(theirs.linear2, mine.outer)
    for i, norm in enumerate(norms, start=1):
        _copy(theirs.get_submodule(f"norm{i}"), norm)


class TextbookTranslator(nn.Module):
    """The recurrent translator with the decoder of the notes: a loop over the target's tokens."""

    def __init__(self, config: BahdanauConfig) -> None:
        super().__init__()
        width, hidden, dropout = config.embedding, config.hidden, config.dropout
        layers = config.decoder_layers
        self.source_embedding = _Scaled(config.source_vocab, width, dropout)
        self.encoder = nn.GRU(width, hidden, batch_first=True, bidirectional=True)
        self.outputs_from = nn.Linear(2 * hidden, hidden)
        self.first_state_from = nn.Linear(2 * hidden, layers * hidden)
        self.decoder = TextbookDecoder(config.target_vocab, width, hidden, layers, 0.0)
        self.decoder.embedding = _Scaled(config.target_vocab, width, dropout)
        scores = nn.Linear(width, config.target_vocab, bias=False)
        scores.weight = self.decoder.embedding.weight
        self.decoder.dense = nn.Sequential(nn.Linear(hidden, width), nn.Dropout(dropout), scores)

    def forward(self, source: Tensor, source_lens: Tensor, target: Tensor) -> Tensor:
        """Scores of the token after each of the target's; packing wants lengths on the CPU."""
        packed = pack_padded_sequence(
            self.source_embedding(source), source_lens, batch_first=True, enforce_sorted=False
        )
        read, last = self.encoder(packed)
        outputs, _ = pad_packed_sequence(read, batch_first=True, total_length=source.shape[1])
        first = self.first_state_from(torch.cat((last[0], last[1]), -1)).tanh()
        first = first.unflatten(-1, (-1, outputs.shape[-1] // 2)).transpose(0, 1).contiguous()
        lens = source_lens.to(source.device, non_blocking=True)
        return self.decoder(target, (self.outputs_from(outputs), first, lens))[0]

    @torch.no_grad()
    def copy_from(self, ours: Bahdanau) -> None:
        """Take over the weights of ours."""
        _copy(self.source_embedding, ours.source_embedding)
        (forwards, backwards), *_ = ours.encoder.layers
        turned = {f"{name}_reverse": x for name, x in backwards.state_dict().items()}
        self.encoder.load_state_dict({**forwards.state_dict(), **turned})
        for name in ("outputs_from", "first_state_from"):
            _copy(self.get_submodule(name), ours.get_submodule(name))
        for name in ("attention", "rnn", "embedding"):
            _copy(self.decoder.get_submodule(name), ours.decoder.get_submodule(name))
        _copy(self.decoder.dense[0], ours.scored_from)


class PlainStepper:
    """A training step as everybody writes it.

    Args:
        model: one of the above, on its device.
        lr: of every step.
        smoothing: of labels.
        clip: the longest gradient.
        decay: of weights.
        dtype: what products are computed in.

    """

    def __init__(
        self,
        model: TorchTransformer | TextbookTranslator,
        *,
        lr: float,
        smoothing: float,
        clip: float,
        decay: float,
        dtype: torch.dtype,
    ) -> None:
        self.model, self.smoothing, self.clip, self.dtype = model, smoothing, clip, dtype
        self.device = next(model.parameters()).device
        self.optimiser = torch.optim.AdamW(
            model.parameters(),
            lr=lr,
            betas=(0.9, 0.98),
            eps=1e-9,
            weight_decay=decay,
            fused=True,
        )

    def loss(self, batch: Batch) -> Tensor:
        """The summed loss of a batch."""
        source, target, wanted = (
            x.to(self.device, non_blocking=True)
            for x in (batch.source, batch.target_in, batch.target_out)
        )
        scores = self.model(source, batch.source_lens, target)
        return cross_entropy(
            scores.flatten(0, 1),
            wanted.flatten(),
            ignore_index=PAD,
            label_smoothing=self.smoothing,
            reduction="sum",
        )

    def step(self, batch: Batch) -> Tensor:
        """Move the weights; give the loss before, on the device."""
        self.optimiser.zero_grad(set_to_none=True)
        bf16 = self.dtype is torch.bfloat16
        with torch.autocast(self.device.type, torch.bfloat16, enabled=bf16):
            loss = self.loss(batch)
        (loss / batch.tokens).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimiser.step()
        return loss.detach()
