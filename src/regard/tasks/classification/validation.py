"""How good a model is on examples it never learned from, while it is trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch.nn.functional import cross_entropy

from regard.models.classifier import Classifier
from regard.tasks.classification.batches import Batches
from regard.tasks.classification.forms import Form
from regard.tasks.classification.ready import NONE, Ready
from regard.tasks.classification.settings import ClassificationSettings
from regard.tasks.engine.stepping import precision_of
from regard.tasks.engine.task import Judged

__all__ = ["Validation"]


class Validation:
    """Classifies examples and compares with their labels.

    Args:
        examples: with ``NONE`` as the label of one that was never seen in training: it counts as
            wrong, and has no loss.
        form: how they become what the network takes.
        settings: places of a batch, and the precision.

    """

    def __init__(
        self, examples: Sequence[Ready], form: Form, settings: ClassificationSettings
    ) -> None:
        self._count, self._settings = len(examples), settings
        self._batches = Batches(
            examples, form, places=settings.batch_tokens, seed=0, epoch=0, fixed_shapes=False
        )

    def __call__(
        self,
        model: Classifier,
        device: torch.device,
        asked: Callable[[], bool] = lambda: False,
    ) -> Judged | None:
        """Judge a model; None if ``asked`` said in between that there is no time for it."""
        was = model.training
        model.eval()
        right, total, known = 0, 0.0, 0
        half = precision_of(self._settings, device) is torch.bfloat16
        try:
            with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=half):
                for batch in self._batches.epoch(0):
                    if asked():
                        return None
                    *given, labels = (x.to(device) for x in batch.parts)
                    scores = model(*given).float()
                    right += int((scores.argmax(-1) == labels).sum())
                    total += float(
                        cross_entropy(scores, labels, ignore_index=NONE, reduction="sum")
                    )
                    known += int((labels != NONE).sum())
        finally:
            model.train(was)
        return Judged(100 * right / max(self._count, 1), total / max(known, 1))
