import math

import pytest
import torch

from regard.attention.absent import all_finite, clean_call, clean_rows
from regard.attention.call import make_call
from regard.scores import Dot
from regard.testing import qkv
from tests.cases import MASKS


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_one_bad_number_is_found(bad, dtype):
    x = torch.randn(3, 40, 5).to(dtype)
    assert all_finite(x, torch.zeros(0))
    for place in ((0, 0, 0), (1, 20, 3), (2, 39, 4)):
        y = x.clone()
        y[place] = bad
        assert not all_finite(x, y)


@pytest.mark.parametrize("mask", [m for m in MASKS if m != "none"])
def test_spans_clean_as_the_mask_written_out_does(mask):
    g = torch.Generator().manual_seed(3)
    for n, m in ((9, 9), (5, 12), (12, 5), (1, 3)):
        q, k, v = qkv(3, 2, n=n, m=m, d=2, v=2)
        for x in (q, k, v):
            x[torch.rand(x.shape[:-1], generator=g) < 0.15] = math.nan
        rule = MASKS[mask](3, n, m)
        call = make_call(q, k, v, Dot().form(q, k), rule)
        got = clean_call(call)
        seen = rule.dense(n, m, batch=(3, 2)).reshape(6, n, m)
        wanted = clean_rows(call.q, call.k, call.v, seen)
        poisoned = torch.zeros(6, n, dtype=torch.bool) if got.poisoned is None else got.poisoned
        assert torch.equal(poisoned, wanted.poisoned)
        assert not got.k.masked_select(~seen.any(1).unsqueeze(-1)).any()
        assert torch.equal(got.q, wanted.q)
        assert torch.equal(got.k, wanted.k)
        assert torch.equal(got.v, wanted.v)


def test_nothing_is_copied_when_everything_is_seen():
    q, k, v = qkv(2, n=5, m=6, d=2, v=2)
    call = make_call(q, k, v, Dot().form(q, k), None)
    assert clean_call(call).k.data_ptr() == k.data_ptr()
