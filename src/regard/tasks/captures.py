"""What a model attended to, kept in a file: to be looked at later, or elsewhere.

A file of tensors as ``checkpoint`` writes them: q and k of each call, the tensors of its score and
its mask, the tokens, and in the header which score and mask it was. Nothing in it is run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard import masks, scores
from regard.attention.api import check_score_and_mask
from regard.errors import FileError, KindError, RegardError, StateError
from regard.masks import Mask
from regard.scores import Bias, Elementwise, Score
from regard.scores.expression import parse
from regard.shapes import check_qkv
from regard.tasks.checkpoint import read_tensors, write_tensors
from regard.viewing.capped import Capped
from regard.viewing.captured import Captured, Captures
from regard.viewing.sides import Tokens
from regard.viewing.visible import Interval

__all__ = ["Kept", "load_captures", "save_captures"]

KIND = "capture"
FORMULA = 10_000  # characters, at most
PLAIN = (type(None), bool, int, float, str)
TYPES: Mapping[str, type[Any]] = {
    name: kind
    for module in (scores, masks)
    for name, kind in vars(module).items()
    if isinstance(kind, type) and issubclass(kind, (Score, Bias, Mask)) and name in module.__all__
} | {"Capped": Capped, "Interval": Interval}
PAIR = {"queries", "keys"}


class Kept(NamedTuple):
    """What a file holds: the calls, and the tokens that were given with them."""

    captures: Captures
    tokens: Tokens


def save_captures(
    captures: Captures | Captured,
    path: str | os.PathLike[str],
    tokens: Tokens = None,
) -> None:
    """Write calls to a file, whole or not at all.

    Args:
        captures: as ``regard.capture`` gives them, or one of them.
        path: where, as x.safetensors.
        tokens: of the text the model read, as ``regard.look`` takes them.

    Raises:
        StateError: nothing was captured, or a call with nothing in it.
        KindError: a score or a mask is somebody's own class, of which a file can say nothing.

    """
    calls = [captures] if isinstance(captures, Captured) else list(captures)
    if not calls:
        msg = "there is nothing to keep: no call of attention was captured"
        raise StateError(msg)
    tensors: dict[str, Tensor] = {}
    told = []
    for number, call in enumerate(calls):
        if not call.q.numel() * call.k.numel():
            msg = f"the call of {call.name!r} cannot be kept: it has no queries or no keys"
            raise StateError(msg)
        tensors[f"{number}.q"], tensors[f"{number}.k"] = call.q, call.k
        told.append(
            {
                "name": call.name,
                "heads": None if call.heads is None else list(call.heads),
                "score": _told(call.score, f"{number}.score", tensors),
                "mask": None if call.mask is None else _told(call.mask, f"{number}.mask", tensors),
            }
        )
    if tokens is not None:
        # as bytes: those of a book are more than a header holds
        text = json.dumps(_words_told(tokens)).encode()
        tensors["tokens"] = torch.frombuffer(bytearray(text), dtype=torch.uint8)
    write_tensors(Path(path), tensors, {"kind": KIND, "calls": told})


def load_captures(path: str | os.PathLike[str]) -> Kept:
    """Read what ``save_captures`` wrote.

    Raises:
        FileError: it is damaged, or something else.
        OSError: it is not there, or may not be read.

    """
    path = Path(path)
    tensors, about = read_tensors(path)
    if about.get("kind") != KIND:
        msg = f"{path}: holds tensors, but not those of a capture; save_captures writes such files"
        raise FileError(msg)
    found = Captures()
    try:
        for number, told in enumerate(about["calls"]):
            found.add(_call(told, f"{number}.", tensors))
        tokens = None
        if "tokens" in tensors:
            tokens = _words_made(json.loads(tensors["tokens"].numpy().tobytes()))
    except (
        RegardError,
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        IndexError,
        OverflowError,
        RuntimeError,  # of torch; and RecursionError
        MemoryError,  # a formula nested too deeply for Python's parser
    ) as cause:
        why = str(cause) if isinstance(cause, RegardError) else "it does not say what it should"
        msg = f"{path}: is no capture that can be read: {why}"
        raise FileError(msg) from cause
    return Kept(found, tokens)


def _told(x: object, name: str, tensors: dict[str, Tensor]) -> dict[str, Any]:
    """A score, a bias or a mask in words; its tensors go among the others."""
    kind = type(x).__name__
    if TYPES.get(kind) is not type(x):
        msg = (
            f"a capture with the score or mask {type(x).__qualname__} cannot be kept: a file can "
            f"name only those of regard: {', '.join(sorted(TYPES))}; look at it here, with look"
        )
        raise KindError(msg)
    said: dict[str, Any] = {"type": kind}
    for field in fields(x):  # type: ignore[arg-type]
        value = getattr(x, field.name)
        if isinstance(x, Elementwise) and field.name == "phi":
            continue  # its text says it all
        if isinstance(value, Tensor):
            tensors[f"{name}.{field.name}"] = value
            said[field.name] = {"tensor": f"{name}.{field.name}"}
        elif isinstance(value, (Score, Bias, Mask)):
            said[field.name] = _told(value, f"{name}.{field.name}", tensors)
        elif isinstance(value, PLAIN):
            said[field.name] = value
        else:
            msg = f"{kind}.{field.name} cannot be kept: it is a {type(value).__name__}"
            raise KindError(msg)
    return said


def _words_told(tokens: Any) -> Any:  # noqa: ANN401 - as look has them
    """Lists and objects: JSON knows no pairs."""
    if isinstance(tokens, Mapping):
        return {"layers": {str(name): _words_told(some) for name, some in tokens.items()}}
    if isinstance(tokens, Sequence) and not isinstance(tokens, (str, bytes)):
        if all(isinstance(token, str) for token in tokens):
            return list(tokens)
        if isinstance(tokens, tuple) and len(tokens) == len(PAIR):
            return {"queries": _words_told(tokens[0]), "keys": _words_told(tokens[1])}
        return [_words_told(some) for some in tokens]
    msg = f"tokens must be a list of str, or lists of them, got {type(tokens).__name__}"
    raise KindError(msg)


def _words_made(told: Any) -> Any:  # noqa: ANN401 - what JSON says
    if isinstance(told, dict) and told.keys() == PAIR:
        return _words_made(told["queries"]), _words_made(told["keys"])
    if isinstance(told, dict):
        return {name: _words_made(some) for name, some in told["layers"].items()}
    if not isinstance(told, list):
        msg = "a token is no text"
        raise TypeError(msg)
    return [token if isinstance(token, str) else _words_made(token) for token in told]


def _call(told: Mapping[str, Any], name: str, tensors: Mapping[str, Tensor]) -> Captured:
    q, k = tensors[f"{name}q"], tensors[f"{name}k"]
    score, mask = (
        None if told[what] is None else _made(told[what], tensors) for what in ("score", "mask")
    )
    if not isinstance(score, Score) or not (mask is None or isinstance(mask, Mask)):
        msg = "a score or a mask is something else"
        raise TypeError(msg)
    if not q.numel() * k.numel():  # of no bytes there could be any number
        msg = "a call has no queries or no keys"
        raise ValueError(msg)
    check_qkv(q, k)
    check_score_and_mask(q, k, score, mask)
    score.pairwise(q[..., :1, :], k[..., :1, :])  # a formula may lack what it is made of
    if mask is not None:
        spans = mask.spans(q.shape[:-2], q.shape[-2], k.shape[-2], q.device)
        for ends in (spans.lo, spans.hi):
            if ends.is_floating_point() or ends.min() < 0 or ends.max() > k.shape[-2]:
                msg = "a mask has other keys than there are"
                raise ValueError(msg)
    if not isinstance(told["name"], str):
        msg = "a name is no text"
        raise TypeError(msg)
    return Captured(told["name"], q, k, score, mask, _heads(told["heads"], q))


def _heads(told: Any, q: Tensor) -> tuple[int, ...] | None:  # noqa: ANN401 - what JSON says
    if told is None:
        return None
    heads = tuple(told)
    if len(heads) != q.shape[-3] or not all(type(head) is int and head >= 0 for head in heads):
        msg = "the heads are not numbered"
        raise TypeError(msg)
    return heads


def _made(told: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Any:  # noqa: ANN401 - by its type
    """What ``_told`` told of, if it is all there and nothing else."""
    kind = TYPES[told["type"]]
    given = {name: _value(x, tensors) for name, x in told.items() if name != "type"}
    if kind is Elementwise:
        text = given.pop("text")
        if len(text) > FORMULA:
            msg = f"its formula has {len(text):,} characters"
            raise ValueError(msg)
        formula = parse(text)
        given["phi"] = lambda *_: formula
    return kind(**given)


def _value(x: Any, tensors: Mapping[str, Tensor]) -> Any:  # noqa: ANN401 - what JSON says
    if isinstance(x, dict):
        return tensors[x["tensor"]] if "tensor" in x else _made(x, tensors)
    if not isinstance(x, PLAIN):
        msg = "a list stands where a number should"
        raise TypeError(msg)
    return x
