"""Kernels on trial: right, before anybody times them; and that they can be put in their places."""

import os
import subprocess
import sys

import pytest
import torch
from benchmarks.trials.__main__ import main
from benchmarks.trials.contenders import CONTENDERS, pipelined

from regard import Dot
from regard.attention import rows as source_of_rows
from regard.attention.api import attend
from regard.attention.rows import Rows
from regard.testing import qkv
from tests.attention.triton.conftest import INTERPRETED, device, quick, triton  # noqa: F401

pytest.importorskip("triton")

N, M, HEIGHT, WIDTH = 32, 512, 2, 2
GARBAGE = "ignore:.*encountered:RuntimeWarning"


def the_truth(q, k, score, reduce):
    seen = torch.eye(M, dtype=torch.float64, device=q.device).expand(2, M, M)
    w = attend(q.double(), k.double(), seen, score=score, impl="reference")
    cells = w.reshape(2, HEIGHT, N // HEIGHT, WIDTH, M // WIDTH)
    return cells.sum((2, 4)) if reduce == "mass" else cells.amax((2, 4))


@pytest.fixture
def at_once(triton, monkeypatch, quick):  # noqa: F811
    """Small calls go through the pass that sees scores once; how often it had to be done again."""
    monkeypatch.setattr(source_of_rows, "why_not_triton", lambda *_: "")
    sizes = {"BUSY": 4, "FEWEST": 1, "SWEEP_ROWS": 16, "SWEEP_KEYS": 64, "SKIM_KEYS": 64}
    for name, size in sizes.items():
        monkeypatch.setattr(triton.inspection, name, size)


@pytest.mark.filterwarnings(GARBAGE)
@pytest.mark.parametrize("share", [0, 4, 8])
@pytest.mark.parametrize("reduce", ["mass", "max"])
@pytest.mark.parametrize("case", ["near", "negative", "narrow", "far", "rising", "nan"])
def test_the_pipelined_pass_is_that_of_the_definition(share, reduce, case, at_once, device):  # noqa: F811
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
    with pipelined(16, 64, 4, share):
        got = Rows(q, k, score, None).look.overview(HEIGHT, WIDTH, reduce)
    if case == "nan":
        assert got.isnan().all()
        return
    wanted = the_truth(q, k, score, reduce)
    assert (got - wanted).abs().max() <= 5e-6 * wanted.abs().max()


COMPILED = """
import triton
from triton.backends.compiler import GPUTarget
from triton.experimental.gluon._runtime import GluonASTSource
from benchmarks.trials.pipelined import skim
from regard.attention.triton.fusion import FUSED

sizes = dict(BM=64, BN=64, EACH=2, D=64, EVEN=True, MASS=True, NEGATIVE=False, PRECISION="bf16x6",
             WARPS=4, SHARE=4)
types = dict(q="*bf16", k="*bf16", norms="*fp32", cells="*fp32", scale="fp32")
names = skim.arg_names
signature = {n: "constexpr" if n in sizes else types.get(n, "i32") for n in names}
fixed = {(names.index(n),): x for n, x in sizes.items()}
source = GluonASTSource(skim, signature, constexprs=fixed)
print(triton.compile(source, target=GPUTarget("cuda", 90, 32),
                     options={"num_warps": 4, **FUSED}).asm["ptx"])
"""


@pytest.mark.skipif(not INTERPRETED, reason="there is a GPU, which compiles it when it runs")
def test_it_compiles_for_hopper():
    from regard.attention.triton import operands

    if not operands.HAS_GLUON:
        pytest.skip("this Triton's Gluon is another")
    env = {x: y for x, y in os.environ.items() if x != "TRITON_INTERPRET"}
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COMPILED],
        env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    pairs = 64 * 64 * 2 // 128  # of a thread, before the loop goes around
    assert done.stdout.count("ex2.approx") == pairs * 3 // 4
    assert (
        done.stdout.count("wgmma.mma_async") == 3 * 4
    )  # the first tile, and two; 16 features each


def test_a_dry_run(tmp_path, capsys, one_thread):
    # without a GPU contenders stand where nobody comes by, but every one is put there
    assert main(["--dry", "--out", str(tmp_path / "rows.jsonl")]) == 0
    said = capsys.readouterr().out
    assert all(f"{x.case}, {x.name}:" in said for x in CONTENDERS)
    assert "wrong" not in said
