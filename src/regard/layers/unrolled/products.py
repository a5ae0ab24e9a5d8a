"""How products of float32 are made: as they are, or in tf32 where autocast allows bfloat16."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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

    The setting is torch's own, and so the whole process's: the first to come in switches it on, and
    the last to leave puts it back.
    """
    with torch.autocast(device.type, enabled=False):
        if not tf32:
            yield
            return
        _switch.enter()
        try:
            yield
        finally:
            _switch.leave()


class _Switch:
    """Torch's setting, and how many want it on."""

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0
        self._before: tuple[Any, ...] | None = None  # None: it was on

    def enter(self) -> None:
        with self._lock:
            if not self._inside:
                self._before = None if _is_on() else _settings()
                if self._before is not None:
                    # the one way that sets the older names of it, too: torch refuses a mixture
                    torch.set_float32_matmul_precision("high")
            self._inside += 1

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside and self._before is not None:
                torch.set_float32_matmul_precision("highest")
                for place, value in zip(_places(), self._before, strict=True):
                    place.fp32_precision = value


def _places() -> tuple[Any, ...]:
    """Where newer torch keeps it, for the GPU and for the CPU; torch before 2.9 has one setting."""
    found = (torch.backends.cuda.matmul, torch.backends.mkldnn.matmul)  # type: ignore[attr-defined]
    return found if hasattr(found[0], "fp32_precision") else ()


def _is_on() -> bool:
    if places := _places():
        return bool(places[0].fp32_precision == "tf32")
    return torch.get_float32_matmul_precision() != "highest"


def _settings() -> tuple[Any, ...]:
    return tuple(place.fp32_precision for place in _places())


_switch = _Switch()
