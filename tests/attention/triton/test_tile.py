"""Where the pairs of a tile lie: every pair once, and sums over keys that miss none."""

import pytest
import torch

tile = pytest.importorskip("regard.attention.triton.tile", exc_type=ImportError)
triton = pytest.importorskip("triton")
tl = triton.language


@triton.jit
def numbered(pairs, sums, most, line, BM: tl.constexpr, BN: tl.constexpr, F: tl.constexpr):
    rows, keys = tile.rows_within(BM, F), tile.keys_within(BN, F)
    number = tile.of_rows(rows, F) * BN + tile.of_keys(keys, F)
    x = tile.no_scores(BM, BN, F) + number
    tl.store(pairs + number, x)
    tl.store(sums + rows, tile.sum_over_keys(x, F))
    tl.store(most + rows, tile.most_over_keys(x, F))
    tl.store(line + tl.arange(0, BM), tile.in_line(rows, BM, F))
    again = tile.by_key(tl.arange(0, BN), BN, F)
    tl.store(line + BM + keys, again)


@pytest.mark.parametrize(("bm", "bn", "few"), [(64, 128, False), (16, 32, False), (16, 32, True)])
def test_every_pair_has_its_place(bm, bn, few, device):
    pairs, sums = torch.full((bm, bn), -1.0, device=device), torch.zeros(bm, device=device)
    most, line = torch.zeros(bm, device=device), torch.zeros(bm + bn, device=device)
    numbered[(1,)](pairs, sums, most, line, BM=bm, BN=bn, F=few, num_warps=tile.WARPS.value)
    wanted = torch.arange(bm * bn, device=device).view(bm, bn).float()
    assert torch.equal(pairs, wanted)
    assert torch.equal(sums, wanted.sum(1))
    assert torch.equal(most, wanted.amax(1))
    assert line.tolist() == [*range(bm), *range(bn)]
