"""A translator as two ONNX graphs, and a folder with all that is needed to use them."""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from regard.errors import ValueRangeError
from regard.models import Bahdanau, Transformer
from regard.optional import need
from regard.tasks.files import write_bytes
from regard.tasks.translation.written_out import written_out

__all__ = ["NAMES", "Exported", "check_folder", "export", "save"]

OPSET = 18
NAMES = ("encoder.onnx", "decoder.onnx", "source.model", "target.model", "README.md")

README = """\
# A translator

`encoder.onnx` reads sentences, `decoder.onnx` takes a token of each and scores the next one. The
tokens are sentencepiece's: `source.model`, `target.model`. 0 is padding, 1 begins, 2 ends.{limit}

| graph | inputs | outputs |
|---|---|---|
| encoder | `source` [b, m], `source_lens` [b], int64 | {given} |
| decoder | `tokens` [b], `source_lens`, and these | `scores` [b, {vocab}], {after} |

After a step `next_x` takes the place of `x`. With `pip install onnxruntime sentencepiece`:

```python
import numpy as np
import onnxruntime
import sentencepiece

source = sentencepiece.SentencePieceProcessor(model_file="source.model")
target = sentencepiece.SentencePieceProcessor(model_file="target.model")
encoder, decoder = (onnxruntime.InferenceSession(f"{{x}}.onnx") for x in ("encoder", "decoder"))

ids = source.encode({example!r})
lens, token, written = np.array([len(ids)]), 1, []
given = encoder.run(None, {{"source": np.array([ids]), "source_lens": lens}})
state = dict(zip((x.name for x in encoder.get_outputs()), given))
while token != 2 and len(written) < 2 * len(ids) + 10:
    after = decoder.run(None, {{"tokens": np.array([token]), "source_lens": lens, **state}})
    token = int(after[0][0, 2:].argmax()) + 2
    written.append(token)
    names = (x.name.removeprefix("next_") for x in decoder.get_outputs()[1:])
    state.update(zip(names, after[1:]))
print(target.decode([x for x in written if x != 2]))
```
"""
LIMIT = """

No sentence and no translation may have more than {:,} tokens: there are no vectors for places
beyond."""


@dataclass(frozen=True)
class Exported:
    """Two graphs, as files hold them.

    The encoder takes ``source`` [b, m] and ``source_lens`` [b], int64, and gives tensors by name.
    The decoder takes ``tokens`` [b], ``source_lens`` and these tensors, and gives ``scores``
    [b, vocab] of the next token, and for some of the tensors their next value: ``next_keys`` is
    what ``keys`` shall be in the next step.
    """

    encoder: bytes
    decoder: bytes
    given: tuple[str, ...]  # what the encoder gives
    changing: tuple[str, ...]  # what of it changes with each step
    longest: int | None = None  # tokens of a sentence or translation; None: any number


def export(model: Transformer | Bahdanau) -> Exported:
    """Write a model's graphs; for any number of sentences, of any lengths.

    With learned positions lengths end where these do: see ``Exported.longest``.

    Raises:
        ValueRangeError: a model that cannot be exported, see ``written_out``.
        MissingError: ONNX is not installed.

    """
    for package in ("onnx", "onnxscript"):
        need(package, extra="export", why="an export")
    parts = written_out(model)
    given, changing = tuple(parts.axes), parts.changing
    axes = parts.axes | {"source": {0: "b", 1: "m"}}
    axes |= {name: {0: "b"} for name in ("source_lens", "tokens", "scores")}
    training = model.training
    model.eval()
    try:
        device = model.out.weight.device
        lens = torch.tensor([5, 3], device=device)
        read = {"source": torch.ones(2, 5, dtype=torch.int64, device=device), "source_lens": lens}
        with torch.no_grad():
            state = dict(zip(given, parts.encoder(*read.values()), strict=True))
            write = {"tokens": torch.ones(2, dtype=torch.int64, device=device), "source_lens": lens}
            for _ in range(3):  # or what is written so far would be taken to be always nothing
                _, *after = parts.decoder(*write.values(), *state.values())
                state.update(zip(changing, after, strict=True))
        encoder = _graph(parts.encoder, read, given, axes)
        outputs = ("scores", *(f"next_{x}" for x in changing))
        decoder = _graph(parts.decoder, write | state, outputs, axes)
    finally:
        model.train(training)
    longest = None
    if isinstance(model, Transformer) and model.config.positions == "learned":
        longest = model.config.max_len
    return Exported(encoder, decoder, given, changing, longest)


def _graph(
    module: nn.Module,
    inputs: Mapping[str, Tensor],
    outputs: tuple[str, ...],
    axes: Mapping[str, Mapping[int, str]],
) -> bytes:
    with warnings.catch_warnings(), _quiet("torch.onnx"):
        warnings.simplefilter("ignore")  # of torch to itself, about its own parts
        program: Any = torch.onnx.export(
            module,
            tuple(inputs.values()),
            dynamo=True,
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_shapes=tuple(
                dict.fromkeys(axes[name], torch.export.Dim.DYNAMIC) for name in inputs
            ),
            opset_version=OPSET,
            verbose=False,
        )
    made = program.model_proto
    # notes on shapes, some with the example's lengths as if they were fixed
    del made.graph.value_info[:]
    for value in made.graph.output:
        for axis, length in axes.get(value.name.removeprefix("next_"), {}).items():
            named = "after" if length == "t" and value.name.startswith("next_") else length
            value.type.tensor_type.shape.dim[axis].dim_param = named
    return bytes(made.SerializeToString())


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Only errors of this logger."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def check_folder(folder: Path) -> None:
    """Raise unless an export may be written there: a new or empty folder, or an earlier export.

    For asking before the work as well, which takes a minute; makes nothing.
    """
    with suppress(FileNotFoundError):
        folder.stat()  # a file as a folder, links in a circle: told in the system's words
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(20, "Not a directory", str(folder))
    there = {path.name: path for path in folder.iterdir()} if folder.exists() else {}
    others = set(there) - set(NAMES)
    if there and (others or not set(there) & set(NAMES[:2])):
        msg = (
            f"{folder}: wanted a new or empty folder, or an earlier export to write over; other "
            f"files are there, such as {min(others or there)}"
        )
        raise ValueRangeError(msg)
    for path in there.values():
        if not path.is_file():
            msg = f"{path}: is no file, and will not be written over; give another folder"
            raise ValueRangeError(msg)
    beginning = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    try:
        # tried for real: rights, quotas and read-only disks cannot be told from outside
        tempfile.TemporaryFile(dir=beginning).close()
    except OSError as error:
        error.filename = str(folder)
        raise


def save(
    exported: Exported, source: bytes, target: bytes, folder: Path, *, vocab: int, example: str
) -> list[Path]:
    """Write the graphs, the vocabularies and a README into a folder; give the paths.

    Raises:
        ValueRangeError: other files are there.
        OSError: it cannot be written.

    """
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    said = README.format(
        given=", ".join(f"`{x}`" for x in exported.given),
        after=", ".join(f"`next_{x}`" for x in exported.changing),
        vocab=vocab,
        example=example,
        limit=LIMIT.format(exported.longest) if exported.longest else "",
    )
    contents = (exported.encoder, exported.decoder, source, target, said.encode())
    paths = [folder / name for name in NAMES]
    for path, data in zip(paths, contents, strict=True):
        write_bytes(path, data)
    return paths
