"""What stands for Gluon: memory, products that come late, and every name that kernels use."""

import os
import subprocess
import sys

import pytest
import torch

from tests.attention.triton.conftest import INTERPRETED

pytest.importorskip("triton")

import triton.language as tl
from triton.runtime.errors import InterpreterError

from regard.attention.triton import interpreted as gl

pytestmark = pytest.mark.skipif(not INTERPRETED, reason="there is a GPU, and Gluon itself")


@gl.jit
def multiplied(x, y, z, out, EARLY: tl.constexpr, KEEP: tl.constexpr, MOST: tl.constexpr):
    r = gl.arange(0, 16, None)
    at = r[:, None] * 16 + r[None, :]
    where = gl.allocate_shared_memory(tl.float32, [2, 16, 16], None)
    a, b = where.index(0), where.index(1)
    a.store(tl.load(y + at))
    b.store(gl.convert_layout(tl.load(z + at), None))
    start = gl.full([16, 16], 1.0, tl.float32, None)
    found = gl.warpgroup_mma(tl.load(x + at), a, start, use_acc=KEEP, is_async=True)
    found = gl.warpgroup_mma(tl.load(x + at), b.permute((1, 0)), found, is_async=True)
    if EARLY:
        gl.fence_async_shared()
        a.store(tl.load(z + at))
    found, same = gl.warpgroup_mma_wait(MOST, deps=(found, start))
    tl.store(out + at, found + (same - 1.0))


def given():
    drawn = torch.Generator().manual_seed(0)
    return [torch.randn(16, 16, generator=drawn) for _ in range(3)]


@pytest.mark.parametrize("keep", [False, True])
def test_products_are_added_up(keep):
    x, y, z = given()
    out = torch.empty(16, 16)
    multiplied[(1,)](x, y, z, out, EARLY=False, KEEP=keep, MOST=0)
    torch.testing.assert_close(out, x @ y + x @ z.T + keep)


def test_a_factor_overwritten_too_early_is_the_one_that_is_multiplied():
    x, y, z = given()
    out = torch.empty(16, 16)
    multiplied[(1,)](x, y, z, out, EARLY=True, KEEP=True, MOST=0)
    torch.testing.assert_close(out, x @ z + x @ z.T + 1)


def test_a_product_that_may_still_be_under_way_is_not_given():
    x, y, z = given()
    with pytest.raises(InterpreterError, match="under way"):
        multiplied[(1,)](x, y, z, torch.empty(16, 16), EARLY=False, KEEP=True, MOST=1)


@gl.jit
def copied(x, out, MOST: tl.constexpr):
    r = gl.arange(0, 16, None)
    where = gl.allocate_shared_memory(tl.float32, [2, 16], None)
    for i in tl.static_range(2):
        gl.copy(where.index(i), x + i * 16 + r)
        gl.commit()
    gl.wait(MOST)
    for i in tl.static_range(2):
        tl.store(out + i * 16 + r, where.index(i).load(None))
    gl.wait(0)


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
@pytest.mark.parametrize("most", [0, 1, 2])
def test_a_copy_is_not_there_before_it_is_waited_for(most):
    x, out = given()[0][:2].contiguous(), torch.zeros(2, 16)
    copied[(1,)](x, out, MOST=most)
    assert torch.equal(out[: 2 - most], x[: 2 - most])  # the first groups first
    assert out[2 - most :].isnan().all()


NAMES = """
from regard.attention.triton import interpreted, layouts, operands
print(layouts.__all__ == interpreted.__all__, layouts.jit is interpreted.jit)
""".strip()


@pytest.mark.parametrize("mode", ["0", "1"])
def test_a_kernel_finds_the_same_names_in_both(mode):
    from regard.attention.triton import operands

    if mode == "0" and not operands.HAS_GLUON:
        pytest.skip("this Triton's Gluon is another")
    env = os.environ | {"TRITON_INTERPRET": mode}
    done = subprocess.run(
        [sys.executable, "-c", NAMES], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", str(mode == "1")]
