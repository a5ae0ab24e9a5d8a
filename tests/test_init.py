"""The public surface, and what importing it costs."""

import importlib
import pkgutil
import subprocess
import sys

import pytest

import regard

PACKAGES = [
    "regard",
    "regard.scores",
    "regard.masks",
    "regard.attention",
    "regard.layers",
    "regard.models",
    "regard.viewing",
]
BLOCKED = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ImportError(name)
sys.meta_path.insert(0, Block())
"""


def python(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )


def test_the_name_alone_loads_no_torch():
    found = python("import sys, regard; print('torch' in sys.modules, len(dir(regard)) > 30)")
    assert found.stdout.split() == ["False", "True"], found.stderr


@pytest.mark.parametrize("name", PACKAGES)
def test_all_is_complete_and_sorted(name):
    package = importlib.import_module(name)
    assert sorted(package.__all__) == package.__all__
    assert all(hasattr(package, public) for public in package.__all__)
    public = {
        key
        for key, x in vars(package).items()
        if not key.startswith("_") and getattr(x, "__module__", "").startswith("regard")
    }
    assert public - set(package.__all__) == set()


def test_every_module_lists_what_it_offers():
    for module in pkgutil.walk_packages(regard.__path__, "regard."):
        if module.name.endswith("__main__") or ".cpu.drivers" in module.name:
            continue
        if ".cpu.formula" in module.name:
            continue  # these two are texts for the compiler, never imported by users
        assert hasattr(importlib.import_module(module.name), "__all__"), module.name


def test_no_public_name_hides_a_module():
    for module in pkgutil.walk_packages(regard.__path__, "regard."):
        parent, _, name = module.name.rpartition(".")
        found = getattr(importlib.import_module(parent), name, None)
        assert found is None or type(found).__name__ == "module", module.name


def test_importing_loads_nothing_heavy_but_torch():
    found = python(
        "import sys, regard; regard.attend, regard.Gaussian, regard.Causal, regard.overview; "
        "print(sorted({'numba', 'triton', 'matplotlib', 'sklearn', 'scipy', 'rich'} "
        "& set(sys.modules)))"
    )
    assert found.stdout.strip() == "[]", found.stderr


def test_importing_costs_at_most_a_fifth_more_than_torch():
    code = """
import time
start = time.perf_counter()
import torch
middle = time.perf_counter()
import regard
regard.attend, regard.Gaussian, regard.Lengths, regard.overview
print((time.perf_counter() - middle) / (middle - start))
"""
    python(code)  # the files are in the cache after this
    assert min(float(python(code).stdout) for _ in range(4)) <= 0.20


def test_works_where_numba_and_triton_are_missing():
    code = (
        BLOCKED.format(blocked=["numba", "llvmlite", "triton", "matplotlib", "rich"])
        + """
import torch, regard
x = torch.randn(2, 300, 8)
print(regard.attend(x, x, x, score=regard.Gaussian()).shape)
print(regard.explain(x, x, x, score=regard.Gaussian()).refused[1])
print(regard.overview(x, x, score=regard.Gaussian(), cells=4).shape)
try:
    regard.attend(x, x, x, impl="cpu")
except regard.ImplError as error:
    print(error)
"""
    )
    found = python(code)
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines() == [
        "torch.Size([2, 300, 8])",
        "('cpu', 'numba is not installed; pip install numba')",
        "torch.Size([2, 4, 4])",
        "impl='cpu' cannot run this call: numba is not installed; pip install numba",
    ]
