"""The numbers of a model by name, each once, whatever is tied or spread over machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from regard.errors import ShapeError

__all__ = ["load_weights", "mean_of", "spread", "weights_of", "whole"]


def whole(x: Tensor) -> Tensor:
    """A copy on the CPU, gathered if each process holds a part; all must call."""
    x = x.detach()
    if _in_parts(x):
        x = x.full_tensor()  # type: ignore[attr-defined]
    return x.to("cpu", copy=True)


def spread(x: Tensor, like: Tensor) -> Tensor:
    """The values where, and in such parts as, ``like`` has its own."""
    x = x.to(like.device, like.dtype)
    if _in_parts(like):
        from torch.distributed.tensor import distribute_tensor  # noqa: PLC0415 - see _in_parts

        return distribute_tensor(x, like.device_mesh, like.placements)  # type: ignore[attr-defined]
    return x


def _in_parts(x: Tensor) -> bool:
    """Whether it is a DTensor, asked without importing what takes a second to import."""
    return hasattr(x, "full_tensor")


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Every weight by its name, on the CPU; of tied ones the first name only.

    >>> from regard.tasks.translation.settings import TranslationSettings, model_of
    >>> net = model_of(TranslationSettings(width=8, heads=2), 20, 30)
    >>> "target_embedding.weight" in weights_of(net), "out.weight" in weights_of(net)
    (True, False)
    """
    return {name: whole(x) for name, x in _named(model)}


def load_weights(model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Put values back that ``weights_of`` gave; refuses others, naming them."""
    named = dict(_named(model))
    missing, extra = sorted(named.keys() - tensors), sorted(tensors.keys() - named)
    if missing or extra:
        msg = (
            f"these weights are of another model: {_few(missing) or 'none'} missing, "
            f"{_few(extra) or 'none'} too many"
        )
        raise ShapeError(msg)
    for name, x in named.items():
        if tensors[name].shape != x.shape:
            msg = (
                f"the weight {name} must have the shape {list(x.shape)}, got "
                f"{list(tensors[name].shape)}"
            )
            raise ShapeError(msg)
    with torch.no_grad():
        for name, x in named.items():
            x.copy_(spread(tensors[name], x))


def mean_of(sets: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of each weight over several sets, added up in float64.

    >>> import torch
    >>> mean_of([{"w": torch.tensor(1.0)}, {"w": torch.tensor(2.0)}])
    {'w': tensor(1.5000)}
    """
    found = {}
    for name, first in sets[0].items():
        total = sum((x[name].double() for x in sets[1:]), first.double())
        found[name] = (total / len(sets)).to(first.dtype)
    return found


def _named(model: nn.Module) -> list[tuple[str, Tensor]]:
    kept = model.state_dict(keep_vars=True)  # without buffers that are computed
    seen: dict[int, str] = {}
    for name, x in kept.items():
        seen.setdefault(id(x), name)
    return [(name, kept[name]) for name in seen.values()]


def _few(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")  # noqa: PLR2004
