"""One step of the optimiser."""

import pytest
import torch
from torch.nn.functional import log_softmax

from regard.tasks.engine.stepping import Stepper, precision_of
from regard.tasks.engine.weights import load_weights, weights_of
from regard.tasks.translation.batches import Batch
from regard.tasks.translation.losses import Losses
from regard.tasks.translation.settings import TranslationSettings, model_of
from tests.tasks.translation.toy import small

CPU = torch.device("cpu")
KINDS = ["transformer", "bahdanau"]

pytestmark = pytest.mark.usefixtures("one_thread")


def batch(rows, seed=0, source=5, target=4):
    """Sentences of random lengths, the last row empty."""
    draw = torch.Generator().manual_seed(seed)
    lens = torch.randint(1, source + 1, (rows,), generator=draw)
    sources = torch.randint(4, 20, (rows, source), generator=draw)
    sources *= torch.arange(source) < lens[:, None]
    ends = torch.randint(1, target + 1, (rows,), generator=draw)
    targets = torch.randint(4, 30, (rows, target), generator=draw)
    targets *= torch.arange(target) < ends[:, None]
    targets[-1], sources[-1], lens[-1] = 0, 0, 1
    shifted = torch.cat((torch.ones(rows, 1, dtype=torch.int64), targets[:, :-1]), 1)
    count = int((targets > 0).sum())
    return Batch(sources, lens, shifted, targets, count, count)


def rows_of(whole, index):
    parts = (x[index] for x in (whole.source, whole.source_lens, whole.target_in, whole.target_out))
    made = Batch(*parts, 0, whole.all_tokens)
    return Batch(*list(vars(made).values())[:4], int((made.target_out > 0).sum()), whole.all_tokens)


def made(kind="transformer", **settings):
    torch.manual_seed(0)
    settings = small(model=kind, **({"dropout": 0.0} | settings))
    model = model_of(settings, 20, 30).train()
    return model, Stepper(Losses(model, settings.label_smoothing), settings, CPU)


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_does_not_depend_on_how_sentences_are_cut_into_batches(kind):
    whole = batch(8)
    _, stepper = made(kind)
    loss = stepper.step([whole], 0.01, whole.tokens, seed=1)
    _, other = made(kind)
    parts = [rows_of(whole, slice(0, 3)), rows_of(whole, slice(3, 8))]
    again = other.step(parts, 0.01, whole.tokens, seed=1)
    torch.testing.assert_close(loss, again)
    moments, same = stepper.state_tensors(), other.state_tensors()
    for name in moments:
        torch.testing.assert_close(moments[name], same[name], rtol=1e-4, atol=1e-7, msg=name)


def test_the_gradient_is_that_of_the_mean_over_tokens():
    given = batch(6)
    model, stepper = made(clip=0.0, label_smoothing=0.0)
    stepper.step([given], 0.0, given.tokens, seed=1)
    found = {name: x.grad.clone() for name, x in model.named_parameters()}
    model.zero_grad()
    logs = log_softmax(model(given.source, given.target_in, given.source_lens), -1)
    real = given.target_out > 0
    picked = logs.gather(-1, given.target_out.unsqueeze(-1)).squeeze(-1)[real]
    (-picked.mean()).backward()
    for name, x in model.named_parameters():
        torch.testing.assert_close(found[name], x.grad, rtol=1e-4, atol=1e-7, msg=name)


def test_a_long_gradient_is_cut():
    given = batch(6)
    model, stepper = made(clip=0.01)
    stepper.step([given], 0.01, given.tokens, seed=1)
    norm = torch.stack([x.grad.norm() for x in model.parameters()]).norm()
    assert float(norm) == pytest.approx(0.01, rel=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_it_goes_on_from_what_was_kept(kind):
    steps = [batch(6, seed) for seed in range(4)]

    def run(model, stepper, which):
        for i in which:
            stepper.step([steps[i]], 0.01, steps[i].tokens, seed=i)

    one, stepper = made(kind, dropout=0.3)
    run(one, stepper, range(2))
    kept, moments = weights_of(one), stepper.state_tensors()
    run(one, stepper, range(2, 4))
    two, other = made(kind, dropout=0.3)
    torch.manual_seed(99)
    load_weights(two, kept)
    other.load_state_tensors(moments)
    run(two, other, range(2, 4))
    found, wanted = weights_of(two), weights_of(one)
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)
    found, wanted = other.state_tensors(), stepper.state_tensors()
    assert found.keys() == wanted.keys()
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)


def test_the_seed_draws_the_dropout():
    given = batch(6)

    def after(seed):
        model, stepper = made(dropout=0.3)
        stepper.step([given], 0.01, given.tokens, seed=seed)
        return weights_of(model)["target_embedding.weight"]

    assert torch.equal(after(1), after(1))
    assert not torch.equal(after(1), after(2))


def test_what_is_not_finite_moves_nothing():
    given = batch(6)
    model, stepper = made()
    stepper.step([given], 0.01, given.tokens, seed=1)
    assert int(stepper.skipped) == 0
    before, moments = weights_of(model), stepper.state_tensors()
    model.decoder_norm.weight.data[0] = torch.inf
    for i in range(2):
        stepper.step([given], 0.01, given.tokens, seed=i)
    assert int(stepper.skipped) == 2
    after = weights_of(model)
    names = before.keys() - {"decoder_norm.weight"}
    assert all(torch.equal(before[name], after[name]) for name in names)
    now = stepper.state_tensors()
    assert all(torch.equal(moments[name], now[name]) for name in moments.keys() - {"skipped"})
    model.decoder_norm.weight.data[0] = 1.0
    stepper.step([given], 0.01, given.tokens, seed=5)
    assert int(stepper.skipped) == 0


def test_only_matrices_decay():
    model, stepper = made(weight_decay=0.5)
    groups = {g["weight_decay"]: g["params"] for g in stepper.optimiser.param_groups}
    assert {x.dim() for x in groups[0.0]} == {1}
    assert {x.dim() for x in groups[0.5]} == {2}
    assert sum(map(len, groups.values())) == len(list(model.parameters()))


def test_precision():
    assert precision_of(TranslationSettings(), CPU) is torch.float32
    assert precision_of(TranslationSettings(precision="bf16"), CPU) is torch.bfloat16
    given = batch(6)
    model, stepper = made(precision="bf16")
    _, other = made()
    loss = stepper.step([given], 0.01, given.tokens, seed=1)
    wanted = other.step([given], 0.01, given.tokens, seed=1)
    assert loss.dtype == torch.float32
    assert float(loss) == pytest.approx(float(wanted), rel=0.02)
    assert float(loss) != float(wanted)
    assert {x.dtype for x in model.parameters()} == {torch.float32}
