"""The training of the TensorFlow note: the same losses as the PyTorch layer's, step by step."""

import numpy as np
import pytest
import torch

from examples import keras_width
from regard.layers import NWKernelRegression


def by_torch(x, y, start):
    """The same five steps, written with torch."""
    net = NWKernelRegression().double()
    net.load_state_dict({"w": torch.tensor([start], dtype=torch.float64)})
    step = torch.optim.SGD(net.parameters(), lr=0.5)
    x, y = torch.tensor(x).double(), torch.tensor(y).double()
    keep = ~torch.eye(50, dtype=torch.bool)
    keys, values = (z.repeat(50, 1)[keep].reshape(50, 49) for z in (x, y))
    losses = []
    for _ in range(5):
        step.zero_grad()
        loss = (net(x, keys, values) - y).square().sum()
        loss.backward()
        step.step()
        losses.append(loss.item())
    return net.w.item(), losses


def test_the_data_are_those_of_the_note():
    x, y = keras_width.data(0)
    assert x.shape == y.shape == (50,)
    assert (np.diff(x) >= 0).all()
    assert 0 <= x.min() < 0.5
    assert 4.5 < x.max() <= 5
    noise = y - 2 * np.sin(x) - x**0.8
    assert 0.35 < noise.std() < 0.65
    rows = keras_width.others(x)
    assert rows.shape == (50, 49)
    assert rows[3].tolist() == [*x[:3], *x[4:]]


def test_the_losses_are_those_of_the_pytorch_layer():
    x, y = keras_width.data(0)
    layer, losses = keras_width.train(x, y, start=0.6)
    w, wanted = by_torch(x, y, start=0.6)
    assert losses == pytest.approx(wanted, rel=1e-4)
    assert layer.torch_state()["w"].item() == pytest.approx(w, rel=1e-4)
    assert losses[-1] < losses[0]


def test_it_prints_the_losses_and_draws_when_asked(tmp_path, capsys):
    keras_width.main(["--start", "0.6", "--figure", str(tmp_path / "width.png")])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines[:5]] == [f"epoch {i}" for i in range(1, 6)]
    assert lines[5].startswith("w = ")
    assert (tmp_path / "width.png").stat().st_size > 1000


def test_it_draws_nothing_unasked(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    keras_width.main([])
    assert list(tmp_path.iterdir()) == []
    assert "epoch 5" in capsys.readouterr().out
