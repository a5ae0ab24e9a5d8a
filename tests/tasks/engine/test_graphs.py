"""Steps replayed as CUDA graphs: they are the eager steps."""

import pytest
import torch

from regard.tasks.engine.stepping import Stepper
from regard.tasks.engine.weights import weights_of
from regard.tasks.translation.losses import Losses
from regard.tasks.translation.settings import model_of
from tests.tasks.engine.test_stepping import KINDS, batch
from tests.tasks.translation.toy import small

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")


def made(kind, **settings):
    torch.manual_seed(0)
    settings = small(model=kind, precision="float32", **settings)
    model = model_of(settings, 20, 30).cuda().train()
    return model, Stepper(Losses(model, settings.label_smoothing), settings, torch.device("cuda"))


def steps(stepper, start=0, end=6):
    """Batches of two shapes, and two to a step every other time."""
    losses = []
    for i in range(start, end):
        given = [batch(8, seed=i)] + ([batch(4, seed=i, source=7)] if i % 2 else [])
        tokens = sum(x.tokens for x in given)
        losses.append(float(stepper.step(given, 1e-2, tokens, seed=i)))
    return losses


@pytest.mark.parametrize("kind", KINDS)
def test_replays_are_the_eager_steps(kind):
    results = {}
    for graphs in (False, True):
        model, stepper = made(kind, dropout=0.0, graphs=graphs)
        assert stepper.graphs == graphs
        results[graphs] = steps(stepper), weights_of(model)
    assert results[True][0] == pytest.approx(results[False][0], rel=1e-4)
    for name, x in results[False][1].items():
        if not name.endswith("W_k.bias"):  # has no gradient but rounding, which Adam enlarges
            torch.testing.assert_close(results[True][1][name], x, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_goes_on_bit_for_bit_with_dropout(kind):
    model, stepper = made(kind, dropout=0.2)
    steps(stepper, end=3)
    kept = {k: x.clone() for k, x in model.state_dict().items()}, stepper.state_tensors()
    wanted = steps(stepper, 3, 6), weights_of(model)
    again, other = made(kind, dropout=0.2)
    again.load_state_dict(kept[0])
    other.load_state_tensors(kept[1])
    assert steps(other, 3, 6) == wanted[0]
    assert all(torch.equal(x, wanted[1][name]) for name, x in weights_of(again).items())


def test_a_gradient_that_is_not_finite_moves_nothing_and_is_counted():
    model, stepper = made("transformer", dropout=0.0)
    steps(stepper, end=2)
    before = weights_of(model)
    with torch.no_grad():
        model.out.weight[5] = torch.nan
    steps(stepper, 2, 4)
    assert int(stepper.skipped) == 2
    for name, x in weights_of(model).items():
        if name != "target_embedding.weight":
            assert torch.equal(x, before[name])
