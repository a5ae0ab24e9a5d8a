"""What a training makes small: -log P of the right labels."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from regard.models.tagger import Tagger
from regard.tasks.tagging.words import NONE

__all__ = ["Losses"]


class Losses(nn.Module):
    """A model with its loss: the sum over a batch's words of -log P(label).

    Args:
        model: what scores.
        label_smoothing: how much of the truth is given to all labels alike.
        auxiliary_weight: of the same sum over the auxiliary labels, if the model has some.

    """

    def __init__(self, model: Tagger, label_smoothing: float, auxiliary_weight: float) -> None:
        super().__init__()
        self.model = model
        self.label_smoothing = label_smoothing
        self.auxiliary_weight = auxiliary_weight

    def forward(
        self, words: Tensor, spellings: Tensor, lens: Tensor, labels: Tensor, auxiliary: Tensor
    ) -> Tensor:
        """The sum, in float32; words without a label add nothing."""
        if not self.model.config.auxiliary:
            return self._sum(self.model(words, spellings, lens), labels)
        scores, beside = self.model.both(words, spellings, lens)
        return self._sum(scores, labels) + self.auxiliary_weight * self._sum(beside, auxiliary)

    def _sum(self, scores: Tensor, labels: Tensor) -> Tensor:
        return cross_entropy(
            scores.flatten(0, 1).float(),
            labels.flatten().masked_fill(labels.flatten() < 0, NONE),
            ignore_index=NONE,
            label_smoothing=self.label_smoothing,
            reduction="sum",
        )
