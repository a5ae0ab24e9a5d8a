"""Trainings that begin with a translator: what they take over, and what they refuse."""

import shutil

import pytest
import torch

from regard.errors import ValueRangeError
from regard.tasks.run import Run
from regard.tasks.translation.settings import TranslationSettings
from regard.tasks.translation.starting import TAKEN, like, start_of
from regard.tasks.translation.training import train
from regard.tasks.translation.translator import Translator
from tests.tasks.translation.tiny import PAIRS, tiny_run

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{a}\t{b}\n" for a, b in PAIRS))
    return path


def beginning(start, **changes):
    usual = {"epochs": 2, "average": 1, "warmup": 0, "sample": 0.0, "dropout": 0.0, "heads": 4}
    return TranslationSettings(start_from=str(start), **(usual | changes))


@pytest.mark.parametrize("model", ["transformer", "bahdanau"])
@pytest.mark.parametrize("shared", [False, True])
def test_its_weights_sizes_and_vocabularies_are_taken_over(model, shared, pairs, tmp_path):
    start = tiny_run(tmp_path / "start", model, shared=shared)
    still = beginning(start, learning_rate=0.0)
    run = train(still, [pairs], pairs, tmp_path / "run", device="cpu")
    before, after = Translator.load(start), Translator.load(tmp_path / "run")
    assert run.vocabularies == Run.open(start).vocabularies
    assert all(getattr(after.settings, x) == getattr(before.settings, x) for x in TAKEN)
    kept = after.model.state_dict()
    assert all(torch.equal(x, kept[name]) for name, x in before.model.state_dict().items())


def test_it_learns_from_there(pairs, tmp_path):
    start = tiny_run(tmp_path / "start")
    train(beginning(start), [pairs], pairs, tmp_path / "run", device="cpu")
    before, after = (Translator.load(tmp_path / name).model for name in ("start", "run"))
    assert not torch.equal(before.source_embedding.weight, after.source_embedding.weight)


def test_it_goes_on_when_the_other_is_gone(pairs, tmp_path):
    start = tiny_run(tmp_path / "start")
    whole = beginning(start, epochs=9, steps=4, save_every=1)
    train(whole, [pairs], pairs, tmp_path / "whole", device="cpu")
    some = beginning(start, epochs=9, steps=2, save_every=1)
    train(some, [pairs], pairs, tmp_path / "run", device="cpu")
    shutil.rmtree(start)
    own = like_run(tmp_path / "run", steps=4)
    train(own, [pairs], pairs, tmp_path / "run", resume=True, device="cpu")
    tensors = [Run.open(tmp_path / name).load_last()[0] for name in ("whole", "run")]
    assert all(torch.equal(x, tensors[1][name]) for name, x in tensors[0].items())


def like_run(folder, **changes):
    settings = vars(Translator.load(folder).settings)
    return TranslationSettings(**(settings | changes))


def test_a_size_that_was_asked_for_and_is_another_is_refused(tmp_path):
    start = Translator.load(tiny_run(tmp_path / "start"))
    asked = beginning(tmp_path / "start", width=64)
    with pytest.raises(ValueRangeError) as raised:
        like(asked, start)
    said = f"width is 16 in {tmp_path / 'start'}, got 64; leave it out"
    assert str(raised.value) == said
    assert like(beginning(tmp_path / "start", width=16), start).hidden == 24


def test_fresh_weights_are_usual_and_no_such_model_is_said(tmp_path):
    assert start_of(TranslationSettings()) is None
    with pytest.raises(ValueRangeError, match="there is no model and no folder 'zh-de'"):
        start_of(TranslationSettings(start_from="zh-de"))
