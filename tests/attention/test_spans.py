from dataclasses import replace

import pytest
import torch
from torch._subclasses import FakeTensorMode

from regard import Causal, Dot, Lengths, NotSelf, Window, attend
from regard.attention import spans
from regard.attention.absent import anyone
from regard.attention.call import make_call
from regard.masks import Spans
from regard.testing import qkv
from tests.cases import MASKS

HERE = torch.device("cpu")
NONE = torch.Size()


@pytest.fixture(autouse=True)
def nothing_kept():
    spans._made_once.cache_clear()


def laid(mask, n=5, m=7, batch=NONE):
    return spans.lay_out(mask, batch, n, m, HERE)


@pytest.mark.parametrize(
    "mask", [Causal, NotSelf, lambda: Window(2, 1), lambda: Causal(1) & Window(3) & NotSelf()]
)
def test_what_positions_decide_is_made_once(mask):
    first = laid(mask())
    assert laid(mask(), batch=torch.Size((2, 3))).lo is first.lo
    for n, m in ((6, 7), (5, 8)):
        other = laid(mask(), n, m)
        assert other.lo is not first.lo
        here = make_call(torch.ones(n, 1), torch.ones(m, 1), torch.ones(m, 1), *form(n, m), mask())
        assert torch.equal(here.allowed()[0], mask().dense(n, m))


def form(n, m):
    return (Dot().form(torch.ones(n, 1), torch.ones(m, 1)),)


def test_another_number_is_another_mask():
    made = [laid(x) for x in (Window(2, 1), Window(1, 2), Window(2, 1, 3), Causal(), Causal(1))]
    assert len({(*x.lo[0].tolist(), *x.hi[0].tolist()) for x in made}) == len(made)


def test_numbers_in_a_tensor_may_change():
    lengths = torch.tensor([1, 2])
    mask = Lengths(lengths) & Causal()
    assert laid(mask, batch=torch.Size((2,))).hi.tolist()[1] == [1, 2, 2, 2, 2]
    lengths.fill_(3)
    assert laid(mask, batch=torch.Size((2,))).hi.tolist()[1] == [1, 2, 3, 3, 3]


def test_a_class_derived_from_one_may_go_by_anything():
    class Wider(Causal):
        more = 1

        def spans(self, batch, n, m, device):
            found = super().spans(batch, n, m, device)
            return Spans(found.lo, (found.hi + self.more).clamp(max=m))

    mask = Wider()
    first = laid(mask).hi
    Wider.more = 2
    assert (laid(mask).hi - first).max() == 1


def test_what_is_very_long_is_not_kept(monkeypatch):
    monkeypatch.setattr(spans, "LONGEST", 4)
    assert laid(Causal()).lo is not laid(Causal()).lo


def test_made_in_inference_it_serves_learning():
    q, k, v = qkv(2, n=20, m=30, d=8, v=8)
    with torch.inference_mode():
        wanted = attend(q, k, v, mask=Window(3, 3), impl="cpu")
    out = attend(q.requires_grad_(), k, v, mask=Window(3, 3), impl="cpu")
    assert torch.equal(out, wanted)
    assert torch.autograd.grad(out.sum(), q)[0].isfinite().all()


def test_what_is_made_under_a_mode_stays_there():
    with FakeTensorMode():
        assert type(laid(Causal()).lo) is not torch.Tensor
    kept = laid(Causal()).lo
    assert type(kept) is torch.Tensor
    with FakeTensorMode():
        assert type(laid(Causal()).lo) is not torch.Tensor


def test_a_graph_reads_no_memory_of_ours(monkeypatch):
    kept = laid(Causal()).lo
    monkeypatch.setattr(spans, "_is_recorded", lambda device: True)
    assert laid(Causal()).lo is not kept


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_graph_outlives_what_is_kept():
    q, k, v = (x.cuda() for x in qkv(2, n=300, m=300, d=16, v=16))
    mask = Window(5, 2)
    wanted = attend(q, k, v, mask=mask)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = attend(q, k, v, mask=mask)
    spans._made_once.cache_clear()
    torch.cuda.empty_cache()
    for left in range(40):
        attend(q, k, v, mask=Window(left))
    graph.replay()
    assert torch.equal(out, wanted)


@pytest.mark.parametrize("mask", [m for m in MASKS if m != "none"])
def test_short_integers_will_do(mask):  # as on a GPU
    q, k, v = qkv(3, 2, n=7, m=9, d=4, v=5)
    call = make_call(q, k, v, Dot().form(q, k), MASKS[mask](3, 7, 9))
    short = replace(call, lo=call.lo.int(), hi=call.hi.int())
    assert torch.equal(short.allowed(), call.allowed())
    for got, wanted in zip(anyone(short), anyone(call), strict=True):
        assert torch.equal(got, wanted)
