"""The kernels of sums over features against the definition: scores, masks, dtypes, sizes."""

import pytest
import torch

from regard import (
    Additive,
    Boxcar,
    Causal,
    Dense,
    Elementwise,
    Gaussian,
    Laplacian,
    Lengths,
    NotSelf,
    Window,
    attend,
)
from regard.scores.expression import exp, log, tanh, where
from regard.testing import budget_used, qkv
from tests.attention.triton.calls import DTYPES, FEATURES, GARBAGE, MASKS, a_case, filled, learned
from tests.cases import Case

pytest.importorskip("triton")

# around tiles of 16 x 32 in the interpreter and of 64 and 128 on a GPU; and few or many features
SIZES = [(1, 1, 5), (15, 33, 9), (33, 15, 3), (17, 32, 17), (16, 40, 1), (20, 20, 5)]
COVERING = [
    (score, mask, SIZES[(i + j) % len(SIZES)], DTYPES[(2 * i + j) // 5 % len(DTYPES)])
    for i, score in enumerate(FEATURES)
    for j, mask in enumerate(MASKS)
    if (i + j) % 5 == 0
]
ADDITIVE = Additive(learned(6))


def named(x):
    return type(x).__name__


@pytest.mark.parametrize(("score", "mask", "size", "dtype"), COVERING)
def test_agrees(score, mask, size, dtype, pairs, device, small_tiles):
    n, m, d = size
    a_case(score, mask, n, m, d, v=1 + m % 3, device=device).agree("triton", dtype, pairs)


@pytest.mark.parametrize(
    ("score", "mask", "n", "m", "d"),
    [("gaussian", "none", 65, 70, 2), ("additive", "both", 17, 130, 20)],
)
def test_agrees_with_the_tiles_of_a_gpu(score, mask, n, m, d, pairs, device, real_tiles):
    a_case(score, mask, n, m, d, batch=1, device=device).agree("triton", torch.float32, pairs)


def test_sequences_and_heads_are_told_apart(pairs, device, small_tiles):
    q, k, v = qkv(2, 2, n=17, m=33, d=4, v=5, dtype=torch.float64)
    mask = Lengths(torch.tensor([7, 33])) & Dense(learned(1, 2, 17, 33) > -1.0)
    score = FEATURES["distances"](4, 2)
    Case(q, k, v, score, mask, device=device).agree("triton", torch.float32, pairs)
    score = FEATURES["additive-heads"](4, 2)
    Case(q, k, v, score, mask, device=device).agree("triton", torch.float32, pairs)


@pytest.mark.parametrize("score", ["additive-heads", "gaussian-heads", "own-few", "distances"])
def test_the_gradients_of_parameters_come_from_the_kernels_too(
    score, pairs, device, small_tiles, kernels_for_parameters
):
    # one number that is a sum of few in float32 may be luckier or less lucky than another
    case = a_case(score, "both", 33, 40, device=device)
    case.agree("triton", torch.float32, gradients=8.0)


@pytest.mark.parametrize("careful", [True, False])
@pytest.mark.parametrize("size", [0.3, 3.0, 10.0])
def test_additive_agrees_whatever_the_size_of_its_inputs(
    size, careful, device, small_tiles, triton, monkeypatch
):
    monkeypatch.setattr(triton.operands, "FEW", -1)
    if not careful:
        monkeypatch.setattr(triton.operands, "CAREFUL", -1)
    # tanh of each, exponentials, tanh of the sum
    for away in (0.0, 30.0):
        q, k, v = qkv(1, n=17, m=33, d=22, v=2, dtype=torch.float64)
        score = Additive(learned(22))  # more than are added up at a time
        case = Case(q * size + away, k * size - away, v, score, device=device)
        case.agree("triton", torch.float32)


@pytest.mark.parametrize(("size", "seed"), [(0.5, 24), (1.0, 7), (2.0, 14)])
def test_additive_scores_near_a_hundred_keep_their_digits(size, seed, device):
    q, k, v = qkv(1, n=20, m=100, d=200, v=2, dtype=torch.float64, seed=seed)
    score = Additive(3 * learned(200, seed=seed))
    Case(q * size, k * size, v, score, device=device).agree("triton", torch.float32)


@pytest.mark.parametrize("seed", [10, 20, 23, 31])
def test_few_pairs_need_no_luck(seed, device, small_tiles):
    # scores in float32 took up to 1.8 budgets: the largest of a few errors is any of them
    for score, d, size in (("additive", 20, 1.0), ("gaussian", 5, 2.0)):
        q, k, v = qkv(1, n=17, m=20, d=d, v=3, dtype=torch.float64, seed=seed)
        case = Case(q * size, k * size, v, FEATURES[score](d, 1), device=device)
        assert max(case.used("triton", torch.float32).values()) < 0.8


@pytest.mark.parametrize("score", ["gaussian", "laplacian", "cauchy", "epanechnikov"])
def test_agrees_far_from_the_origin(score, pairs, device, small_tiles):
    a_case(score, "window", 20, 33, away=100.0, batch=1, device=device).agree(
        "triton", torch.float32, pairs
    )


@pytest.mark.parametrize("width", [1, 3, 16, 17, 31, 65, 130], ids=str)
def test_any_width(width, pairs, device, small_tiles):
    score = "additive" if width % 2 else "gaussian"
    for d, v in ((width, 2), (3, width)):
        case = a_case(score, "causal", 17, 20, d=d, v=v, batch=1, device=device)
        case.agree("triton", torch.float32, pairs)


def test_a_long_sum_is_carried_in_float64(triton, monkeypatch, device, small_tiles):
    monkeypatch.setattr(triton.beside, "LONG", 8)
    for v in (1, 3):  # one value is averaged in another way than many
        case = a_case("gaussian", "both", 33, 70, v=v, batch=1, device=device, size=2.0)
        case.agree("triton", torch.float32, gradients=2.0)  # so few as if they were many


@pytest.mark.skipif(not torch.cuda.is_available(), reason="the interpreter would take minutes")
@pytest.mark.parametrize("m", [40_000, 1_000_000])
def test_long_sums_keep_their_digits(m, device):
    q, k = (torch.zeros(x, 2, device=device) for x in (40, m))
    for v in (1, 17):
        values = torch.full((m, v), 0.1, device=device)
        out = attend(q, k, values, score=Laplacian(), impl="triton")
        assert (out - 0.1).abs().max() <= 1e-7


HIDING = {
    "lengths": lambda b, n, m: Lengths(torch.full((b,), m - 9)),
    "causal": lambda b, n, m: Causal(),  # m > n: the last keys are later than every query
    "dense": lambda b, n, m: Dense(torch.arange(m).expand(n, m) % 4 != 1),
    "not-self": lambda b, n, m: Window(left=0, right=0) & NotSelf(),
}


@pytest.mark.parametrize(
    ("mask", "garbage", "score", "v"),
    [
        (mask, garbage, (Gaussian(), ADDITIVE)[(i + j) % 2], 1 + 2 * (j % 2))
        for i, mask in enumerate(HIDING)
        for j, garbage in enumerate(GARBAGE)
    ],
)
def test_garbage_in_a_hidden_key_changes_nothing(
    mask, garbage, score, v, pairs, device, small_tiles
):
    n, m = 17, 30
    case = a_case(score, HIDING[mask](1, n, m), n, m, d=6, v=v, batch=1, device=device)
    gone = ~case.mask.dense(n, m, batch=(1,)).any(-2).unsqueeze(-1)
    assert gone.any()
    results = []
    for fill in (0.0, filled(garbage, torch.float32)):
        k, v = (x.masked_fill(gone, fill) for x in (case.k, case.v))
        spoiled = Case(case.q, k, v, case.score, case.mask, device=device)
        results.append(spoiled.run("triton", torch.float32, torch.float32))
    clean, spoiled = results
    assert torch.equal(spoiled.out, clean.out)
    for name, g in clean.grads.items():
        assert torch.equal(spoiled.grads[name], g), name
    for name in "kv":
        assert not spoiled.grads[name].masked_select(gone.to(device)).any()


@pytest.mark.parametrize("what", ["q", "k", "v", "v1"])
@pytest.mark.parametrize("score", [Gaussian(), ADDITIVE], ids=named)
@pytest.mark.parametrize("mask", [None, Window(5, 5), NotSelf()], ids=repr)
def test_a_nan_that_is_seen_reaches_only_who_sees_it(mask, score, what, pairs, device, small_tiles):
    n = 40
    width = 1 if what == "v1" else 3
    given = (t.to(device) for t in qkv(1, n=n, m=n, d=6, v=width))
    x = dict(zip("qkv", given, strict=True))
    score = Additive(score.w.to(device)) if isinstance(score, Additive) else score
    wanted = attend(**x, mask=mask, score=score, impl="triton")
    x[what[0]][0, 20, -1] = float("nan")
    got = attend(**x, mask=mask, score=score, impl="triton")
    seen = torch.ones(n, n, dtype=torch.bool) if mask is None else mask.dense(n, n)
    sees = (torch.arange(n) == 20 if what == "q" else seen[:, 20]).to(device)
    assert torch.equal(got[0].isnan().any(-1), sees)
    assert torch.equal(got[0, ~sees], wanted[0, ~sees])


@pytest.mark.parametrize("score", [Gaussian(), ADDITIVE, Boxcar(3.0)], ids=named)
def test_dead_rows_give_zeros_and_change_nothing(score, pairs, device, small_tiles):
    n, m = 20, 33
    q, k, v = (x.to(device) for x in qkv(1, n=n, m=m, d=6, v=3))
    score = Additive(score.w.to(device)) if isinstance(score, Additive) else score
    lengths = torch.full((1, n), m)
    lengths[0, 5:11] = 0
    dead = (lengths == 0).unsqueeze(-1).to(device)
    results = []
    for fill in (0.0, float("nan"), 1e30):
        x, y, z = (t.clone().requires_grad_() for t in (q.masked_fill(dead, fill), k, v))
        out = attend(x, y, z, score=score, mask=Lengths(lengths), impl="triton")
        dout = torch.linspace(-1, 1, out.numel(), device=device).view(out.shape)
        out.backward(dout.masked_fill(dead, fill))
        assert not out[0, 5:11].any()
        assert not x.grad[0, 5:11].any(), f"{fill} in a dead row"
        results.append((out, x.grad, y.grad, z.grad))
    for others in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], others, strict=True))


def test_a_kernel_with_an_edge_and_nobody_within_gives_zeros(pairs, device, small_tiles):
    # every score is -inf, in tiles that hide nothing
    q, k, v = (x.to(device) for x in qkv(1, n=20, m=64, d=2, v=3))
    q[0, 3:9] += 100
    q.requires_grad_()
    out = attend(q, k, v, score=Boxcar(3.0), impl="triton")
    assert not out[0, 3:9].any()
    assert out[0, :3].any(-1).all()
    out.sum().backward()
    assert not q.grad[0, 3:9].any()


def test_sums_of_weights_keep_what_they_round_off(device):
    # of 512 positive numbers: a fifth of the budget if they are plainly added, now a tenth
    def gradient(dtype, impl):
        q, k, v = (x.to(device, dtype).requires_grad_() for x in given)
        out = attend(q, k, v, score=Gaussian(3.0), impl=impl)
        return torch.autograd.grad(out, v, (1 + 0.3 * wave).to(out))[0]

    given = qkv(2, n=512, m=60, d=3, v=16)
    wave = torch.arange(2 * 512 * 16, dtype=torch.float64).cos().view(2, 512, 16)
    exact, same = (gradient(x, "reference") for x in (torch.float64, torch.float32))
    assert budget_used(gradient(torch.float32, "triton"), same, exact) < 0.15


@pytest.mark.parametrize("where", ["width", "log", "tanh", "sign", "far"])
def test_nan_is_never_swallowed(where, pairs, device, small_tiles):
    x = tuple(t.to(device) for t in qkv(1, n=17, m=33, d=3, v=2))
    if where == "width":
        score = Gaussian(torch.tensor(float("nan"), device=device))
    elif where == "log":
        score = Elementwise(lambda q, k: log(q - k + 1.0))  # of a negative number, mostly
    else:
        x[0][0, 5, 1] = x[1][0, 8, 2] = float("nan")
        score = Elementwise(lambda q, k: tanh(q - k) if where == "tanh" else abs(q - k) * q)
    if where == "far":  # where tanh itself is computed
        x = (x[0] * 30, x[1] * 30, x[2])
        score = Additive(torch.ones(3, device=device))
    got, wanted = (attend(*x, score=score, impl=i).isnan() for i in ("triton", "reference"))
    assert torch.equal(got.any(-1), wanted.any(-1))
    assert got.any()


@pytest.mark.parametrize("score", [Gaussian(), Laplacian(1e-3), ADDITIVE], ids=named)
def test_finite_numbers_give_finite_results(score, pairs, device, small_tiles):
    score = Additive(score.w.to(device)) if isinstance(score, Additive) else score
    q, k, v = (x.to(device) for x in qkv(1, n=17, m=33, d=6, v=3))
    q, k, v = (x / x.abs().max() for x in (q, k, v))
    for size in (1e19, 3e38):
        out = attend(q * size, k * size, v, score=score, impl="triton")
        assert out.isfinite().all(), size
        out = attend(q, k, v * size, score=score, mask=Causal(), impl="triton")
        assert out.isfinite().all(), f"values of {size}"


@pytest.mark.parametrize(
    ("score", "size"),
    [
        (Elementwise(lambda q, k: exp(q * k * 1000.0)), 1.0),
        (Elementwise(lambda q, k: where(q * k > 0.0, q * k, -float("inf"))), 1e25),
        (Elementwise(lambda q, k: q * k * q), 1e30),
    ],
    ids=["exponential", "edge", "product"],
)
def test_scores_beyond_all_numbers_still_compare(score, size, pairs, device, small_tiles):
    q, k, v = (x.to(device) for x in qkv(1, n=9, m=17, d=1, v=2))
    out = attend(q.abs() * size, k * size, v, score=score, impl="triton")
    assert out.isfinite().all()


def test_an_edge_is_where_float32_finds_it(pairs, device, small_tiles):
    # of a boxcar 0.3 wide 0.3 is the last: in float64 the float32 nearest to 1 / 0.3 puts it beyond
    q, k = torch.zeros(1, 1, 1, device=device), torch.tensor([[[0.3], [0.1], [0.7]]], device=device)
    v = torch.eye(3, device=device)[None].requires_grad_()
    out = attend(q, k, v, score=Boxcar(0.3), impl="triton")
    assert out.tolist() == [[[0.5, 0.5, 0.0]]]
