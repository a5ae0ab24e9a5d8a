"""The batches of each epoch, the next one's order drawn when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from regard.tasks.classification.augmentation import augmentation_of
from regard.tasks.classification.batches import Batches
from regard.tasks.classification.forms import Form
from regard.tasks.classification.ready import Ready
from regard.tasks.classification.settings import ClassificationSettings

__all__ = ["Epochs"]


class Epochs:
    """Gives the batches of an epoch: a pure function of the examples, the seed and its number.

    Args:
        examples: what an epoch sees.
        form: how they become what the network takes.
        settings: seed, sizes, and how examples are changed.
        fixed_shapes: whether few shapes of batches are wanted, for graphs.

    """

    notes: tuple[str, ...] = ()

    def __init__(
        self,
        examples: Sequence[Ready],
        form: Form,
        settings: ClassificationSettings,
        *,
        fixed_shapes: bool,
    ) -> None:
        self._examples, self._form, self._settings = examples, form, settings
        self._augmentation = augmentation_of(settings, form)
        self._fixed_shapes = fixed_shapes

    def __enter__(self) -> Epochs:  # noqa: PYI034 - Self came with Python 3.11
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing is held."""

    def batches(self, epoch: int) -> Batches:
        """The batches of an epoch."""
        return Batches(
            self._examples,
            self._form,
            places=self._settings.batch_tokens,
            seed=self._settings.seed,
            epoch=epoch,
            fixed_shapes=self._fixed_shapes,
            augmentation=self._augmentation,
        )
