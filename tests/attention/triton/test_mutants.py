"""That a slip in the kernels would be noticed: one line changed at a time."""

import math
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from regard import Additive, Causal, Dot, Gaussian, Lengths, NotSelf, Window
from regard.attention.call import make_call
from regard.attention.generated import loaded
from regard.scores import Distances, Slope
from regard.testing import qkv
from tests.attention.triton.calls import a_case, as_far_as, learned, number
from tests.attention.triton.conftest import INTERPRETED
from tests.cases import Case

build = pytest.importorskip("regard.attention.triton.build", exc_type=ImportError)
from triton.runtime.errors import InterpreterError  # noqa: E402 - not without Triton

FOLDER = Path(build.__file__).parent
PACKAGE = "regard.attention.triton"
# imports go back only
ORDER = (
    *("elementary", "visible", "tile", "additive", "matrix", "substitution", "pull", "looking"),
    *("fours", "pipelined"),
)


@dataclass
class Overview:
    """As a case: what each row has in two runs of two cells of two tiles, some rows done again."""

    reduce: str
    device: str = "cpu"

    def agree(self, impl, dtype, gradients):
        q, k, _ = (x.to(self.device, dtype) for x in qkv(2, n=20, m=128, d=6, v=1))
        k[:, :16, 0], k[:, 16:, 0] = 0.0, 4.0
        q[1, 7, 0] = 85.0  # later scores are 2^200 times the first ones
        call = make_call(q, k, k.new_zeros(2, 128, 0), Dot().form(q, k), None)
        got = import_module(f"{PACKAGE}.inspection").Look(call).overview(20, 4, self.reduce)
        s = q.double() @ k.double().mT / math.sqrt(6)
        w = s.softmax(2).unflatten(2, (4, 32))
        wanted = w.sum(3) if self.reduce == "mass" else w.amax(3)
        assert (got - wanted).abs().max() <= 1e-4


@dataclass
class Part:
    """As a case: a part of the weights that begins within a tile."""

    device: str = "cpu"

    def agree(self, impl, dtype, gradients):
        q, k, v = (x.to(self.device, dtype) for x in qkv(1, n=150, m=170, d=64, v=0))
        w = learned(64).to(self.device, dtype)
        call = make_call(q, k, v, Additive(w).form(q, k), None)
        look = import_module(f"{PACKAGE}.inspection").Look(call)
        got = look.weights(slice(37, 140), slice(61, 160))
        s = (w.double() * torch.tanh(q.double()[:, :, None] + k.double()[:, None])).sum(3)
        assert (got - s.softmax(2)[:, 37:140, 61:160]).abs().max() <= 1e-6


BOTH = Lengths(torch.tensor([33, 40])) & Window(left=20, right=9) & NotSelf()
WIDER = Window(left=40, right=30) & NotSelf()
# Each is a call, or two, as small as shows what it is there for: tiles are 16 x 32.
CHECKS = {
    "spans": lambda: [(a_case(Dot(-0.6), BOTH, 33, 40, dropout=0.3, seed=5), torch.float32)],
    "whole": lambda: [(a_case(Dot(-0.6), None, 32, 96, size=2.0), torch.float32)],
    "table": lambda: [(a_case(Dot() + Slope(learned(2).abs()), None, 17, 40), torch.float32)],
    "half": lambda: [(a_case(Dot(), Causal(), 33, 40), torch.bfloat16)],
    "not-self": lambda: [(a_case(Dot(), NotSelf(), 33, 100, d=4), torch.float32)],
    "edge": lambda: [(a_case(Dot(), Lengths(torch.tensor([33, 0])), 50, 64), torch.float32)],
    # scores near -180, in base 2 -260: whose exponentials float32 does not hold
    "below": lambda: [(a_case(Dot(-4.0), None, 17, 33, size=0.1, away=3.0), torch.float32)],
    "features": lambda: [
        (
            a_case(
                Gaussian(number(1.5)) + Distances(learned(2, 9)), BOTH, 33, 40, dropout=0.3, seed=5
            ),
            torch.float32,
        )
    ],
    "features-whole": lambda: [(a_case(Gaussian(0.5), None, 17, 96), torch.float32)],
    "features-one": lambda: [(a_case(Gaussian(0.5), None, 17, 96, v=1), torch.float32)],
    "features-edge": lambda: [
        (a_case(Gaussian(), Lengths(torch.tensor([33, 17])), 17, 64), torch.float32)
    ],
    "additive": lambda: [(a_case(Additive(learned(5)), BOTH, 17, 40), torch.float32)],
    "additive-near": lambda: [
        (a_case(Additive(learned(5)), None, 17, 33, size=0.2), torch.float32)
    ],
    "additive-far": lambda: [
        (a_case(Additive(learned(5)), None, 17, 33, size=20.0), torch.float32)
    ],
    "additive-edge": lambda: [
        (a_case(Additive(learned(5)), Lengths(torch.tensor([33, 17])), 17, 64), torch.float32)
    ],
    "additive-wide": lambda: [(a_case(Additive(learned(12)), None, 17, 33, d=12), torch.float32)],
    "additive-few": lambda: [(a_case(Additive(learned(5)), BOTH, 17, 40), torch.float32)],
    "features-few": lambda: [(a_case("gaussian", None, 17, 70), torch.float32)],
    "additive-deep": lambda: [(a_case(Additive(learned(40)), None, 17, 33, d=40), torch.float32)],
    "fours": lambda: [
        (
            a_case(Additive(learned(64)), WIDER, 70, 90, d=64, batch=3, dropout=0.3, seed=5),
            torch.float32,
        )
    ],
    "fours-part": lambda: [(Part(), torch.float32)],
    "fours-empty": lambda: [
        (a_case(Additive(learned(64)), Causal(offset=-7), 70, 70, d=64), torch.float32)
    ],
    # beyond what four multiplied out may be
    "fours-far": lambda: [
        (
            Case(*(x.double() for x in as_far_as(5.75, 70, 90)), Additive(learned(64))),
            torch.float32,
        )
    ],
    "fours-whole": lambda: [
        (a_case(Additive(learned(64)), None, 70, 192, d=64, batch=3), torch.float32)
    ],
    "additive-careful": lambda: [
        (a_case(Additive(learned(40)), None, 17, 33, d=40), torch.float32)
    ],
}
CHECKS |= {
    f"pipelined{name}": lambda n=n, m=m, mask=mask: [
        (a_case(Dot(), mask, n, m, 64, 64, size=2.0), torch.bfloat16)
    ]
    for name, n, m, mask in (
        ("", 140, 390, Lengths(torch.tensor([333, 200])) & Window(left=200, right=100)),
        ("-whole", 256, 320, None),
        ("-ragged", 130, 200, None),
    )
}
CHECKS |= {
    f"overview-{reduce}": lambda reduce=reduce: [(Overview(reduce), torch.bfloat16)]
    for reduce in ("mass", "max")
}
LONG = {"whole-long": "whole", "features-long": "features-whole"}

MUTANTS = {
    "a span one too long": (
        "visible", "seen = (first <= j) & (j < last)", "seen = (first <= j) & (j <= last)", "spans",
    ),
    "the first key ignored": (
        "visible", "first = tl.maximum(tl.load(lo + rows, mask=there, other=0), 0)",
        "first = tl.where(there, 0, 0)", "spans",
    ),
    "a skipped last tile": (
        "visible", "stop = (tl.max(tl.where(some, last, 0), 0) + BN - 1) // BN",
        "stop = tl.max(tl.where(some, last, 0), 0) // BN", "edge",
    ),
    "a tile taken for whole": (
        "visible", "b = tl.min(tl.where(there, last, m), 0) // BN",
        "b = (tl.min(tl.where(there, last, m), 0) + BN - 1) // BN", "edge",
    ),
    "the diagonal not left out": (
        "visible", "return tl.where(a + t < d0, a + t, a + t + (d1 - d0))", "return a + t",
        "not-self",
    ),
    "a query that sees itself": ("visible", "seen = seen & (i != j)", "seen = seen", "not-self"),
    "a wrong constant of dropout": ("visible", "0x85EBCA6B", "0x85EBCA6D", "spans"),
    "a dropped rescale of the total": (
        "matrix", "total = total * decay + tl.sum(p, 1)", "total = total + tl.sum(p, 1)", "whole",
    ),
    "a dropped rescale of the average": (
        "matrix", "values, acc * decay[:, None], PRECISION)", "values, acc, PRECISION)", "whole",
    ),
    "a dropped rescale of a long average": (
        "matrix", "acc = acc * decay.to(tl.float64)[:, None] + part.to(tl.float64)",
        "acc = acc + part.to(tl.float64)", "whole-long",
    ),
    "a wrong first maximum": (
        "matrix", 'top = tl.full([BM], float("-inf"), tl.float32)',
        "top = tl.full([BM], 0.0, tl.float32)", "below",
    ),
    "a lost scale": (
        "matrix", "shifted(s * scale, norm[:, None], WIDE)",
        "shifted(s, norm[:, None], WIDE)", "whole",
    ),
    "a lost factor of dq": (
        "matrix", "(acc * factor).to(dq.dtype.element_ty)", "acc.to(dq.dtype.element_ty)", "whole",
    ),
    "a lost factor of dk": (
        "matrix", "(acc_k * factor).to(dk.dtype.element_ty)", "acc_k.to(dk.dtype.element_ty)",
        "whole",
    ),
    "what dropout leaves not scaled up": (
        "matrix", "given = tl.where(stays, p * keep_scale, 0.0)",
        "given = tl.where(stays, p, 0.0)", "spans",
    ),
    "the mean not subtracted": (
        "matrix", "ds = p * shifted(likes, mean, WIDE)", "ds = p * likes", "whole",
    ),
    "the mean lost in half precision": (
        "matrix", "found = tl.sum(x * y, 1)", "found = tl.sum(x, 1)", "half",
    ),
    "the bias of a neighbour": ("matrix", "(j - i + (n - 1))", "(j - i + n)", "table"),
    "a tile of keys whose first is seen alone": (
        "matrix", "(there & (a < j1) & (b > j0) & (a < b))",
        "(there & (a < j1) & (b > j0 + 1) & (a < b))", "edge",
    ),
    "blocks behind the whole ones": (
        "matrix", "for t in range((whole - begin) + (end - broken)):",
        "for t in range(whole - begin):", "edge",
    ),
    "a dropped rescale, features": (
        "features", "acc = acc * decay[:, None]", "acc = acc", "features-whole",
    ),
    "a dropped rescale of one value": (
        "features", "acc = acc * decay + part", "acc = acc + part", "features-one",
    ),
    "a dropped rescale of the total, features": (
        "features", "total = total * decay + sum_over_keys(p, F)",
        "total = total + sum_over_keys(p, F)", "features-whole",
    ),
    "a dropped rescale of a long total": (
        "features", "total = total * decay.to(tl.float64) + sum_over_keys(p, F).to(tl.float64)",
        "total = total + sum_over_keys(p, F).to(tl.float64)", "features-long",
    ),
    "a piece of values left out": (
        "features", "for c0 in range(0, BN, CHUNK):", "for c0 in range(CHUNK, BN, CHUNK):",
        "features-whole",
    ),
    "what dropout leaves not scaled up, features": (
        "features", "tl.store(weights + at, tl.where(stays, p * keep_scale, 0.0), mask=inside)",
        "tl.store(weights + at, tl.where(stays, p, 0.0), mask=inside)", "features",
    ),
    "the mean of the weights": (
        "features", "weighted += tl.sum(p * g, 1)", "weighted += tl.sum(p, 1)", "features-whole",
    ),
    "the diagonal of a neighbour": (
        "features", "distance = t - (n - 1)", "distance = t - n", "features",
    ),
    "keys whose first is seen alone": (
        "features", "(first < j0 + BJ) & (last > j0) & (first < last)",
        "(first < j0 + BJ) & (last > j0 + 1) & (first < last)", "features-edge",
    ),
    "an own factor halved": ("pull", "4.0 * w if KIND == 2", "2.0 * w if KIND == 2", "additive"),
    "a sign of w's gradient": ("pull", "(-2.0 if KIND == 2", "(2.0 if KIND == 2", "additive"),
    "a slope of one side": (
        "pull", "sa, sb = sa * (1.0 - xa * xa), sb * (1.0 - xb * xb)", "pass", "additive-near",
    ),
    "a slope of tanh itself": (
        "pull", "sent(dsb, tanh_slope(xb + y))", "sent(dsb, tanh(xb + y))", "additive-far",
    ),
    "a slope in float64": ("pull", "slope = 4.0 * t", "slope = 2.0 * t", "additive-few"),
    "a tile of queries left out of a sum over queries": (
        "pull", "finished(tl.sum(sa, 0) + tl.sum(sb, 0)", "finished(tl.sum(sa, 0)", "additive",
    ),
    "what was added before forgotten": (
        "pull", "new = old + part.to(tl.float64)", "new = part.to(tl.float64)", "additive",
    ),
    "a group of keys left out": (
        "pull", "for g in range(0, KEYS if EVEN else keys, GROUP):",
        "for g in range(GROUP, KEYS if EVEN else keys, GROUP):", "additive",
    ),
    "a block whose first key is seen alone": (
        "pull", "(last > j_first + j0) & (first < last)",
        "(last > j_first + j0 + 1) & (first < last)", "additive-edge",
    ),
    "queries of another warp": (
        "tile", "tl.arange(0, WARPS)[None, :] * each + tl.arange(0, each)[:, None]",
        "tl.arange(0, WARPS)[None, :] + tl.arange(0, each)[:, None] * WARPS", "additive-wide",
    ),
    "a sum over the keys of a thread alone": (
        "tile", "tl.sum(tl.sum(x, 1), 2)", "tl.max(tl.sum(x, 1), 2)", "additive-wide",
    ),
    "all but the last feature of few forgotten": (
        "features", "s += one_feature(", "s = one_feature(", "features-few",
    ),
    "a total of few not rescaled": (
        "features", "decay, p = exp2_of((top - unit) * LOG2E),", "decay, p = exp2_of(0.0 * unit),",
        "features-few",
    ),
    "slopes of few without their sign": (
        "features", "acc, lost = added(acc, lost, tl.sum(pulled(ds,",
        "acc, lost = added(acc, lost, -tl.sum(pulled(ds,", "features-few",
    ),
    "some features forgotten": ("additive", "s = s + part", "s = part", "additive-deep"),
    "some features forgotten, with care": (
        "additive", "s, rest = added(s, rest, part)", "s, rest = part, rest", "additive-careful",
    ),
    "an infinite total taken for one": (
        "looking", 'fit = (total > LEAST_TOTAL) & (total < float("inf"))',
        "fit = total > LEAST_TOTAL", "overview-mass",
    ),
    "a row to be done again left as it is": (
        "looking", "there = norm != norm", "there = norm > norm", "overview-mass",
    ),
    "a cell that goes on behind its end": (
        "looking", "if tile % EACH == EACH - 1:", "if tile % EACH == 0:", "overview-mass",
    ),
    "a cell with the largest of those before": (
        "looking", 'most = tl.full([BM, 8], float("-inf"), tl.float32)\n            tl.store',
        "tl.store", "overview-max",
    ),
    "a weight without its sign": (
        "fours", "tl.where(choice & 8 != 0, d, -d)", "tl.where(choice & 8 != 0, d, d)", "fours",
    ),
    "a feature never chosen": ("fours", "return ((b * c) * a) * d", "return (b * c) * a", "fours"),
    "a product of two pieces left out": (
        "fours", "acc = gl.warpgroup_mma(a[1], b[0], acc, is_async=True)", "", "fours",
    ),
    "four features twice": (
        "fours", "given = loaded(q, k, w, f + 12,", "given = loaded(q, k, w, f + 8,", "fours",
    ),
    "a factor overwritten while it is multiplied": (
        "fours", "next_below, next_above = room(KEYS, 16, FACTORS), room(KEYS, 16, FACTORS)",
        "next_below, next_above = below, above", "fours",
    ),
    "a part in place of the sum": ("fours", "        s += part", "        s = part", "fours"),
    "a total of fours not rescaled": (
        "fours", "total = total * decay + tl.sum(p, 1)", "total = total + tl.sum(p, 1)",
        "fours-whole",
    ),
    "an average of fours not rescaled": (
        "fours", "mine.load(OUT) * falling.to(found.dtype)", "mine.load(OUT)", "fours-whole",
    ),
    "a weight of a key that is not seen": (
        "fours", "p = tl.where(seen, exp2_of(", "p = tl.where(inside, exp2_of(", "fours",
    ),
    "an average over nothing": (
        "fours", "total = tl.where(none, 1.0, total)", "total = total", "fours-empty",
    ),
    "a part of the weights from its first query on": (
        "fours", "k + entry * wide_m * h + j_first + c0", "k + entry * wide_m * h + c0",
        "fours-part",
    ),
    "fours of numbers too large": ("substitution", "< 85.0", "< 95.0", "fours-far"),
    "fours given what is for another kernel": (
        "substitution", "if the_kind >= 2:", "if the_kind == 2:", "fours",
    ),
    "a run of cells left out": (
        "looking", "for split in range(splits):", "for split in range(1, splits):", "overview-mass",
    ),
    "an average not rescaled while products are under way": (
        "pipelined", "acc *= gl.convert_layout(decay, gl.SliceLayout(1, OUT))[:, None]", "pass",
        "pipelined-whole",
    ),
    "a total not rescaled while products are under way": (
        "pipelined", "total * decay + tl.sum(p, 1)", "total + tl.sum(p, 1)", "pipelined-whole",
    ),
    "a span one too long, pipelined": (
        "pipelined", "(first[:, None] <= j) & (j < last[:, None])",
        "(first[:, None] <= j) & (j <= last[:, None])", "pipelined",
    ),
    "a span one too long for dq": (
        "pipelined", "(j[None, :] < last[:, None])", "(j[None, :] <= last[:, None])", "pipelined",
    ),
    "a span one too long for dk": (
        "pipelined", "(j[:, None] < last[None, :])", "(j[:, None] <= last[None, :])", "pipelined",
    ),
    "queries behind the last": (
        "pipelined", "seen = (i < n)[None, :] & (j < m)[:, None]", "seen = (j < m)[:, None]",
        "pipelined-ragged",
    ),
    "tiles in another order for keys than for values": (
        "pipelined", "nth_masked(t - whole, start, a, b, b, b)", "nth_masked(t, start, a, b, b, b)",
        "pipelined",
    ),
    "a copy not waited for": ("pipelined", "wait(1)\n", "wait(2)\n", "pipelined-whole"),
    "a copy to where a product still reads": (
        "pipelined", "copy(keys.index(t % 2)", "copy(keys.index((t + 1) % 2)", "pipelined-whole",
    ),
    "a last tile that is never copied": (
        "pipelined", "if t + 2 < count:", "if t + 3 < count:", "pipelined-whole",
    ),
    "a product taken before it is made": (
        "pipelined", "likes, p = gl.warpgroup_mma_wait(1,", "likes, p = gl.warpgroup_mma_wait(2,",
        "pipelined-whole",
    ),
    "the mean not subtracted, pipelined": (
        "pipelined", "p * (likes - mean[:, None])", "p * likes", "pipelined-whole",
    ),
    "the mean of another block": (
        "pipelined", "likes - means.index(t % 3)", "likes - means.index((t + 2) % 3)",
        "pipelined-whole",
    ),
    "a lost factor of dq, pipelined": (
        "pipelined", "(dq * factor)", "dq", "pipelined-whole",
    ),
    "a lost factor of dk, pipelined": (
        "pipelined", "(dk * factor)", "dk", "pipelined-whole",
    ),
    "a centre with the wrong sign": ("substitution", ".to(tl.float64) * sign", ".to(tl.float64)",
        "additive",
    ),
}  # fmt: skip


def modules(name, right, wrong):
    """The kernels with one text changed in one file, and everything that imports it anew."""
    made = {}

    def pointed(text):
        for other, module in made.items():
            text = text.replace(f"from {PACKAGE}.{other} import", f"from {module.__name__} import")
        return text

    for file in ORDER:
        text = (FOLDER / f"{file}.py").read_text(encoding="utf-8")
        if file == name:
            assert right in text, "the line has changed: change the mutant with it"
            text = text.replace(right, wrong)
        if file == name or pointed(text) != text:
            made[file] = loaded(pointed(text), f"mutant_{file}")

    def kernels(phi):
        text = build.written(phi)
        if name == "features":
            assert right in text, "the line has changed: change the mutant with it"
            text = text.replace(right, wrong)
        return loaded(pointed(text), "mutant_features")

    return SimpleNamespace(made=made, kernels=kernels)


RACES = {
    "a copy not waited for",
    "a product taken before it is made",
    "a factor overwritten while it is multiplied",
}
OF_SMALL_TILES = {"the diagonal not left out", "a block whose first key is seen alone"}


def once(kernel, programs, given, *rest, first, **flags):
    """In ``dot._twice``'s place: nothing is done again, which would mend a slip's NaN."""
    notes = torch.full((programs,), -99, dtype=torch.int32, device=given[0].device)
    first(notes)
    assert not notes.any()


def check(name, triton, monkeypatch, device):
    """Raise AssertionError unless the output and every gradient are right."""
    gluon = triton.operands.has_matrix_units(torch.device(device))
    if name.startswith(("fours", "pipelined")) and not gluon:
        pytest.skip("without Gluon, or on another GPU than Hopper's, neither is asked")
    monkeypatch.setattr(triton.dot, "FEW", -1)  # half precision is not widened
    if name.startswith("pipelined"):
        monkeypatch.setattr(triton.dot, "_twice", once)
    if not name.endswith("-few"):
        monkeypatch.setattr(triton.operands, "FEW", -1)  # nor are scores computed in float64
    if not name.endswith(("-few", "-careful")):
        monkeypatch.setattr(triton.operands, "CAREFUL", -1)  # or sums made with care
    if name in LONG:
        monkeypatch.setattr(triton.beside, "LONG", 8)
    for case, dtype in CHECKS[LONG.get(name, name)]():
        object.__setattr__(case, "device", device)
        case.agree("triton", dtype, gradients=20.0)  # a slip is no matter of roundings


@pytest.mark.parametrize("name", [*CHECKS, *LONG])
def test_what_catches_them_passes_without(
    name, triton, monkeypatch, device, small_tiles, small_sweeps, kernels_for_parameters
):
    check(name, triton, monkeypatch, device)


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_slip_is_caught(
    mutant, triton, monkeypatch, tmp_path, device, small_tiles, small_sweeps, kernels_for_parameters
):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path))
    if mutant in OF_SMALL_TILES and not INTERPRETED:
        pytest.skip("its case has one tile of a GPU's size")
    if mutant in RACES and not INTERPRETED:
        pytest.skip("a GPU may win a race; the interpreter's copies and products are always late")
    file, right, wrong, name = MUTANTS[mutant]
    changed = modules(file, right, wrong)
    for other, module in changed.made.items():
        for user in (triton.dot, triton.panels, triton.operands, triton.inspection):
            if hasattr(user, other):
                monkeypatch.setattr(user, other, module)
    monkeypatch.setattr(triton.operands, "kernels", changed.kernels)
    for other in changed.made.keys() & {"fours", "pipelined"}:
        pytest.importorskip(f"{PACKAGE}.{other}", exc_type=ImportError)
        monkeypatch.setattr(triton, other, changed.made[other])
    with pytest.raises((AssertionError, InterpreterError)) as caught:
        check(name, triton, monkeypatch, device)
    assert caught.type is AssertionError or "AssertionError" in str(caught.value)


def test_enough_are_tried():
    files = {file for file, *_ in MUTANTS.values()}
    assert len(MUTANTS) >= 12
    assert files >= {"visible", "matrix", "features"}
