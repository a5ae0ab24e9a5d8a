"""What every test runs under."""

from __future__ import annotations

import numpy as np
import pytest
import torch


@pytest.fixture(autouse=True)
def poisoned_memory(monkeypatch):
    """torch.empty and numpy.empty give NaN: a kernel that leaves an output unwritten fails loudly."""
    torch_empty, numpy_empty = torch.empty, np.empty

    def poisoned_torch(*size, **options):
        x = torch_empty(*size, **options)
        return x.fill_(torch.nan) if x.is_floating_point() else x

    def poisoned_numpy(*args, **options):
        x = numpy_empty(*args, **options)
        if x.dtype.kind == "f":
            x.fill(np.nan)
        return x

    monkeypatch.setattr(torch, "empty", poisoned_torch)
    monkeypatch.setattr(np, "empty", poisoned_numpy)
