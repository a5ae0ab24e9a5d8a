"""How products of float32 are made: as they are, or in tf32 where autocast allows bfloat16."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["allows_tf32", "products"]


def allows_tf32(device: torch.device) -> bool:
    """Whether what runs here on a GPU is under autocast in bfloat16, which has 3 bits less."""
    return (
        device.type == "cuda"
        and torch.is_autocast_enabled("cuda")
        and torch.get_autocast_dtype("cuda") == torch.bfloat16
    )


@contextmanager
def products(device: torch.device, *, tf32: bool) -> Iterator[None]:
    """Autocast is off in here. With ``tf32`` a GPU multiplies float32 in tf32.

    The setting is torch's own, and so the whole process's: it is put back at the end.
    """
    with torch.autocast(device.type, enabled=False):
        if not tf32:
            yield
            return
        settings = torch.backends.cuda.matmul
        # torch before 2.9 knows the older name only; the newer ones warn of it
        newer = hasattr(settings, "fp32_precision")
        name, on = ("fp32_precision", "tf32") if newer else ("allow_tf32", True)
        before = getattr(settings, name)
        if before == on:  # nor is it set: it may be inherited
            yield
            return
        setattr(settings, name, on)
        try:
            yield
        finally:
            setattr(settings, name, before)
