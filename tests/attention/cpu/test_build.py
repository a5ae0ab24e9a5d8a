"""The generated kernels: their text and their cache."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from regard import Elementwise, attend
from regard.attention.cpu import build
from regard.scores.expression import parse
from regard.testing import qkv
from tests.cases import SCORES


@pytest.mark.parametrize("bits", [32, 64])
def test_the_text_of_a_formula_compiles(bits):
    for name in SCORES:
        q, k, _ = qkv(1, 2, n=2, m=2, d=3, v=1)
        phi = SCORES[name](3, 2).form(q, k).phi
        text = build.written(phi, bits)
        compile(text, name, "exec")
        assert f"REAL = np.float{bits}" in text
        assert str(parse(phi)) != ""


def test_compiled_code_is_found_again_by_the_next_process(tmp_path):
    code = """
import torch, regard
x = torch.randn(2, 200, 32)
regard.attend(x, x, x, score=regard.Gaussian(), impl="cpu")
from regard.attention.cpu.build import kernels
driver = kernels(regard.Gaussian.PHI, 32, 32).drivers.forward
print(sum(driver.stats.cache_hits.values()), sum(driver.stats.cache_misses.values()))
"""
    counts = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={"REGARD_CACHE": str(tmp_path), "PATH": "", "HOME": str(tmp_path)},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        counts.append(done.stdout.split())
    assert counts == [["0", "1"], ["1", "0"]]


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path, monkeypatch):
    blocked = tmp_path / "a file"
    blocked.write_text("in the way")
    monkeypatch.setenv("REGARD_CACHE", str(blocked / "folder"))
    q, k, v = qkv(n=40, m=50, d=4, v=3)
    score = Elementwise(lambda q, k: -((q - k) ** 2) - 0.125 * abs(q))
    got = attend(q, k, v, score=score, impl="cpu")
    torch.testing.assert_close(got, attend(q, k, v, score=score, impl="reference"))
    assert blocked.read_text() == "in the way"


def test_a_change_of_the_elementary_functions_is_a_new_kernel(monkeypatch):
    loaded = build._loaded("x = 1\n", "test")
    monkeypatch.setattr(Path, "read_bytes", lambda path: b"other")
    assert build._loaded("x = 1\n", "test").__file__ != loaded.__file__
