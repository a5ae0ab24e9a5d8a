"""The additive score on the matrix units against the definition, and who is left to whom."""

import numpy as np
import pytest
import torch

from regard import Additive, Causal, Dense, Lengths, NotSelf, Slope, Window, attend
from regard.attention.call import make_call
from regard.attention.triton import inspection
from regard.testing import qkv
from tests.attention.triton.calls import GARBAGE, a_case, as_far_as, filled, learned
from tests.attention.triton.conftest import INTERPRETED
from tests.attention.triton.test_looking import close
from tests.cases import Case

pytest.importorskip("triton")

pytestmark = pytest.mark.usefixtures("many_pairs", "kernels_for_parameters", "by_fours")


class Seen:
    """In a kernel's place: launches it, and writes down whether it has had an entry of its own."""

    def __init__(self, kernel, had):
        self.kernel, self.had, self.at = kernel, had, kernel.arg_names.index("kind")

    def __getitem__(self, grid):
        launch = self.kernel[grid]

        def noted(*args, **options):
            self.had.append(bool((args[self.at] == 3).any()))
            return launch(*args, **options)

        return noted


@pytest.fixture
def by_fours(triton, monkeypatch, device):
    """Sees that the kernels have had work: what is left to others would agree, too."""
    fours = pytest.importorskip("regard.attention.triton.fours", exc_type=ImportError)
    if not triton.operands.has_matrix_units(torch.device(device)):
        pytest.skip("it is written for the matrix units of Hopper")
    had = {"forward": [], "weigh": []}
    for name, launches in had.items():
        monkeypatch.setattr(fours, name, Seen(getattr(fours, name), launches))
    yield had
    assert any(had["forward"])
    assert any(had["weigh"]) or not had["weigh"]  # who looks at nothing and learns nothing


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
    "none for some": lambda n, m: Causal(offset=-7),
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
        ("none for some", 70, 70, 64, 3),
    ],
)
def test_agrees(mask, n, m, d, v, device):
    n, m = sizes(n, m)
    case = several(Additive(learned(d)), MASKS[mask](n, m), n, m, d=d, v=v, device=device)
    case.agree("triton", torch.float32)


def towards_zero(x):
    """Float32 as Hopper's matrix units round to it: what does not fit is cut off."""
    nearest = x.astype(np.float32)
    beyond = np.abs(nearest.astype(np.float64)) > np.abs(x)
    return np.where(beyond, np.nextafter(nearest, np.float32(0)), nearest)


def cut_off(self):
    """In ``interpreted.Coming.arrived``'s place: sixteen products at a time, as the hardware."""
    import triton.language as tl

    total = None if self.start is None else self.start.handle.data.astype(np.float64)
    found = None
    for a, b in self.factors:
        pair = a.load(None) if hasattr(a, "load") else a, b.load(None)
        left, right = (x.to(tl.float32) for x in pair)
        found = tl.dot(left, right, input_precision="ieee")  # for its shape and type
        left, right = (x.handle.data.astype(np.float64) for x in (left, right))
        for k in range(0, left.shape[1], 16):
            step = left[:, k : k + 16] @ right[k : k + 16]
            total = towards_zero(step if total is None else total + step).astype(np.float64)
    found.handle.data = total.astype(np.float32)
    return found


@pytest.mark.skipif(not INTERPRETED, reason="a GPU rounds as it does")
def test_agrees_with_sums_that_are_cut_off(monkeypatch, device):
    from regard.attention.triton import interpreted

    monkeypatch.setattr(interpreted.Coming, "arrived", cut_off)
    # an H200 and this were 3.6e-5 off in the same gradient of v, where 153 was the largest
    case = several(Additive(learned(64)), Causal(), 130, 200, d=64, v=5)
    case.agree("triton", torch.float32)


@pytest.mark.parametrize("size", [0.4, 1.2])
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


def kinds(triton, q, k, v, w):
    call = make_call(q, k, v, Additive(w).form(q, k), None)
    return triton.operands.operands_of(call, rows=False).kind.tolist()


@pytest.mark.parametrize(
    ("reach", "weight", "kind"),
    [
        (0.2, 1.0, 1),
        (2.4, 1.0, 3),
        (5.2, 0.25, 3),
        (5.4, 0.25, 2),
        (5.2, 1e2, 2),
        (2.4, 1e30, 2),
        (40.0, 1.0, 0),
    ],
)
def test_which_entries_are_its_own(reach, weight, kind, triton, device):
    q, k, v = as_far_as(reach, 70, 90, device=device)
    w = torch.linspace(-1, 1, 64, device=device) * weight
    assert kinds(triton, q, k, v, w) == [kind]
    n, m = sizes(70, 90)
    outcome(*as_far_as(2.4, n, m, device=device), w / weight)  # and it runs


@pytest.mark.parametrize(("reach", "weight"), [(5.2, 0.25), (5.0, 10.0)])
def test_numbers_near_its_limit_are_those_of_the_definition(reach, weight, triton, device):
    n, m = sizes(128, 192)  # whole tiles: of as many as they have, the largest error is no luck
    q, k, v = as_far_as(reach, n, m, 4, device=device)
    w = weight * learned(64) / learned(64).abs().max()
    assert kinds(triton, q, k, v, w.float().to(device)) == [3] * 4
    Case(*(x.double() for x in (q, k, v)), Additive(w), device=device).agree(
        "triton", torch.float32
    )


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
    v = 5 if INTERPRETED else 64  # of few the largest error is one number's luck
    case = several(Additive(learned(64)), Causal(offset=200), n, m, d=64, v=v, device=device)
    case.agree("triton", torch.float32)


@pytest.mark.parametrize("mask", ["none", "window", "none for some"])
def test_looking_goes_the_same_way(mask, device):
    n, m = sizes(150, 210)
    q, k, v = qkv(1, n=n, m=m, d=64, v=0)
    w, mask = learned(64), MASKS[mask](n, m)
    seen = torch.eye(m, dtype=torch.float64)[None]
    exact = attend(q.double(), k.double(), seen, score=Additive(w), mask=mask, impl="reference")
    q, k, v, w = (x.float().to(device) for x in (q, k, v, w))
    look = inspection.Look(make_call(q, k, v, Additive(w).form(q, k), mask))
    rows, cols = slice(37, n - 5), slice(61, m - 3)  # a part that begins within a tile
    close(look.weights(rows, cols).cpu(), exact[:, rows, cols])
    close(look.entropy().cpu(), torch.special.entr(exact).sum(2))
