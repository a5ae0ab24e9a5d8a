"""Settings of a classifier, and the model they describe."""

import pytest
import torch

from regard.errors import ValueRangeError
from regard.models.encoder import ENCODERS
from regard.tasks.classification.settings import ClassificationSettings, config_of, model_of
from regard.tasks.settings import check, parse_settings, to_toml


def test_settings_survive_their_file():
    settings = ClassificationSettings(encoder="cnn", patch=2, flip=True, gain=0.0)
    assert parse_settings(ClassificationSettings, to_toml(settings), "x") == settings


@pytest.mark.parametrize("kind", ENCODERS)
@pytest.mark.parametrize("source", ["tokens", "frames", "patches"])
def test_every_encoder_takes_every_source(kind, source):
    settings = ClassificationSettings(encoder=kind, width=8, heads=2, looks=2, layers=1, dropout=0)
    net = model_of(settings, source=source, size=5, labels=3)
    x = torch.ones(2, 4, dtype=torch.int64) if source == "tokens" else torch.randn(2, 4, 5)
    places = torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]]).expand(2, 4, 2)
    more = (places,) if source == "patches" else ()
    assert net(x, torch.tensor([4, 1]), *more).shape == (2, 3)


def test_what_is_usual_is_left_to_the_model():
    config = config_of(ClassificationSettings(), source="frames", size=40, labels=2)
    assert (config.encoder.hidden, config.encoder.reach) == (None, None)
    told = ClassificationSettings(hidden=7, reach=0, stride=8, looks=2, dropout=0.3, beneath="cnn")
    config = config_of(told, source="frames", size=40, labels=2)
    assert (config.encoder.hidden, config.encoder.reach, config.stride) == (7, 0, 8)
    assert (config.heads, config.dropout, config.encoder.dropout) == (2, 0.3, 0.3)
    assert config.encoder.beneath == "cnn"


@pytest.mark.parametrize(
    "wrong", [{"heads": 3}, {"looks": 3}, {"stride": 3}], ids=lambda wrong: next(iter(wrong))
)
def test_what_does_not_fit_together_is_refused(wrong):
    settings = ClassificationSettings(**wrong)
    check(settings)  # each for itself may stand there
    with pytest.raises(ValueRangeError):
        config_of(settings, source="frames", size=2, labels=2)
