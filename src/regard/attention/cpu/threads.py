"""Work shared among threads, as many as torch uses.

The kernels release the interpreter's lock, so ordinary threads do. They are started for each call:
that takes a tenth of a millisecond, and there is no pool to keep, to share between callers or to
lose in a fork.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any

import torch

__all__ = ["share"]


def share(run: Callable[[int, int], Any], units: int) -> None:
    """Call ``run(first, step)`` once on each of as many threads as torch has.

    Each call is to do the units first, first + step, ... below ``units``: one crossing into
    compiled code a thread, since each needs the interpreter's lock, and neighbours of a unit that
    takes long are spread out.
    """
    threads = max(min(torch.get_num_threads(), units), 1)
    failed: list[BaseException] = []

    def work(first: int) -> None:
        try:
            run(first, threads)
        except BaseException as error:  # noqa: BLE001 - raised again below, in the caller's thread
            failed.append(error)

    others = [Thread(target=work, args=(t,), name=f"regard-{t}") for t in range(1, threads)]
    for other in others:
        other.start()
    work(0)
    for other in others:
        other.join()
    if failed:
        raise failed[0]
