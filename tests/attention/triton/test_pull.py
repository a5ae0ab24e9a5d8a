"""The additive score's slopes, sent to both sides in one pass, whatever stands for q and k."""

import pytest
import torch

from regard import Additive, Causal, Lengths, NotSelf, Window, attend
from regard.testing import qkv
from tests.attention.triton.calls import a_case, learned
from tests.attention.triton.conftest import INTERPRETED
from tests.cases import Case

pytest.importorskip("triton")

# kinds 1, 2 and 0: near 0, usual, far
REACH = {"near": 0.2, "usual": 1.0, "far": 20.0}
MASKS = {
    "none": None,
    "causal": Causal(),
    "lengths": Lengths(torch.tensor([0, 33])),
    "window": Window(left=3, right=4),
}


@pytest.mark.parametrize("reach", REACH)
@pytest.mark.parametrize("mask", MASKS)
def test_agrees(reach, mask, device, small_tiles, many_pairs, kernels_for_parameters):
    n, m = (37, 70) if INTERPRETED else (397, 713)  # on a GPU there really are many pairs
    case = a_case(Additive(learned(6)), MASKS[mask], n, m, d=6, size=REACH[reach], device=device)
    case.agree("triton", torch.float32)


@pytest.mark.parametrize("few", [True, False])
def test_whole_blocks_agree(few, triton, monkeypatch, device, small_tiles, kernels_for_parameters):
    # 32 x 32 in the interpreter, 128 x 128 on a GPU: then nothing is asked pair by pair
    if not few:
        monkeypatch.setattr(triton.operands, "FEW", -1)
    case = a_case(Additive(learned(4)), None, 128, 128, d=4, batch=1, device=device)
    case.agree("triton", torch.float32)


@pytest.mark.parametrize("n", [1, 4, 5])
@pytest.mark.parametrize("few", [True, False])
def test_a_query_or_four(few, n, triton, monkeypatch, device, small_tiles, kernels_for_parameters):
    if not few:
        monkeypatch.setattr(triton.operands, "FEW", -1)
    case = a_case(Additive(learned(6)), Lengths(torch.tensor([33, 60])), n, 70, d=6, device=device)
    case.agree("triton", torch.float32, gradients=4.0)  # sums of one to five are matters of luck


@pytest.mark.parametrize("width", [33, 130])
def test_more_features_than_a_block_has_threads(
    width, device, small_tiles, many_pairs, kernels_for_parameters
):
    case = a_case(Additive(learned(width)), Causal(), 17, 20, d=width, batch=1, device=device)
    case.agree("triton", torch.float32)


def test_several_panels_of_keys(
    triton, monkeypatch, device, small_tiles, many_pairs, kernels_for_parameters
):
    monkeypatch.setattr(triton.panels, "WIDE_PANEL", 48)
    monkeypatch.setattr(triton.panels, "PANEL", 64 * 48)
    case = a_case(Additive(learned(6)), Causal(), 150, 150, d=6, device=device)
    case.agree("triton", torch.float32)


def gradients(q, k, v, w, mask):
    given = [x.detach().requires_grad_() for x in (q, k, v, w)]
    out = attend(*given[:3], score=Additive(given[3]), mask=mask, impl="triton")
    return out, torch.autograd.grad(out, given, torch.ones_like(out))


@pytest.mark.parametrize("garbage", [float("nan"), float("inf"), -float("inf"), 40.0, -1e30])
@pytest.mark.parametrize("reach", REACH)
@pytest.mark.parametrize("few", [True, False])
def test_garbage_that_nobody_sees_sends_nothing(
    few, reach, garbage, triton, monkeypatch, device, small_tiles, kernels_for_parameters
):
    if not few:
        monkeypatch.setattr(triton.operands, "FEW", -1)
    q, k, v = (x.to(device) for x in qkv(1, n=17, m=33, d=6, v=2))
    q, k = ((2 if reach == "usual" else 1) * REACH[reach] * x / x.abs().max() for x in (q, k))
    lengths = torch.full((1, 17), 20, device=device)
    lengths[0, 5] = 0  # a query that sees nothing
    w, mask = learned(6).float().to(device), Lengths(lengths)
    out, found = gradients(q, k, v, w, mask)
    q, k, v = q.clone(), k.clone(), v.clone()
    k[0, 20:], v[0, 20:], q[0, 5] = garbage, garbage, garbage
    spoiled, with_garbage = gradients(q, k, v, w, mask)
    assert torch.equal(out, spoiled)
    for a, b in zip(found, with_garbage, strict=True):
        assert torch.equal(a, b)
    assert not with_garbage[0][0, 5].any()
    assert not with_garbage[1][0, 20:].any()
    assert not with_garbage[2][0, 20:].any()


@pytest.mark.parametrize("reach", REACH)
def test_a_nan_reaches_those_who_see_it_and_nobody_else(
    reach, device, small_tiles, many_pairs, kernels_for_parameters
):
    q, k, v = (x.to(device) for x in qkv(1, n=17, m=17, d=6, v=2))
    q, k = ((2 if reach == "usual" else 1) * REACH[reach] * x / x.abs().max() for x in (q, k))
    w = learned(6).float().to(device)
    _, clean = gradients(q, k, v, w, Causal())
    spoiled = k.clone()
    spoiled[0, 9] = float("nan")
    _, (dq, dk, _, dw) = gradients(q, spoiled, v, w, Causal())
    assert torch.equal(dq[0, :9], clean[0][0, :9])
    assert bool(dq[0, 9:].isnan().all())
    assert bool(dk[0, :10].isnan().all())
    assert bool(dw.isnan().all())
    # a query's, too: others' slopes share a reciprocal with its own
    spoiled = q.clone()
    spoiled[0, 3] = float("nan")
    _, (dq, dk, *_) = gradients(spoiled, k, v, w, Causal())
    others = [i for i in range(17) if i != 3]
    torch.testing.assert_close(dq[0, others], clean[0][0, others], rtol=1e-4, atol=1e-6)
    assert bool(dq[0, 3].isnan().all())
    assert bool(dk[0, :4].isnan().all())
    torch.testing.assert_close(dk[0, 4:], clean[1][0, 4:], rtol=1e-4, atol=1e-6)


def test_entries_in_groups_the_last_of_them_smaller(
    triton, monkeypatch, device, small_tiles, many_pairs, kernels_for_parameters
):
    monkeypatch.setattr(triton.panels, "PANEL", 2 * 64 * 40)
    case = a_case(
        Additive(learned(6)), Lengths(torch.tensor([40, 7, 0, 33, 12])), 70, 40, d=6, batch=5,
        device=device,
    )  # fmt: skip
    case.agree("triton", torch.float32)


@pytest.mark.parametrize(("n", "batch"), [(30, 8), (70, 3)])
def test_many_features_far_from_zero_keep_their_digits(n, batch, device, small_tiles, many_pairs):
    # added up one by one, these have twice the error that is allowed; several entries, because the
    # largest error of one alone is luck, and another CPU has another
    n = n if INTERPRETED else 20 * n  # on a GPU there really are many pairs
    drawn = torch.Generator().manual_seed(2)
    q, k = (30 * torch.randn(batch, n, 129, generator=drawn, dtype=torch.float64) for _ in "qk")
    v = torch.randn(batch, n, 2, generator=drawn, dtype=torch.float64)
    w = torch.randn(129, generator=drawn, dtype=torch.float64)
    Case(q, k, v, Additive(w), NotSelf(), device=device).agree("triton", torch.float32)
