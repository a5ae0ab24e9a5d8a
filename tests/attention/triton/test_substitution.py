"""How tanh(q + k) is computed: chosen for each entry by itself, and right whatever is chosen."""

import numpy as np
import pytest
import torch

from regard import Additive, Lengths, attend
from regard.attention.call import make_call
from regard.testing import qkv
from tests.attention.triton.calls import learned

pytest.importorskip("triton")
RANGES = {
    "near": (0.4, 0.0, 1),
    "usual": (3.0, 0.0, 2),
    "off": (3.0, 30.0, 2),
    "far": (30.0, 0.0, 0),
}


def inputs(name, device, batch=1, n=17, m=33, d=6):
    reach, away, _ = RANGES[name]
    q, k, v = (x.to(device) for x in qkv(batch, n=n, m=m, d=d, v=2))
    q, k = (reach * x / x.abs().max() for x in (q, k))
    return q + away, k - away, v


def substituted(triton, q, k, v, mask=None):
    score = Additive(learned(q.shape[-1]).to(q.device))
    call = make_call(q, k, v, score.form(q, k), mask)
    return triton.operands.operands_of(call, rows=True)


@pytest.mark.parametrize("name", RANGES)
def test_the_range_decides(name, triton, device, many_pairs):
    on = substituted(triton, *inputs(name, device))
    assert on.kind.tolist() == [RANGES[name][2]]


@pytest.mark.parametrize("name", RANGES)
def test_what_is_computed_once_a_token_gives_tanh_back(name, triton, device, many_pairs):
    q, k, v = inputs(name, device)
    on = substituted(triton, q, k, v)
    x, y = (t[:, :, :6].double().cpu() for t in (on.q_rows, on.k_rows))
    x, y = x.unsqueeze(2), y.unsqueeze(1)
    kind = RANGES[name][2]
    got = ((x * y - 1) / (x * y + 1), (x + y) / (1 + x * y), (x + y).tanh())[
        2 - kind if kind else 2
    ]
    wanted = (q.double().unsqueeze(2) + k.double().unsqueeze(1)).tanh().cpu()
    assert (got - wanted).abs().max() <= 2e-7
    # laid out by feature it is the same
    assert torch.equal(on.q[:, :, :17].transpose(1, 2), on.q_rows[..., :8])
    assert torch.equal(on.k[:, :, :33].transpose(1, 2), on.k_rows[..., :8])
    assert on.q_rows.shape[-1] == on.row_width == 32
    assert not on.q_rows[..., 6:].any()  # filled up with zeros: features that count nothing
    assert not on.k_rows[..., 6:].any()


def test_few_pairs_keep_q_and_k_as_they_are(triton, device):
    q, k, v = inputs("usual", device)
    on = substituted(triton, q, k, v)
    assert torch.equal(on.q_rows[..., :6], q)
    assert torch.equal(on.k_rows[..., :6], k)
    assert not on.q_rows[..., 6:].any()


@pytest.mark.parametrize("garbage", [float("nan"), float("inf"), 40.0, 2.0])
def test_what_nobody_sees_is_nothing_row_by_row(garbage, triton, device, many_pairs):
    # slopes of pairs that are hidden are multiplied by 0, not left out, and share reciprocals
    q, k, v = inputs("usual", device)
    k[0, 20:] = garbage
    on = substituted(triton, q, k, v, Lengths(torch.full((1,), 20)))
    assert on.kind.tolist() == [2]
    assert not on.k_rows[0, 20:].any()
    # by feature it is what it was: who sees it must be given it
    assert on.k[0, :6, 20:33].all()


def test_what_is_seen_and_not_finite_is_nothing_row_by_row(triton, device, many_pairs):
    q, k, v = inputs("usual", device)
    k[0, 20], k[0, 21] = float("nan"), float("inf")
    on = substituted(triton, q, k, v)
    assert not on.k_rows[0, 20:22].any()
    assert on.k_rows[0, :20, :6].all()


def test_small_numbers_keep_their_digits(triton, device, many_pairs):
    q, k, v = (1e-6 * x for x in inputs("near", device))
    on = substituted(triton, q, k, v)
    wanted = np.tanh(q.double().cpu().numpy())
    np.testing.assert_allclose(on.q_rows[..., :6].cpu().numpy(), wanted, rtol=1.2e-7)


def test_entries_choose_by_themselves(triton, device, many_pairs):
    # one after another, not the range of all
    found = [inputs(name, device) for name in RANGES]
    q, k, v = (torch.cat(x) for x in zip(*found, strict=True))
    on = substituted(triton, q, k, v)
    assert on.kind.tolist() == [kind for *_, kind in RANGES.values()]


@pytest.mark.parametrize("garbage", [float("nan"), float("inf"), 1e4, 3e38])
def test_garbage_that_nobody_sees_does_not_choose(garbage, triton, device, many_pairs):
    q, k, v = inputs("near", device)
    k[0, 20:] = garbage
    q[0, 9] = garbage
    lengths = torch.full((1, 17), 20)
    lengths[0, 9] = 0
    assert substituted(triton, q, k, v, Lengths(lengths)).kind.tolist() == [1]


def test_no_features_is_uniform(triton, device):
    q, k, v = inputs("near", device)
    out = attend(
        q[..., :0], k[..., :0], v, score=Additive(torch.zeros(0, device=device)), impl="triton"
    )
    torch.testing.assert_close(out, v.mean(1, keepdim=True).expand_as(out))
