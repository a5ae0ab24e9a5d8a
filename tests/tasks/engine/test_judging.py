"""One judges for all."""

import torch
from torch import nn

from regard.tasks.engine.distributed import World
from regard.tasks.engine.judging import Judging
from regard.tasks.engine.stopping import Asked
from regard.tasks.engine.task import Judged

ALONE = World(0, 1, torch.device("cpu"))


def by_weight(model, device, late):
    return None if late() else Judged(model.weight.item(), 0.5)


def test_a_model_is_judged_unless_somebody_asked_to_stop():
    model, asked = nn.Linear(1, 1), Asked()
    judging = Judging(ALONE, by_weight, None)
    assert judging(model, asked, sharded=False) == Judged(model.weight.item(), 0.5)
    asked.signal = 15
    assert judging(model, asked, sharded=False) is None


def test_a_model_in_parts_is_judged_whole():
    model, whole = nn.Linear(1, 1), nn.Linear(1, 1)
    assert model.weight.item() != whole.weight.item()
    judging = Judging(ALONE, by_weight, whole)
    assert judging(model, Asked(), sharded=True) == Judged(model.weight.item(), 0.5)
    assert whole.weight.item() == model.weight.item()
