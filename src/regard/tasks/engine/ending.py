"""Why a training ends before its end: in one line, of one process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from regard.tasks.engine.distributed import LostError, World, heard
from regard.tasks.engine.memory import is_of_memory
from regard.tasks.engine.place import Place
from regard.tasks.engine.stopping import Elsewhere, Stopped

__all__ = ["in_words"]

FAILED = 1  # the exit code
SHOWN = 160  # characters of what a library says
ADVICE = (
    "try it where there is more memory, or begin another run with a smaller --batch-tokens, and a "
    "larger --accumulate to make up for it, or with a smaller model"
)


@contextmanager
def in_words(world: World, place: Place) -> Iterator[None]:
    """Turn what ends a training into ``Stopped`` where it should be said, else ``Elsewhere``.

    Raises:
        Stopped: in the first process, if all processes stop or another one was lost; in any that
            has not enough memory, which the others cannot know.
        Elsewhere: in the others.

    """
    try:
        with heard() if world.size > 1 else nullcontext():
            yield
    except Stopped as stopped:
        if world.first or isinstance(stopped, Elsewhere):
            raise
        raise Elsewhere(str(stopped), stopped.code) from stopped
    except LostError as lost:
        if not world.first:
            raise Elsewhere(str(lost), FAILED) from lost
        msg = f"{lost}; {place}"
        raise Stopped(msg, FAILED) from lost
    except (MemoryError, RuntimeError) as error:
        if not is_of_memory(error):
            raise
        said = next(iter(str(error).split("\n")), "").partition(". ")[0][:SHOWN]
        who = "" if world.size == 1 else f"process {world.rank}: "
        where = f"; {place}" if world.first else ""
        msg = f"{who}out of memory{f' ({said})' if said else ''}{where}; {ADVICE}"
        raise Stopped(msg, FAILED) from error
