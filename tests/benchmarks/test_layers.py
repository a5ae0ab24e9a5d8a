"""The layers' benchmark checks what it times."""

from dataclasses import replace

import pytest
import torch
from benchmarks.environment import describe
from benchmarks.measure import Pace

from benchmarks import layers

SMALL = {
    "additive-layer": {"batch": 2, "n": 5, "m": 7, "h": 4, "dv": 3},
    "decoder-layer": {"batch": 2, "steps": 3, "m": 4, "h": 5, "layers": 2, "vocab": 11},
}


@pytest.mark.parametrize("case", layers.CASES, ids=lambda case: case.name)
def test_a_small_run(case, monkeypatch):
    monkeypatch.setattr(layers, "Pace", lambda seconds: Pace(seconds=0.01, least=1, most=1))
    monkeypatch.setattr(layers, "_in_new_process", lambda *_: 1.5)
    rows = layers._rows(replace(case, sizes=SMALL[case.name]), "cpu", describe())
    assert [row.provider for row in rows] == ["ours", "textbook"]
    assert all(row.ms > 0 for row in rows)
    assert rows[0].peak_mib == 1.5


def test_a_wrong_answer_is_not_timed():
    case = layers.CASES[0]
    right = {"out": torch.ones(3), "w": torch.ones(2)}
    layers._agree(case, right, right)
    with pytest.raises(AssertionError, match="additive-layer, w"):
        layers._agree(case, {**right, "w": torch.tensor([1.0, 1.001])}, right)
