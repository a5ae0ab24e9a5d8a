"""Hard attention: what is drawn, and what the two estimators estimate."""

import pickle
from copy import deepcopy
from itertools import product

import pytest
import torch
from examples.hard_attention import KINDS, learn

from regard.errors import KindError, ShapeError, StateError, ValueRangeError
from regard.layers import DotProductAttention
from regard.layers.hard import HardAttention
from regard.masks import Causal, Lengths
from regard.scores import Bilinear, Gaussian
from regard.testing import qkv

ESTIMATORS = ["straight-through", "score-function"]
Q, K, V = qkv(2, n=4, m=5, d=3, v=2, seed=1)


def copies(*tensors, count):
    """The first example of each, many times over, and each copy with a gradient of its own."""
    return [x[:1].double().repeat(count, 1, 1).requires_grad_() for x in tensors]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_keys_are_drawn_as_often_as_their_weights_say(estimator):
    torch.manual_seed(0)
    attention = HardAttention(3, estimator=estimator)
    q, k, v = copies(Q, K, V, count=20_000)
    out = attention(q, k, v, mask=Causal())
    w = attention.attention_weights[0]
    often = torch.nn.functional.one_hot(attention.choices, 5).double().mean(0)
    sigma = (w * (1 - w) / 20_000).sqrt()
    assert ((often - w).abs() <= 5 * sigma).all()  # a hidden key: never, as its sigma is 0
    assert torch.equal(out, v.gather(1, attention.choices[..., None].expand(-1, -1, 2)))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_in_eval_mode_the_likeliest_key_is_taken(estimator):
    attention = HardAttention(3, estimator=estimator).eval()
    out = attention(Q, K, V)
    best = (Q @ K.mT).argmax(-1)
    assert torch.equal(attention.choices, best)
    assert torch.equal(out, V.gather(1, best[..., None].expand(-1, -1, 2)))
    torch.testing.assert_close(attention.attention_weights, (Q @ K.mT / 3**0.5).softmax(-1))


def test_a_seed_repeats_the_draw():
    attention = HardAttention(3)
    drawn = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        attention(Q.repeat(50, 1, 1), K.repeat(50, 1, 1), V.repeat(50, 1, 1))
        drawn.append(attention.choices)
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])


def test_a_clock_that_rings_at_once_lets_no_hidden_key_win(monkeypatch):
    monkeypatch.setattr(torch.Tensor, "exponential_", lambda x: x.zero_())
    attention = HardAttention(3)
    attention(Q, K, V, mask=Causal(offset=-1) & Lengths([3, 0]))
    assert (attention.choices[0] < torch.arange(4)).all()
    assert (attention.choices[1] == -1).all()


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_query_that_sees_nothing_gets_zeros_and_sends_none(estimator, training):
    attention = HardAttention(3, estimator=estimator).train(training)
    q, k, v = (x.clone().requires_grad_() for x in (Q, K, V))
    out = attention(q, k, v, torch.tensor([0, 5]))
    assert not out[0].any()
    assert (attention.choices[0] == -1).all()
    assert (attention.choices[1] >= 0).all()
    assert not attention.log_probability[0].any()
    (out.square().sum() + attention.log_probability.sum()).backward()
    for x in (q, k, v):
        assert not x.grad[0].any()
        assert x.grad[1].any()


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(("b", "n", "m"), [(2, 3, 0), (2, 0, 3), (0, 2, 3)])
def test_empty_calls(estimator, b, n, m):
    attention = HardAttention(3, estimator=estimator)
    q, k, v = qkv(b, n=n, m=m, d=3, v=2)
    assert torch.equal(attention(q, k, v), torch.zeros(b, n, 2))
    assert attention.choices.shape == (b, n)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_garbage_that_is_hidden_changes_nothing_and_nan_that_is_seen_shows(estimator):
    attention = HardAttention(3, estimator=estimator)
    lens = torch.tensor([3, 2])
    results = []
    for garbage in (7.0, torch.nan, torch.inf):
        k, v = K.clone(), V.clone()
        k[:, 3:], v[:, 3:] = garbage, garbage
        q, k, v = (x.clone().requires_grad_() for x in (Q, k, v))
        torch.manual_seed(0)
        out = attention(q, k, v, lens)
        (out.square().sum() + attention.log_probability.square().sum()).backward()
        results.append((out, q.grad, k.grad, v.grad))
    for other in results[1:]:
        assert all(torch.equal(x, y) for x, y in zip(results[0], other, strict=True))
    k = K.clone()
    k[0, 1, 0] = torch.nan
    out = attention(Q, k, V)
    assert out[0].isnan().all()
    assert out[1].isfinite().all()


def test_straight_through_has_the_gradient_of_the_soft_average():
    weight = torch.linspace(-1, 1, 16).view(2, 4, 2)
    grads = []
    for attention in (HardAttention(3), DotProductAttention(0.0)):
        inputs = [x.clone().requires_grad_() for x in (Q, K, V)]
        (attention(*inputs, torch.tensor([3, 5])) * weight).sum().backward()
        grads.append([x.grad for x in inputs])
    for got, wanted in zip(*grads, strict=True):
        torch.testing.assert_close(got, wanted)


def test_the_score_function_sends_the_output_s_gradient_to_the_drawn_value_alone():
    attention = HardAttention(3, estimator="score-function")
    q, k, v = (x.clone().requires_grad_() for x in (Q, K, V))
    attention(q, k, v).sum().backward()
    drawn = torch.nn.functional.one_hot(attention.choices, 5).sum(1).float()
    assert torch.equal(v.grad, drawn[..., None].expand_as(v))
    assert q.grad is None


def loss_of(out):
    """A loss that ties the queries together, [b]: no query's part can be told apart."""
    return (out[:, 0, 0] * out[:, 1, 1] + out.square().sum((1, 2)).sin() + 3).square()


def exact_gradient():
    """Of the expected loss: every way to choose, and its probability."""
    q, k, v = copies(Q[:, :2], K[:, :3], V[:, :3], count=1)
    p = (q @ k.mT / 3**0.5).softmax(-1)[0]
    expected = sum(
        p[0, i] * p[1, j] * loss_of(v[:, [i, j]]).sum() for i, j in product(range(3), repeat=2)
    )
    return expected.item(), torch.autograd.grad(expected, (q, k, v))


def sampled_gradients(attention, baseline, count=40_000):
    """One gradient a draw, for q, k and v."""
    q, k, v = copies(Q[:, :2], K[:, :3], V[:, :3], count=count)
    loss = loss_of(attention(q, k, v))
    (loss.mean() + attention.surrogate(loss, baseline)).backward()
    return [x.grad * count for x in (q, k, v)]


@pytest.mark.parametrize("baseline", ["none", "number", "one a draw", "running mean"])
def test_the_score_function_is_right_on_average(baseline):
    torch.manual_seed(0)
    attention = HardAttention(3, estimator="score-function").double()
    expected, wanted = exact_gradient()
    given = {"none": 0, "number": expected, "one a draw": torch.randn(40_000).double() + expected}
    if baseline == "running mean":
        for _ in range(3):
            sampled_gradients(attention, None, count=100)
        assert attention.baseline.item() == pytest.approx(expected, rel=0.2)
    for got, exact in zip(sampled_gradients(attention, given.get(baseline)), wanted, strict=True):
        sigma = got.std(0) / len(got) ** 0.5
        assert (sigma > 0).all()
        assert ((got.mean(0) - exact[0]).abs() <= 5 * sigma).all()


def test_a_baseline_takes_noise_away():
    torch.manual_seed(0)
    attention = HardAttention(3, estimator="score-function").double()
    expected, _ = exact_gradient()
    plain, helped = (
        [float(x.var(0).sum()) for x in sampled_gradients(attention, baseline)[:2]]
        for baseline in (0, expected)
    )
    for before, after in zip(plain, helped, strict=True):
        assert after < 0.5 * before


def test_a_loss_a_query_credits_each_query_with_its_own():
    torch.manual_seed(0)
    attention = HardAttention(3, estimator="score-function")
    q = Q.clone().requires_grad_()
    out = attention(q, K, V)
    loss = torch.zeros(2, 4)
    loss[1, 2] = 8.0
    attention.surrogate(loss, baseline=0).backward()
    assert q.grad[1, 2].any()
    q.grad[1, 2] = 0
    assert not q.grad.any()
    log_p = attention.log_probability
    assert attention.surrogate(loss, 0).item() == pytest.approx(log_p[1, 2].item())
    wanted = (out.detach().sum((1, 2)) * log_p.sum(1)).mean()
    got = attention.surrogate(out.sum((1, 2)), 0)
    assert got.item() == pytest.approx(wanted.item())


def test_the_baseline_is_the_mean_of_earlier_losses():
    attention = HardAttention(3, estimator="score-function", momentum=0.7)
    log_p = None
    mean = 0.0
    for step, loss in enumerate([4.0, 2.0, 6.0, 1.0, 1.0, 9.0]):
        attention(Q, K, V)
        log_p = attention.log_probability.sum(-1)
        got = attention.surrogate(torch.full((2,), loss))
        assert got.item() == pytest.approx(((loss - mean) * log_p.mean()).item(), rel=1e-4)
        mean += max(0.3, 1 / (step + 1)) * (loss - mean)  # a plain mean, until momentum takes over
        assert attention.baseline.item() == pytest.approx(mean)
    attention.surrogate(torch.zeros(2), baseline=3.0)
    assert attention.baseline.item() == pytest.approx(mean)  # a given one is not mixed in
    other = HardAttention(3, estimator="score-function")
    other.load_state_dict(attention.state_dict())
    assert other.baseline.item() == pytest.approx(mean)


@pytest.mark.parametrize("kind", KINDS)
def test_it_learns_what_soft_attention_learns(kind):
    curve = learn(kind, steps=75)
    assert curve[0] < 0.3
    assert curve[-1] > 0.95


@pytest.mark.parametrize(
    "score",
    ["dot", "additive", "cosine", "gaussian", "laplacian", "cauchy", Gaussian(0.5)],
    ids=str,
)
def test_scores(score):
    attention = HardAttention(3, score=score, estimator="score-function")
    attention(Q, K, V)
    w = attention.attention_weights
    torch.testing.assert_close(w.sum(-1), torch.ones(2, 4))
    wanted = w.gather(-1, attention.choices[..., None]).squeeze(-1).log()
    torch.testing.assert_close(attention.log_probability, wanted)
    learned = list(attention.parameters())
    assert bool(learned) == (score in ("additive", "cosine", "gaussian", "laplacian", "cauchy"))
    if learned:
        attention.surrogate(torch.rand(2)).backward()
        assert learned[0].grad.any()


def test_keys_may_have_another_width_where_the_score_takes_it():
    attention = HardAttention(3, score=Bilinear(torch.randn(3, 7)))
    assert attention(Q, torch.randn(2, 5, 7), V).shape == (2, 4, 2)


def test_half_precision_and_autocast():
    attention = HardAttention(3)
    assert attention(Q.bfloat16(), K.bfloat16(), V.bfloat16()).dtype == torch.bfloat16
    assert attention.log_probability.dtype == torch.float32
    attention.eval()(Q.bfloat16(), K.bfloat16(), V.bfloat16())
    outside = attention.log_probability
    with torch.autocast("cpu", torch.bfloat16):
        attention(Q, K, V)
    assert torch.equal(attention.log_probability, outside)


def test_copies_leave_the_last_call_behind():
    attention = HardAttention(3, score="additive", estimator="score-function")
    attention(Q, K, V)
    for copy in (deepcopy(attention), pickle.loads(pickle.dumps(attention))):
        with pytest.raises(StateError):
            copy.choices  # noqa: B018
        assert copy(Q, K, V).shape == (2, 4, 2)


def called(**options):
    attention = HardAttention(3, **options)
    attention(Q, K, V)
    return attention


FUNCTION = {"estimator": "score-function"}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: HardAttention(0), ValueRangeError,
         "HardAttention: width must be at least 1, got 0"),
        (lambda: HardAttention(3, estimator="gumbel"), ValueRangeError,
         "HardAttention: estimator must be 'straight-through' or 'score-function', got 'gumbel'"),
        (lambda: HardAttention(3, momentum=1), ValueRangeError,
         "HardAttention: momentum must be at least 0 and below 1, got 1"),
        (lambda: HardAttention(3, momentum="0.9"), KindError,
         "HardAttention: momentum must be a number, got '0.9'"),
        (lambda: HardAttention(4)(Q, K, V), ShapeError,
         "HardAttention: queries must be [b, n, 4], got the shape [2, 4, 3]"),
        (lambda: HardAttention(3)(Q, K[..., :2], V), ShapeError,
         "Dot compares features one by one: q has d=3, k has e=2; project one of them, or use "
         "Bilinear"),
        (lambda: HardAttention(3)(Q, K, V[:, :2]), ShapeError,
         "k and v must have one row per key: k has m=5, v has m=2 (k [2, 5, 3], v [2, 2, 2])"),
        (lambda: HardAttention(3)(Q, K, V, torch.tensor([9, 1])), ValueRangeError,
         "Lengths: lengths must be at most m=5, the number of keys, got 9"),
        (lambda: HardAttention(3).choices, StateError,
         "HardAttention has not been called yet: it has no choices"),
        (lambda: HardAttention(3).log_probability, StateError,
         "HardAttention has not been called yet: it has no log_probability"),
        (lambda: HardAttention(3, **FUNCTION).surrogate(torch.zeros(2)), StateError,
         "HardAttention has not been called yet: it has no log_probability"),
        (lambda: called().surrogate(torch.zeros(2)), StateError,
         "HardAttention: surrogate belongs to estimator='score-function'; with 'straight-through' "
         "the output has the gradient already"),
        (lambda: called(**FUNCTION).surrogate(torch.zeros(())), ShapeError,
         "HardAttention: loss must be [b] = [2] or [b, n] = [2, 4], got the shape []; keep it "
         "apart for each example"),
        (lambda: called(**FUNCTION).surrogate(torch.zeros(2), torch.zeros(2, 1)), ShapeError,
         "HardAttention: baseline must be a number or have the shape of loss [2], got the shape "
         "[2, 1]"),
    ],
)  # fmt: skip
def test_message(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message


def test_surrogate_after_eval_is_refused():
    attention = HardAttention(3, **FUNCTION).eval()
    attention(Q, K, V)
    with pytest.raises(StateError) as raised:
        attention.surrogate(torch.zeros(2))
    assert str(raised.value) == (
        "HardAttention: surrogate needs keys that were drawn, and the last call was in eval mode; "
        "call train() first"
    )
