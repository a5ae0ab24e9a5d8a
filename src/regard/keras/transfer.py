"""Weights to and from the PyTorch layers of the same names."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import KindError, ShapeError
from regard.keras.found import keras, ops

__all__ = ["Transferable"]


class Transferable(keras.layers.Layer):
    """A layer whose weights have the names of a PyTorch layer's ``state_dict``.

    A matrix is [out, in] in PyTorch and [in, out] in Keras.
    """

    @abstractmethod
    def torch_names(self) -> dict[str, Any]:
        """The layer's variables, made now if they are not yet, by the names they have in torch."""

    def torch_state(self) -> dict[str, NDArray[Any]]:
        """The weights as arrays, by the names and in the shapes they have in PyTorch."""
        return {
            name: np.transpose(ops.convert_to_numpy(mine.value))
            for name, mine in self.torch_names().items()
        }

    def load_torch_state(self, state: Mapping[str, Any]) -> None:
        """Take the weights of a PyTorch layer: its ``state_dict()``, or arrays by these names.

        Raises:
            KindError: names are missing or too many, or what they hold is no array.
            ShapeError: an array has the wrong shape.

        """
        owner, mine = type(self).__name__, self.torch_names()
        if set(state) != set(mine):
            msg = (
                f"{owner}: the state must have the names {sorted(mine)}, got {sorted(state)}; "
                f"is it of a {owner} with the same arguments?"
            )
            raise KindError(msg)
        arrays = {name: np.transpose(_array(owner, name, x)) for name, x in state.items()}
        for name, array in arrays.items():
            wanted = tuple(mine[name].shape)
            if array.shape != wanted:
                msg = (
                    f"{owner}: {name} must have the shape {list(wanted[::-1])}, "
                    f"got {list(array.shape[::-1])}"
                )
                raise ShapeError(msg)
        for name, array in arrays.items():  # all of them or none
            mine[name].assign(array)


def _array(owner: str, name: str, x: object) -> NDArray[Any]:
    try:
        found = np.asarray(x)
    except (RuntimeError, TypeError, ValueError) as cause:
        msg = (
            f"{owner}: {name} must be an array, got {type(x).__name__} ({cause}); "
            "of a tensor take .detach().cpu().float()"
        )
        raise KindError(msg) from cause
    if not np.issubdtype(found.dtype, np.floating):
        msg = f"{owner}: {name} must hold numbers with a point, got {found.dtype}"
        raise KindError(msg)
    return found
