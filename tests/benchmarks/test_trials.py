"""What is on trial: as good as what it stands in for, before anybody times it."""
# ruff: noqa: F811 - fixtures that are imported

import pytest
import torch
from benchmarks.trials.__main__ import main
from benchmarks.trials.contenders import (
    CONTENDERS,
    by_cudnn_forward,
    by_matrix,
    changed,
    smaller_blocks,
    units,
)

from regard import Additive, Causal, Dot
from regard.attention import rows as source_of_rows
from regard.attention.api import attend
from regard.attention.rows import Rows
from regard.testing import qkv
from tests.attention.triton.calls import a_case, learned
from tests.attention.triton.conftest import NOISE, device, quick, triton  # noqa: F401

pytest.importorskip("triton")

# numpy warns of what lies behind the last row, which nobody uses
pytestmark = pytest.mark.filterwarnings(NOISE)


def outcome(device, score, n, m, mask=None, dtype=torch.bfloat16):
    given = [x.to(device, dtype).requires_grad_() for x in qkv(2, n=n, m=m, d=64, v=64)]
    out = attend(*given, score=score, mask=mask, impl="triton")
    return [out.detach(), *torch.autograd.grad(out, given, out.detach().cos())]


def test_smaller_blocks_give_the_same_bits(triton, device, quick, monkeypatch):
    pytest.importorskip("regard.attention.triton.fours", exc_type=ImportError)
    if not triton.operands.has_matrix_units(torch.device(device)):
        pytest.skip("they are written for the matrix units of Hopper")
    score = Additive(learned(64).float().to(device))
    monkeypatch.setattr(triton.operands, "CAREFUL", -1)  # as if there were many pairs
    rows, real = [], triton.sums._launch_fours
    monkeypatch.setattr(
        triton.sums,
        "_launch_fours",
        lambda *args: rows.append(triton.fours.ROWS.value) or real(*args),
    )
    used = outcome(device, score, 150, 100, dtype=torch.float32)
    launched = triton.fours
    with smaller_blocks():
        assert triton.fours.ROWS.value == launched.ROWS.value // 2
        for got, right in zip(
            outcome(device, score, 150, 100, dtype=torch.float32), used, strict=True
        ):
            assert torch.equal(got, right)
    assert triton.fours is launched
    assert rows == [launched.ROWS.value, launched.ROWS.value // 2]


def test_matrix_does_what_pipelined_does(triton, device, quick, monkeypatch):
    monkeypatch.setattr(triton.dot, "FEW", -1)  # as if there were too many pairs to be widened
    for name in ("forward", "to_queries", "to_keys"):
        monkeypatch.setattr(triton.hopper, name, None)  # what launches the others
    case = a_case(Dot(), Causal(), 100, 130, 64, 64, device=device)
    with by_matrix():
        case.agree("triton", torch.bfloat16, gradients=2.0)
    if triton.operands.has_matrix_units(torch.device(device)):
        with pytest.raises(TypeError):
            case.run("triton", torch.bfloat16, torch.bfloat16)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="cuDNN runs on an NVIDIA GPU")
def test_cudnn_forward_goes_with_our_gradients(device):
    used = outcome(device, Dot(), 512, 512)
    with by_cudnn_forward():
        for got, right in zip(outcome(device, Dot(), 512, 512), used, strict=True):
            assert (got - right).abs().max() <= 0.02 * right.abs().max()


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
@pytest.mark.parametrize(
    "trial", [lambda: units(1), lambda: changed("looking", "skim", num_stages=4)]
)
def test_an_overview_is_the_same(trial, triton, device, quick, monkeypatch):
    monkeypatch.setattr(source_of_rows, "why_not_triton", lambda *_: "")
    sizes = {"BUSY": 4, "FEWEST": 1, "SWEEP_ROWS": 16, "SWEEP_KEYS": 128, "SKIM_KEYS": 128}
    for name, size in sizes.items():
        monkeypatch.setattr(triton.inspection, name, size)
    q, k, _ = (x.to(device, torch.bfloat16) for x in qkv(2, n=32, m=512, d=64, v=1))
    seen = torch.eye(512, dtype=torch.float64, device=device).expand(2, 512, 512)
    w = attend(q.double(), k.double(), seen, impl="reference")
    wanted = w.reshape(2, 2, 16, 2, 256).sum((2, 4))
    with trial():
        got = Rows(q, k, Dot(), None).look.overview(2, 2, "mass")
    assert (got - wanted).abs().max() <= 5e-6 * wanted.abs().max()


def test_a_dry_run(tmp_path, capsys, one_thread):
    # without a GPU contenders stand where nobody comes by, but every one is put there
    assert main(["--dry", "--out", str(tmp_path / "rows.jsonl")]) == 0
    said = capsys.readouterr().out
    assert all(f"{x.case}, {x.name}:" in said for x in CONTENDERS)
    assert "wrong" not in said
