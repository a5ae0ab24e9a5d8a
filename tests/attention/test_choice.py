import pytest
import torch
from torch.autograd import forward_ad

from regard import (
    Additive,
    Bilinear,
    Causal,
    Cosine,
    Dot,
    Gaussian,
    ImplError,
    Lengths,
    Slope,
    Window,
    explain,
)
from regard.attention.choice import Choice, choose
from regard.scores import Score
from regard.testing import qkv

BIG = qkv(2, n=300, m=300, d=16, v=16)
SMALL = qkv(2, n=3, m=3, d=16, v=16)


def chosen(x, score=None, mask=None, dropout=0.0, impl="auto"):
    return choose(*x, score=score or Dot(), mask=mask, dropout=dropout, impl=impl)


@pytest.mark.parametrize(
    ("options", "impl"),
    [
        ({}, "native"),
        ({"mask": Causal()}, "native"),
        ({"mask": Lengths([3, 4])}, "native"),
        ({"mask": Causal(1)}, "cpu"),
        ({"mask": Lengths([[3] * 300, [4] * 300])}, "cpu"),
        ({"mask": Lengths([3, 4]) & Causal()}, "cpu"),
        ({"mask": Window(3, 3)}, "cpu"),
        ({"dropout": 0.1}, "cpu"),
        ({"score": Gaussian()}, "cpu"),
        ({"score": Dot(torch.tensor(1.0))}, "cpu"),
    ],
)
def test_the_fastest_that_takes_a_large_call(options, impl):
    assert chosen(BIG, **options).impl == impl


def test_a_call_that_wants_gradients_goes_where_they_are_exact():
    q, k, v = BIG
    found = choose(q, k, v, score=Dot(), mask=None, dropout=0.0, impl="auto", grad=True)
    assert found.impl == "cpu"
    assert explain(q.clone().requires_grad_(), k, v).impl == "cpu"
    with torch.no_grad():
        assert explain(q.clone().requires_grad_(), k, v).impl == "native"


@pytest.mark.parametrize(
    ("options", "impl", "beyond"),
    [
        ({}, "reference", "cpu"),
        ({"score": Cosine()}, "reference", "cpu"),
        ({"score": Dot() + Slope(torch.tensor(0.5))}, "reference", "cpu"),
        ({"mask": Lengths([3] * 64)}, "reference", "cpu"),
        ({"dropout": 0.1}, "cpu", "cpu"),
        ({"score": Bilinear(torch.eye(16))}, "cpu", "cpu"),
        ({"score": Gaussian()}, "cpu", "cpu"),
        ({"score": Additive(torch.ones(16))}, "cpu", "cpu"),
        ({"grad": False}, "native", "native"),
        ({"grad": False, "mask": Causal(1)}, "cpu", "cpu"),
    ],
)
def test_products_over_sentences_are_learned_by_the_reference(options, impl, beyond):
    given = {"score": Dot(), "mask": None, "dropout": 0.0, "grad": True, **options}
    assert choose(*qkv(64, n=32, m=32, d=16, v=16), impl="auto", **given).impl == impl
    for n, m in ((32, 33), (33, 32)):  # more would take n x m memory
        assert choose(*qkv(64, n=n, m=m, d=16, v=16), impl="auto", **given).impl == beyond


def test_a_small_call_waits_for_no_compiler():
    found = chosen(SMALL, score=Gaussian())
    assert found.impl == "reference"
    assert found.refused[1] == ("cpu", "288 pair-features are done before a kernel has started")


def test_a_score_without_a_form_runs_on_the_reference_alone():
    class Odd(Score):
        def pairwise(self, q, k):
            return q.sum(-1, keepdim=True) + k.sum(-1).unsqueeze(-2)

        @property
        def tensors(self):
            return ()

    assert chosen(BIG, score=Odd()).impl == "reference"
    with pytest.raises(ImplError, match="Odd has no form that kernels know, only pairwise"):
        chosen(BIG, score=Odd(), impl="cpu")


def test_two_biases_are_refused_by_name_and_not_swapped():
    q, k, v = (x[:, None] for x in BIG)
    score = Dot() + Slope(torch.ones(1)) + Slope(torch.ones(1))
    assert chosen((q, k, v), score=score).impl == "reference"
    with pytest.raises(ImplError, match="Biased has no form that kernels know"):
        chosen((q, k, v), score=score, impl="cpu")


def test_forward_mode_goes_to_the_reference():
    q, k, v = BIG
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(q, torch.ones_like(q))
        assert chosen((dual, k, v)).impl == "reference"
        assert chosen((q, k, v)).impl == "native"
        with pytest.raises(ImplError, match="it has no forward-mode derivative and no vmap"):
            chosen((dual, k, v), impl="cpu")


def test_another_device_is_refused_by_name():
    x = tuple(t.to("meta") for t in BIG)
    assert chosen(x).impl == "reference"
    with pytest.raises(ImplError, match="it runs on the CPU, q is on meta"):
        chosen(x, impl="native")


def test_the_choice_reads_as_a_sentence_a_line():
    assert str(Choice("cpu", "fast", (("native", "no"),))) == "cpu: fast\nnot native: no"
