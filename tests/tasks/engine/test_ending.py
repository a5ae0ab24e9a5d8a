"""What ends a training is said once, by who knows."""

from pathlib import Path

import pytest
import torch

from regard.errors import FileError, StateError
from regard.tasks.engine.distributed import LostError, World
from regard.tasks.engine.ending import ADVICE, in_words
from regard.tasks.engine.place import Place
from regard.tasks.engine.stopping import Elsewhere, Stopped

ALONE, FIRST, SECOND = (
    World(rank, size, torch.device("cpu")) for rank, size in ((0, 1), (0, 2), (1, 2))
)
GO_ON = "the checkpoint of step 7 is whole, go on with: regard train line --out run --resume"
CLOSED = RuntimeError("[gloo/transport/tcp/pair.cc:547] Connection closed by peer [127.0.0.1]")
FULL = RuntimeError("not enough memory: you tried to allocate 9 bytes. Buy new RAM!\nframes")


def ended(world, error):
    with pytest.raises(Exception) as raised, in_words(world, Place("line", Path("run"), 7)):  # noqa: PT011
        raise error
    return raised.value


def test_what_all_know_the_first_says():
    stopped = Stopped("told to stop", 143)
    assert ended(ALONE, stopped) is stopped
    assert ended(FIRST, stopped) is stopped
    silent = ended(SECOND, stopped)
    assert type(silent) is Elsewhere
    assert silent.code == 143


@pytest.mark.parametrize("error", [LostError("another process of this training has ended"), CLOSED])
def test_a_lost_process(error):
    stopped = ended(FIRST, error)
    assert (type(stopped), stopped.code) == (Stopped, 1)
    assert str(stopped) == f"another process of this training has ended; {GO_ON}"
    silent = ended(SECOND, error)
    assert (type(silent), silent.code) == (Elsewhere, 1)


def test_alone_nobody_is_lost():
    assert ended(ALONE, CLOSED) is CLOSED


def test_no_memory():
    said = "not enough memory: you tried to allocate 9 bytes"
    stopped = ended(ALONE, FULL)
    assert (type(stopped), stopped.code) == (Stopped, 1)
    assert str(stopped) == f"out of memory ({said}); {GO_ON}; {ADVICE}"
    assert str(ended(ALONE, MemoryError())) == f"out of memory; {GO_ON}; {ADVICE}"
    assert str(ended(FIRST, FULL)) == f"process 0: out of memory ({said}); {GO_ON}; {ADVICE}"
    other = ended(SECOND, FULL)  # the others do not know it
    assert type(other) is Stopped
    assert str(other) == f"process 1: out of memory ({said}); {ADVICE}"


@pytest.mark.parametrize("world", [ALONE, FIRST, SECOND], ids=["alone", "first", "second"])
@pytest.mark.parametrize(
    "error",
    [FileError("a file"), StateError("gloo/run: a connection"), RuntimeError("a mistake")],
    ids=str,
)
def test_everything_else_stays(world, error):
    assert ended(world, error) is error
