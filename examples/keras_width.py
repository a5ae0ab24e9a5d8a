"""Learn the width of kernel regression by gradient, on whichever backend Keras runs.

50 points of y = 2 sin x + x^0.8 with noise. Each is predicted from the 49 others, and five steps of
gradient descent sharpen the kernel:

    KERAS_BACKEND=torch python examples/keras_width.py --figure build/width.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

import keras
import numpy as np
from keras import ops
from numpy.typing import NDArray

from regard.keras import NWKernelRegression

POINTS, NOISE, RATE, EPOCHS = 50, 0.5, 0.5, 5
Array = NDArray[np.float32]


def curve(x: Array) -> Array:
    """The truth."""
    return 2 * np.sin(x) + x**0.8  # x from 0 on: a power of a negative number is NaN


def data(seed: int) -> tuple[Array, Array]:
    """Points [50], sorted, and what was measured there."""
    draw = np.random.default_rng(seed)
    x = np.sort(draw.uniform(0, 5, POINTS)).astype(np.float32)
    return x, curve(x) + NOISE * draw.standard_normal(POINTS, np.float32)


def others(x: Array) -> Array:
    """A row for each point: all points but itself, [50, 49]."""
    return np.stack([np.delete(x, i) for i in range(len(x))])


def train(x: Array, y: Array, start: float | None = None) -> tuple[NWKernelRegression, list[float]]:
    """The layer with its width learned, and the loss before each step."""
    layer = NWKernelRegression()
    queries, keys, values = keras.Input(()), keras.Input((None,)), keras.Input((None,))
    model = keras.Model([queries, keys, values], layer(queries, keys, values))
    if start is not None:
        layer.load_torch_state({"w": np.array([start])})

    def squared_error(wanted: object, found: object) -> object:
        return ops.sum(ops.square(wanted - found))  # the sum over the points, as in the notes

    model.compile(optimizer=keras.optimizers.SGD(RATE), loss=squared_error)
    given = [x, others(x), others(y)]
    history = model.fit(given, y, batch_size=len(x), epochs=EPOCHS, shuffle=False, verbose=0)
    return layer, history.history["loss"]


def draw(path: Path, layer: NWKernelRegression, x: Array, y: Array) -> None:
    """The points, the truth, and three guesses: the mean, a width of 1, and the learned one."""
    import torch  # noqa: PLC0415 - the figures take its tensors, whichever backend trained

    from regard.viewing.figures import regression, save  # noqa: PLC0415

    grid = np.arange(0, 5, 0.1, dtype=np.float32)
    wide = NWKernelRegression()
    wide.load_torch_state({"w": np.array([1.0])})
    curves, weights = {"average": np.full_like(grid, y.mean())}, {}
    for name, net in {"width 1": wide, "learned width": layer}.items():
        found = net(grid, x, y, return_attention_weights=True)
        curves[name], weights[name] = (np.array(ops.convert_to_numpy(z)) for z in found)
    figure = regression(
        x=torch.tensor(x),
        y=torch.tensor(y),
        grid=torch.tensor(grid),
        truth=torch.tensor(curve(grid)),
        curves={name: torch.tensor(z) for name, z in curves.items()},
        weights={name: torch.tensor(z) for name, z in weights.items()},
    )
    save(figure, path)


def main(arguments: list[str] | None = None) -> None:
    """Train, print, and draw if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the points (default: 0)")
    parser.add_argument("--start", type=float, help="w before training (default: drawn from 0..1)")
    parser.add_argument("--figure", type=Path, help="where to draw the curve: .png, .svg or .pdf")
    options = parser.parse_args(arguments)
    x, y = data(options.seed)
    layer, losses = train(x, y, options.start)
    for epoch, loss in enumerate(losses, 1):
        print(f"epoch {epoch}, loss {loss:.6f}")
    print(f"w = {ops.convert_to_numpy(layer.w.value).item():.4f} on {keras.backend.backend()}")
    if options.figure:
        draw(options.figure, layer, x, y)


if __name__ == "__main__":
    main()
