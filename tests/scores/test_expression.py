import math

import pytest
import torch

from regard.errors import KindError, ValueRangeError
from regard.scores import Additive, Cauchy, CosineKernel, Elementwise, Gaussian, Tricube
from regard.scores import expression as e
from regard.scores.expression import derivative, evaluate, parse, source, symbols, trace

q, k, p0, p1 = symbols()
FORMULAS = {
    "gaussian": p0 * ((q - k) * (q - k)),
    "everything": e.exp(-q) + e.tanh(k) * e.sqrt(q + 9) - e.sin(q) / (2 + e.cos(k)),
    "powers": (q - k) ** 3 + (abs(q) + 1) ** 1.5 - 2**-1 * k**1,
    "choices": e.where(q < k, q * q, -k) + e.maximum(q, k) * e.minimum(q, 2 * k) + e.log(9 + q),
    "edges": e.where(abs(p0 * q) <= 1.0, e.absolute(k) * p1, 1 - k),
}


def values(seed=0):
    g = torch.Generator().manual_seed(seed)
    return {
        name: torch.randn(20, generator=g, dtype=torch.float64).requires_grad_() for name in e.NAMES
    }


@pytest.mark.parametrize("name", FORMULAS)
def test_the_text_reads_back_as_the_same_formula(name):
    assert parse(str(FORMULAS[name])) == FORMULAS[name]


@pytest.mark.parametrize("by", e.NAMES)
@pytest.mark.parametrize("name", FORMULAS)
def test_derivatives_are_those_of_autograd(name, by):
    given = values()
    out = evaluate(FORMULAS[name], given)
    wanted = torch.autograd.grad(out.sum(), given[by], allow_unused=True)[0]
    got = evaluate(derivative(FORMULAS[name], by), given).expand(20)
    torch.testing.assert_close(got, torch.zeros(20).double() if wanted is None else wanted)


@pytest.mark.parametrize("name", FORMULAS)
def test_the_source_computes_the_same_numbers(name):
    given = {key: x.detach() for key, x in values().items()}
    wanted = evaluate(FORMULAS[name], given).expand(20)
    names = {
        "REAL": float, "INF": math.inf, "power": pow, "sign": lambda x: (x > 0) - (x < 0),
        "maximum": max, "minimum": min, "select": lambda c, a, b: a if c else b,
        "exp": math.exp, "log": math.log, "tanh": math.tanh, "sqrt": math.sqrt,
        "sin": math.sin, "cos": math.cos,
    }  # fmt: skip
    for i in range(20):
        one = {key: float(x[i]) for key, x in given.items()}
        assert eval(source(FORMULAS[name]), names, one) == pytest.approx(float(wanted[i]))


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "q.real",
        "q if k else p0",
        "exec(q)",
        "q < k < p0",
        "z",
        "q ** k()",
        "q +",
    ],
)
def test_nothing_but_a_formula_is_read(text):
    with pytest.raises(ValueRangeError, match="not a formula in q, k, p0, p1"):
        parse(text)


def test_infinity_survives_the_text():
    assert (
        float(evaluate(parse(str(e.where(q < 0.0, 0.0, -math.inf))), {"q": torch.ones(1)}))
        == -math.inf
    )


def test_every_score_of_ours_is_a_formula():
    for phi in (Additive.PHI, Gaussian.PHI, Cauchy.PHI, Tricube.PHI, CosineKernel.PHI):
        assert str(parse(phi)) == phi


@pytest.mark.parametrize(
    ("phi", "message"),
    [
        (lambda q, k: min(k, q), "a formula has no truth value: use where(condition, a, b) "
         "instead of if, and, or"),
        (lambda q, k: q**k, "a formula can be raised to a number only, got Formula"),
        (lambda q, k: q + "a", "a formula holds numbers and formulas, got str"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_formula_says_why(phi, message):
    with pytest.raises(KindError) as raised:
        Elementwise(phi)
    assert str(raised.value) == message


def test_a_function_of_the_wrong_arguments_says_what_was_wanted():
    with pytest.raises(KindError, match=r"phi must be a function of q, k and 1 parameter\(s\)"):
        trace(lambda q, k: q, 1)
