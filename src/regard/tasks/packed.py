"""Weights in a quarter of the room, for models that come with the package.

Each row of a matrix is kept as whole numbers from -127 to 127 and one scale: what is read back is
off by at most half a scale. ``python -m regard.tasks.packed RUN FOLDER`` makes such a
model of a trained one.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from regard.errors import RegardError, ValueRangeError
from regard.tasks.run import Run

__all__ = ["main", "pack", "ship", "unpack"]

STEPS = 127  # of a row's largest entry, in either direction
SCALE = ":scale"  # behind the name of a matrix; no parameter of a module has a colon in its name
PACKED = "packed"  # how what is said about the weights tells that they are
MATRIX = 2  # axes


def pack(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Matrices as int8 with a scale a row, other numbers as float16 where that is exact enough.

    >>> import torch
    >>> packed = pack({"w": torch.tensor([[1.27, -0.5]]), "b": torch.tensor([0.5])})
    >>> packed["w"].tolist(), packed["b"].dtype
    ([[127, -50]], torch.float16)

    Raises:
        ValueRangeError: a number is infinite or NaN.

    """
    packed = {}
    for name, x in tensors.items():
        if not x.is_floating_point():
            packed[name] = x
            continue
        if not bool(x.isfinite().all()):
            count = int((~x.isfinite()).sum())
            msg = f"{name} must hold finite numbers, got {count:,} that are infinite or NaN"
            raise ValueRangeError(msg)
        if x.ndim == MATRIX:
            packed[name], packed[name + SCALE] = _rows(x.float())
        else:
            packed[name] = _short(x.float())
    return packed


def _rows(x: Tensor) -> tuple[Tensor, Tensor]:
    most = x.abs().amax(1) if x.shape[1] else x.new_zeros(len(x))
    scale = (most / STEPS).clamp_min(torch.finfo(torch.float32).tiny)  # a row of zeros has one too
    return (x / scale[:, None]).round().clamp(-STEPS, STEPS).to(torch.int8), scale


def _short(x: Tensor) -> Tensor:
    """In float16, unless that loses more than its usual digits of the largest number."""
    half = x.half()
    near = (half.float() - x).abs() <= x.abs().amax() * 2**-11 if x.numel() else x.bool()
    return half if bool(near.all()) else x


def unpack(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights of which ``pack`` made these, in float32, each near what it was."""
    unpacked = {}
    for name, x in tensors.items():
        if name.endswith(SCALE):
            continue
        if name + SCALE in tensors:
            unpacked[name] = x.float().mul_(tensors[name + SCALE][:, None])
        else:
            unpacked[name] = x.float() if x.is_floating_point() else x
    return unpacked


def ship(run_folder: Path, out_folder: Path) -> None:
    """Make a run with packed weights of a run: what comes with the package, without the training.

    Args:
        run_folder: a run with weights.
        out_folder: new or empty.

    Raises:
        RegardError: there is no such run, its weights are not finite, or the folder is in use.

    """
    run = Run.open(run_folder)
    tensors, about = run.load_weights()
    packed = tensors if about.get(PACKED) else pack(tensors)
    # where a training began may be a place on the machine it ran on: nothing to those it is for
    config = re.sub(r"(?m)^start_from = .*$", 'start_from = ""', run.config)
    said = about | {PACKED: "int8 rows"} | ({"config": config} if "config" in about else {})
    with Run.create(out_folder, config, run.vocabularies) as out:
        out.save_weights(packed, said)
    (Path(out_folder) / ".lock").unlink(missing_ok=True)  # nobody trains what is shipped


def main(argv: Sequence[str] | None = None) -> int:
    """Ship what the command line names."""
    parser = argparse.ArgumentParser(
        prog="python -m regard.tasks.packed",
        description="Make a small model, as they come with the package, of a trained one.",
    )
    parser.add_argument("run", type=Path, help="a run of regard train")
    parser.add_argument("folder", type=Path, help="where to; new or empty")
    args = parser.parse_args(argv)
    try:
        ship(args.run, args.folder)
    except (RegardError, OSError) as error:
        sys.stderr.write(f"packed: {error}\n")
        return 2
    size = sum(path.stat().st_size for path in args.folder.iterdir())
    sys.stdout.write(f"{args.folder}: {size / 2**20:.1f} MiB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
