"""Classifiers of all three kinds are trained, resumed and used."""

import json
from dataclasses import replace
from functools import lru_cache

import pytest
import torch

from regard.errors import FileError, ValueRangeError
from regard.tasks.classification import Classifier
from regard.tasks.classification.training import TASK, train
from regard.tasks.engine.training import kept_settings
from tests.tasks.classification.tiny import small, write_any

KINDS = ("text", "sound", "images")
LEARNS = {
    "epochs": 12, "learning_rate": 0.01, "dropout": 0.0, "augment": False, "batch_tokens": 128,
    "validate_every": 1000, "save_every": 1000, "average": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    return lru_cache(lambda kind: write_any(folder, kind, 40))


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("kind", KINDS)
def test_it_learns(data, kind, tmp_path):
    run = train(small(**LEARNS), [data(kind)], None, tmp_path / "run", device="cpu")
    assert run.has_weights
    classify = Classifier.load(tmp_path / "run")
    assert classify.kind == kind
    fresh = TASK.read([write_any(tmp_path, kind, 20, seed=9)], None, small())
    examples = [*fresh.train, *fresh.valid]
    found = classify.classified([example.load() for example in examples])
    right = sum(x.label == example.label for x, example in zip(found, examples, strict=True))
    assert right >= 18


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_training_gives_the_same_bits(data, kind, tmp_path):
    settings = small(schedule="constant", epochs=2, dropout=0.2, average=1)
    whole = train(settings, [data(kind)], None, tmp_path / "whole", device="cpu")
    cut = replace(settings, epochs=1)
    train(cut, [data(kind)], None, tmp_path / "cut", device="cpu")
    run = train(settings, [], None, tmp_path / "cut", device="cpu", resume=True)
    one, two = (x.load_last()[0] for x in (whole, run))
    assert one.keys() == two.keys()
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_what_a_run_keeps(data, tmp_path):
    train(small(epochs=1, steps=1), [data("images")], None, tmp_path / "run", device="cpu")
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"config.toml", "input.model", "labels.model", "weights.safetensors"} <= names
    told = json.loads((tmp_path / "run" / "input.model").read_text())
    assert (told["kind"], told["patch"], len(told["mean"])) == ("images", 3, 1)
    assert json.loads((tmp_path / "run" / "labels.model").read_text()) == ["across", "down"]
    assert kept_settings(TASK, tmp_path / "run").input == "auto"


def test_other_data_are_refused(data, tmp_path):
    train(small(epochs=1, steps=1), [data("text")], None, tmp_path / "run", device="cpu")
    other = write_any(tmp_path, "text", 40, seed=5)
    with pytest.raises(FileError, match="not those this run began with"):
        train(small(epochs=1), [other], None, tmp_path / "run", device="cpu", resume=True)


def test_settings_that_do_not_fit_together_are_refused_before_the_data_are_read(tmp_path):
    with pytest.raises(ValueRangeError, match="multiple of heads"):
        train(small(heads=3), [tmp_path / "nothing"], None, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_lesson_says_what_it_learned(data):
    settings = small()
    corpus = TASK.read([data("sound")], None, settings)
    said = []
    learned = TASK.learn(corpus, settings, said.append)
    assert said == ["labels: 2, high, low"]
    lesson = TASK.lesson(corpus, learned, settings)
    assert set(lesson.about) == {"input", "labels"}
    assert all(len(value) == 64 for value in lesson.about.values())
    assert lesson.model().config.labels == 2


def test_many_labels_are_not_all_listed(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("".join(f"{i % 12}\ttext {i}\n" for i in range(40)))
    said = []
    TASK.learn(TASK.read([path], None, small()), small(), said.append)
    assert said[-1] == "labels: 12, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
