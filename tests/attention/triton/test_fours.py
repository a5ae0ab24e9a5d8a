"""The additive score on the matrix units against the definition, and who is left to whom."""

import pytest
import torch

from regard import Additive, Causal, Dense, Lengths, NotSelf, Slope, Window, attend
from regard.attention.call import make_call
from regard.attention.triton import inspection
from regard.testing import assert_within_budget, qkv
from tests.attention.triton.calls import GARBAGE, a_case, filled, learned
from tests.attention.triton.conftest import INTERPRETED
from tests.cases import Case

pytest.importorskip("triton")

pytestmark = pytest.mark.usefixtures("many_pairs", "kernels_for_parameters", "by_fours")


@pytest.fixture
def by_fours(triton, monkeypatch, device):
    """Sees that the kernel has run: what is left to the other one would agree, too."""
    ran = []
    fours = pytest.importorskip("regard.attention.triton.fours", exc_type=ImportError)
    if not triton.operands.has_matrix_units(torch.device(device)):
        pytest.skip("it is written for the matrix units of Hopper")

    class Seen:
        def __init__(self, kernel):
            self.kernel = kernel

        def __getitem__(self, grid):
            ran.append(self.kernel)
            return self.kernel[grid]

    for name in ("forward", "weigh"):
        monkeypatch.setattr(fours, name, Seen(getattr(fours, name)))
    yield ran
    assert ran


def sizes(n, m):
    """On both sides of a tile's edge; on a GPU so many that the largest error is no luck."""
    return (n, m) if INTERPRETED else (n + 384, m + 640)


def several(score, mask, n, m, **options):
    """A case of several entries, because the largest error of one is luck."""
    return a_case(score, mask, n, m, batch=4, **options)


MASKS = {
    "none": lambda n, m: None,
    "causal": lambda n, m: Causal(),
    "lengths": lambda n, m: Lengths(torch.tensor([0, m - 37, 70, m])),
    "window": lambda n, m: Window(left=40, right=9) & NotSelf(),
    "dense": lambda n, m: Dense(learned(n, m) > -1.0),
}


@pytest.mark.parametrize(
    ("mask", "n", "m", "d", "v"),
    [
        ("none", 128, 128, 128, 64),
        ("none", 65, 65, 64, 1),
        ("none", 127, 127, 67, 65),
        ("causal", 70, 150, 66, 7),
        ("lengths", 129, 129, 70, 3),
        ("window", 130, 200, 64, 5),
        ("dense", 129, 70, 72, 130),
    ],
)
def test_agrees(mask, n, m, d, v, device):
    n, m = sizes(n, m)
    case = several(Additive(learned(d)), MASKS[mask](n, m), n, m, d=d, v=v, device=device)
    case.agree("triton", torch.float32)


@pytest.mark.parametrize("size", [0.4, 1.0, 2.0])
def test_agrees_whatever_the_size_of_its_inputs(size, device):
    n, m = sizes(80, 130)
    case = several(Additive(learned(64)), None, n, m, d=64, size=size, device=device)
    case.agree("triton", torch.float32)


def test_heads_have_weights_of_their_own(device):
    n, m = sizes(70, 90)
    q, k, v = qkv(2, 3, n=n, m=m, d=64, v=4, dtype=torch.float64)
    score = Additive(learned(3, 64)) + Slope(learned(3).abs())
    Case(q, k, v, score, Causal(), device=device, dropout=0.3, seed=5).agree(
        "triton", torch.float32
    )


def outcome(q, k, v, w, mask=None, **options):
    given = [x.detach().requires_grad_() for x in (q, k, v)]
    out = attend(*given, score=Additive(w), mask=mask, impl="triton", **options)
    return [out.detach(), *torch.autograd.grad(out, given, out.detach().cos())]


def test_entries_of_every_kind_side_by_side(device):
    # by tanh, in fours, in twos because four are beyond float32, and as they are
    n, m = sizes(70, 90)
    q, k, v = (x.to(device) for x in qkv(4, n=n, m=m, d=64, v=3))
    for entry, largest in enumerate((0.2, 2.4, 6.0, 40.0)):
        q[entry] *= largest / q[entry].abs().max()
        k[entry] *= largest / k[entry].abs().max()
    w = learned(64).float().to(device)
    together = outcome(q, k, v, w)
    for b in range(4):
        one = slice(b, b + 1)
        for x, y in zip(together, outcome(q[one], k[one], v[one], w), strict=True):
            assert torch.equal(x[one], y)
    Case(*(x.double() for x in (q, k, v)), Additive(w.double()), device=device).agree(
        "triton", torch.float32
    )


def test_which_entries_are_its_own(triton, device):
    kinds = []
    n, m = sizes(70, 90)
    for largest, weight in ((0.2, 1.0), (2.4, 1.0), (2.4, 1e30), (6.0, 1.0), (40.0, 1.0)):
        q, k, v = (x.to(device) for x in qkv(1, n=n, m=m, d=64, v=3))
        q, k = (largest * x / x.abs().max() for x in (q, k))
        score = Additive(weight * learned(64).float().to(device))
        call = make_call(q, k, v, score.form(q, k), None)
        kinds += triton.operands.operands_of(call, rows=False).kind.tolist()
    assert kinds == [1, 3, 2, 2, 0]
    outcome(q / 20, k / 20, v, learned(64).float().to(device))  # and it runs


def test_numbers_near_its_limit_stay_finite(device):
    n, m = sizes(70, 90)
    q, k, v = (x.to(device) for x in qkv(1, n=n, m=m, d=64, v=3))
    q, k = (5.1 * x / x.abs().max() for x in (q, k))
    q[:, 0], k[:, 0] = 5.1, 5.1  # all features of a pair as far as they go
    found = outcome(q, k, v, torch.ones(64, device=device))
    assert all(x.isfinite().all() for x in found)


@pytest.mark.parametrize("garbage", GARBAGE)
def test_garbage_that_nobody_sees_changes_nothing(garbage, device):
    n, m = sizes(70, 90)
    q, k, v = (x.to(device) for x in qkv(1, n=n, m=m, d=64, v=3))
    w, mask = learned(64).float().to(device), Lengths([m - 20])
    clean = outcome(q, k, v, w, mask)
    k[:, m - 20 :], v[:, m - 20 :] = (filled(garbage, torch.float32),) * 2
    for a, b in zip(clean, outcome(q, k, v, w, mask), strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("which", ["q", "k", "v"])
def test_a_nan_reaches_who_sees_it_and_nobody_else(which, device):
    n, m = sizes(70, 70)
    m = n
    given = dict(zip("qkv", (x.to(device) for x in qkv(1, n=n, m=m, d=64, v=3)), strict=True))
    w = learned(64).float().to(device)
    clean = outcome(*given.values(), w, Causal())[0]
    given[which][:, 9] = float("nan")
    out = outcome(*given.values(), w, Causal())[0]
    touched = torch.arange(n, device=device) >= 9 if which != "q" else None
    touched = torch.arange(n, device=device) == 9 if touched is None else touched
    assert bool(out[0, touched].isnan().all())
    torch.testing.assert_close(out[0, ~touched], clean[0, ~touched], rtol=1e-5, atol=1e-6)


def test_the_same_bits_every_time(device):
    n, m = sizes(80, 130)
    q, k, v = (x.to(device) for x in qkv(2, n=n, m=m, d=64, v=3))
    w = learned(64).float().to(device)
    first = outcome(q, k, v, w, dropout=0.2, seed=3)
    for _ in range(1 if INTERPRETED else 100):
        again = outcome(q, k, v, w, dropout=0.2, seed=3)
        assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))


def test_a_long_sum_is_carried_in_float64(triton, monkeypatch, device):
    monkeypatch.setattr(triton.beside, "LONG", 8)
    n, m = sizes(70, 300)
    case = several(Additive(learned(64)), Causal(offset=200), n, m, d=64, v=5, device=device)
    case.agree("triton", torch.float32)


def test_looking_goes_the_same_way(device):
    n, m = sizes(70, 150)
    q, k, v = qkv(1, n=n, m=m, d=64, v=0, dtype=torch.float64)
    w = learned(64)
    weights = (w * torch.tanh(q[:, :, None] + k[:, None])).sum(3).softmax(2)
    wanted = -(weights * weights.log()).sum(2)
    q, k, v, w = (x.float().to(device) for x in (q, k, v, w))
    same = (w * torch.tanh(q[:, :, None] + k[:, None])).sum(3).softmax(2)
    look = inspection.Look(make_call(q, k, v, Additive(w).form(q, k), None))
    assert_within_budget(
        look.entropy().float().cpu(), -(same * same.log()).sum(2).cpu(), wanted, "entropy"
    )
