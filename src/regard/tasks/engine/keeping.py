"""What a training writes into its run folder, and what it says when it cannot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import Tensor

from regard.tasks.engine.events import Events
from regard.tasks.engine.place import Place
from regard.tasks.engine.progress import Progress
from regard.tasks.engine.stopping import Stopped
from regard.tasks.run import Run

__all__ = ["Keeper"]


class Keeper:
    """Writes for the first process; for the others, who have no run, it does nothing.

    Args:
        run: the folder.
        weights_about: what is said of weights: the ``kind`` of task, settings, vocabularies.
        last_about: what is said of a checkpoint: the data, the form of batches, the limits.
        place: where the last checkpoint is; it is kept up to date.

    """

    def __init__(
        self,
        run: Run | None,
        weights_about: Mapping[str, Any],
        last_about: Mapping[str, Any],
        place: Place,
    ) -> None:
        self._run, self.place = run, place
        self._weights_about, self._last_about = dict(weights_about), dict(last_about)
        self._events = None if run is None else Events(run.folder / "tensorboard", place.saved or 0)

    def log(self, row: Mapping[str, Any]) -> None:
        """A row of metrics.jsonl."""
        if self._run is not None and self._events is not None:
            with self._writing():
                self._run.log(dict(row))
                self._events.add(row)

    def log_once(self, row: Mapping[str, Any], key: str) -> None:
        """The same, if no row of this step has this key: it may have been killed just after."""
        if self._run is not None:
            same = (kept for kept in self._run.rows() if kept.get("step") == row["step"])
            if not any(key in kept for kept in same):
                self.log(row)

    def best(self, weights: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
        """Weights to use."""
        if self._run is not None:
            with self._writing():
                self._run.save_weights(weights, {**self._weights_about, **about})

    def recent(
        self, step: int, weights: Mapping[str, Tensor], about: Mapping[str, Any], *, keep: int
    ) -> None:
        """Weights to average in the end; older ones go."""
        if self._run is not None:
            with self._writing():
                self._run.keep_recent(step, weights, {**self._weights_about, **about}, keep=keep)

    def kept(self) -> list[dict[str, Tensor]]:
        """The weights to average."""
        return [] if self._run is None else [tensors for tensors, _ in self._run.recent()]

    def last(self, progress: Progress, tensors: Mapping[str, Tensor]) -> None:
        """Everything needed to go on."""
        if self._run is not None:
            with self._writing():
                about = {**self._last_about, "progress": progress.as_json()}
                self._run.save_last(tensors, about)
            self.place.saved = progress.step

    def close(self) -> None:
        """Write what is left of the events."""
        if self._events is not None:
            self._events.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            what = error.strerror or str(error)
            name = "" if error.filename is None else f"{error.filename}: "
            gone = self._run is not None and not self._run.folder.is_dir()
            msg = f"{name}{what}; {'the folder of the run is gone' if gone else self.place}"
            raise Stopped(msg, 1) from error
