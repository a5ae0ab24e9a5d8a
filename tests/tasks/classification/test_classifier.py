"""A classifier is found in its folder, and answers."""

import shutil
import threading

import numpy as np
import pytest
import torch

from regard.errors import FileError, ValueRangeError
from regard.tasks.classification import Classifier
from regard.tasks.classification import classifier as module
from tests.tasks.classification.tiny import LABELS, striped, tiny_run, tone
from tests.tasks.translation.tiny import tiny_run as translator_run

rng = np.random.default_rng(0)
GIVEN = {
    "text": ["very sweet sugar", "", "lemon 猫 " * 40],
    "sound": [tone(500, n, rng) for n in (1000, 1, 7000)],
    "images": [striped(i, rng, sides) for i, sides in enumerate([(9, 9), (1, 1), (4, 20)])],
}


@pytest.fixture(params=GIVEN)
def kind(request):
    return request.param


@pytest.fixture
def classify(runs, kind):
    return Classifier.load(runs[kind])


def test_one(classify, kind):
    found = classify(GIVEN[kind][0])
    assert found.kind == kind == classify.kind
    assert set(found.probabilities) == set(LABELS[kind])
    assert sum(found.probabilities.values()) == pytest.approx(1)
    assert found.probability == max(found.probabilities.values())
    assert found.probabilities[found.label] == found.probability
    assert next(iter(found.probabilities)) == found.label


def test_several_are_as_one_by_one(classify, kind, monkeypatch):
    alone = [classify(what) for what in GIVEN[kind]]
    for together, block in ((8192, 1024), (10, 1024), (8192, 2)):
        monkeypatch.setattr(module, "TOGETHER", together)
        monkeypatch.setattr(module, "BLOCK", block)
        for one, two in zip(alone, classify(GIVEN[kind]), strict=True):
            assert one.label == two.label
            assert one.probabilities == pytest.approx(two.probabilities, abs=1e-5)
    assert classify([]) == []


def test_weights_belong_to_places(classify, kind):
    for what in GIVEN[kind]:
        found = classify(what)
        n = len(found.places)
        assert found.looks.shape == (2, n)
        assert found.weights.shape == (n,)
        assert found.weights.sum().item() == pytest.approx(1, abs=1e-5)
        assert found.looks is found.looks


def test_weights_are_of_what_they_are_read_from(classify, kind):
    first, last = classify(GIVEN[kind][0]), classify(GIVEN[kind][2])
    weights = last.weights, first.weights  # read in another order than they were made in
    assert torch.equal(weights[1], classify(GIVEN[kind][0]).weights)
    assert len(weights[0]) == len(last.places) != len(first.places)


def test_places_of_a_text(runs):
    found = Classifier.load(runs["text"])("very sweet")
    assert "".join(found.places).replace("▁", " ").strip() == "very sweet"


def test_places_of_a_sound(runs):
    found = Classifier.load(runs["sound"])(GIVEN["sound"][0])  # 1000 samples are 13 frames
    assert len(found.content) == 13
    assert found.places[0] == (0.0, pytest.approx(0.02))
    assert found.places[-1] == (pytest.approx(0.12), pytest.approx(0.13))
    assert len(found.pitches) == 8


def test_places_of_an_image(runs):
    found = Classifier.load(runs["images"])(GIVEN["images"][2])  # 4 x 20, patches of 3
    assert found.places[0] == (0, 0, 3, 3)
    assert found.places[-1] == (3, 18, 4, 20)
    assert found.grid.shape == (2, 7)


def test_the_answer_is_told_as_it_goes(classify, kind, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 2)
    told = []
    classify(GIVEN[kind], tell=told.append)
    assert told == [2 / 3, 1.0]


def test_threads_do_not_disturb_each_other(classify, kind):
    wanted = [classify(what).weights for what in GIVEN[kind]]
    wrong = []

    def ask(i):
        for _ in range(5):
            if not torch.equal(classify(GIVEN[kind][i]).weights, wanted[i]):
                wrong.append(i)

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_folders_that_are_no_classifier(runs, tmp_path):
    with pytest.raises(ValueRangeError, match="no folder"):
        Classifier.load(tmp_path / "nothing")
    with pytest.raises(FileError, match="is no run"):
        Classifier.load(tmp_path)
    with pytest.raises(FileError, match="must be a run of regard train classification"):
        Classifier.load(translator_run(tmp_path / "run"))
    with pytest.raises(ValueRangeError, match="device"):
        Classifier.load(runs["text"], "gpu")


def test_weights_of_another_model_are_refused(runs, tmp_path):
    folder = tiny_run(tmp_path / "run", "sound", width=32)
    shutil.copy(runs["sound"] / "weights.safetensors", folder)
    with pytest.raises(FileError, match="belongs to another run"):
        Classifier.load(folder)


def test_the_hash_is_that_of_the_file(runs):
    import hashlib

    classify = Classifier.load(runs["text"])
    data = (runs["text"] / "weights.safetensors").read_bytes()
    assert classify.sha256 == hashlib.sha256(data).hexdigest()
