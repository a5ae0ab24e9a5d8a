"""What comes before the weights: data are read, and words or labels learned from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.errors import FileError, ValueRangeError
from regard.tasks.engine.ahead import ahead
from regard.tasks.engine.distributed import World
from regard.tasks.engine.resuming import (
    Found,
    config_text,
    refuse_leftovers,
    refuse_other_data,
)
from regard.tasks.engine.task import Corpus, Lesson, Task

__all__ = ["Prepared", "prepare"]


@dataclass(frozen=True)
class Prepared:
    """A lesson, and what its run has to know.

    Args:
        lesson: what to learn.
        config: the text of the run's config.toml.
        learned: what was learned already, by name.
        about: the data, for checkpoints.

    """

    lesson: Lesson
    config: str
    learned: Mapping[str, bytes]
    about: Mapping[str, Any]


def prepare(
    world: World,
    task: Task,
    found: Found,
    data: Sequence[Path],
    valid: Path | None,
    out: Path,
    say: Callable[[str], None],
) -> Prepared:
    """Read and learn, in all processes; nothing is written.

    Raises:
        FileError: the data cannot be used, or are not those the run began with.

    """
    data, valid = world.together(lambda: _files(data, valid, found, out))
    corpus: Corpus = world.together(lambda: task.read(data, valid, found.settings))
    sha256 = corpus.sha256
    config = config_text(found.settings, sha256)
    first = world.send(sha256.encode()).decode()

    def refuse() -> None:
        refuse_other_data(found, sha256)
        if sha256 != first:
            msg = f"process {world.rank} reads other data than the first; give all the same files"
            raise FileError(msg)
        if world.first and found.run is None:
            refuse_leftovers(out, config)

    world.together(refuse)
    for line in corpus.report:
        say(line)

    def learn() -> Mapping[str, bytes]:
        if found.run is not None:
            return found.run.vocabularies
        # whoever waits for a library's long call hears no signal meanwhile
        return ahead(lambda: task.learn(corpus, found.settings, say)).result()

    learned = _sent(world, world.together(lambda: learn() if world.first else {}))
    lesson = world.together(lambda: task.lesson(corpus, learned, found.settings))
    about = {
        "kind": task.kind,
        "corpus": sha256,
        "data": [str(path.absolute()) for path in data],
        "valid": None if valid is None else str(valid.absolute()),
    }
    return Prepared(lesson, config, learned, about)


def _files(
    data: Sequence[Path], valid: Path | None, found: Found, out: Path
) -> tuple[Sequence[Path], Path | None]:
    """The files given, or those the run knows."""
    if data:
        return [Path(path) for path in data], None if valid is None else Path(valid)
    if found.kept is None:
        msg = f"{out}: there is no checkpoint to go on from; give --data, to begin"
        raise ValueRangeError(msg)
    about = found.kept.about
    valid = None if about["valid"] is None else Path(about["valid"])
    return [Path(path) for path in about["data"]], valid


def _sent(world: World, learned: Mapping[str, bytes]) -> dict[str, bytes]:
    """What the first process learned, for all."""
    names = json.loads(world.send(json.dumps(sorted(learned)).encode()))
    return {name: world.send(learned.get(name, b"")) for name in names}
