"""The GPU kernels, in Triton's interpreter where there is no GPU."""

import pytest

from regard.layers.unrolled import operation
from tests.layers.unrolled.calls import SIZES, agree

pytest.importorskip("triton")


@pytest.fixture(autouse=True)
def kernels(monkeypatch):
    monkeypatch.setattr(operation, "way", lambda given: "kernel")


@pytest.mark.parametrize("dropped", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_kernels_are_the_definition(sizes, masked, dropped):
    agree(sizes, masked=masked, dropped=dropped)
