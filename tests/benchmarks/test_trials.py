"""Kernels on trial: right, before anybody times them; and that they can be put in their places."""
# ruff: noqa: F811 - fixtures that are imported

import os
import subprocess
import sys

import pytest
import torch
from benchmarks.trials.__main__ import main
from benchmarks.trials.contenders import (
    CONTENDERS,
    forward_in_gluon,
    gradients_in_gluon,
    pipelined,
)

from regard import Causal, Dot, Lengths, Window
from regard.attention import rows as source_of_rows
from regard.attention.api import attend
from regard.attention.rows import Rows
from regard.testing import budget_used, qkv
from tests.attention.triton.conftest import INTERPRETED, device, quick, triton  # noqa: F401
from tests.cases import Case, on_device

pytest.importorskip("triton")

N, M, HEIGHT, WIDTH = 32, 512, 2, 2
GARBAGE = "ignore:.*encountered:RuntimeWarning"


def the_truth(q, k, score, reduce):
    seen = torch.eye(M, dtype=torch.float64, device=q.device).expand(2, M, M)
    w = attend(q.double(), k.double(), seen, score=score, impl="reference")
    cells = w.reshape(2, HEIGHT, N // HEIGHT, WIDTH, M // WIDTH)
    return cells.sum((2, 4)) if reduce == "mass" else cells.amax((2, 4))


@pytest.fixture
def at_once(triton, monkeypatch, quick):
    """Small calls go through the pass that sees scores once; how often it had to be done again."""
    monkeypatch.setattr(source_of_rows, "why_not_triton", lambda *_: "")
    sizes = {"BUSY": 4, "FEWEST": 1, "SWEEP_ROWS": 16, "SWEEP_KEYS": 64, "SKIM_KEYS": 64}
    for name, size in sizes.items():
        monkeypatch.setattr(triton.inspection, name, size)


@pytest.mark.filterwarnings(GARBAGE)
@pytest.mark.parametrize("share", [0, 4, 8])
@pytest.mark.parametrize("reduce", ["mass", "max"])
@pytest.mark.parametrize("case", ["near", "negative", "narrow", "far", "rising", "nan"])
def test_the_pipelined_pass_is_that_of_the_definition(share, reduce, case, at_once, device):
    q, k, _ = qkv(2, n=N, m=M, d=40 if case == "narrow" else 64, v=1)
    q, k = (x.to(device, torch.bfloat16) for x in (q, k))
    score = Dot(-0.3 if case == "negative" else 0.2)
    if case == "far":
        k *= 6  # weights that float32 takes for 0
    if case == "rising":  # by more than 2^128 after the first tile: the pass gives those rows up
        q[:, 5], k[:, 300] = 8, 8
        k[:, :64] = -k[:, :64].abs()
    if case == "nan":
        k[:, 400] = float("nan")
    with pipelined(64, 64, 4, share):
        got = Rows(q, k, score, None).look.overview(HEIGHT, WIDTH, reduce)
    if case == "nan":
        assert got.isnan().all()
        return
    wanted = the_truth(q, k, score, reduce)
    assert (got - wanted).abs().max() <= 5e-6 * wanted.abs().max()


@pytest.mark.filterwarnings(GARBAGE)
@pytest.mark.parametrize("sizes", [(128, 64, 8), (64, 128, 4)], ids=str)
@pytest.mark.parametrize(
    "mask",
    [None, Causal(), Window(left=70, right=9), Lengths([0, 100]), Lengths([256, 7])],
    ids=str,
)
def test_forward_in_gluon_is_the_definition(sizes, mask, device, triton, quick, monkeypatch):
    q, k, v = qkv(2, n=256, m=256, d=64, v=64, dtype=torch.float64)
    monkeypatch.setattr(triton.dot, "_twice", None)  # what launches the kernels in use
    x = [y.to(device, torch.bfloat16) for y in (q, 2 * k, v)]
    mask = on_device(mask, device)
    with forward_in_gluon(*sizes):
        got = attend(*x, mask=mask, impl="triton")
    exact = attend(*(y.double() for y in x), mask=mask, impl="reference")
    same = attend(*x, mask=mask, impl="reference")
    assert budget_used(got, same, exact) <= 1


@pytest.mark.filterwarnings(GARBAGE)
@pytest.mark.parametrize("sizes", [((64, 64, 4), (64, 64, 4)), ((128, 128, 8), (64, 128, 8))])
def test_gradients_in_gluon_are_as_good_as_those_in_use(
    sizes,
    device,
    triton,
    quick,
    monkeypatch,
):
    monkeypatch.setattr(triton.dot, "FEW", -1)  # as if there were too many pairs to be widened
    q, k, v = qkv(2, n=256, m=512, d=64, v=64, dtype=torch.float64)
    case = Case(q, k, v, Dot(), device=device)
    exact = case.run("reference", torch.float64, torch.bfloat16)
    used = case.run("triton", torch.bfloat16, torch.bfloat16)
    launched = triton.dot.matrix.to_keys
    with gradients_in_gluon(*sizes):
        monkeypatch.setattr(triton.dot.matrix, "to_keys", None)
        got = case.run("triton", torch.bfloat16, torch.bfloat16)
    monkeypatch.setattr(triton.dot.matrix, "to_keys", launched)
    for name, right in exact.grads.items():
        most = 1.5 * (used.grads[name].double() - right).abs().max()
        assert (got.grads[name].double() - right).abs().max() <= most, name


COMPILED = """
import triton
from triton.backends.compiler import GPUTarget
from triton.experimental.gluon._runtime import GluonASTSource
from benchmarks.trials import backward, forward, pipelined
from regard.attention.triton.fusion import FUSED

TYPES = dict.fromkeys("q k v g out dq_out dk_out dv_out".split(), "*bf16") | dict.fromkeys(
    "norms cells means".split(), "*fp32") | dict(scale="fp32", factor="fp32", lse="*fp64",
    lo="*i32", hi="*i32")


def made(kernel, **sizes):
    names = kernel.arg_names
    signature = {n: "constexpr" if n in sizes else TYPES.get(n, "i32") for n in names}
    fixed = {(names.index(n),): x for n, x in sizes.items()}
    aligned = {(i,): [["tt.divisibility", 16]] for i, n in enumerate(names) if n in TYPES
               and TYPES[n][0] == "*" or n in ("n", "m")}
    source = GluonASTSource(kernel, signature, constexprs=fixed, attrs=aligned)
    options = {"num_warps": sizes["WARPS"], **FUSED}
    print("// ---", triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
          .asm["ptx"])


made(pipelined.skim, BM=64, BN=64, EACH=2, D=64, EVEN=True, MASS=True, NEGATIVE=False,
     PRECISION="bf16x6", WARPS=4, SHARE=4)
made(forward.forward, BM=128, BN=64, D=64, WARPS=8, SPANS=False)
made(backward.to_queries, BM=64, BN=64, D=64, WARPS=4)
made(backward.to_keys, BM=64, BN=64, D=64, WARPS=4)
"""
PRODUCTS = {  # of 16 features, queries or keys, that one block has in its text
    "skim": 3 * 4,  # the first tile, and two
    "forward": (4 + 4) + (4 + 4),  # the first and the last by themselves
    "to_queries": 4 + 2 * (4 + 4 + 4),
    "to_keys": (4 + 4) + 2 * (4 + 4 + 4 + 4),
}


@pytest.fixture(scope="module")
def compiled():
    from regard.attention.triton import operands

    if not INTERPRETED:
        pytest.skip("there is a GPU, which compiles them when it runs them")
    if not operands.HAS_GLUON:
        pytest.skip("this Triton's Gluon is another")
    env = {x: y for x, y in os.environ.items() if x != "TRITON_INTERPRET"}
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COMPILED],
        env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(zip(PRODUCTS, done.stdout.split("// ---")[1:], strict=True))


@pytest.mark.parametrize("name", PRODUCTS)
def test_they_compile_for_hopper(name, compiled):
    assert compiled[name].count("wgmma.mma_async") == PRODUCTS[name]
    if name == "skim":  # three of four by the special units, in two tiles before it goes around
        assert compiled[name].count("ex2.approx") == 64 * 64 * 2 // 128 * 3 // 4


def test_a_dry_run(tmp_path, capsys, one_thread):
    # without a GPU contenders stand where nobody comes by, but every one is put there
    assert main(["--dry", "--out", str(tmp_path / "rows.jsonl")]) == 0
    said = capsys.readouterr().out
    assert all(f"{x.case}, {x.name}:" in said for x in CONTENDERS)
    assert "wrong" not in said
