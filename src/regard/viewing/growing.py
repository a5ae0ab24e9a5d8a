"""Keys of a cache that grows: kept once, though each step of a generation attends to all."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["Growing"]


class Growing:
    """Keeps keys [*b, m, d] of calls that follow each other; each may begin with the one before.

    What a call has in common with the one before is not kept again: n steps of one more key each
    take the memory of 2 n keys, not of n * n / 2.

    >>> import torch
    >>> keys, x = Growing(), torch.arange(6.0).reshape(1, 3, 2)
    >>> first, second = keys.keep(x[:, :2]), keys.keep(x)
    >>> second.tolist() == x.tolist(), keys.keep(x).data_ptr() == second.data_ptr()
    (True, True)
    """

    def __init__(self) -> None:
        self._room: Tensor | None = None  # [*b, as many as there is room for, d]
        self._used = 0

    def keep(self, k: Tensor) -> Tensor:
        """A copy of the keys that stays as it is, sharing memory with earlier ones."""
        m, room = k.shape[-2], self._room
        if room is None or not self._begins(k):
            self._room, self._used = k.detach().clone(memory_format=torch.contiguous_format), m
            return self._room
        if m > room.shape[-2]:
            larger = k.new_empty(*k.shape[:-2], max(m, 2 * room.shape[-2]), k.shape[-1])
            larger[..., : self._used, :] = room[..., : self._used, :]
            self._room = room = larger
        room[..., self._used : m, :] = k.detach()[..., self._used :, :]
        self._used = m
        return room[..., :m, :]

    def _begins(self, k: Tensor) -> bool:
        room = self._room
        assert room is not None
        before = room[..., : self._used, :]
        return (
            k.shape[-2] >= self._used
            and (k.dtype, k.device, k.shape[:-2]) == (room.dtype, room.device, room.shape[:-2])
            and k.shape[-1] == room.shape[-1]
            and room.is_inference() == torch.is_inference_mode_enabled()
            and torch.equal(before, k[..., : self._used, :])
        )
