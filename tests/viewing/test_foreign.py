"""Torch's own attention, as q, k, score and mask: the weights are those torch itself gives."""

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from regard import weights
from regard.errors import StateError
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


def test_a_bias_cannot_be_captured_and_that_is_said():
    q, k, v = qkv()
    with pytest.raises(StateError, match="adds numbers other than 0 and minus infinity"):
        seen_by(lambda: scaled_dot_product_attention(q, k, v, attn_mask=torch.randn(6, 7)))


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
    torch.testing.assert_close(found, given)


def test_keys_that_are_no_tokens_are_said_to_be_so():
    layer, x = nn.MultiheadAttention(16, 4, add_zero_attn=True), torch.randn(5, 16)
    with pytest.raises(StateError, match="keys that no token stands for"):
        seen_by(lambda: layer(x, x, x))
