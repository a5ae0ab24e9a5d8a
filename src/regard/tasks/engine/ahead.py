"""Work done in a thread while others go on, or wait for it with an open ear."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

__all__ = ["ahead"]

T = TypeVar("T")


def ahead(work: Callable[[], T]) -> Future[T]:
    """Begin some work; what comes of it is there when it is asked for.

    Nobody has to wait for the thread: a process may end in the middle of the work. And a process
    that does wait hears signals meanwhile, which it would not inside a library's long call.

    >>> ahead(lambda: 6 * 7).result()
    42
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            found = work()
        except BaseException as error:  # noqa: BLE001 - it belongs to who asks for the result
            future.set_exception(error)
        else:
            future.set_result(found)

    threading.Thread(target=run, name="regard-ahead", daemon=True).start()
    return future
