"""The dot product's pipelined kernels against the definition, and who is left to ``matrix``."""

from dataclasses import replace

import pytest
import torch

from regard import Causal, Dense, Dot, Lengths, NotSelf, Slope, Window, attend
from regard.attention.call import make_call
from regard.testing import qkv
from tests.attention.triton.calls import GARBAGE, a_case, filled, number
from tests.attention.triton.conftest import INTERPRETED
from tests.cases import Case, on_device

pytest.importorskip("triton")

pytestmark = pytest.mark.usefixtures("many", "pipelined")
NAMES = ("forward", "to_queries", "to_keys")
HALVES = (torch.bfloat16, torch.float16)


class Counted:
    """In a kernel's place: launches it, and counts."""

    def __init__(self, kernel, counts, name):
        self.kernel, self.counts, self.name = kernel, counts, name

    def __getitem__(self, grid):
        self.counts[self.name] += 1
        return self.kernel[grid]


@pytest.fixture
def many(triton, monkeypatch):
    """As if an entry had too many pairs for its gradients to be made in float32."""
    monkeypatch.setattr(triton.dot, "FEW", -1)


@pytest.fixture
def pipelined(triton, monkeypatch, device):
    """Sees that the kernels have had work: ``matrix`` would agree, too."""
    kernels = pytest.importorskip("regard.attention.triton.pipelined", exc_type=ImportError)
    if not triton.operands.has_matrix_units(torch.device(device)):
        pytest.skip("they are written for the matrix units of Hopper")
    counts = dict.fromkeys(NAMES, 0)
    for name in NAMES:
        monkeypatch.setattr(kernels, name, Counted(getattr(kernels, name), counts, name))
    yield counts
    assert counts["forward"]


def agree(case, dtype):
    """A largest error is luck, which halves of few numbers have more or less of."""
    case.agree("triton", dtype, gradients=1.0 if not INTERPRETED else 2.0)


MASKS = {
    "none": lambda n, m: None,
    "causal": lambda n, m: Causal(),
    "causal from the end": lambda n, m: Causal(offset=m - n),
    "window": lambda n, m: Window(left=40, right=9),
    "narrow": lambda n, m: Window(left=2, right=0),
    "lengths": lambda n, m: Lengths(torch.tensor([0, m - 37, 70, m])),
    "lengths of queries": lambda n, m: Lengths((torch.arange(4)[:, None] + torch.arange(n)) % m),
    "none for some": lambda n, m: Causal(offset=-7),
    "behind": lambda n, m: Causal(offset=-70),  # a whole block of queries sees nothing
}
SIZES = [(64, 64), (128, 192), (65, 65), (127, 129), (193, 70), (70, 260)]
COVERING = [
    (mask, *SIZES[(i + 2 * j) % len(SIZES)], dtype)
    for i, mask in enumerate(MASKS)
    for j, dtype in enumerate((*HALVES, torch.bfloat16))
]


@pytest.mark.parametrize(("mask", "n", "m", "dtype"), COVERING)
def test_agrees(mask, n, m, dtype, device):
    agree(a_case(Dot(), MASKS[mask](n, m), n, m, 64, 64, batch=4, device=device), dtype)


def test_a_scale_that_is_given(device):
    agree(a_case(Dot(0.5), Causal(), 70, 70, 64, 64, device=device), torch.bfloat16)


@pytest.mark.skipif(INTERPRETED, reason="the interpreter would take minutes")
@pytest.mark.parametrize("mask", MASKS)
def test_agrees_where_tiles_are_many(mask, device):
    n, m = 1100, 2000
    case = a_case(Dot(), MASKS[mask](n, m), n, m, 64, 64, batch=4, device=device)
    case.agree("triton", torch.bfloat16)


HIDING = {
    "lengths": lambda n, m: Lengths(torch.tensor([m - 9, 70])),
    "causal": lambda n, m: Causal(),  # m > n: the last keys are later than every query
    "window": lambda n, m: Window(left=40, right=2),
}


@pytest.mark.parametrize("garbage", [*GARBAGE, -1e30], ids=str)
@pytest.mark.parametrize("mask", HIDING)
def test_garbage_in_a_hidden_key_changes_no_bit(mask, garbage, device):
    dtype = torch.bfloat16
    n, m = (90, 200) if INTERPRETED else (700, 1500)
    case = a_case(Dot(), HIDING[mask](n, m), n, m, 64, 64, device=device)
    gone = ~case.mask.dense(n, m, batch=(2,)).any(-2).unsqueeze(-1)
    assert gone.any()
    results = []
    for fill in (0.0, filled(garbage, dtype)):
        k, v = (x.to(dtype).masked_fill(gone, fill).double() for x in (case.k, case.v))
        spoiled = Case(case.q, k, v, case.score, case.mask, device=device)
        results.append(spoiled.run("triton", dtype, dtype))
    clean, spoiled = results
    assert torch.equal(spoiled.out, clean.out)
    for name, g in clean.grads.items():
        assert torch.equal(spoiled.grads[name], g), name
    for name in "kv":
        assert not spoiled.grads[name].masked_select(gone.to(device)).any()


@pytest.mark.parametrize("what", "qkv")
@pytest.mark.parametrize("mask", [None, Window(40, 5), Causal()], ids=repr)
def test_a_nan_that_is_seen_reaches_only_who_sees_it(mask, what, device):
    n = 200
    given = (t.to(device, torch.bfloat16) for t in qkv(1, n=n, m=n, d=64, v=64))
    x = dict(zip("qkv", given, strict=True))
    wanted = attend(**x, mask=mask, impl="triton")
    x[what][0, 100, 2] = float("nan")
    got = attend(**x, mask=mask, impl="triton")
    seen = torch.ones(n, n, dtype=torch.bool) if mask is None else mask.dense(n, n)
    sees = (torch.arange(n) == 100 if what == "q" else seen[:, 100]).to(device)
    assert torch.equal(got[0].isnan().any(-1), sees)
    assert torch.equal(got[0, ~sees], wanted[0, ~sees])


def left_to_matrix(triton, pipelined, monkeypatch):
    monkeypatch.setattr(triton.hopper, "takes", lambda call: False)
    pipelined["forward"] = 1  # the fixture looks for work of theirs


@pytest.mark.parametrize("by", ["pipelined", "matrix"])
@pytest.mark.parametrize("what", "qkv")
@pytest.mark.parametrize("mask", [Window(5, 0), Causal()], ids=repr)
def test_who_sees_a_nan_sends_none_to_a_key_that_is_hidden(
    mask, what, by, triton, pipelined, monkeypatch, device
):
    n = 200
    x = dict(zip("qkv", (t.to(device) for t in qkv(1, n=n, m=n, d=64, v=64)), strict=True))
    x[what][0, 100, 2] = float("nan")
    if by == "matrix":
        left_to_matrix(triton, pipelined, monkeypatch)
    out, dq, dk, dv = (
        g.cpu()[0].isnan().any(-1) for g in gradients([t.bfloat16() for t in x.values()], mask)
    )
    seen = mask.dense(n, n)
    theirs = seen[out].any(0)  # keys that a query with NaN for output sees
    assert out.any()
    assert not (dq & ~out).any()
    assert not (dk & ~theirs).any()
    assert not (dv & ~theirs).any()
    assert dk.any()


@pytest.mark.parametrize("by", ["pipelined", "matrix"])
def test_garbage_changes_no_bit_where_scores_are_large(by, triton, pipelined, monkeypatch, device):
    # normalisers of 2^12 and more are rounded so that weights come out above 1
    if by == "matrix":
        left_to_matrix(triton, pipelined, monkeypatch)
    drawn = torch.Generator().manual_seed(3)
    n = 260
    q, k, v = (torch.randn(1, n, 64, generator=drawn).to(device) for _ in range(3))
    results = []
    for fill in (0.0, float("nan")):
        given = [(30 * q), (30 * k), v.clone()]
        for x in given[1:]:
            x[:, -9:] = fill
        results.append(gradients([x.bfloat16() for x in given], Lengths([n - 9])))
    for clean, spoiled in zip(*results, strict=True):
        assert torch.equal(clean, spoiled)


def test_dead_rows_give_zeros_and_change_nothing(device):
    n, m = 140, 145
    q, k, v = (x.to(device, torch.bfloat16) for x in qkv(1, n=n, m=m, d=64, v=64))
    lengths = torch.full((1, n), m)
    lengths[0, 50:71] = 0
    dead = (lengths == 0).unsqueeze(-1).to(device)
    results = []
    for fill in (0.0, float("nan"), 1e4, torch.finfo(torch.bfloat16).max):
        x, y, z = (t.clone().requires_grad_() for t in (q.masked_fill(dead, fill), k, v))
        out = attend(x, y, z, mask=Lengths(lengths), impl="triton")
        dout = torch.linspace(-1, 1, out.numel(), device=device).view(out.shape).to(out.dtype)
        out.backward(dout.masked_fill(dead, fill))
        assert not out[0, 50:71].any()
        assert not x.grad[0, 50:71].any(), f"{fill} in a dead row"
        results.append((out, x.grad, y.grad, z.grad))
    for others in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], others, strict=True))


@pytest.mark.parametrize("size", [1e19, 1e25, 3e38])
def test_scores_beyond_float32_give_an_average(size, device):
    q, k, v = (x.to(device) for x in qkv(2, n=70, m=140, d=64, v=64))
    q, k = (x / x.abs().max() * size for x in (q, k))
    out = attend(*(x.bfloat16() for x in (q, k, v)), mask=Causal(), impl="triton")
    assert out.isfinite().all()
    assert out.abs().max() <= v.abs().max() * 1.01


def gradients(given, mask):
    given = [x.detach().requires_grad_() for x in given]
    out = attend(*given, mask=mask, impl="triton")
    weights = torch.linspace(-1, 1, out[0].numel(), device=out.device).view(out.shape[1:])
    return (out, *torch.autograd.grad((out.float() * weights).sum(), given))


@pytest.mark.parametrize("mask", [None, Causal(), Lengths([70, 100, 1])], ids=repr)
def test_an_entry_is_the_same_alone_and_again(mask, device):
    given = [x.to(device, torch.bfloat16) for x in qkv(3, n=130, m=100, d=64, v=64)]
    among = gradients(given, on_device(mask, device))
    for again, first in zip(gradients(given, on_device(mask, device)), among, strict=True):
        assert torch.equal(again, first)
    some = Lengths([70]) if isinstance(mask, Lengths) else mask
    for alone, first in zip(
        gradients([x[:1] for x in given], on_device(some, device)), among, strict=True
    ):
        assert torch.equal(alone[0], first[0])


def test_rows_anywhere_in_memory(device):
    given = [x.to(device, torch.bfloat16) for x in qkv(2, n=70, m=70, d=64, v=64)]
    wanted = gradients(given, Causal())
    odd = [torch.empty(x.numel() + 1, dtype=x.dtype, device=device)[1:] for x in given]
    shifted = [o.copy_(x.flatten()).view(x.shape) for o, x in zip(odd, given, strict=True)]
    turned = [x.mT.contiguous().mT for x in given]
    for others in (shifted, turned):
        for got, right in zip(gradients(others, Causal()), wanted, strict=True):
            assert torch.equal(got, right)


def test_a_batch_of_one_may_have_any_stride(triton, pipelined, device):
    x = torch.zeros(64, 64, 1, dtype=torch.bfloat16, device=device).permute(2, 0, 1)
    assert x.stride(0) == 1
    call = make_call(x, x, x, Dot().form(x, x), None)
    laid_out = triton.hopper.laid_out(call)
    for y in (laid_out.q, laid_out.k, laid_out.v):
        assert y.stride() == (64 * 64, 64, 1)
    gradients([x, x, x], None)


def test_gradients_are_theirs_too(pipelined, device):
    given = [x.to(device, torch.bfloat16) for x in qkv(2, n=70, m=70, d=64, v=64)]
    gradients(given, None)
    assert pipelined == dict.fromkeys(NAMES, 1)


@pytest.mark.parametrize(
    ("changed", "score", "mask"),
    [
        ({"d": 32}, Dot(), None),
        ({"v": 32}, Dot(), None),
        ({"n": 63}, Dot(), None),
        ({"m": 63}, Dot(), Causal()),
        ({}, Dot(-0.3), None),
        ({}, Dot() + Slope(number(0.3)), None),
        ({}, Dot(), NotSelf()),
        ({}, Dot(), Dense(torch.ones(64, 64, dtype=torch.bool))),
    ],
    ids=str,
)
def test_what_is_left_to_matrix(changed, score, mask, triton, pipelined, device):
    sizes = {"n": 64, "m": 64, "d": 64, "v": 64} | changed
    q, k, v = (x.to(device, torch.bfloat16) for x in qkv(2, **sizes))
    call = make_call(q, k, v, score.form(q, k), on_device(mask, device))
    assert not triton.hopper.takes(call)
    q, k, v = (x.to(device, torch.bfloat16) for x in qkv(2, n=64, m=64, d=64, v=64))
    call = make_call(q, k, v, Dot().form(q, k), None)
    assert triton.hopper.takes(call)
    assert not triton.hopper.takes(replace(call, dropout=0.1))
    assert not triton.hopper.takes(replace(call, q=q.float(), k=k.float(), v=v.float()))
    attend(q, k, v, impl="triton")  # for the fixture
