"""What was learned of examples survives its file, and what is damaged is refused."""

import json

import numpy as np
import pytest

from regard.errors import FileError
from regard.tasks.classification.kept_forms import form_from
from tests.tasks.classification.tiny import form_of, small

KINDS = ("text", "sound", "images")


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_run_keeps_gives_the_same_form(kind):
    form = form_of(kind, small())
    again = form_from(form.learned(), "run")
    assert (again.kind, again.source, again.size) == (kind, form.source, form.size)
    content = {
        "text": "very sweet sugar",
        "sound": np.random.default_rng(0).standard_normal((5, 8), np.float32),
        "images": np.arange(20, dtype=np.uint8).reshape(4, 5, 1),
    }[kind]
    one, two = (x.given(x.prepared(content)) for x in (form, again))
    assert np.array_equal(one.x, two.x)
    if kind == "images":
        assert np.array_equal(one.places, two.places)


SOUND = {"kind": "sound", "rate": 8000, "features": 2, "hop": 0.01, "window": 0.025}
MOMENTS = {"mean": [0.0, 0.0], "deviation": [1.0, 1.0]}
IMAGES = {"kind": "images", "patch": 2, "mean": [0.5], "deviation": [1.0]}


def test_good_ones_are_taken():
    for told in (SOUND | MOMENTS, IMAGES):
        assert form_from({"input": json.dumps(told).encode()}, "run").kind == told["kind"]


@pytest.mark.parametrize(
    "told",
    [
        b"{",
        b"\xff",
        b"[" * 100_000,
        b"3",
        b"{}",
        {"kind": "smell"},
        {"kind": ["text"]},
        {"kind": "text"},  # without words.model
        SOUND,
        SOUND | MOMENTS | {"features": 3},
        SOUND | MOMENTS | {"rate": 8e3},
        SOUND | MOMENTS | {"rate": 0},
        SOUND | MOMENTS | {"hop": "0.01"},
        SOUND | MOMENTS | {"hop": 1.0},
        SOUND | MOMENTS | {"deviation": [1.0, 0.0]},
        SOUND | MOMENTS | {"deviation": [1.0]},
        SOUND | MOMENTS | {"mean": [0.0, "x"]},
        SOUND | MOMENTS | {"mean": []},
        SOUND | MOMENTS | {"mean": [0.0, float("nan")]},
        IMAGES | {"patch": 0},
        IMAGES | {"patch": True},
        IMAGES | MOMENTS,  # two channels
    ],
    ids=str,
)
def test_what_is_damaged_is_refused(told):
    data = told if isinstance(told, bytes) else json.dumps(told).encode()
    with pytest.raises(FileError, match=r"run: input\.model is not"):
        form_from({"input": data}, "run")
    with pytest.raises(FileError, match=r"run: input\.model is not"):
        form_from({}, "run")
