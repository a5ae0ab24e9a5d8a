"""Functions of a number against numpy's, over their range."""

import numpy as np
import pytest
import torch

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")
elementary = pytest.importorskip("regard.attention.triton.elementary", exc_type=ImportError)


@triton.jit
def each(x, y, n, F: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, F(tl.load(x + i, mask=i < n, other=0.0)), mask=i < n)


@triton.jit
def each_power(x, y, n, c, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, elementary.power(tl.load(x + i, mask=i < n, other=0.0), c), mask=i < n)


@triton.jit
def multiplied(a, b, c, out, ADDED: tl.constexpr, PRECISION: tl.constexpr):
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    x, y = tl.load(a + at), tl.load(b + at)
    if ADDED:
        tl.store(out + at, elementary.product_added(x, y, tl.load(c + at), PRECISION))
    else:
        tl.store(out + at, elementary.product(x, y, PRECISION))


def applied(function, x, device):
    x = torch.from_numpy(x).to(device)
    y = torch.full_like(x, -99)
    each[(triton.cdiv(len(x), 1024),)](x, y, len(x), function, B=1024)
    return y.cpu().numpy()


def spread(low, high):
    x = np.concatenate((np.linspace(low, high, 20_001), np.linspace(-1, 1, 2_001) * 1e-3))
    return x[(x >= low) & (x <= high)].astype(np.float32)


@pytest.mark.parametrize(
    ("name", "wanted", "low", "high", "most"),
    [
        ("tanh", np.tanh, -20.0, 20.0, 4.0),
        ("tanh_slope", lambda x: 1 / np.cosh(x) ** 2, -40.0, 40.0, 60.0),
        ("reciprocal", lambda x: 1 / x, 0.1, 1e6, 1.0),
        ("sign", np.sign, -3.0, 3.0, 0.0),
    ],
)
def test_within_a_few_units_in_the_last_place(name, wanted, low, high, most, device):
    x = spread(low, high)
    exact = wanted(x.astype(np.longdouble))
    got = applied(getattr(elementary, name), x, device)
    wrong = np.abs(got - exact) / np.spacing(np.abs(exact).astype(np.float32))
    assert float(wrong.max()) <= most


def test_powers_of_two_keep_their_digits(device):
    x = np.concatenate((np.linspace(-120, 127.4, 100_001), np.linspace(-2, 2, 10_001)))
    ends = np.array([127.9, -np.inf, -1e300, np.inf, np.nan])
    y = torch.empty(len(x) + 5, dtype=torch.float32, device=device)
    given = torch.from_numpy(np.concatenate((x, ends))).to(device)
    each[(triton.cdiv(len(given), 1024),)](given, y, len(given), elementary.exp2_of, B=1024)
    got, (large, *last) = y[:-5].cpu().numpy(), y[-5:].tolist()
    exact = np.exp2(x)
    assert float((np.abs(got - exact) / np.spacing(exact.astype(np.float32))).max()) <= 1
    assert large == pytest.approx(2**127.9, rel=1e-5)
    assert last[:3] == [0.0, 0.0, np.inf]
    assert np.isnan(last[3])


def test_the_ends_of_tanh(device):
    ends = np.array([0.0, -np.inf, np.inf, 1e-30, -100.0, np.nan], np.float32)
    got = applied(elementary.tanh, ends, device)
    assert got[:5].tolist() == [0.0, -1.0, 1.0, ends[3], -1.0]
    assert np.isnan(got[5])
    slopes = applied(elementary.tanh_slope, ends[:3], device)
    assert slopes.tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("c", [2.0, 3.0, 0.5, -1.0, -2.0, 1.7, 0.0])
def test_powers(c, device):
    x = np.array([-2.5, -1.0, -0.0, 0.0, 0.3, 1.0, 7.0], np.float32)
    y = torch.full((7,), -99.0, device=device)
    each_power[(1,)](torch.from_numpy(x).to(device), y, 7, c, B=8)
    with np.errstate(all="ignore"):
        wanted = np.power(x.astype(np.float64), c)
    if c < 0:
        wanted[2:4] = np.inf
    if c == 0:  # the formulas never have it
        wanted[2:4] = y[2:4].cpu().numpy()
    np.testing.assert_allclose(y.cpu().numpy(), wanted, rtol=3e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("added", [False, True])
def test_products(added, dtype, device):
    g = torch.Generator().manual_seed(0)
    a, b = (torch.randn(16, 16, generator=g).to(dtype) for _ in range(2))
    c = torch.randn(16, 16, generator=g)
    out = torch.full((16, 16), -99.0, device=device)
    multiplied[(1,)](a.to(device), b.to(device), c.to(device), out, ADDED=added, PRECISION="tf32x3")
    wanted = a.double() @ b.double() + (c if added else 0.0)
    assert (out.cpu() - wanted).abs().max() <= 5e-6
