"""Models filled with weights: the same as loading them, ties kept, nothing drawn."""

import pytest
import torch
from torch import nn

from regard.errors import ShapeError
from regard.tasks.filled import filled
from regard.tasks.translation.settings import TranslationSettings, model_of

SETTINGS = {
    "transformer": TranslationSettings(width=16, heads=2, encoder_layers=1, decoder_layers=1),
    "learned": TranslationSettings(width=16, heads=2, positions="learned"),
    "alibi": TranslationSettings(width=16, heads=2, positions="alibi", tied=False),
    "bahdanau": TranslationSettings(model="bahdanau", width=8, hidden=16),
    "shared": TranslationSettings(model="bahdanau", width=8, hidden=16, shared_vocab=True),
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
def test_equal_to_loading_them(settings):
    torch.manual_seed(1)
    trained = model_of(settings, 30, 30).eval()
    names = {id(x): name for name, x in trained.state_dict(keep_vars=True).items()}
    kept = {name: trained.state_dict()[name] for name in names.values()}  # of tied ones the last
    before = torch.random.get_rng_state()
    net = filled(lambda: model_of(settings, 30, 30), kept)
    if settings.positions != "learned":  # made by torch.randn, which is no filling
        assert torch.equal(torch.random.get_rng_state(), before)
    assert not net.training
    assert not any(x.requires_grad for x in net.parameters())
    source, target = torch.randint(4, 30, (2, 5)), torch.randint(4, 30, (2, 6))
    lens = torch.tensor([5, 3])
    torch.testing.assert_close(net(source, target, lens), trained(source, target, lens))
    state = net.start(source, lens)
    torch.testing.assert_close(
        net.step(target[:, 0], state)[0], trained(source, target, lens)[:, 0]
    )
    assert len({id(x) for x in net.state_dict(keep_vars=True).values()}) == len(names)


def test_weights_of_another_model_are_refused():
    make = lambda: nn.Linear(2, 3)
    good = nn.Linear(2, 3).state_dict()
    for tensors, message in [
        (good | {"w": torch.ones(1)}, "the weight w has no place in this model; they are of "
         "another one"),
        ({"weight": good["weight"]}, "the weight bias must have the shape [3], there is none"),
        (good | {"weight": torch.ones(3, 1)}, "the weight weight must have the shape [3, 2], got "
         "[3, 1]"),
    ]:  # fmt: skip
        with pytest.raises(ShapeError) as raised:
            filled(make, tensors)
        assert str(raised.value) == message
