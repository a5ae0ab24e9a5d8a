"""Which tiles are visited, which pairs seen, which weights kept: each against brute force."""

import pytest
import torch

from regard import Dot, Gaussian, Uniform, attend
from regard.attention.dropout import keep, threshold
from regard.testing import qkv
from tests.attention.triton.calls import MASKS, a_case
from tests.cases import on_device

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")
visible = pytest.importorskip("regard.attention.triton.visible", exc_type=ImportError)
BM, BN = 16, 32


@triton.jit
def tell(
    lo, hi, numbers, n, m, BM: tl.constexpr, BN: tl.constexpr, SPANS: tl.constexpr,
    NOT_SELF: tl.constexpr, DENSE: tl.constexpr,
):  # fmt: skip
    i0 = tl.program_id(0) * BM
    rows = i0 + tl.arange(0, BM)
    first, last = visible.spans(lo, hi, rows, n, m, SPANS)
    start, stop, a, b, d0, d1 = visible.tiles(first, last, rows, i0, n, m, BM, BN, NOT_SELF, DENSE)
    at = numbers + tl.program_id(0) * 64
    full = (b - a) - (d1 - d0)
    masked = (a - start) + (d1 - d0) + (stop - b)
    tl.store(at, full)
    tl.store(at + 1, masked)
    for t in range(full):
        tl.store(at + 2 + t, visible.nth_full(t, a, d0, d1))
    for t in range(masked):
        tl.store(at + 2 + full + t, visible.nth_masked(t, start, a, b, d0, d1))


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(("n", "m"), [(1, 1), (17, 33), (33, 200), (96, 96), (16, 32)])
def test_every_tile_is_visited_once_and_whole_ones_hide_nothing(mask, n, m, device):
    from regard.attention.call import make_call

    q, k, v = (x.to(device) for x in qkv(2, n=n, m=m, d=2, v=2))
    call = make_call(q, k, v, Dot().form(q, k), on_device(MASKS[mask](2, n, m), device))
    seen = call.allowed().cpu()
    lo, hi = (x.int().contiguous() for x in call.bounds())
    for entry in range(2):
        blocks = triton.cdiv(n, BM)
        numbers = torch.full((blocks, 64), -99, dtype=torch.int32, device=device)
        tell[(blocks,)](
            *(lo[entry], hi[entry], numbers, n, m, BM, BN),
            SPANS=call.lo is not None, NOT_SELF=call.not_self, DENSE=call.dense is not None,
        )  # fmt: skip
        for block, (full, masked, *tiles) in enumerate(numbers.tolist()):
            rows = seen[entry, block * BM : (block + 1) * BM]
            whole, others = tiles[:full], tiles[full : full + masked]
            visited = whole + others
            assert len(set(visited)) == len(visited)
            for tile in range(triton.cdiv(m, BN)):
                part = rows[:, tile * BN : (tile + 1) * BN]
                assert tile in visited or not part.any()
                if tile in whole:
                    assert part.all()
                    assert part.shape[1] == BN


@triton.jit
def draw(seed, out, row0, rows, keys, least, R: tl.constexpr, K: tl.constexpr):
    r, j = tl.arange(0, R), tl.arange(0, K)
    low, high = visible.row_words(tl.load(seed), row0.to(tl.int64) + r)
    kept = visible.kept(low[:, None], high[:, None], j[None, :], least)
    inside = (r < rows)[:, None] & (j < keys)[None, :]
    tl.store(out + r[:, None] * keys + j[None, :], kept.to(tl.int8), mask=inside)


@pytest.mark.parametrize("seed", [0, 5, -1, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.999])
def test_dropout_is_the_same_function_of_seed_row_and_key(seed, p, device):
    seeds = torch.tensor([seed], device=device)
    for row0 in (0, 2**31 - 7, 2**40):
        out = torch.full((16, 60), -99, dtype=torch.int8, device=device)
        draw[(1,)](seeds, out, row0, 16, 60, threshold(p), R=16, K=64)
        rows = torch.arange(row0, row0 + 16, device=device)
        wanted = keep(seeds[0], rows[:, None], torch.arange(60, device=device), p)
        assert torch.equal(out.bool(), wanted)


@pytest.mark.parametrize("score", [Uniform(), Dot(), Gaussian()], ids=repr)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_the_mask_is_the_same_forward_and_backward_and_everywhere(
    score, dtype, device, small_tiles
):
    # with v = I the output is the weights, and its gradient by v shows the mask of the backward
    n, m = 20, 65
    q, k = torch.zeros(2, n, 3, dtype=dtype, device=device), torch.zeros(2, m, 3, dtype=dtype)
    k = k.to(device)
    v = torch.eye(m, dtype=dtype, device=device).repeat(2, 1, 1).requires_grad_()
    out = attend(q, k, v, score=score, dropout=0.3, seed=9, impl="triton")
    rows = torch.arange(2 * n, device=device).view(2, n, 1)
    wanted = keep(torch.tensor(9), rows, torch.arange(m, device=device), 0.3)
    assert torch.equal(out != 0, wanted)
    for row in (0, 17):
        grad = torch.autograd.grad(out[1, row].sum(), v, retain_graph=True)[0]
        assert torch.equal(grad[1, :, 0] != 0, wanted[1, row])
        assert not grad[0].any()
    others = ("reference",) if device == "cuda" else ("reference", "cpu")
    for impl in others:
        other = attend(q, k, v, score=score, dropout=0.3, seed=9, impl=impl)
        assert torch.equal(other != 0, wanted)


@pytest.mark.parametrize("score", ["dot", "additive", "boxcar", "slope"])
def test_dropout_has_the_gradients_of_the_definition(score, pairs, device, small_tiles):
    case = a_case(score, "lengths-2d", 17, 40, dropout=0.4, seed=11, device=device)
    case.agree("triton", torch.float32, pairs)
