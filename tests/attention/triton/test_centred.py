"""The Gaussian of many features on the matrix units, for precision="tf32"."""

import pytest
import torch

from regard import Causal, Distances, Gaussian, Lengths, NotSelf, Slope, Window, attend, explain
from regard.testing import qkv
from tests.attention.triton.calls import DTYPES, GARBAGE, a_case, filled, learned, number
from tests.attention.triton.conftest import INTERPRETED
from tests.attention.triton.test_matrix import HIDING
from tests.cases import Case

pytest.importorskip("triton")

TF32 = {"impl": "triton", "precision": "tf32"}
# the interpreter multiplies float32 as it is; a GPU rounds factors, of which a score adds up many
NEAR = 1e-5 if INTERPRETED else 3e-2
SCORES = {
    "width": lambda d, heads: Gaussian(number(1.5)),
    "features": lambda d, heads: Gaussian(learned(d).exp() + 1),
    "heads": lambda d, heads: Gaussian(learned(heads, 1).exp() + 1),
    "fixed": lambda d, heads: Gaussian(3.0),
    "slope": lambda d, heads: Gaussian(number(2.0)) + Slope(learned(heads).abs()),
    "distances": lambda d, heads: Gaussian(learned(d).exp() + 1) + Distances(learned(heads, 9)),
}


@pytest.fixture
def products(triton, monkeypatch):
    """What ran: the calls that came to the matrix units."""
    found = []
    real = triton.dot.forward
    monkeypatch.setattr(
        triton.dot, "forward", lambda call, **options: found.append(call) or real(call, **options)
    )
    return found


def near(case, dtype=torch.float32):
    """Output and gradients are those of the reference, up to what tf32 rounds."""
    exact = case.run("reference", torch.float64, dtype)
    got = case.run("triton", dtype, dtype)
    least = max(NEAR, 4 * torch.finfo(dtype).eps)
    for name, x in {"out": got.out, **got.grads}.items():
        y = exact.out if name == "out" else exact.grads[name]
        assert x.isfinite().all(), name
        wrong = (x.double() - y).abs().max() if x.numel() else 0.0
        assert wrong <= least * max(y.abs().max() if y.numel() else 0.0, 1e-6), f"{name}: {wrong}"


def tf32(score, mask, n, m, d=20, **options):
    score = SCORES[score](d, options.get("batch", 2)) if isinstance(score, str) else score
    return a_case(score, mask, n, m, d=d, precision="tf32", **options)


@pytest.mark.parametrize(
    ("score", "mask"),
    [
        *((score, "both") for score in SCORES),
        *(("features", mask) for mask in ("none", "lengths", "causal", "window", "dense")),
        ("distances", "documents"),
        ("heads", "not-self"),
    ],
)
@pytest.mark.parametrize("away", [0.0, 1000.0])
def test_is_the_gaussian(score, mask, away, device, small_tiles, products):
    near(tf32(score, mask, 33, 40, away=away, device=device))
    assert products


@pytest.mark.parametrize(("n", "m", "d"), [(1, 1, 16), (1, 40, 33), (40, 1, 64), (17, 33, 128)])
def test_sizes(n, m, d, device, products):
    # so narrow that one key has nearly all the weight, and so wide that none has
    for width in (d**0.5 / 3, 30.0):
        near(tf32(Gaussian(number(width)), "none", n, m, d=d, device=device))
    assert products


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_half_precision_is_widened_first(dtype, device, small_tiles, products):
    for mask in ("none", "window"):
        near(tf32("features", mask, 17, 33, away=4.0, device=device), dtype)
    assert products[0].q.dtype == torch.float32


def test_dropout_is_the_same(device, small_tiles):
    near(tf32("features", "causal", 33, 40, device=device, dropout=0.4, seed=7))


def test_other_calls_are_what_they_were(device, small_tiles, products):
    for d, options in ((15, TF32), (20, {"impl": "triton"})):
        q, k, v = (x.to(device) for x in qkv(2, n=17, m=33, d=d, v=3))
        wanted = attend(q, k, v, score=Gaussian(1.5), impl="triton")
        got = attend(q, k, v, score=Gaussian(1.5), **options)
        assert torch.equal(got, wanted)
    assert not products


def test_explain_says_so(device):
    q, k, v = (x.to(device) for x in qkv(2, n=4, m=4, d=16, v=3))
    said = "asked for by name; as a dot product about a centre, in tf32"
    assert explain(q, k, v, score=Gaussian(), **TF32).reason == said
    assert explain(q, k, v, score=Gaussian(), impl="triton").reason == "asked for by name"
    assert explain(q[..., :15], k[..., :15], v, score=Gaussian(), **TF32).reason[-4:] == "name"


@pytest.mark.parametrize(
    ("mask", "garbage", "dtype"),
    [
        (mask, garbage, DTYPES[(i + j) % 3])
        for i, mask in enumerate(HIDING)
        for j, garbage in enumerate(GARBAGE)
    ],
)
def test_garbage_in_a_hidden_key_changes_nothing(mask, garbage, dtype, device, small_tiles):
    n, m = 17, 45
    case = tf32("features", HIDING[mask](1, n, m), n, m, batch=1, device=device)
    gone = ~case.mask.dense(n, m, batch=(1,)).any(-2).unsqueeze(-1)
    results = []
    for fill in (0.0, filled(garbage, dtype)):
        k, v = (x.to(dtype).masked_fill(gone, fill).double() for x in (case.k, case.v))
        spoiled = Case(case.q, k, v, case.score, case.mask, device=device, precision="tf32")
        results.append(spoiled.run("triton", dtype, dtype))
    clean, spoiled = results
    assert torch.equal(spoiled.out, clean.out)
    for name, g in clean.grads.items():
        assert torch.equal(spoiled.grads[name], g), name
    for name in "kv":
        assert not spoiled.grads[name].masked_select(gone.to(device)).any()


@pytest.mark.parametrize("what", list("qkv"))
@pytest.mark.parametrize("mask", [None, Window(5, 5), NotSelf(), Causal()], ids=repr)
def test_a_nan_that_is_seen_reaches_only_who_sees_it(mask, what, device, small_tiles):
    n = 40
    x = dict(zip("qkv", (t.to(device) for t in qkv(1, n=n, m=n, d=20, v=3)), strict=True))
    wanted = attend(**x, score=Gaussian(2.0), mask=mask, **TF32)
    x[what][0, 20, 2] = float("nan")
    got = attend(**x, score=Gaussian(2.0), mask=mask, **TF32)
    seen = torch.ones(n, n, dtype=torch.bool) if mask is None else mask.dense(n, n)
    sees = (torch.arange(n) == 20 if what == "q" else seen[:, 20]).to(device)
    assert torch.equal(got[0].isnan().any(-1), sees)
    if what == "q" and mask is not None:  # the centre is that of the queries
        torch.testing.assert_close(got[0, ~sees], wanted[0, ~sees], rtol=0, atol=NEAR)
    else:
        assert torch.equal(got[0, ~sees], wanted[0, ~sees])


def test_dead_rows_give_zeros_and_change_nothing(device, small_tiles):
    n, m = 40, 45
    q, k, v = (x.to(device) for x in qkv(1, n=n, m=m, d=20, v=3))
    lengths = torch.full((1, n), m)
    lengths[0, 10:21] = 0
    dead = (lengths == 0).unsqueeze(-1).to(device)
    results = []
    for fill in (0.0, float("nan"), 1e4, torch.finfo(torch.float32).max):
        width = torch.full((20,), 2.0, device=device, requires_grad=True)
        x, y, z = (t.clone().requires_grad_() for t in (q.masked_fill(dead, fill), k, v))
        out = attend(x, y, z, score=Gaussian(width), mask=Lengths(lengths), **TF32)
        dout = torch.linspace(-1, 1, out.numel(), device=device).view(out.shape)
        out.backward(dout.masked_fill(dead, fill))
        assert not out[0, 10:21].any()
        assert not x.grad[0, 10:21].any(), f"{fill} in a dead row"
        results.append((out, x.grad, y.grad, z.grad, width.grad))
    for others in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], others, strict=True))


@pytest.mark.parametrize("size", [1e19, 1e25, 3e38])
def test_scores_beyond_float32_give_an_average(size, device, small_tiles):
    q, k, v = (x.to(device) for x in qkv(2, n=20, m=40, d=20, v=3))
    q, k = (x / x.abs().max() * size for x in (q, k))
    for mask in (None, NotSelf()):
        out = attend(q, k, v, score=Gaussian(), mask=mask, **TF32)
        assert out.isfinite().all()
        assert out.abs().max() <= v.abs().max() * (1 + NEAR)


@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 0, 4), (2, 3, 0)], ids=str)
def test_empty_calls_give_zeros(shape, device):
    batch, n, m = shape
    width = torch.full((20,), 2.0, device=device, requires_grad=True)
    q, k, v = (x.to(device).requires_grad_() for x in qkv(batch, n=n, m=m, d=20, v=6))
    for mask in (None, Causal()):
        out = attend(q, k, v, score=Gaussian(width), mask=mask, **TF32)
        assert out.shape == (batch, n, 6)
        assert not out.any()
        grads = torch.autograd.grad(out.sum(), (q, k, v, width))
        assert not any(g.any() for g in grads)


def test_a_batch_entry_alone_is_what_it_is_in_the_batch(device, small_tiles):
    q, k, v = (x.to(device) for x in qkv(3, n=17, m=35, d=20, v=3))
    q[1] += 30
    k[1] += 30
    for mask in (None, Causal()):
        together = attend(q, k, v, score=Gaussian(), mask=mask, **TF32)
        alone = attend(q[1:2], k[1:2], v[1:2], score=Gaussian(), mask=mask, **TF32)
        assert torch.equal(together[1], alone[0])


def test_the_compiler_sees_one_operator(device, small_tiles):
    q, k, v = (x.to(device).requires_grad_() for x in qkv(2, 2, n=17, m=35, d=20, v=3))
    log_width = torch.zeros(20, device=device, requires_grad=True)
    seen = []

    def counting(graph, inputs):
        seen.append(sum("regard.attend" in str(node.target) for node in graph.graph.nodes))
        return graph.forward

    def run(q, k, v, log_width):
        score = Gaussian(log_width.exp())
        one = attend(q, k, v, score=score, mask=Causal(), **TF32)
        return one + attend(q, k, v, score=score, mask=Lengths([9, 30]), **TF32)

    wanted = run(q, k, v, log_width)
    for backend in (counting, "aot_eager"):
        got = torch.compile(run, fullgraph=True, backend=backend)(q, k, v, log_width)
        assert torch.equal(got, wanted)
    leaves = (q, k, v, log_width)
    grads = (torch.autograd.grad(x.sin().sum(), leaves) for x in (got, wanted))
    for a, b in zip(*grads, strict=True):
        torch.testing.assert_close(a, b)
    assert seen == [2]


def test_second_derivatives(device):
    q, k, v = (x.to(device).requires_grad_() for x in qkv(1, n=3, m=4, d=16, v=2))
    found = []
    for options in (TF32, {"impl": "reference"}):
        out = attend(q, k, v, score=Gaussian(3.0), **options)
        (first,) = torch.autograd.grad(out.sin().sum(), k, create_graph=True)
        found.append(torch.autograd.grad(first.square().sum(), (q, k, v)))
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=NEAR)


@pytest.mark.parametrize("far", [300.0, 1e5])
def test_one_key_far_away_does_not_blur_the_others(far, device, small_tiles):
    q, k, v = (x.to(device) for x in qkv(1, n=20, m=24, d=16, v=3))
    k[0, 12] = far  # of no weight, and it would move a mean of all
    got = attend(q, k, v, score=Gaussian(2.0), impl="triton", precision="tf32")
    wanted = attend(q.double(), k.double(), v.double(), score=Gaussian(2.0), impl="reference")
    assert (got.double() - wanted).abs().max() <= (1e-5 if device == "cpu" else 3e-2)
