"""What kind of GPU a tensor is on."""

from __future__ import annotations

from functools import lru_cache

import torch

__all__ = ["is_little"]

LITTLE = 160 << 10  # bytes a block of threads may have: 227 KiB on Hopper, 163 on an A100, often 99


@lru_cache
def is_little(device: torch.device) -> bool:
    """Whether it has little shared memory: tiles are smaller then, and rows may be too wide."""
    if device.type != "cuda":
        return False
    known = torch.cuda.get_device_properties(device)
    return bool(getattr(known, "shared_memory_per_block_optin", LITTLE) < LITTLE)
