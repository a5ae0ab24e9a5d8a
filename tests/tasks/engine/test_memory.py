"""The many ways to say that memory is short."""

import pytest
import torch

from regard.errors import StateError, ValueRangeError
from regard.tasks.engine import memory
from regard.tasks.engine.memory import is_of_memory, refuse_too_large, total_memory

CPU = torch.device("cpu")


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


def test_how_much_there_is(monkeypatch):
    assert 1 << 28 < total_memory(CPU) < 1 << 50
    monkeypatch.delattr(memory.os, "sysconf")
    assert total_memory(CPU) is None


def test_a_model_that_cannot_fit_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "GIB", 1 << 10)
    monkeypatch.setattr(memory, "total_memory", lambda device: 20 << 10)

    def make():
        assert torch.get_default_device() == torch.device("meta")  # where it takes no memory
        return torch.nn.Linear(64, 32, bias=False)

    with pytest.raises(ValueRangeError) as raised:
        refuse_too_large(make, CPU)
    assert str(raised.value) == (
        "the model has 2,048 weights, and needs at least 32 GiB to be trained; cpu has 20 GiB: "
        "choose a smaller one"
    )
    refuse_too_large(make, CPU, parts=2)
    monkeypatch.setattr(memory, "total_memory", lambda device: None)
    refuse_too_large(make, CPU)


def test_a_model_that_looks_at_its_numbers_is_not_measured(monkeypatch):
    monkeypatch.setattr(memory, "total_memory", lambda device: 1)

    def make():
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")

    refuse_too_large(make, CPU)
