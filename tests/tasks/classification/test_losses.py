"""The loss is a sum over examples, to which empty rows add nothing."""

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from regard.tasks.classification.losses import Losses
from regard.tasks.classification.ready import NONE


class Fixed(nn.Module):
    """Scores that were given."""

    def forward(self, scores, *others):
        self.others = others
        return scores


def test_the_sum_over_examples():
    scores = torch.randn(4, 3, dtype=torch.bfloat16)
    labels = torch.tensor([2, NONE, 0, 1])
    lens, places = torch.ones(4), torch.zeros(4, 1, 2)
    for smoothing in (0.0, 0.2):
        model = Fixed()
        got = Losses(model, smoothing)(scores, lens, places, labels)
        assert model.others == (lens, places)
        wanted = sum(
            cross_entropy(scores[i].float(), labels[i], label_smoothing=smoothing)
            for i in (0, 2, 3)
        )
        assert got.dtype == torch.float32
        torch.testing.assert_close(got, wanted)


def test_a_batch_of_empty_rows():
    assert Losses(Fixed(), 0.1)(torch.randn(2, 3), torch.full((2,), NONE)) == 0
