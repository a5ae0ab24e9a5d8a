"""What a classifier is trained to make small."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from regard.models.classifier import Classifier
from regard.tasks.classification.ready import NONE

__all__ = ["Losses"]


class Losses(nn.Module):
    """A model with its loss: the sum over a batch's examples of -log P(label).

    Args:
        model: what scores.
        label_smoothing: how much of the truth is given to all labels alike.

    """

    def __init__(self, model: Classifier, label_smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.label_smoothing = label_smoothing

    def forward(self, *parts: Tensor) -> Tensor:
        """The sum, in float32, of the parts of a batch; empty rows add nothing."""
        *given, labels = parts
        return cross_entropy(
            self.model(*given).float(),
            labels,
            ignore_index=NONE,
            label_smoothing=self.label_smoothing,
            reduction="sum",
        )
