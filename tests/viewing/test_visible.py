"""Masks that came as tensors: the rule found shows what the tensor did, and is small."""

import pytest
import torch

from regard import Dot, ShapeError, StateError, weights
from regard.masks import Causal, Dense, Lengths, Window
from regard.testing import qkv
from regard.viewing import visible
from regard.viewing.visible import Interval, added, rule_of

B, HEADS, N, M = 3, 2, 6, 9
AT, J = torch.arange(N)[:, None], torch.arange(M)
CAUSAL = AT + 3 >= J
WINDOW = CAUSAL & (J > AT + 3 - 4)
LENGTHS = torch.tensor([9, 4, 1])[:, None, None, None]
LEFT = torch.tensor([0, 4, 8])[:, None, None, None]
GAPS = (AT * 5 + J) % 3 > 0


@pytest.fixture(params=[1 << 22, 20], ids=["whole", "in pieces"])
def pieces(request, monkeypatch):
    monkeypatch.setattr(visible, "AT_A_TIME", request.param)


@pytest.mark.parametrize(
    ("seen", "kind"),
    [
        (torch.ones(N, M).bool(), type(None)),
        (torch.ones(1, 1, 1, M).bool(), type(None)),
        (CAUSAL, Causal),
        (CAUSAL.expand(B, 1, N, M), Causal),
        (AT >= J, Causal),
        (AT - 2 >= J, Causal),
        (WINDOW, Window),
        (WINDOW.expand(B, HEADS, N, M), Window),
        (J < LENGTHS, Lengths),
        ((J < LENGTHS).expand(B, 1, N, M), Lengths),
        (J >= LEFT, Interval),
        (CAUSAL & (J < LENGTHS), Interval),
        (CAUSAL & (J >= LEFT), Interval),
        (WINDOW & (J >= LEFT), Interval),
        (torch.stack([CAUSAL, AT >= J]), Interval),  # one a head
        (torch.zeros(N, M).bool(), Interval),
        ((J < 4)[None], Interval),
        (GAPS, Dense),
        ((J != 4)[None], Dense),
        ((J != 4) & CAUSAL & (J > 0), Dense),
        (GAPS & (J < LENGTHS), Dense),
        (torch.tensor([[True]]), type(None)),
    ],
)
def test_rule_of(seen, kind, pieces):
    rule = rule_of(seen, N, M)
    assert type(rule) is kind
    wanted = seen.expand(B, HEADS, N, M)
    if rule is None:
        assert wanted.all()
        return
    assert torch.equal(rule.dense(N, M, batch=(B, HEADS)), wanted)
    if not isinstance(rule, Dense):
        spans = rule.spans(torch.Size((B, HEADS)), N, M, torch.device("cpu"))
        assert spans.dense is None
        got = spans.allowed(torch.arange(N), J).expand(B, HEADS, N, M)
        assert torch.equal(got, wanted)
        held = [x.numel() for x in vars(rule).values() if isinstance(x, torch.Tensor)]
        assert sum(held) <= 2 * B * N


def test_an_interval_that_does_not_fit_is_refused():
    wrong = Interval(torch.zeros(4, 1), torch.ones(4, 1))
    with pytest.raises(ShapeError, match=r"lo must broadcast against \[\*b, n\] = \[3, 6\], got"):
        wrong.dense(N, M, batch=(3,))


@pytest.mark.parametrize("low", [-torch.inf, torch.finfo().min, -1e4])
def test_very_negative_numbers_hide(low, pieces):
    found = added(torch.zeros(N, M).masked_fill(~CAUSAL, low), N, M)
    assert isinstance(found.mask, Causal)
    assert found.bias is None
    assert found.keys is None


SLOPES = torch.tensor([0.5, 0.25])[:, None, None]


@pytest.mark.parametrize("seen", [None, CAUSAL, J < LENGTHS, CAUSAL & (J < LENGTHS)])
@pytest.mark.parametrize(
    "bias",
    [
        -SLOPES * (J - AT).abs(),
        (-SLOPES * (J - AT).abs())[0],
        torch.randn(HEADS, N + M - 1, generator=torch.Generator().manual_seed(0))[
            :, J - AT + N - 1
        ],
        SLOPES * J,
        torch.randn(B, HEADS, 1, M, generator=torch.Generator().manual_seed(1)),
    ],
    ids=["slopes", "one slope", "distances", "by key", "by key and sequence"],
)
def test_what_is_added_is_in_the_weights(bias, seen, pieces):
    x = bias if seen is None else bias.masked_fill(~seen, -torch.inf)
    q, k, _ = qkv(B, HEADS, n=N, m=M, d=4, v=1)
    wanted = torch.softmax(q @ k.mT / 2 + x, -1)
    from regard.viewing.foreign import dot_product

    q, k, score, mask = dot_product(q, k, None, added(x, N, M))
    torch.testing.assert_close(weights(q, k, score=score, mask=mask), wanted)
    assert not isinstance(mask, Dense)


def test_any_other_bias_is_refused(pieces):
    for x in (torch.randn(N, M), torch.randn(B, 1, 1, 1) * (J - AT)):
        with pytest.raises(StateError, match="from the distance between query and key, or from"):
            added(x, N, M)


def test_what_is_kept_is_small_and_stays_as_it_was():
    seen = GAPS.clone()
    found = added(seen.expand(B, HEADS, N, M), N, M).mask
    assert found.seen.untyped_storage().nbytes() == N * M
    seen.zero_()
    assert torch.equal(found.seen[0, 0], GAPS)
    one = added(torch.ones(1, 1).bool().expand(N, M), N, M)
    assert one.mask is None


def test_half_precision_and_gradients():
    x = torch.zeros(N, M, dtype=torch.bfloat16).masked_fill(~CAUSAL, torch.finfo(torch.half).min)
    assert isinstance(added(x, N, M).mask, Causal)
    bias = (-SLOPES * (J - AT).abs()).requires_grad_()
    found = added(bias, N, M).bias
    assert not found.values.requires_grad
    assert found.values.dtype == torch.float32
    assert Dot() + found
