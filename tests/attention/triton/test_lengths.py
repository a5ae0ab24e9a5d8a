"""A sequence of another length is no reason to compile: kernels are the same for all lengths."""

import os
import subprocess
import sys

import pytest
import torch

pytest.importorskip("triton")

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="it stands in for a GPU's driver")

# Triton's own way to a launch, up to the compiler and the GPU, which are stood in for.
CALLS = """
import sys
import torch
import triton.compiler
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

made = []


class Kernel:
    function = packed_metadata = None

    def __init__(self, src, **_):
        made.append(f"{src.fn.__module__.rsplit('.', 1)[-1]}.{src.fn.__name__}")

    def launch_metadata(self, *_):
        return None

    def run(self, *_):
        return None

    def __getitem__(self, grid):
        return self.run


class Driver:
    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0


triton.compiler.compile = Kernel
driver.set_active(Driver())

from regard import Additive, Causal, Dot, Gaussian, Lengths, attend
from regard.attention import choice

choice._no_triton = lambda q: ""
SCORES = {"dot": Dot(), "additive": Additive(torch.ones(64)), "gaussian": Gaussian(1.0)}
MASKS = {
    "none": lambda m: None,
    "causal": lambda m: Causal(),
    "lengths": lambda m: Lengths([min(7, m), min(40, m)]),
}


def call(n):
    dtype = torch.bfloat16 if half == "half" else torch.float32
    m = n + 5 if score == "dot" else n  # of a product the two have nothing to do with each other
    given = [torch.zeros(2, 4, x, 64, dtype=dtype, requires_grad=True) for x in (n, m, m)]
    out = attend(*given, score=SCORES[score], mask=MASKS[mask](m), impl="triton")
    torch.autograd.grad(out.sum(), given)


score, mask, half, *lengths = sys.argv[1:]
before, others = lengths[: lengths.index("then")], lengths[lengths.index("then") + 1 :]
for n in before:
    call(int(n))
assert made
made.clear()
for n in others:
    call(int(n))
    print(n, *made) if made else None
    made.clear()
"""


@pytest.mark.parametrize(
    ("score", "mask", "half"),
    [
        ("dot", "none", "half"),
        ("dot", "causal", "half"),
        ("dot", "lengths", "half"),
        ("dot", "causal", "float32"),
        ("gaussian", "none", "float32"),
        ("gaussian", "causal", "float32"),
        ("additive", "none", "float32"),
        ("additive", "lengths", "float32"),
    ],
)
def test_kernels_are_compiled_for_no_length(score, mask, half):
    # a few queries, few pairs, some, many and very many; multiples of 128, of 16, of neither
    before = (3, 16, 31, 96, 95, 640, 608, 601, 1216, 1201, 2560, 2501)
    drawn = torch.Generator().manual_seed(1)
    others = torch.randint(100, 1201, (60,), generator=drawn).tolist()
    others += [1024, 1025]  # of the second a panel of one row is left
    others += [2, 4, 5, 9, 17, 23, 32]
    env = {name: x for name, x in os.environ.items() if name != "TRITON_INTERPRET"}
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    command = [sys.executable, "-W", "ignore", "-c", CALLS, score, mask, half]
    command += [*map(str, before), "then", *map(str, others)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stdout, "compiled for a length: " + done.stdout
