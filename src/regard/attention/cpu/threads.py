"""Work shared among threads, as many as torch uses.

The kernels release the interpreter's lock, so ordinary threads do: no second thread pool's
environment variables, nothing that is unsafe to call from two threads, and after a fork the child
makes its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

import torch

__all__ = ["share"]

_pool: ThreadPoolExecutor | None = None
_lock = Lock()


def _forget() -> None:
    global _pool, _lock
    _pool, _lock = None, Lock()


os.register_at_fork(after_in_child=_forget)


def _workers() -> ThreadPoolExecutor:
    global _pool  # noqa: PLW0603 - one pool for the process
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="regard")
        return _pool


def share(run: Callable[[int, int], Any], units: int) -> None:
    """Call ``run(first, step)`` once on each of as many threads as torch has.

    Each call is to do the units first, first + step, ... below ``units``: one crossing into
    compiled code a thread, since each needs the interpreter's lock, and neighbours of a unit that
    takes long are spread out.
    """
    threads = max(min(torch.get_num_threads(), units), 1)
    others = [_workers().submit(run, t, threads) for t in range(1, threads)]
    run(0, threads)
    for other in others:
        other.result()
