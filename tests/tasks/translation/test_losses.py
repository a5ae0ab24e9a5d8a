"""What a translator is trained to make small."""

import pytest
from torch.nn.functional import log_softmax

from regard.tasks.translation.losses import Losses
from tests.tasks.engine.test_stepping import batch, made


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_by_its_definition(smoothing):
    model, _ = made()
    given = batch(6)
    scores = model(given.source, given.target_in, given.source_lens)
    logs = log_softmax(scores.detach(), -1)
    total = 0.0
    for row, tokens in zip(logs, given.target_out.tolist(), strict=True):
        for at, token in zip(row, tokens, strict=True):
            if token:
                total -= (1 - smoothing) * float(at[token]) + smoothing * float(at.mean())
    losses = Losses(model, smoothing)
    assert losses(*given.parts).item() == pytest.approx(total, rel=1e-5)
