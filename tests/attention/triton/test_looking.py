"""The kernels that look, against the weights by their definition in float64."""

from __future__ import annotations

import pytest
import torch

from regard import Additive, Causal, Dense, Dot, Gaussian, Lengths, NotSelf, Slope, Window
from regard.attention import rows as source_of_rows
from regard.attention.api import attend
from regard.attention.rows import Rows
from regard.testing import qkv

N, M = 32, 64
DTYPES = (torch.float32, torch.bfloat16, torch.float16)
MASKS = {
    "all": None,
    "lengths": Lengths([50, 0]),
    "causal": Causal(20),
    "window": Window(9, 5, offset=10),
    "others": NotSelf(),
    "dense": None,  # needs a device: see made
}
SCORES = {
    "dot": Dot(),
    "negative": Dot(-0.7),
    "slope": Dot() + Slope(torch.tensor(0.1, dtype=torch.float64)),
    "gaussian": Gaussian(1.5),
    "additive": Additive(torch.linspace(-1, 1, 6)),
}
TOLERANCE = 4e-6  # of the largest weight: a sum of a few hundred in float32


@pytest.fixture(autouse=True)
def on_the_gpu(monkeypatch, small_tiles):
    monkeypatch.setattr(source_of_rows, "why_not_triton", lambda *_: "")


def made(dtype, device, score="dot", mask="all"):
    q, k, _ = qkv(2, n=N, m=M, d=6, v=1)
    q, k = (x.to(device, dtype) for x in (q, k))
    score, mask_ = SCORES[score], MASKS[mask]
    if isinstance(score, Additive):
        score = Additive(score.w.to(device))
    if mask == "dense":
        drawn = torch.rand(N, M, generator=torch.Generator().manual_seed(2)) > 0.5
        mask_ = Dense(drawn.to(device))
    return q, k, score, mask_


def truth(q, k, score, mask):
    if isinstance(score, Additive):
        score = Additive(score.w.double())
    seen = torch.eye(M, dtype=torch.float64, device=q.device).expand(2, M, M)
    return attend(q.double(), k.double(), seen, score=score, mask=mask, impl="reference")


def close(got, wanted, tolerance=TOLERANCE):
    worst = (got.double() - wanted).abs().max().item()
    assert worst <= tolerance * max(wanted.abs().max().item(), 1e-30), worst


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mask", ["all", "lengths", "window", "dense"])
def test_one_entry_and_some_of_its_rows(dtype, mask, device, triton):
    q, k, score, mask = made(dtype, device, "slope", mask)
    w = truth(q, k, score, mask)
    for b in range(2):
        one = Rows(q, k, score, mask).entry(b)
        assert one.look is not None
        close(one.rectangle(3, 30, 17, 64), w[b : b + 1, 3:30, 17:64])
        close(torch.cat([x for _, x in one.blocks(2, 30, 5)], 1), w[b : b + 1, 2:30:5])


LOOKS = [
    *((torch.bfloat16, "dot", mask) for mask in MASKS),
    *((torch.float32, "dot", mask) for mask in MASKS),
    *((torch.float32, score, "window") for score in ("negative", "slope", "gaussian", "additive")),
    *((torch.float16, score, "dense") for score in SCORES),
]


@pytest.mark.parametrize(("dtype", "score", "mask"), LOOKS, ids=str)
def test_every_look_is_that_of_the_definition(dtype, score, mask, pairs, device, triton):
    q, k, score, mask = made(dtype, device, score, mask)
    w = truth(q, k, score, mask)
    rows = Rows(q, k, score, mask)
    assert rows.look is not None
    close(rows.look.weights(slice(3, 30), slice(17, 64)), w[:, 3:30, 17:64])
    surprise = torch.where(w > 0, -w * w.log(), 0.0).sum(-1)
    close(rows.look.entropy(), surprise)
    got = rows.look.received()
    if got is not None:
        close(got, w.sum(1))


@pytest.fixture
def swept(triton, monkeypatch, small_sweeps):
    """What went through the passes that see scores once."""
    ran = []
    real = triton.inspection.Look._swept
    monkeypatch.setattr(
        triton.inspection.Look, "_swept", lambda self, *a: ran.append(a) or real(self, *a)
    )
    return ran


def pooled(w, height, width, reduce):
    cells = w.reshape(w.shape[0], height, N // height, width, M // width)
    return cells.sum((2, 4)) if reduce == "mass" else cells.amax((2, 4))


SWEEPS = [
    *(("dot", mask, reduce, 1 << 26) for mask in MASKS for reduce in ("mass", "max")),
    *((score, "causal", "mass", 1 << 26) for score in ("negative", "slope")),
    *(("negative", "all", reduce, 1 << 26) for reduce in ("mass", "max")),
    # a row of cells at a time
    *(("slope", mask, "mass", 1) for mask in ("all", "lengths")),
    *(("dot", "all", reduce, 1) for reduce in ("mass", "max")),
]


@pytest.mark.parametrize(("score", "mask", "reduce", "scratch"), SWEEPS)
def test_one_sweep_finds_normalisers_and_cells(
    score, mask, reduce, scratch, swept, device, triton, monkeypatch
):
    monkeypatch.setattr(triton.inspection, "SCRATCH", scratch)
    q, k, score, mask = made(torch.bfloat16, device, score, mask)
    wanted = pooled(truth(q, k, score, mask), 4, 2, reduce)
    got = Rows(q, k, score, mask).look.overview(4, 2, reduce)
    assert swept == [(4, 2, reduce)]
    close(got, wanted)


class Nothing:
    """In a kernel's place, however it is launched."""

    def __getitem__(self, grid):
        return lambda *args, **options: None


FAR = 85.0  # times 4, in scores in base 2: 200
BLOCK = slice(16, 32)  # rows that share a block of threads


def by_row(q, k, reduce):
    """What each row has in two cells of two tiles each."""
    return Rows(q, k, Dot(), None).look.overview(q.shape[1], 2, reduce)


def with_far_rows(device):
    """Of one row later scores are 2^200 times those of the first tile, of another 2^-200."""
    q, k, *_ = made(torch.bfloat16, device)
    k[:, :16, 0], k[:, 16:, 0] = 0.0, 4.0
    plain = q.clone()
    q[1, 20, 0], q[1, 22, 0] = FAR, -FAR
    return plain, q, k


@pytest.mark.parametrize("reduce", ["mass", "max"])
@pytest.mark.parametrize("rows", [N, 27])  # whole blocks, and not
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_ordinary_rows_need_no_running_maximum(
    dtype, rows, reduce, swept, device, triton, monkeypatch
):
    monkeypatch.setattr(triton.inspection.looking, "sweep", Nothing())
    q, k, score, _ = made(dtype, device)
    q = q[:, :rows]
    w = truth(q, k, score, None).unflatten(2, (2, M // 2))
    close(by_row(q, k, reduce), w.sum(3) if reduce == "mass" else w.amax(3))


@pytest.mark.parametrize("reduce", ["mass", "max"])
def test_a_row_that_rises_far_is_done_again(reduce, swept, device, triton, monkeypatch):
    _, q, k = with_far_rows(device)
    w = truth(q, k, Dot(), None).unflatten(2, (2, M // 2))
    wanted = w.sum(3) if reduce == "mass" else w.amax(3)
    close(by_row(q, k, reduce), wanted, 4e-5)  # of scores of 200 float32 keeps less
    monkeypatch.setattr(triton.inspection.looking, "sweep", Nothing())
    left = by_row(q, k, reduce).isnan().any(2)
    assert left.nonzero().tolist() == [[1, 20]]


@pytest.mark.parametrize("reduce", ["mass", "max"])
def test_neighbours_of_a_row_done_again_keep_their_bits(reduce, swept, device, triton, monkeypatch):
    plain, q, k = with_far_rows(device)
    got, before = by_row(q, k, reduce), by_row(plain, k, reduce)
    changed = (got != before).any(2).nonzero().tolist()
    assert changed == [[1, 20], [1, 22]]
    # which tells something: done again, they would have others
    monkeypatch.setattr(triton.inspection.looking, "skim", Nothing())
    assert (by_row(plain, k, reduce) != before)[1, BLOCK].any()


INF = torch.inf


@pytest.mark.parametrize("reduce", ["mass", "max"])
def test_an_entry_is_the_same_alone(reduce, swept, device, triton, monkeypatch):
    monkeypatch.setattr(triton.inspection, "SCRATCH", 4 * N)  # a batch takes fewer rows at a time
    monkeypatch.setattr(triton.inspection, "UNITS", 4)
    q, k, *_ = made(torch.bfloat16, device)
    among = Rows(q, k, Dot(), None).look.overview(8, 4, reduce)
    alone = Rows(q[:1], k[:1], Dot(), None).look.overview(8, 4, reduce)
    assert len(swept) == 2
    assert torch.equal(among[:1], alone)


@pytest.mark.parametrize("reduce", ["mass", "max"])
@pytest.mark.parametrize("spoiled", ["query", "key"])
@pytest.mark.parametrize("value", [torch.nan, INF, -INF, 3e38])
def test_what_is_not_finite_is_as_without_the_quick_pass(
    value, spoiled, reduce, swept, device, triton, monkeypatch
):
    q, k, *_ = made(torch.bfloat16, device)
    k[..., 0] = torch.where(torch.arange(M, device=device) < 16, 1.0, -1.0)  # scores of both signs
    plain = by_row(q, k, reduce)
    if spoiled == "query":
        q[1, 20] = 0.0
        q[1, 20, 0] = value
    else:
        k[1, 40, 0] = value
    got = by_row(q, k, reduce)
    monkeypatch.setattr(triton.inspection.looking, "skim", Nothing())  # memory is NaN before
    alone = by_row(q, k, reduce)
    rows = slice(20, 21) if spoiled == "query" else slice(None)
    torch.testing.assert_close(got[1, rows], alone[1, rows], rtol=1e-5, atol=1e-7, equal_nan=True)
    got[1, rows] = plain[1, rows]
    assert torch.equal(got, plain)


@pytest.mark.parametrize("reduce", ["mass", "max"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("mask", ["all", "window", "dense"])
def test_cells_of_any_size_hold_what_they_say(dtype, mask, reduce, device, triton, monkeypatch):
    monkeypatch.setattr(triton.inspection, "FEWEST", 1)
    q, k, score, mask = made(dtype, device, mask=mask)
    w = truth(q, k, score, mask)
    got = Rows(q, k, score, mask).look.overview(3, 5, reduce)
    rows, cols = torch.arange(N) * 3 // N, torch.arange(M) * 5 // M
    for r in range(3):
        for c in range(5):
            cell = w[:, rows == r][:, :, cols == c]
            wanted = cell.sum((1, 2)) if reduce == "mass" else cell.amax((1, 2))
            close(got[:, r, c], wanted)


@pytest.mark.parametrize("reduce", ["mass", "max"])
def test_a_row_with_nan_is_nan_in_its_cells_and_no_other(reduce, swept, device, triton):
    q, k, score, _ = made(torch.bfloat16, device)
    q[1, 20] = torch.nan
    got = Rows(q, k, score, None).look.overview(4, 2, reduce)
    spoiled = got.isnan()
    assert spoiled[1, 2].all()
    spoiled[1, 2] = False
    assert not spoiled.any()
