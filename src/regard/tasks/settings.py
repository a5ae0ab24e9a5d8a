"""Settings as one frozen dataclass: its defaults, then a TOML file, then the flags.

A field is an int, a float, a bool or a str, or one of them or None, with None as its default. Its
metadata say what it is: ``help``, and where they apply ``low``, ``high``, ``choices`` and the
``group`` it is shown in. File, flags and checks are made from them, so they cannot disagree.

>>> from dataclasses import dataclass, field
>>> @dataclass(frozen=True)
... class Oven:
...     degrees: int = field(default=180, metadata={"help": "how hot", "low": 0, "high": 250})
>>> print(to_toml(Oven(200)), end="")
# how hot; a whole number from 0 to 250
degrees = 200
>>> read_settings(Oven, None, {"degrees": 90})
Oven(degrees=90)
"""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import json
import math
import re
import sys
import textwrap
import types
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from regard.errors import FileError, KindError, ValueRangeError
from regard.optional import need
from regard.tasks.files import read_bytes

__all__ = ["add_flags", "check", "given", "parse_settings", "read_settings", "to_toml"]

FILE_LIMIT = 1 << 16
LINE_LIMIT = 1 << 12  # tomllib takes minutes for a key with 100,000 dots
LONGEST_SHOWN = 60  # characters of a value in a message
KINDS = (int, float, bool, str)

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class _Setting:
    """A field of a dataclass of settings, and what may stand in it."""

    name: str
    kind: type
    optional: bool
    default: Any
    help: str
    low: float | None
    high: float | None
    choices: tuple[Any, ...]
    group: str

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def wanted(self) -> str:
        """What may stand there, in words that fit after "must be"."""
        if self.choices:
            return f"one of {', '.join(map(str, self.choices))}"
        if self.kind is str:
            return "text"
        if self.kind is bool:
            return "true or false"
        name = "a whole number" if self.kind is int else "a number"
        if self.low is not None and self.high is not None:
            return f"{name} from {self.low} to {self.high}"
        if self.low is not None:
            return f"{name} of at least {self.low}"
        return name if self.high is None else f"{name} of at most {self.high}"

    def take(self, value: object, who: str, error: type[Exception]) -> Any:  # noqa: ANN401 - of the field's own type
        """The value as the field's type has it; if it cannot stand there, an error of this type."""
        if value is None and self.optional:
            return None
        taken = value
        if self.kind is float and type(value) is int and _fits(value):  # True is no number
            taken = float(value)
        if type(taken) is not self.kind or not self._allows(taken):
            msg = f"{who} must be {self.wanted}, got {_shown(value)}".lstrip()
            raise error(msg)
        return taken

    def _allows(self, value: object) -> bool:
        if self.choices and value not in self.choices:
            return False
        if isinstance(value, str):
            return not re.search("[\\ud800-\\udfff]", value)  # no file could hold half a character
        assert isinstance(value, (int, float))
        if math.isnan(value) or (isinstance(value, int) and not _fits(value)):
            return False
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def read(self, text: str) -> Any:  # noqa: ANN401 - of the field's own type
        """The value a word of the command line stands for."""
        value: object = text
        if self.kind is not str:
            try:
                value = self.kind(text)
            except ValueError:
                value = text  # refused below, in the words for everything else
        return self.take(value, "", argparse.ArgumentTypeError)  # argparse names the flag


def _fits(value: int) -> bool:
    return abs(value) < 1 << 63  # what TOML promises to hold


def _shown(value: object) -> str:
    """A value as the message about it shows it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, int) and not _fits(value):
        return f"a number of {value.bit_length():,} bits"
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."


def _settings(cls: type) -> dict[str, _Setting]:
    hints = get_type_hints(cls)
    found = {}
    for field in dataclasses.fields(cls):
        kinds = [hints[field.name]]
        if get_origin(kinds[0]) in {Union, types.UnionType}:
            kinds = list(get_args(kinds[0]))
        kind, optional = kinds[0], type(None) in kinds[1:]
        usable = kind in KINDS and len(kinds) == 1 + optional
        if not usable or (optional and field.default is not None):
            msg = (
                f"{cls.__name__}.{field.name} must be an int, a float, a bool or a str, or one of "
                f"them or None with None as its default; got {hints[field.name]}"
            )
            raise KindError(msg)
        found[field.name] = _Setting(
            name=field.name,
            kind=kind,
            optional=optional,
            default=field.default,
            help=field.metadata.get("help", ""),
            low=field.metadata.get("low"),
            high=field.metadata.get("high"),
            choices=tuple(field.metadata.get("choices", ())),
            group=field.metadata.get("group", "settings"),
        )
    return found


def check(settings: object) -> None:
    """Refuse settings with a value that may not stand where it does.

    Raises:
        ValueRangeError: names the field, what was wanted and what came.

    """
    for name, setting in _settings(type(settings)).items():
        setting.take(getattr(settings, name), name, ValueRangeError)


def read_settings(cls: type[T], path: Path | None, overrides: Mapping[str, object]) -> T:
    """The defaults of ``cls``, changed by the file, changed by the overrides that are not None.

    Raises:
        FileError: no TOML, a name that does not exist, a value that may not stand there.
        ValueRangeError: the same of an override.
        OSError: the file is not there, or may not be read.

    """
    values = {}
    if path is not None:
        data = read_bytes(path, limit=FILE_LIMIT)
        try:
            values = _parse(cls, data.decode("utf-8-sig"), str(path))
        except UnicodeDecodeError as cause:
            line = data[: cause.start].count(b"\n") + 1
            msg = f"{path}, line {line}: is not UTF-8; save it as UTF-8 text"
            raise FileError(msg) from cause
    known = _settings(cls)
    for name, value in overrides.items():
        if name not in known:
            msg = f"{cls.__name__} has no setting {name!r}{_nearest(name, known)}"
            raise KindError(msg)
        if value is not None:
            values[name] = known[name].take(value, known[name].flag, ValueRangeError)
    return cls(**values)


def parse_settings(cls: type[T], text: str, where: str) -> T:
    """Settings from the text of a TOML file; ``where`` is how messages name it."""
    return cls(**_parse(cls, text, where))


def _parse(cls: type, text: str, where: str) -> dict[str, Any]:
    toml = need(
        "tomllib" if sys.version_info >= (3, 11) else "tomli",
        extra="text",
        why="a file of settings",
    )
    longest = max(map(len, text.split("\n")))
    if len(text) > FILE_LIMIT or longest > LINE_LIMIT:
        msg = (
            f"{where}: settings have at most {FILE_LIMIT:,} characters, {LINE_LIMIT:,} a line; got "
            f"{len(text):,}, and a line of {longest:,}; is it the right file?"
        )
        raise FileError(msg)
    try:
        told = toml.loads(text)
    except (ValueError, RecursionError) as cause:
        msg = f"{where}: is no TOML: {cause}; a setting is a line such as: seed = 1"
        raise FileError(msg) from cause
    known, values = _settings(cls), {}
    for name, value in told.items():
        place = f"{where}{_line(text, name)}"
        if name not in known:
            msg = f"{place}: there is no setting {_shown(name)}{_nearest(name, known)}"
            raise FileError(msg)
        values[name] = known[name].take(value, f"{place}: {name}", FileError)
    return values


def _line(text: str, name: str) -> str:
    found = re.search(rf"^[\s\[]*[\"']?{re.escape(name)}[\"']?\s*[=.\]]", text, re.MULTILINE)
    return "" if found is None else f", line {text[: found.end()].count(chr(10)) + 1}"


def _nearest(name: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(name[:100], known, n=1)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"


def to_toml(settings: object) -> str:
    """All settings as a TOML file that explains itself; reading it gives equal settings."""
    check(settings)
    lines = []
    for name, setting in _settings(type(settings)).items():
        limits = setting.wanted if setting.choices or setting.kind in {int, float} else ""
        meaning = "; ".join(filter(None, (" ".join(setting.help.split()), limits)))
        lines += textwrap.wrap(
            meaning, 100, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
        )
        value = getattr(settings, name)
        lines.append(
            f"# {name} is not set" if value is None else f"{name} = {_toml(setting, value)}"
        )
    return "\n".join(lines) + "\n"


def _toml(setting: _Setting, value: object) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return str(value).lower()
    return repr(setting.kind(value))  # a whole number in a float's place gets its point


def add_flags(parser: argparse.ArgumentParser, cls: type, *, skip: Collection[str] = ()) -> None:
    """Add a flag for each field of ``cls``; what is not given is None, see ``given``."""
    groups: dict[str, Any] = {}
    for name, setting in _settings(cls).items():
        if name in skip:
            continue
        if setting.group not in groups:
            groups[setting.group] = parser.add_argument_group(setting.group)
        groups[setting.group].add_argument(setting.flag, dest=name, **_flag(setting))


def _flag(setting: _Setting) -> dict[str, Any]:
    limits = f" ({', '.join(map(str, setting.choices))})" if setting.choices else ""
    usual = "" if setting.default in {None, ""} else f" (default {_plain(setting.default)})"
    text = (" ".join(setting.help.split()) + limits + usual).strip().replace("%", "%%")
    if setting.kind is bool:
        return {"action": argparse.BooleanOptionalAction, "default": None, "help": text}
    metavar = {int: "N", float: "X", str: "NAME"}[setting.kind]
    return {"type": setting.read, "default": None, "metavar": metavar, "help": text}


def _plain(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def given(args: argparse.Namespace, cls: type) -> dict[str, object]:
    """The settings of ``cls`` among parsed arguments that were given."""
    found = {name: getattr(args, name, None) for name in _settings(cls)}
    return {name: value for name, value in found.items() if value is not None}
