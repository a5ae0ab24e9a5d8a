"""A trained classifier: found in its run folder, and used."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, overload

import torch
from torch import Tensor

from regard.errors import FileError, ShapeError, ValueRangeError
from regard.models.classifier import Classifier as Network
from regard.tasks.classification.classified import Classified
from regard.tasks.classification.forms import (
    Form,
    Images,
    Sounds,
    Texts,
    all_given,
    stacked,
)
from regard.tasks.classification.kept_forms import form_from
from regard.tasks.classification.names import names_from
from regard.tasks.classification.settings import ClassificationSettings, model_of
from regard.tasks.classification.taken import Anything, taken
from regard.tasks.filled import filled
from regard.tasks.run import Run
from regard.tasks.settings import parse_settings

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Classifier"]

TOGETHER = 8192  # places classified at once
BLOCK = 1024  # examples put in order by their lengths


class Classifier:
    """Finds the label of texts, sounds or images.

    Attributes:
        model: the network.
        form: what examples become before the network sees them.
        labels: which there are.
        settings: what it was trained with.
        folder: where its files are.

    >>> classify = Classifier.load("runs/digits")  # doctest: +SKIP
    >>> classify("seven.wav").label  # doctest: +SKIP
    '7'

    """

    def __init__(
        self,
        model: Network,
        form: Form,
        labels: Sequence[str],
        settings: ClassificationSettings,
        *,
        folder: Path,
    ) -> None:
        self.model = model
        self.form = form
        self.labels = tuple(labels)
        self.settings = settings
        self.folder = folder
        self._one_at_a_time = Lock()  # the weights are those of the model's last call

    @classmethod
    def load(cls, path: str | Path, device: torch.device | str = "cpu") -> Self:
        """The classifier in the folder of a run.

        Raises:
            FileError: it is no run of a classifier, or a file of it is damaged.
            ValueRangeError: there is no such folder, or no such device.

        """
        place, folder = _device(device), Path(path)
        if not folder.is_dir():
            msg = (
                f"there is no folder {str(path)!r}; a classifier is named by the folder of its run"
            )
            raise ValueRangeError(msg)
        run = Run.open(folder)
        tensors, about = run.load_weights()
        if about.get("kind") != "classification":
            msg = f"{folder}: must be a run of regard train classification, and is another one"
            raise FileError(msg)
        settings = parse_settings(ClassificationSettings, run.config, str(folder / "config.toml"))
        form = form_from(run.vocabularies, str(folder))
        labels = names_from(run.vocabularies, str(folder))
        make = partial(model_of, settings, source=form.source, size=form.size, labels=len(labels))
        try:
            model = filled(make, tensors)
        except ShapeError as cause:
            msg = f"{folder / 'weights.safetensors'}: does not fit config.toml beside it: {cause}"
            raise FileError(msg) from cause
        return cls(model.to(place), form, labels, settings, folder=folder)

    @property
    def kind(self) -> str:
        """What it classifies: "text", "sound" or "images"."""
        return self.form.kind

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the file of weights: what a score is the score of."""
        return hashlib.sha256((self.folder / "weights.safetensors").read_bytes()).hexdigest()

    @property
    def device(self) -> torch.device:
        """Where it runs."""
        return self.model.out.weight.device

    @overload
    def __call__(
        self,
        what: list[Any],
        *,
        rate: int | None = ...,
        tell: Callable[[float], None] | None = ...,
    ) -> list[Classified]: ...

    @overload
    def __call__(
        self,
        what: Anything,
        *,
        rate: int | None = ...,
        tell: Callable[[float], None] | None = ...,
    ) -> Classified: ...

    def __call__(
        self,
        what: Anything | list[Any],
        *,
        rate: int | None = None,
        tell: Callable[[float], None] | None = None,
    ) -> Classified | list[Classified]:
        """Find the label of something, or of several in a list, which is faster.

        Args:
            what: a text; a WAV file, or samples [t] between -1 and 1; an image file, or pixels
                [h, w] or [h, w, c], whole numbers from 0 to 255 or fractions from 0 to 1.
            rate: samples a second of samples that are given; None: as many as the model takes.
            tell: called now and then with the part that is done, from 0 to 1.

        Raises:
            FileError: a file is not what it should be.
            KindError, ShapeError, ValueRangeError: something is not of the kind it classifies.

        """
        several = what if isinstance(what, list) else [what]
        found = self.classified([self.take(x, rate) for x in several], tell)
        return found if isinstance(what, list) else found[0]

    def take(self, what: Anything, rate: int | None = None) -> Any:  # noqa: ANN401 - by the kind
        """The content of what a user gives: a text, frames, or pixels.

        Raises:
            FileError: a file is not what it should be.
            KindError, ShapeError, ValueRangeError: it is not of the kind this classifies.

        """
        return taken(self.form, what, rate)

    def classified(
        self, contents: Sequence[Any], tell: Callable[[float], None] | None = None
    ) -> list[Classified]:
        """What ``take`` gave, classified."""
        found: list[Classified] = []
        for first in range(0, len(contents), BLOCK):
            block = contents[first : first + BLOCK]
            rows = zip(block, self.probabilities(block), strict=True)
            found += [self._classified(content, row) for content, row in rows]
            if tell is not None:
                tell(len(found) / len(contents))
        return found

    def probabilities(self, contents: Sequence[Any]) -> Tensor:
        """[n, labels] of what ``take`` gave."""
        given = all_given(self.form, [self.form.prepared(content) for content in contents])
        found = torch.zeros(len(given), len(self.labels))
        order = sorted(range(len(given)), key=lambda i: -len(given[i].x))
        while order:
            longest = len(given[order[0]].x)
            count = max(TOGETHER // longest, 1)
            rows, order = order[:count], order[count:]
            parts = stacked([given[i] for i in rows], self.form, len(rows), longest)
            with self._one_at_a_time, torch.inference_mode():
                scores = self.model(*(x.to(self.device) for x in parts))
            found[rows] = scores.float().softmax(-1).cpu()
        return found

    def _classified(self, content: Any, row: Tensor) -> Classified:  # noqa: ANN401 - by the kind
        likely = sorted(zip(row.tolist(), self.labels, strict=True), key=lambda x: -x[0])
        return Classified(
            label=likely[0][1],
            probabilities={label: p for p, label in likely},
            kind=self.kind,
            content=content,
            places=tuple(self._places(content)),
            pitches=self.form.pitches if isinstance(self.form, Sounds) else (),
            look=partial(self._look, content),
        )

    @torch.no_grad()
    def _look(self, content: Any) -> Tensor:  # noqa: ANN401 - by the kind
        given = self.form.given(self.form.prepared(content))
        parts = stacked([given], self.form, 1, len(given.x))
        with self._one_at_a_time:
            self.model(*(x.to(self.device) for x in parts))
            return self.model.attention_weights[0].float().cpu()

    def _places(self, content: Any) -> Iterator[Any]:  # noqa: ANN401 - by the kind
        """What each of the weights belongs to."""
        form = self.form
        if isinstance(form, Texts):
            yield from form.vocabulary.pieces(form.prepared(content).tolist())
        elif isinstance(form, Sounds):
            second = form.mel.hop_samples / form.mel.rate
            for first in range(0, len(content), self.settings.stride):
                last = min(first + self.settings.stride, len(content))
                yield first * second, last * second
        elif isinstance(form, Images):
            height, width = content.shape[:2]
            for top in range(0, height, form.patch):
                for left in range(0, width, form.patch):
                    yield top, left, min(top + form.patch, height), min(left + form.patch, width)


def _device(device: torch.device | str) -> torch.device:
    try:
        place = torch.device(device)
    except RuntimeError as cause:
        msg = f"device must be cpu or cuda, got {device!r}"
        raise ValueRangeError(msg) from cause
    if place.type == "cuda" and not torch.cuda.is_available():
        msg = "device cuda: there is no GPU here, or this torch has no CUDA; take cpu"
        raise ValueRangeError(msg)
    return place
