"""What a translator is trained to make small."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from regard.models import Bahdanau, Transformer
from regard.tasks.vocabulary import PAD

__all__ = ["Losses"]


class Losses(nn.Module):
    """A model with its loss: the sum over a batch's target tokens of -log P(token).

    Args:
        model: what scores.
        label_smoothing: how much of the truth is given to all tokens alike.

    """

    def __init__(self, model: Transformer | Bahdanau, label_smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.label_smoothing = label_smoothing

    def forward(
        self, source: Tensor, source_lens: Tensor, target_in: Tensor, target_out: Tensor
    ) -> Tensor:
        """The sum, in float32; padding adds nothing."""
        states = self.model.states(source, target_in, source_lens)
        if states.device.type == "cpu":  # a GPU would have to wait for how many there are
            real = target_out != PAD
            states, target_out = states[real], target_out[real]
        scores = self.model.out(states).flatten(0, -2).float()
        return cross_entropy(
            scores,
            target_out.flatten(),
            ignore_index=PAD,
            label_smoothing=self.label_smoothing,
            reduction="sum",
        )
