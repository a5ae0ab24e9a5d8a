"""The many ways to say that memory is short."""

import pytest
import torch

from regard.errors import StateError
from regard.tasks.engine.memory import is_of_memory


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:119] DefaultCPUAllocator: not enough memory"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("std::bad_alloc"),
    ],
    ids=str,
)
def test_it_is_told(error):
    assert is_of_memory(error)


def test_torch_says_it_so():
    with pytest.raises(RuntimeError) as raised:
        torch.zeros(1 << 60)
    assert is_of_memory(raised.value)


@pytest.mark.parametrize(
    "error", [RuntimeError("shapes cannot be multiplied"), ValueError("out of memory")], ids=str
)
def test_others_are_not(error):
    assert not is_of_memory(error)
    assert not is_of_memory(StateError("a folder"))
