"""What every test runs under."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from regard.attention.cpu import launch


@pytest.fixture(autouse=True)
def poisoned_memory(monkeypatch):
    """Fresh memory holds NaN: a kernel that leaves an output unwritten fails loudly."""
    real = torch.empty

    def poisoned(*size, **options):
        x = real(*size, **options)
        if x.is_floating_point():
            with torch.no_grad():
                x.fill_(torch.nan)
        return x

    monkeypatch.setattr(torch, "empty", poisoned)
    # not np.empty itself, which numba compiles by name
    monkeypatch.setattr(launch, "fresh", lambda shape, real: np.full(shape, np.nan, real))
