"""The dot product's kernels against the definition: scores, masks, dtypes, sizes around a tile."""

import pytest
import torch

from regard import Bilinear, Causal, Dense, Dot, Lengths, NotSelf, Window, attend
from regard.testing import qkv
from tests.attention.triton.calls import DTYPES, GARBAGE, MASKS, MATRIX, a_case, filled, learned
from tests.cases import Case, on_device

pytest.importorskip("triton")

# around tiles of 16 x 32 in the interpreter and of 64 and 128 on a GPU
SIZES = [(1, 1), (15, 33), (33, 15), (17, 32), (16, 65), (40, 40)]
# every score meets a third of the masks, every mask a third of the scores; sizes and dtypes take
# turns
COVERING = [
    (score, mask, SIZES[(i + j) % len(SIZES)], DTYPES[(2 * i + j) // 3 % len(DTYPES)])
    for i, score in enumerate(MATRIX)
    for j, mask in enumerate(MASKS)
    if (i + j) % 3 == 0
]


@pytest.mark.parametrize(("score", "mask", "size", "dtype"), COVERING)
def test_agrees(score, mask, size, dtype, device, small_tiles):
    a_case(score, mask, *size, device=device).agree("triton", dtype)


@pytest.mark.parametrize(
    ("score", "mask", "n", "m", "dtype"),
    [
        ("dot", "none", 65, 130, torch.float32),
        ("slope", "none", 65, 70, torch.bfloat16),
        ("dot", "both", 130, 65, torch.float32),
        ("dot", "lengths-2d", 129, 129, torch.bfloat16),
        ("dot", "window-not-self", 65, 130, torch.float16),
        ("dot", "dense-causal", 65, 130, torch.float32),
        ("dot", "lengths", 8, 12, torch.float32),
        ("dot", "causal", 16, 16, torch.bfloat16),
        ("slope", "lengths-2d", 12, 17, torch.float16),
        ("dot-learned", "both", 32, 32, torch.bfloat16),
        ("dot", "none", 33, 32, torch.bfloat16),
    ],
)
def test_agrees_with_the_tiles_of_a_gpu(score, mask, n, m, dtype, device):
    a_case(score, mask, n, m, d=64, v=64, device=device).agree("triton", dtype)


@pytest.mark.parametrize(
    ("score", "dtype"), [("slope", torch.float32), ("dot-learned", torch.bfloat16)]
)
def test_sequences_and_heads_are_told_apart(score, dtype, device, small_tiles):
    # masks go by sequence (the first axis), bias tables by head (the last)
    q, k, v = qkv(2, 3, n=17, m=33, d=4, v=5, dtype=torch.float64)
    mask = Lengths(torch.tensor([7, 33])) & Dense(learned(1, 3, 17, 33) > -1.0)
    Case(q, k, v, MATRIX[score](4, 3), mask, device=device).agree("triton", dtype)


@pytest.mark.parametrize("score", ["dot", "distances", "dot-learned"])
def test_the_gradients_of_parameters_come_from_the_kernels_too(
    score, device, small_tiles, kernels_for_parameters
):
    # one number that is a sum of few in float32 may be luckier or less lucky than another
    case = a_case(score, "both", 33, 65, device=device)
    case.agree("triton", torch.float32, gradients=4.0)


@pytest.mark.parametrize("width", [1, 3, 16, 17, 31, 65, 130])
def test_any_width(width, device, small_tiles):
    for d, v, dtype in ((width, 7, torch.float32), (19, width, torch.bfloat16)):
        a_case("dot", "causal", 17, 33, d=d, v=v, device=device).agree("triton", dtype)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_gradients_of_few_halves_are_rounded_once(dtype, device):
    # dq and dk are of slopes, dv is of weights: those keep the digits of float32
    case = a_case("dot", "lengths-2d", 12, 17, d=19, v=7, device=device)
    got, exact = case.run("triton", dtype, dtype), case.run("reference", torch.float64, dtype)
    last = torch.finfo(dtype).eps * (0.5 if device == "cuda" else 1.0)  # the interpreter cuts off
    for name in "qkv":
        wrong, right = (got.grads[name].double() - exact.grads[name]).abs(), exact.grads[name].abs()
        assert (wrong <= last * right + 1e-5 * right.max()).all(), name


def test_whether_halves_are_few_is_not_for_the_batch_to_say(triton, monkeypatch, device):
    monkeypatch.setattr(triton.dot, "FEW", 12 * 17)
    given = [x.to(device, torch.bfloat16) for x in qkv(4, n=12, m=17, d=19, v=7)]

    def pulled(count):
        some = [x[:count].detach().requires_grad_() for x in given]
        return torch.autograd.grad(attend(*some, impl="triton").float().sum(), some)

    for alone, among in zip(pulled(1), pulled(4), strict=True):
        assert torch.equal(alone[0], among[0])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("mask", ["none", "lengths", "causal", "window"])
def test_many_halves_are_pulled_as_halves(mask, dtype, triton, monkeypatch, device):
    monkeypatch.setattr(triton.dot, "FEW", -1)  # as if there were too many pairs to widen
    a_case("dot", mask, 33, 40, device=device).agree("triton", dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("width", [257, 512])
def test_wide_rows(width, dtype, device):
    case = a_case("dot", "lengths", 17, 40, d=width, v=width, device=device)
    if (width, dtype, device) == (257, torch.float32, "cpu"):
        pytest.skip("numpy adds 257 products in one run, 1.2 budgets; a GPU's units do not")
    same, exact = (case.run("reference", x, dtype).out for x in (dtype, torch.float64))
    got = attend(
        *(x.to(device, dtype) for x in (case.q, case.k, case.v)), mask=case.mask, impl="triton"
    )
    wrong, allowed = ((x.double() - exact).abs().max() for x in (got, same))
    assert wrong <= 2 * allowed + torch.finfo(dtype).eps * exact.abs().max()


def test_a_dense_mask_may_be_one_for_all_or_one_a_sequence_or_one_a_head(device, small_tiles):
    q, k, v = qkv(2, 2, n=17, m=40, d=5, v=4, dtype=torch.float64)
    for shape in ((17, 40), (1, 2, 17, 40), (2, 1, 1, 40)):
        seen = learned(*shape) > 0.3
        Case(q, k, v, Dot(), Dense(seen), device=device).agree("triton", torch.float32)


def test_a_long_sum_is_carried_in_float64(triton, monkeypatch, device, small_tiles):
    # on a GPU from 2048 keys on; here that many would take a while
    monkeypatch.setattr(triton.beside, "LONG", 8)
    for mask in ("both", "none"):
        a_case("dot", mask, 33, 70, device=device, size=2.0).agree("triton", torch.float32)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="the interpreter would take minutes")
@pytest.mark.parametrize("m", [40_000, 1_000_000])
def test_long_sums_keep_their_digits(m, device):
    v = torch.full((m, 16), 0.1, device=device)
    out = attend(
        torch.zeros(40, 16, device=device), torch.zeros(m, 16, device=device), v, impl="triton"
    )
    assert (out - 0.1).abs().max() <= 1e-7


# A key that may not be seen is absent ----------------------------------------------------

HIDING = {
    "lengths": lambda b, n, m: Lengths(torch.full((b,), m - 9)),
    "lengths-2d": lambda b, n, m: Lengths((torch.arange(b)[:, None] + torch.arange(n)) % (m - 9)),
    "causal": lambda b, n, m: Causal(),  # m > n: the last keys are later than every query
    "dense": lambda b, n, m: (
        Dense((torch.arange(n)[:, None] + torch.arange(m)) % 4 == 0)
        & Dense(torch.arange(m).expand(n, m) % 8 != 4)
    ),
    "not-self": lambda b, n, m: Window(left=0, right=0) & NotSelf(),  # nobody sees anything
    "window": lambda b, n, m: Window(left=5, right=2) & NotSelf(),
}


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
    case = a_case("dot", HIDING[mask](1, n, m), n, m, batch=1, device=device)
    gone = ~case.mask.dense(n, m, batch=(1,)).any(-2).unsqueeze(-1)
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


@pytest.mark.parametrize(("what", "dtype"), list(zip("qkv", DTYPES, strict=True)))
@pytest.mark.parametrize("mask", [None, Window(5, 5), NotSelf(), Causal()], ids=repr)
def test_a_nan_that_is_seen_reaches_only_who_sees_it(mask, what, dtype, device, small_tiles):
    n = 40
    x = dict(zip("qkv", (t.to(device, dtype) for t in qkv(1, n=n, m=n, d=5, v=3)), strict=True))
    wanted = attend(**x, mask=mask, impl="triton")
    x[what][0, 20, 2] = float("nan")
    got = attend(**x, mask=mask, impl="triton")
    seen = torch.ones(n, n, dtype=torch.bool) if mask is None else mask.dense(n, n)
    sees = (torch.arange(n) == 20 if what == "q" else seen[:, 20]).to(device)
    assert torch.equal(got[0].isnan().any(-1), sees)
    assert torch.equal(got[0, ~sees], wanted[0, ~sees])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dead_rows_give_zeros_and_change_nothing(dtype, device, small_tiles):
    n, m = 40, 45
    q, k, v = (x.to(device, dtype) for x in qkv(1, n=n, m=m, d=5, v=3))
    lengths = torch.full((1, n), m)
    lengths[0, 10:21] = 0
    dead = (lengths == 0).unsqueeze(-1).to(device)
    results = []
    for fill in (0.0, float("nan"), 1e4, torch.finfo(dtype).max):
        x, y, z = (t.clone().requires_grad_() for t in (q.masked_fill(dead, fill), k, v))
        out = attend(x, y, z, mask=Lengths(lengths), impl="triton")
        dout = torch.linspace(-1, 1, out.numel(), device=device).view(out.shape).to(dtype)
        out.backward(dout.masked_fill(dead, fill))
        assert not out[0, 10:21].any()
        assert not x.grad[0, 10:21].any(), f"{fill} in a dead row"
        results.append((out, x.grad, y.grad, z.grad))
    for others in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], others, strict=True))


@pytest.mark.parametrize("score", [Dot(), Dot(1.0), Dot(-3.0)], ids=repr)
@pytest.mark.parametrize("size", [1e19, 1e25, 3e38])
def test_scores_beyond_float32_give_an_average(size, score, device, small_tiles):
    q, k, v = (x.to(device) for x in qkv(2, n=20, m=40, d=5, v=3))
    q, k = (x / x.abs().max() * size for x in (q, k))
    for mask in (None, NotSelf()):
        out = attend(q, k, v, score=score, mask=mask, impl="triton")
        assert out.isfinite().all()
        assert out.abs().max() <= v.abs().max() * (1 + 1e-5)


@pytest.mark.parametrize("mask", [None, Causal()], ids=repr)
def test_scores_all_below_float32_give_something_finite(mask, device, small_tiles):
    # every score of a tile is -inf, in tiles that hide nothing
    q, k, v = (x.to(device) for x in qkv(1, n=20, m=40, d=5, v=3))
    out = attend(q.abs() * 1e25, -k.abs() * 1e25, v, mask=mask, impl="triton")
    assert out.isfinite().all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_values_near_the_largest_number_have_an_average(dtype, device, small_tiles):
    q, k, v = (x.to(device) for x in qkv(2, n=20, m=40, d=5, v=3))
    v = (v / v.abs().max() * torch.finfo(dtype).max * 0.9).to(dtype)
    for mask in (None, Causal(), NotSelf()):
        got = attend(q.to(dtype), k.to(dtype), v, mask=mask, impl="triton")
        assert got.isfinite().all()
        wanted = attend(
            q.to(dtype).double(), k.to(dtype).double(), v.double(), mask=mask, impl="reference"
        )
        error = (got.double() - wanted).abs().max() / wanted.abs().max()
        assert error <= 4 * torch.finfo(dtype).eps


# Which queries see a tile of keys ----------------------------------------------------


# of the last the first tile is whole for one block, and seen by those beside it
SEEING = MASKS | {"wide": lambda b, n, m: Window(left=40, right=20)}


@pytest.mark.parametrize("at_once", [2048, 32])
@pytest.mark.parametrize(
    "mask", ["lengths", "lengths-2d", "causal", "window", "both", "dense", "wide"]
)
@pytest.mark.parametrize(("n", "m"), [(1, 1), (33, 70), (70, 33), (64, 64)])
def test_every_block_that_sees_a_tile_is_visited_and_whole_ones_are_whole(
    mask, n, m, at_once, triton, monkeypatch, device
):
    monkeypatch.setattr(triton.dot, "LOOKED_AT", at_once)
    q, k, v = (x.to(device) for x in qkv(2, n=n, m=m, d=2, v=2))
    from regard.attention.call import make_call

    the_mask = on_device(SEEING[mask](2, n, m), device)
    call = make_call(q, k, v, Dot().form(q, k), the_mask)
    t = triton.dot.Tiles(16, 32, 4, 1)
    found = triton.dot._columns(call, triton.beside.beside_of(call), t).cpu()
    found = found.view(-1, -(-m // t.bn), 4)
    seen = SEEING[mask](2, n, m).dense(n, m, batch=(2,))
    for b in range(2):
        for tile, (first, last, whole, broken) in enumerate(found[b % len(found)].tolist()):
            columns = seen[b, :, tile * t.bn : (tile + 1) * t.bn]
            parts = [x for x in columns.split(t.bm) if len(x) == t.bm]
            wholly = [block for block, part in enumerate(parts) if part.all()]
            if wholly and mask not in {"both", "dense"}:  # of those each pair is looked at
                assert whole == wholly[0]
            for block in range(-(-n // t.bm)):
                part = columns[block * t.bm : (block + 1) * t.bm]
                if part.any():
                    assert first <= block < last
                if whole <= block < broken:
                    assert part.all()
                    assert len(part) == t.bm


def test_a_bilinear_score_of_two_widths(device, small_tiles):
    q, k, v = qkv(2, n=17, m=33, d=5, v=3, dtype=torch.float64)
    k = torch.cat((k, k[..., :2]), -1)
    Case(q, k, v, Bilinear(learned(5, 7)), Causal(), device=device).agree("triton", torch.float32)


@pytest.mark.parametrize("size", [1e12, 1e20, 1e30])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_gradients_of_a_huge_score_are_finite(size, dtype, device, small_tiles):
    # the logarithm of its normaliser has 53 bits, and between it and the score lie thousands
    q, k, v = (x.to(device, dtype) for x in qkv(1, n=17, m=20, d=4, v=3))
    q[0, 3, 2] = size
    given = [x.requires_grad_() for x in (q, k, v)]
    out = attend(*given, score=Dot(1.0), impl="triton")
    assert all(x.isfinite().all() for x in torch.autograd.grad(out.sum(), given))
