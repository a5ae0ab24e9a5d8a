"""A model with given weights, made without drawing random ones first.

Drawing 27 million numbers that are thrown away takes longer than translating a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from regard.errors import ShapeError

__all__ = ["filled"]

Model = TypeVar("Model", bound=nn.Module)
DRAWS = frozenset({"uniform_", "normal_", "kaiming_uniform_", "xavier_uniform_", "orthogonal_"})


class _Undrawn(TorchFunctionMode):
    """Leaves tensors as they are where random numbers would be written into them."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the function gives
        kwargs = kwargs or {}
        if func.__name__ in DRAWS:
            return kwargs["tensor"] if "tensor" in kwargs else args[0]
        return func(*args, **kwargs)


def filled(make: Callable[[], Model], tensors: Mapping[str, Tensor]) -> Model:
    """What ``make`` makes, with these weights, fixed and without dropout.

    Args:
        make: makes a model; torch's random generator is left alone meanwhile.
        tensors: its weights by name; of weights that are tied one name is enough.

    Raises:
        ShapeError: they are the weights of another model.

    >>> import torch
    >>> filled(lambda: torch.nn.Linear(1, 1, bias=False), {"weight": torch.ones(1, 1)}).weight
    Parameter containing:
    tensor([[1.]])

    """
    with _Undrawn():
        model = make()
    names: dict[int, list[str]] = {}
    kept = model.state_dict(keep_vars=True)
    for name, x in kept.items():
        names.setdefault(id(x), []).append(name)
    extra = next((name for name in tensors if name not in kept), None)
    if extra is not None:
        msg = f"the weight {extra} has no place in this model; they are of another one"
        raise ShapeError(msg)
    for tied in names.values():
        given = next((tensors[name] for name in tied if name in tensors), None)
        wanted = kept[tied[0]]
        if given is None or given.shape != wanted.shape:
            got = "there is none" if given is None else f"got {list(given.shape)}"
            msg = f"the weight {tied[0]} must have the shape {list(wanted.shape)}, {got}"
            raise ShapeError(msg)
        given = given.to(wanted.dtype)
        put = (
            nn.Parameter(given, requires_grad=False) if isinstance(wanted, nn.Parameter) else given
        )
        for name in tied:
            module, _, leaf = name.rpartition(".")
            setattr(model.get_submodule(module), leaf, put)
    return model.eval()
