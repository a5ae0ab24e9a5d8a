"""Torch's own attention, as q, k, score and mask: the weights are those torch itself gives."""

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.functional import scaled_dot_product_attention

from regard import weights
from regard.errors import StateError
from regard.masks import And, Causal, Lengths
from regard.viewing import foreign
from regard.viewing.foreign import ForeignCalls

INF = float("inf")


def seen_by(call):
    """What was told of the only attention in this call."""
    told = []
    with ForeignCalls(lambda *found: told.append(found)):
        result = call()
    ((q, k, score, mask),) = told
    return weights(q.detach(), k.detach(), score=score, mask=mask), result


def qkv(heads=4, kv_heads=4, n=6, m=7):
    draw = torch.Generator().manual_seed(0)
    return (
        torch.randn(2, heads, n, 8, generator=draw),
        torch.randn(2, kv_heads, m, 8, generator=draw),
        torch.randn(2, kv_heads, m, 5, generator=draw),
    )


SEEN = torch.rand(2, 1, 6, 7, generator=torch.Generator().manual_seed(1)) > 0.4
SEEN[..., 0] = True


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"is_causal": True},
        {"scale": 0.3},
        {"attn_mask": SEEN},
        {"attn_mask": torch.zeros(6, 7).masked_fill(~SEEN[0, 0], -INF)},
        {"attn_mask": torch.zeros(6, 7).masked_fill(~SEEN[0, 0], torch.finfo().min)},
    ],
    ids=["plain", "causal", "scale", "bool", "added", "added, finite"],
)
def test_scaled_dot_product_attention(how):
    q, k, v = qkv()
    found, out = seen_by(lambda: scaled_dot_product_attention(q, k, v, **how))
    torch.testing.assert_close(found @ v, out)


def test_positional_arguments_and_groups_of_heads():
    q, k, v = qkv(kv_heads=2)
    found, out = seen_by(
        lambda: scaled_dot_product_attention(q, k, v, None, 0.0, True, enable_gqa=True)  # noqa: FBT003
    )
    torch.testing.assert_close(found @ v.repeat_interleave(2, 1), out)


def test_a_bias_without_a_rule_cannot_be_captured_and_that_is_said():
    q, k, v = qkv()
    with pytest.raises(StateError, match="adds other numbers than 0 and minus infinity"):
        seen_by(lambda: scaled_dot_product_attention(q, k, v, attn_mask=torch.randn(6, 7)))


def test_the_error_says_where():
    q, k, v = qkv()
    calls = ForeignCalls(lambda *_: None, where=lambda: "a.b")
    with calls, pytest.raises(StateError, match=r"^a\.b: a mask that adds"):
        scaled_dot_product_attention(q, k, v, attn_mask=torch.randn(6, 7))


def test_nothing_is_worked_out_that_is_not_wanted():
    q, k, v = qkv()
    calls = ForeignCalls(lambda *_: pytest.fail("was told"), wanted=lambda: False)
    with calls:
        scaled_dot_product_attention(q, k, v, attn_mask=torch.randn(6, 7))
    assert calls.told == 1


def test_a_mask_that_many_layers_share_is_read_once(monkeypatch):
    q, k, v = qkv()
    mask, other, read = SEEN.clone(), torch.zeros(6, 7), []
    real = foreign.added
    monkeypatch.setattr(foreign, "added", lambda *a: read.append(a) or real(*a))
    told = []
    with ForeignCalls(lambda *found: told.append(found[-1])):
        for _ in range(3):
            for x in (mask, other):
                scaled_dot_product_attention(q, k, v, attn_mask=x)
        mask[..., 1] = ~mask[..., 1]
        scaled_dot_product_attention(q, k, v, attn_mask=mask)
        scaled_dot_product_attention(q, k[..., :1, :], v[..., :1, :], attn_mask=other[:, :1])
    assert len(read) == 4
    assert told[0] is told[2]
    assert torch.equal(told[-2].seen, mask)


def test_what_distance_adds_is_kept():
    q, k, v = qkv()
    away = torch.arange(7) - torch.arange(6)[:, None]
    bias = -torch.tensor([0.5, 0.2, 0.1, 0.0])[:, None, None] * away.abs()
    bias = bias.masked_fill(away > 0, -INF)
    found, out = seen_by(lambda: scaled_dot_product_attention(q, k, v, attn_mask=bias))
    torch.testing.assert_close(found @ v, out)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision(dtype):
    q, k, v = (x.to(dtype) for x in qkv())
    mask = torch.zeros(6, 7, dtype=dtype).masked_fill(~SEEN[0, 0], torch.finfo(dtype).min)
    found, out = seen_by(lambda: scaled_dot_product_attention(q, k, v, attn_mask=mask))
    assert found.dtype == dtype
    torch.testing.assert_close(found @ v, out, rtol=0.02, atol=0.02)


def test_keys_shared_by_the_batch():
    q, k, v = qkv()
    k, v = k[:1], v[:1]
    found, out = seen_by(lambda: scaled_dot_product_attention(q, k, v))
    torch.testing.assert_close(found @ v, out)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("kdim", [None, 12])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_multihead_attention(batch_first, kdim, bias, training):
    torch.manual_seed(0)
    layer = nn.MultiheadAttention(16, 4, bias=bias, kdim=kdim, batch_first=batch_first)
    layer.train(training)
    q, k, v = torch.randn(3, 5, 16), torch.randn(3, 7, kdim or 16), torch.randn(3, 7, 16)
    padding = torch.arange(7) >= torch.tensor([7, 4, 1])[:, None]
    hidden = torch.rand(12, 5, 7) > 0.7
    hidden[..., 0] = False
    if not batch_first:
        q, k, v = (x.transpose(0, 1) for x in (q, k, v))
    with torch.no_grad():
        found, (_, given) = seen_by(
            lambda: layer(
                q, k, v, key_padding_mask=padding, attn_mask=hidden, average_attn_weights=False
            )
        )
    torch.testing.assert_close(found, given)


def test_one_sentence_without_a_batch():
    torch.manual_seed(0)
    layer, x = nn.MultiheadAttention(16, 4).eval(), torch.randn(5, 16)
    padding = torch.arange(5) > 2
    with torch.no_grad():
        found, (_, given) = seen_by(
            lambda: layer(x, x, x, key_padding_mask=padding, average_attn_weights=False)
        )
    torch.testing.assert_close(found[0], given)  # as a batch of one


@pytest.mark.parametrize("more", [(True, False), (False, True), (True, True)])
@pytest.mark.parametrize("masked", [True, False])
def test_keys_that_no_token_stands_for_come_last(more, masked):
    torch.manual_seed(0)
    layer = nn.MultiheadAttention(16, 4, add_bias_kv=more[0], add_zero_attn=more[1])
    x = torch.randn(5, 3, 16)
    hidden = torch.ones(5, 5).triu(1).bool() if masked else None
    padding = torch.arange(5) >= torch.tensor([5, 2, 4])[:, None] if masked else None
    with torch.no_grad():
        found, (_, given) = seen_by(
            lambda: layer(
                *(x, x, x), attn_mask=hidden, key_padding_mask=padding, average_attn_weights=False
            )
        )
    assert found.shape == (3, 4, 5, 5 + sum(more))
    torch.testing.assert_close(found, given)


def test_keys_behind_a_bool_mask_are_seen():
    torch.manual_seed(0)
    layer, x = nn.MultiheadAttention(16, 4, add_zero_attn=True), torch.randn(5, 3, 16)
    with torch.no_grad():
        found, (_, given) = seen_by(
            lambda: functional.multi_head_attention_forward(
                *(x, x, x, 16, 4, layer.in_proj_weight, layer.in_proj_bias),
                *(None, None, True, 0.0, layer.out_proj.weight, layer.out_proj.bias),
                attn_mask=torch.ones(5, 5).triu(1).bool(),
                average_attn_weights=False,
            )
        )
    torch.testing.assert_close(found, given)


def test_a_causal_layer_with_padding_keeps_rules_not_tensors():
    torch.manual_seed(0)
    layer, x, told = nn.MultiheadAttention(16, 4, batch_first=True), torch.randn(3, 5, 16), []
    padding = torch.arange(5) >= torch.tensor([5, 2, 4])[:, None]
    with torch.no_grad(), ForeignCalls(lambda *found: told.append(found)):
        layer(
            *(x, x, x),
            attn_mask=nn.Transformer.generate_square_subsequent_mask(5),
            key_padding_mask=padding.float().masked_fill(padding, -INF),
            is_causal=True,
        )
    mask = told[0][-1]
    assert isinstance(mask, And)
    assert isinstance(mask.first, Causal)
    assert isinstance(mask.second, Lengths)
