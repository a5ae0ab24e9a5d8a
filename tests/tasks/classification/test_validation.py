"""Accuracy and loss of a model that answers what the test says."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from regard.tasks.classification.ready import NONE, Ready
from regard.tasks.classification.validation import Validation
from tests.tasks.classification.test_batches import FORM
from tests.tasks.classification.tiny import small

CPU = torch.device("cpu")


class Told(nn.Module):
    """Gives class 1 a score of its first number."""

    def forward(self, x, lens):
        assert not self.training
        first = x[:, 0, 0]
        return torch.stack([torch.zeros_like(first), first], 1)


def judged(pairs, asked=lambda: False):
    examples = [
        Ready((n, 1), partial(np.full, (n, 1), value, np.float32), label)
        for n, (value, label) in enumerate(pairs, start=1)
    ]
    return Validation(examples, FORM, small(batch_tokens=8))(Told().train(), CPU, asked)


def test_accuracy_and_loss():
    found = judged([(1.0, 1), (-1.0, 0), (2.0, 0), (-3.0, 0)])
    assert found.score == 75
    losses = [math.log1p(math.exp(x)) for x in (-1.0, -1.0, 2.0, -3.0)]
    assert found.loss == pytest.approx(sum(losses) / 4)


def test_a_label_never_seen_is_wrong_and_has_no_loss():
    found = judged([(1.0, 1), (1.0, NONE)])
    assert found.score == 50
    assert found.loss == pytest.approx(math.log1p(math.exp(-1)))
    assert judged([(1.0, NONE)]) == (0, 0)


def test_it_stops_when_asked():
    asked = iter([False, True, True])
    assert judged([(1.0, 1)] * 6, lambda: next(asked)) is None


def test_the_model_is_left_as_it_was():
    model = Told().train()
    Validation([], FORM, small())(model, CPU)
    assert model.training
