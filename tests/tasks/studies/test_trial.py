"""One training of a study."""

import json

import numpy as np
import pytest

from regard.tasks.classification.settings import ClassificationSettings
from regard.tasks.classification.training import TASK
from regard.tasks.studies import trial
from regard.tasks.studies.counted import examples_in
from regard.tasks.studies.trial import Part, tried

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def asked(tmp_path):
    """Images that are bright on the left or on the right."""
    draw = np.random.default_rng(0)
    for name, count in (("train", 60), ("test", 20)):
        labels = draw.integers(0, 2, count)
        images = draw.integers(0, 60, (count, 8, 8, 1)).astype(np.uint8)
        for image, label in zip(images, labels, strict=True):
            image[:, 4 * label : 4 * label + 4] += 150
        np.savez(tmp_path / f"{name}.npz", images=images, labels=labels)
    settings = {"width": 16, "layers": 1, "heads": 2, "steps": 20, "validate_every": 10}
    return {
        "task": "classification",
        "class": "ClassificationSettings",
        "data": [str(tmp_path / "train.npz")],
        "test": str(tmp_path / "test.npz"),
        "valid": None,
        "config": None,
        "settings": settings | {"input": "images", "warmup": 2, "augment": False, "patch": 4},
        "device": "cpu",
        "out": str(tmp_path / "run"),
        "encoder": "self-attention",
        "size": 40,
        "seed": 1,
    }


def test_a_training_is_judged_by_the_test_data(asked):
    found = tried(asked)
    assert found["score"] >= 95
    assert found["score"] * 20 % 100 == pytest.approx(0)  # of 20 images
    assert found["seconds"] > 0
    assert found["mib"] >= 0
    assert found["weights"] > 1000
    assert found["device"] == "cpu"


def test_a_part_of_the_data_is_learned_from(asked):
    from pathlib import Path

    settings = ClassificationSettings(input="images")
    data = [Path(asked["data"][0])]
    whole = TASK.read(data, None, settings)
    part = Part(TASK, 13, 1)
    found = part.read(data, None, settings)
    assert len(found.train) == 13
    assert {x.name for x in found.train} <= {x.name for x in whole.train}
    assert [x.name for x in found.valid] == [x.name for x in whole.valid]
    assert part.kind == "classification"
    assert examples_in(asked) == len(whole.train)


def test_as_a_process_of_its_own(asked, capsys):
    asked["settings"]["steps"] = 2
    assert trial.main(lambda: json.dumps(asked)) == 0
    assert set(json.loads(capsys.readouterr().out)) == {
        "score", "seconds", "mib", "weights", "device",
    }  # fmt: skip


def test_what_cannot_be_tried_is_said_in_one_line(asked, capsys):
    assert trial.main(lambda: json.dumps(asked | {"size": 1000})) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[-1].startswith("regard: sizes must be from 1 to the ")
