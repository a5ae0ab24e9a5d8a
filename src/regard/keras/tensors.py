"""What can be asked of a tensor, whichever backend it belongs to."""

from __future__ import annotations

import sys
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from regard.keras.found import keras, ops

__all__ = ["Tensor", "holds_numbers", "name_of", "numbers", "widened"]

# TensorFlow's, JAX's or torch's: the class is known when it runs, not before
Tensor: TypeAlias = Any


def holds_numbers(x: Tensor) -> bool:
    """Whether x has its numbers now; False where it stands for them in a graph being made.

    >>> from keras import ops
    >>> holds_numbers(ops.zeros(2))
    True

    """
    backend = keras.backend.backend()
    if backend == "tensorflow":
        return hasattr(x, "numpy")
    if backend == "jax":
        return not isinstance(x, sys.modules["jax"].core.Tracer)
    if backend == "torch":
        return x.device.type != "meta" and not sys.modules["torch"].compiler.is_compiling()
    return True


def numbers(x: Tensor) -> NDArray[Any] | None:
    """The numbers of x as an array, or None where reading them is impossible or stalls a device."""
    if not holds_numbers(x):
        return None
    backend = keras.backend.backend()
    if backend == "tensorflow":
        near = "CPU" in x.device
    elif backend == "jax":
        near = all(device.platform == "cpu" for device in x.devices())
    else:
        near = backend != "torch" or x.device.type == "cpu"
    if not near:
        return None
    return np.asarray(x.numpy() if hasattr(x, "numpy") else x)


def name_of(dtype: object) -> str:
    """A dtype's name, the same for every backend's."""
    return str(keras.backend.standardize_dtype(dtype))


def widened(x: Tensor) -> Tensor:
    """In float32 if it was in half precision."""
    return ops.cast(x, "float32") if name_of(x.dtype) in ("bfloat16", "float16") else x
