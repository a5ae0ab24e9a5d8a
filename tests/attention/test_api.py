"""The door: what it accepts, and what it says to what it does not."""

import pytest
import torch

from regard import (
    Additive,
    Bilinear,
    Causal,
    Cosine,
    Dense,
    Distances,
    Documents,
    Dot,
    Elementwise,
    Epanechnikov,
    Gaussian,
    ImplError,
    KindError,
    Lengths,
    NotSelf,
    ShapeError,
    Slope,
    ValueRangeError,
    Window,
    attend,
    explain,
)
from regard.testing import qkv

X = torch.zeros(2, 3, 4)
W = torch.zeros(4)

MALFORMED = [
    # q, k, v
    (lambda: attend([1.0], X, X), KindError, "q must be a torch.Tensor, got list"),
    (lambda: attend(X, None, X), KindError, "k must be a torch.Tensor, got NoneType"),
    (lambda: attend(X[0, 0], X, X), ShapeError,
     "q must have the axes [*b, n, d], got the shape [4]"),
    (lambda: attend(X, X, X[0, 0]), ShapeError,
     "v must have the axes [*b, m, v], got the shape [4]"),
    (lambda: attend(X.long(), X, X), KindError,
     "q must be float64, float32, bfloat16 or float16, got int64"),
    (lambda: attend(X, X.cfloat(), X), KindError,
     "k must be float64, float32, bfloat16 or float16, got complex64"),
    (lambda: attend(X, X, X.to_sparse()), KindError,
     "v must be a dense tensor, got layout torch.sparse_coo; call v.to_dense()"),
    (lambda: attend(X, X.double(), X), ShapeError,
     "q, k and v must have one dtype: q is float32, k is float64; convert one, or use "
     "torch.autocast"),
    (lambda: attend(X, X, X.bfloat16()), ShapeError,
     "q, k and v must have one dtype: q is float32, v is bfloat16; convert one, or use "
     "torch.autocast"),
    (lambda: attend(X, X.to("meta"), X), ShapeError,
     "q, k and v must be on one device: q is on cpu, k on meta"),
    (lambda: attend(X, X[:1], X), ShapeError,
     "k must have the batch axes of q [2], got [1]; expand k before the call, regard never "
     "broadcasts"),
    (lambda: attend(X, X, X[None]), ShapeError,
     "v must have the batch axes of q [2], got [1, 2]; expand v before the call, regard never "
     "broadcasts"),
    (lambda: attend(X, X, X[:, :2]), ShapeError,
     "k and v must have one row per key: k has m=3, v has m=2 (k [2, 3, 4], v [2, 2, 4])"),
    (lambda: attend(X, X[..., :3], X), ShapeError,
     "Dot compares features one by one: q has d=4, k has e=3; project one of them, or use "
     "Bilinear"),
    # score
    (lambda: attend(X, X, X, score="dot"), KindError,
     "score must be a score of regard.scores, got str"),
    (lambda: attend(X, X, X, score=Dot), KindError,
     "score must be a score of regard.scores, got Dot; did you mean Dot()?"),
    (lambda: Dot(float("inf")), ValueRangeError, "Dot: scale must be finite, got inf"),
    (lambda: Dot("big"), KindError, "Dot: scale must be a number or a tensor, got str"),
    (lambda: Dot(torch.ones(2)), ShapeError,
     "Dot: scale must have one element, got the shape [2]"),
    (lambda: Gaussian(0.0), ValueRangeError,
     "Gaussian: width must be positive and finite, got 0.0"),
    (lambda: Gaussian(-1), ValueRangeError,
     "Gaussian: width must be positive and finite, got -1"),
    (lambda: Epanechnikov(float("nan")), ValueRangeError,
     "Epanechnikov: width must be positive and finite, got nan"),
    (lambda: Gaussian("wide"), KindError,
     "Gaussian: width must be a number or a tensor, got str"),
    (lambda: Gaussian(True), KindError,  # noqa: FBT003 - the mistake itself
     "Gaussian: width must be a number or a tensor, got bool"),
    (lambda: Gaussian(torch.tensor([1])), KindError,
     "Gaussian: width must be a floating point tensor, got torch.int64"),
    (lambda: attend(X, X, X, score=Gaussian(torch.ones(3))), ShapeError,
     "Gaussian: width must be a number, or broadcast against the batch axes and features of q "
     "[2, 4]; got the shape [3]"),
    (lambda: Cosine(0), ValueRangeError,
     "Cosine: temperature must be positive and finite, got 0"),
    (lambda: Additive([1.0]), KindError, "Additive: w must be a tensor, got list"),
    (lambda: attend(X, X, X, score=Additive(torch.ones(5))), ShapeError,
     "Additive: w must be a number, or broadcast against the batch axes and features of q "
     "[2, 4]; got the shape [5]"),
    (lambda: Bilinear(1.0), KindError, "Bilinear: W must be a tensor, got float"),
    (lambda: Bilinear(W), ShapeError, "Bilinear: W must be a matrix [d, e], got the shape [4]"),
    (lambda: attend(X, X, X, score=Bilinear(torch.ones(4, 5))), ShapeError,
     "Bilinear: W must be [d, e] = [4, 4] for these q and k, got [4, 5]"),
    (lambda: Elementwise(3.0), KindError, "Elementwise: phi must be a function, got float"),
    (lambda: Elementwise(lambda q, k, p: q, p1=W), KindError,
     "Elementwise: p1 was given without p0; phi takes them in that order"),
    (lambda: Dot() + Dot(), KindError,
     "only a position bias can be added to a score, got Dot; there are Slope and Distances"),
    (lambda: Slope(0.5), KindError, "Slope: slopes must be a floating point tensor, got float"),
    (lambda: Slope(torch.ones(2, 2)), ShapeError,
     "Slope: slopes must have 0 or 1 axes, got [2, 2]"),
    (lambda: Distances(torch.ones(4)), ShapeError,
     "Distances: values must have 2 r + 1 entries, got 4"),
    (lambda: attend(X, X, X, score=Dot() + Slope(torch.ones(3))), ShapeError,
     "Slope has one row for each of 3 heads, q [2, 3, 4] has 2"),
    # mask
    (lambda: attend(X, X, X, mask=True), KindError,
     "mask must be a mask of regard.masks or None, got bool"),
    (lambda: attend(X, X, X, mask=Causal), KindError,
     "mask must be a mask of regard.masks or None, got Causal; did you mean Causal()?"),
    (lambda: attend(X, X, X, mask=torch.ones(3, 3, dtype=torch.bool)), KindError,
     "mask must be a mask of regard.masks or None, got Tensor; wrap it: Dense(mask) if True means "
     "may see, Lengths(mask) if it holds lengths"),
    (lambda: Causal() & torch.ones(1), KindError,
     "only a mask can be combined with a mask, got Tensor"),
    (lambda: Lengths([1.5]), KindError, "Lengths: lengths must be integers, got float32"),
    (lambda: Lengths([float("nan")]), KindError, "Lengths: lengths must be integers, got float32"),
    (lambda: Lengths(torch.tensor([True])), KindError,
     "Lengths: lengths must be integers, got bool"),
    (lambda: Lengths("3"), KindError, "Lengths: lengths must be integers, got str"),
    (lambda: Lengths(torch.tensor(3)), ShapeError,
     "Lengths: lengths must have 1 to 2 axes, got the shape []"),
    (lambda: Lengths([3, -1]), ValueRangeError, "Lengths: lengths must be 0 or more, got -1"),
    (lambda: attend(X, X, X, mask=Lengths([4, 1])), ValueRangeError,
     "Lengths: lengths must be at most m=3, the number of keys, got 4"),
    (lambda: attend(X, X, X, mask=Lengths([1, 2, 3])), ShapeError,
     "Lengths: lengths must have one entry for each of the 2 sequences, got 3"),
    (lambda: attend(X, X, X, mask=Lengths([[1, 2], [1, 2]])), ShapeError,
     "Lengths: lengths [b, n] must have n=3 columns, got 2"),
    (lambda: attend(X[0], X[0], X[0], mask=Lengths([1])), ShapeError,
     "Lengths needs a batch axis: q is [n, d]; use q[None], k[None], v[None]"),
    (lambda: Causal(1.0), KindError, "Causal: offset must be an integer, got 1.0"),
    (lambda: Causal(True), KindError,  # noqa: FBT003 - the mistake itself
     "Causal: offset must be an integer, got True"),
    (lambda: Window(-1), ValueRangeError, "Window: left must be 0 or more, got -1"),
    (lambda: Window(1, 2.5), KindError, "Window: right must be an integer, got 2.5"),
    (lambda: Documents([0, 1, 0]), ValueRangeError,
     "Documents: ids must come in runs, each document in one piece; got the runs [0, 1, 0]"),
    (lambda: attend(X, X, X, mask=Documents([0, 1])), ShapeError,
     "Documents: ids must name n = m positions, got 2 for n=3, m=3"),
    (lambda: attend(X, X, X, mask=Documents(torch.zeros(3, 3, dtype=torch.int64))), ShapeError,
     "Documents: ids [b, n] has 3 rows, q has 2 sequences"),
    (lambda: Dense(torch.ones(3, 3)), KindError,
     "Dense: seen must be a bool tensor, True for what may be seen; got torch.float32"),
    (lambda: Dense(torch.ones(3, dtype=torch.bool)), ShapeError,
     "Dense: seen must have the axes [*b, n, m], got [3]"),
    (lambda: attend(X, X, X, mask=Dense(torch.ones(3, 4, dtype=torch.bool))), ShapeError,
     "Dense: seen must broadcast against [*b, n, m] = [2, 3, 3], got [3, 4]"),
    # the rest
    (lambda: attend(X, X, X, dropout=1.0), ValueRangeError,
     "dropout must be at least 0 and below 1, got 1.0"),
    (lambda: attend(X, X, X, dropout=-0.1), ValueRangeError,
     "dropout must be at least 0 and below 1, got -0.1"),
    (lambda: attend(X, X, X, dropout=float("nan")), ValueRangeError,
     "dropout must be at least 0 and below 1, got nan"),
    (lambda: attend(X, X, X, dropout="half"), KindError, "dropout must be a number, got str"),
    (lambda: attend(X, X, X, seed=0.5), KindError, "seed must be an integer, got float"),
    (lambda: attend(X, X, X, seed=2**63), ValueRangeError,
     "seed must fit in 64 bits, got 9223372036854775808"),
    (lambda: attend(X, X, X, seed=torch.zeros(2, dtype=torch.int64)), KindError,
     "seed must be one int64, got torch.int64 of the shape [2]"),
    (lambda: attend(X, X, X, impl="fast"), ValueRangeError,
     "impl must be one of 'auto', 'reference', 'native', 'cpu', 'cudnn', 'triton'; got 'fast'"),
    (lambda: attend(X, X, X, score=Gaussian(), impl="native"), ImplError,
     "impl='native' cannot run this call: torch has the dot product with a fixed scale only, the "
     "score is Gaussian"),
    (lambda: attend(X, X, X, mask=NotSelf(), impl="native"), ImplError,
     "impl='native' cannot run this call: torch would need NotSelf written out as n x m"),
    (lambda: attend(X, X, X, score=Dot(-0.5), impl="native"), ImplError,
     "impl='native' cannot run this call: torch scales after it has masked, and the scale is -0.5"),
    (lambda: attend(X[:, :2], X, X, mask=Causal(), impl="native"), ImplError,
     "impl='native' cannot run this call: torch aligns a causal mask in its own way, n=2 is not "
     "m=3"),
    (lambda: attend(X, X, X, dropout=0.1, impl="native"), ImplError,
     "impl='native' cannot run this call: its dropout mask would be another one than everywhere "
     "else"),
    (lambda: attend(X, X, X[..., :3], impl="native"), ImplError,
     "impl='native' cannot run this call: torch needs d = v, got d=4, v=3"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "error", "message"), MALFORMED, ids=[message[:40] for _, _, message in MALFORMED]
)
def test_message(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message


def test_there_are_more_than_forty_of_them():
    assert len(MALFORMED) > 40


def test_autocast_takes_mixed_dtypes_to_one():
    q, k, v = qkv(2, n=30, m=40, d=8, v=8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        got = attend(q.bfloat16(), k, v)
        wide = attend(q.double(), k.double(), v.double())
    assert got.dtype == torch.bfloat16
    assert wide.dtype == torch.float64
    wanted = attend(q.bfloat16(), k.bfloat16(), v.bfloat16())
    assert torch.equal(got, wanted)


def test_autocast_does_not_reach_into_the_arithmetic():
    q, k, v = (x.bfloat16() for x in qkv(2, n=30, m=40, d=8, v=8))
    score = Bilinear(torch.randn(8, 8))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = attend(q, k, v, score=score)
    assert torch.equal(inside, attend(q, k, v, score=score))


def test_no_random_number_is_drawn_without_dropout():
    q, k, v = qkv(2, n=3, m=4, d=5, v=6)
    before = torch.get_rng_state()
    attend(q, k, v)
    assert torch.equal(torch.get_rng_state(), before)
    attend(q, k, v, dropout=0.5)
    assert not torch.equal(torch.get_rng_state(), before)


def test_the_global_seed_decides_when_no_seed_is_given():
    q, k, v = qkv(2, n=30, m=40, d=5, v=6)
    torch.manual_seed(3)
    first = attend(q, k, v, dropout=0.5)
    second = attend(q, k, v, dropout=0.5)
    torch.manual_seed(3)
    assert torch.equal(attend(q, k, v, dropout=0.5), first)
    assert not torch.equal(first, second)


def test_a_seed_may_be_a_tensor():
    q, k, v = qkv(2, n=30, m=40, d=5, v=6)
    got = attend(q, k, v, dropout=0.5, seed=torch.tensor(-7))
    assert torch.equal(got, attend(q, k, v, dropout=0.5, seed=-7))


def test_explain_says_what_attend_would_do():
    q, k, v = qkv(2, n=300, m=300, d=16, v=16)
    assert explain(q, k, v).impl == "native"
    assert str(explain(q, k, v, score=Gaussian(), mask=Window(3, 3))) == (
        "cpu: the fastest that takes this call on cpu\n"
        "not native: torch has the dot product with a fixed scale only, the score is Gaussian"
    )
    with pytest.raises(ShapeError):
        explain(q, k, v[:, :2])


def test_explain_takes_what_attend_takes():
    same = {"score": Gaussian(), "dropout": 0.5, "seed": 3, "precision": "tf32", "impl": "cpu"}
    assert explain(X, X, X, **same).impl == "cpu"
    with pytest.raises(ValueRangeError, match="precision must be 'exact' or 'tf32', got 'bf16'"):
        explain(X, X, X, precision="bf16")


@pytest.mark.parametrize("impl", ["reference", "cpu"])
def test_no_features_and_a_parameter_that_learns(impl):
    q = torch.zeros(3, 0, requires_grad=True)
    width = torch.tensor(1.0, requires_grad=True)
    attend(q, q, torch.eye(3), score=Gaussian(width), impl=impl).sum().backward()
    assert width.grad == 0
