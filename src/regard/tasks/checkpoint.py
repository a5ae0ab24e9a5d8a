"""Files of tensors that are whole, unchanged and free of code, or are refused.

The form is safetensors: eight bytes with the length of a header, the header as JSON, then the
tensors' bytes. Other programs can read it. Ours has one way to write given tensors, to the byte,
with a SHA-256 for each of them and one for the header, so that no changed bit goes unnoticed.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor

from regard.errors import FileError, KindError, ValueRangeError
from regard.tasks.files import open_plain, sweep, write_bytes, write_pieces

__all__ = ["read_tensors", "sweep", "write_bytes", "write_tensors"]

FORMAT = 1
HEADER_LIMIT = 1 << 23  # some 30,000 tensors; parsed JSON takes many times its text
MOST_AXES = 64  # as many as torch has
ABOUT = "__metadata__"
CODES = {
    "BOOL": torch.bool,
    "U8": torch.uint8,
    "I8": torch.int8,
    "I16": torch.int16,
    "I32": torch.int32,
    "I64": torch.int64,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F32": torch.float32,
    "F64": torch.float64,
}
CODE_OF = {dtype: code for code, dtype in CODES.items()}
REMEDY = "take a copy of it from before, or make it again"

Specs = dict[str, tuple[str, list[int]]]  # of each tensor the code of its dtype, and its shape


def write_tensors(path: Path, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
    """Write tensors by name, and what is to be said about them, as one file: whole or not at all.

    Args:
        path: where; an old file stays until the new one is complete.
        tensors: on any device, with any strides; their values are written.
        about: what JSON can say; tuples come back as lists.

    """
    specs, raw = {}, {}
    for name, tensor in tensors.items():
        if tensor.dtype not in CODE_OF:
            known = ", ".join(str(dtype).removeprefix("torch.") for dtype in CODE_OF)
            msg = f"{name} must have one of the dtypes {known}; got {tensor.dtype}"
            raise KindError(msg)
        specs[name] = (CODE_OF[tensor.dtype], list(tensor.shape))
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        raw[name] = flat.view(torch.uint8).numpy().data
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in raw.items()}
    try:
        said = json.dumps(dict(about))
    except (TypeError, ValueError, RecursionError) as cause:
        msg = f"about must hold what JSON can say, got something else: {cause}"
        raise KindError(msg) from cause
    header = _header(specs, sums, said)
    if len(header) - 8 > HEADER_LIMIT or ABOUT in specs:
        msg = (
            f"names, shapes and what is said about the tensors must fit into {HEADER_LIMIT:,} "
            f"bytes, and none be named {ABOUT}; got {len(header) - 8:,} bytes for {len(specs):,}"
        )
        raise ValueRangeError(msg)
    write_pieces(path, (header, *(raw[name] for name in _order(specs))))


def read_tensors(
    path: Path, device: torch.device | str = "cpu"
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors of a file and what was said about them, after checking every bit.

    Takes the memory of the tensors, and nothing in the file is run.

    Raises:
        FileError: it is damaged, cut short, or another kind of file.
        OSError: it is not there, or may not be read.

    """
    path = Path(path)
    with open_plain(path) as file:
        specs, sums, about = _read_header(path, file)
        tensors = {
            name: _read(path, file, name, *specs[name], sums[name]) for name in _order(specs)
        }
    return {name: tensor.to(device) for name, tensor in tensors.items()}, about


def _order(specs: Specs) -> list[str]:
    """Wide numbers first, so that every tensor lies at a multiple of its numbers' size."""
    return sorted(specs, key=lambda name: (-CODES[specs[name][0]].itemsize, name))


def _size(code: str, shape: list[int]) -> int:
    return CODES[code].itemsize * math.prod(shape)


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _header(specs: Specs, sums: Mapping[str, str], said: str) -> bytes:
    """The one beginning a file with these tensors can have, its length in front."""
    end, entries = 0, {}
    for name in _order(specs):
        code, shape = specs[name]
        start, end = end, end + _size(code, shape)
        entries[name] = {"dtype": code, "shape": shape, "data_offsets": [start, end]}
    notes = {"about": said, "format": "pt", "regard": str(FORMAT), "sha256": _json(sums)}
    digest = hashlib.sha256(_json({**entries, ABOUT: notes}).encode()).hexdigest()
    text = _json({**entries, ABOUT: {**notes, "digest": digest}}).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def _read_header(path: Path, file: BinaryIO) -> tuple[Specs, dict[str, str], dict[str, Any]]:
    size = os.fstat(file.fileno()).st_size
    start = file.read(8)
    length = int.from_bytes(start, "little")
    # asked before anything of that length is made
    text = file.read(length) if length <= min(HEADER_LIMIT, size) else b""
    try:
        found = json.loads(text.decode())
        notes = found.pop(ABOUT)
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError) as cause:
        file.seek(0)
        msg = f"{path}: {_stranger(file.read(512), size)}"
        raise FileError(msg) from cause
    try:
        version, sums, said = int(notes["regard"]), json.loads(notes["sha256"]), notes["about"]
    except (ValueError, RecursionError, TypeError, KeyError) as cause:
        msg = (
            f"{path}: is a safetensors file without the check sums that regard writes, or is "
            f"damaged; read it with the package safetensors, or {REMEDY}"
        )
        raise FileError(msg) from cause
    try:
        specs = {name: _spec(entry) for name, entry in found.items()}
        whole = version > FORMAT or start + text == _header(specs, sums, said)
        about = json.loads(said)
        whole = whole and isinstance(about, dict) and sums.keys() == specs.keys()
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError, OverflowError):
        whole = False
    if not whole:
        msg = f"{path}: is damaged: its header is not what was written; {REMEDY}"
        raise FileError(msg)
    if version > FORMAT:
        msg = (
            f"{path}: was written by a newer regard, in format {version}; this one reads format "
            f"{FORMAT}: pip install -U regard"
        )
        raise FileError(msg)
    wanted = len(start + text) + sum(_size(*spec) for spec in specs.values())
    if size != wanted:
        what = "is cut short" if size < wanted else "has something appended"
        msg = f"{path}: {what}: it should have {wanted:,} bytes and has {size:,}; {REMEDY}"
        raise FileError(msg)
    return specs, sums, about


def _spec(entry: Mapping[str, Any]) -> tuple[str, list[int]]:
    """What an entry of a header says, if a tensor can be so."""
    code, shape = entry["dtype"], entry["shape"]
    axes = [axis for axis in shape if type(axis) is int and axis >= 0]
    room = CODES[code].itemsize * math.prod(max(axis, 1) for axis in axes)
    if axes != shape or len(axes) > MOST_AXES or room >= 1 << 63:
        msg = f"no tensor has the shape {shape}"
        raise ValueError(msg)
    return code, axes


def _read(
    path: Path, file: BinaryIO, name: str, code: str, shape: list[int], wanted: str
) -> Tensor:
    data = bytearray(_size(code, shape))
    file.readinto(data)  # type: ignore[attr-defined]
    good = hashlib.sha256(data).hexdigest() == wanted
    if not good or (code == "BOOL" and data.strip(b"\0\1")):
        msg = f"{path}: is damaged: the tensor {name!r} is not what was written; {REMEDY}"
        raise FileError(msg)
    if not data:
        return torch.empty(shape, dtype=CODES[code])
    return torch.frombuffer(data, dtype=CODES[code]).reshape(shape)


def _stranger(start: bytes, size: int) -> str:
    """What a file is that begins like no safetensors file."""
    pickled = start[:1] == b"\x80" and start[1:2] in {b"\2", b"\3", b"\4", b"\5"}
    zipped = start.startswith(b"PK\3\4")
    if pickled or (zipped and b"data.pkl" in start):
        return (
            "is a pickle, which can run code when loaded; regard reads safetensors only: convert "
            "it with the program that wrote it"
        )
    length = int.from_bytes(start[:8], "little")
    if start[8:9] == b"{" and length > size - 8:
        return (
            f"is cut short or damaged: its header should have {length:,} bytes, and the file has "
            f"{size:,}; {REMEDY}"
        )
    if start[8:9] == b"{":
        return f"is damaged: its header cannot be read; {REMEDY}"
    return f"is no safetensors file, or is damaged in its first bytes; {REMEDY}"
