"""Weights by name, and what is put back."""

import pytest
import torch

from regard.errors import ShapeError
from regard.tasks.engine.weights import load_weights, mean_of, weights_of
from regard.tasks.translation.settings import model_of
from tests.tasks.translation.toy import small


@pytest.mark.parametrize("name", ["transformer", "bahdanau"])
def test_every_weight_comes_back_once(name):
    one, other = model_of(small(model=name), 20, 30), model_of(small(model=name), 20, 30)
    kept = weights_of(one)
    assert sum(x.numel() for x in kept.values()) == sum(x.numel() for x in one.parameters())
    load_weights(other, kept)
    wanted = one.state_dict()
    assert all(torch.equal(x, wanted[name]) for name, x in other.state_dict().items())
    assert other.out.weight is dict(other.named_parameters(remove_duplicate=False))["out.weight"]


def test_they_are_copies():
    model = model_of(small(), 20, 30)
    kept = weights_of(model)
    before = {name: x.clone() for name, x in kept.items()}
    for x in model.parameters():
        x.data += 1
    assert all(torch.equal(kept[name], before[name]) for name in kept)


def test_those_of_another_model_are_refused_and_nothing_is_changed():
    model = model_of(small(), 20, 30)
    kept, before = weights_of(model), weights_of(model)
    first, *_ = kept
    others = {name: x + 1 for name, x in kept.items()}
    with pytest.raises(ShapeError) as raised:
        load_weights(model, {**others, first: torch.zeros(31, 16)})
    assert str(raised.value) == f"the weight {first} must have the shape [30, 16], got [31, 16]"
    missing = {name: x for name, x in others.items() if name != first}
    with pytest.raises(ShapeError) as raised:
        load_weights(model, {**missing, "more": torch.zeros(1)})
    assert str(raised.value) == (
        f"these weights are of another model: {first} missing, more too many"
    )
    assert all(torch.equal(x, before[name]) for name, x in weights_of(model).items())


def test_means_are_added_up_in_double_precision():
    sets = [{"w": torch.tensor([1e8])}, {"w": torch.tensor([1.0])}, {"w": torch.tensor([-1e8])}]
    found = mean_of(sets)["w"]
    assert found.dtype == torch.float32
    assert found.item() == pytest.approx(1 / 3)
