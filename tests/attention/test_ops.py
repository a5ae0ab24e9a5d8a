"""The operator: what torch's machinery asks of it."""

from functools import partial

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.utils._python_dispatch import TorchDispatchMode

from regard import (
    Additive,
    Causal,
    Distances,
    Dot,
    Gaussian,
    Lengths,
    NotSelf,
    Slope,
    Window,
    attend,
)
from regard.testing import qkv
from tests.cases import MASKS, SCORES, in_dtype

GRAPH = qkv(2, 3, n=40, m=50, d=16, v=16)


def model(q, k, v, lengths, w, log_width):
    return (
        attend(q, k, v, score=Additive(w), mask=Lengths(lengths))
        + attend(q, k, v, score=Gaussian(log_width.exp()), mask=Causal() & Window(9, 9), impl="cpu")
        + attend(q, k, v)
        + attend(q, k, v, mask=Causal(), dropout=0.1, seed=3)
        + attend(q, k, v, score=Dot() + Slope(torch.ones(3)), mask=NotSelf(), impl="cpu")
    )


@pytest.mark.parametrize("dynamic", [False, True])
def test_compiles_without_a_graph_break(dynamic):
    w = torch.linspace(-1, 1, 16).requires_grad_()
    log_width = torch.zeros((), requires_grad=True)
    compiled = torch.compile(model, fullgraph=True, dynamic=dynamic, backend="aot_eager")
    for n, m in ((40, 50), (33, 70), (64, 64)) if dynamic else ((40, 50),):
        q, k, v = (x.requires_grad_() for x in qkv(2, 3, n=n, m=m, d=16, v=16))
        args = (q, k, v, torch.tensor([m, 13]), w, log_width)
        wanted, got = model(*args), compiled(*args)
        assert torch.equal(got, wanted)
        leaves = (q, k, v, w, log_width)
        for a, b in zip(
            torch.autograd.grad(got.sin().sum(), leaves),
            torch.autograd.grad(wanted.sin().sum(), leaves),
            strict=True,
        ):
            torch.testing.assert_close(a, b)


def test_compiles_with_the_default_backend():
    q, k, v = GRAPH
    compiled = torch.compile(lambda q, k, v: attend(q, k, v, score=Gaussian(), impl="cpu") * 2)
    torch.testing.assert_close(compiled(q, k, v), 2 * attend(q, k, v, score=Gaussian(), impl="cpu"))


def test_an_empty_batch_compiles():
    q, k, v = (x[:0] for x in GRAPH)
    compiled = torch.compile(lambda q, k, v: attend(q, k, v, impl="cpu"), backend="aot_eager")
    assert compiled(q, k, v).shape == (0, 3, 40, 16)


@pytest.mark.parametrize("impl", ["cpu", "native"])
def test_keeps_the_rules_of_an_operator(impl):
    q, k, v = (x.flatten(0, 1).requires_grad_() for x in GRAPH)
    nothing = (None,) * 7
    args = (q, k, v, *nothing, "q * k", 0.25, "full", False, 0.0, "exact", impl)
    torch.library.opcheck(torch.ops.regard.attend.default, args)


def test_keeps_the_rules_of_an_operator_with_everything_given():
    q, k, v = (x.flatten(0, 1).requires_grad_() for x in GRAPH)
    p0, table = torch.ones(3, 16).double(), torch.ones(3, 89).double()
    lo, hi = torch.zeros(2, 40, dtype=torch.int64), torch.full((2, 40), 30)
    dense = torch.ones(1, 40, 50, dtype=torch.bool)
    args = (
        *(q, k, v, p0.requires_grad_(), None, table.requires_grad_(), lo, hi, dense),
        *(torch.tensor(3), Gaussian.PHI, 1.0, "spans", True, 0.5, "exact", "cpu"),
    )
    torch.library.opcheck(torch.ops.regard.attend.default, args)


@pytest.mark.parametrize("mask", ["none", "lengths", "window", "not-self"])
@pytest.mark.parametrize("score", SCORES)
def test_first_and_second_derivatives(score, mask):
    made, learned = in_dtype(SCORES[score](3, 1), torch.float64)
    kind = type(made)
    q, k, v = (x.requires_grad_() for x in qkv(2, 1, n=3, m=4, d=3, v=2, dtype=torch.float64))
    rule = MASKS[mask](2, 3, 4)  # lengths 0 and 4: a dead sequence is among them

    def run(q, k, v, *parameters):
        score = made
        if parameters and not hasattr(made, "bias"):
            kept = {name: x for name, x in vars(made).items() if name != "text"}
            score = kind(**(kept | dict(zip(learned, parameters, strict=True))))
        return attend(q, k, v, score=score, mask=rule, impl="cpu")

    inputs = (q, k, v, *(learned.values() if not hasattr(made, "bias") else ()))
    assert gradcheck(run, inputs)
    assert gradgradcheck(run, inputs)


@pytest.mark.parametrize("bias", [Slope(torch.ones(1)), Distances(torch.randn(1, 3))], ids=repr)
def test_second_derivatives_of_a_bias(bias):
    x = next(iter(vars(bias).values()))
    x = x.double().requires_grad_()
    q, k, v = (t.requires_grad_() for t in qkv(2, 1, n=3, m=4, d=3, v=2, dtype=torch.float64))

    def run(q, k, v, x):
        return attend(q, k, v, score=Dot() + type(bias)(x), impl="cpu")

    assert gradcheck(run, (q, k, v, x))
    assert gradgradcheck(run, (q, k, v, x))


def test_second_derivatives_through_torch_s_kernel():
    q, k, v = (x.requires_grad_() for x in qkv(2, n=3, m=3, d=4, v=4, dtype=torch.float64))
    for mask in (None, Causal(), Lengths([0, 2])):
        assert gradgradcheck(lambda *x, m=mask: attend(*x, mask=m, impl="native"), (q, k, v))


@pytest.mark.parametrize("score", ["dot", "gaussian", "additive", "epanechnikov", "own"])
def test_forward_mode_through_the_reference(score):
    made = SCORES[score](3, 1)
    q, k, v = qkv(2, 1, n=3, m=4, d=3, v=2, dtype=torch.float64)
    inputs = tuple(x.requires_grad_() for x in (q, k, v))
    assert gradcheck(
        lambda *x: attend(*x, score=made, mask=NotSelf(), impl="reference"),
        inputs,
        check_forward_ad=True,
        check_batched_grad=True,
    )


def test_torch_func_finds_a_way_by_itself():
    q, k, v = (x[0] for x in GRAPH)
    score = Gaussian()
    _, tangent = torch.func.jvp(lambda q: attend(q, k, v, score=score), (q,), (torch.ones_like(q),))
    step = 1e-3
    slope = (attend(q + step, k, v, score=score) - attend(q - step, k, v, score=score)) / (2 * step)
    torch.testing.assert_close(tangent, slope, rtol=1e-2, atol=1e-3)
    mapped = torch.func.vmap(lambda *x: attend(*x, score=score))(q, k, v)
    torch.testing.assert_close(mapped, attend(q, k, v, score=score), rtol=1e-5, atol=1e-6)


def test_the_gradient_of_what_is_not_wanted_is_not_made():
    q, k, v = GRAPH
    v = v.clone().requires_grad_()
    out = attend(q, k, v, score=Gaussian(), impl="cpu")
    out.sum().backward()
    assert v.grad is not None
    assert q.grad is None


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning", "ignore:`torch.jit")
@pytest.mark.parametrize("impl", ["cpu", "native"])
def test_a_trace_records_the_call_and_not_its_result(impl):
    q, k, v = qkv(2, n=20, m=30, d=8, v=8)

    def run(q, k, v):
        return attend(q, k, v, impl=impl)

    traced = torch.jit.trace(run, (q, k, v), check_trace=False)
    other = [2 * x for x in (q, k, v)]
    torch.testing.assert_close(traced(*other), run(*other))


class Watching(TorchDispatchMode):
    """Somebody who wants to see every operator."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


def test_nobody_pays_for_a_dispatcher_that_nobody_needs(monkeypatch):
    from regard.attention import ops

    q, k, v = (x.requires_grad_() for x in qkv(2, n=20, m=30, d=8, v=8))
    run = partial(attend, q, k, v, score=Gaussian(), mask=Window(3, 3), impl="cpu")
    with Watching() as somebody:
        watched = torch.autograd.grad(run().sin().sum(), (q, k, v))
    operators = torch.ops.regard
    for operator in (operators.attend.default, operators.attend_backward.default):
        assert somebody.seen.count(operator) == 1
    monkeypatch.delattr(ops, "_attend")
    monkeypatch.delattr(ops, "_attend_backward")
    alone = torch.autograd.grad(run().sin().sum(), (q, k, v))
    assert all(torch.equal(a, b) for a, b in zip(alone, watched, strict=True))
    with torch.no_grad():
        assert run().grad_fn is None


def test_many_gradients_at_once():
    q, k, v = (x.requires_grad_() for x in qkv(2, n=20, m=30, d=8, v=8))
    out = attend(q, k, v, impl="cpu")
    many = torch.linspace(-1, 1, 3 * out.numel()).view(3, *out.shape)
    wanted = [torch.autograd.grad(out, (q, k, v), one, retain_graph=True) for one in many]
    got = torch.autograd.grad(out, (q, k, v), many, is_grads_batched=True)
    assert all(
        torch.equal(a, torch.stack(b)) for a, b in zip(got, zip(*wanted, strict=True), strict=True)
    )


def test_a_call_inside_a_transform_of_something_else():
    q, k, v = (x.requires_grad_() for x in qkv(2, n=20, m=30, d=8, v=8))
    wanted = attend(q, k, v, impl="cpu").sum()
    found = torch.func.grad(lambda x: x * attend(q, k, v, impl="cpu").sum())(torch.ones(()))
    assert torch.equal(found, wanted)
