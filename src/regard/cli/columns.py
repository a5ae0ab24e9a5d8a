"""Columns of numbers in files: read from a table, or refused in words; written to a new one.

pyarrow does the reading and writing, and is imported nowhere else.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from regard.errors import KindError, ValueRangeError
from regard.optional import need

if TYPE_CHECKING:  # not for --help
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Columns", "check_not_read", "check_target", "read", "shown", "write"]

Buffer: TypeAlias = Any  # of pyarrow, whose types are its own
Table: TypeAlias = Any

HEAD = 1 << 20  # bytes in which a header must end
PARQUET = (".parquet", ".pq")
TARGETS = (".csv", *PARQUET)
LARGEST = 1e150  # beyond, squares overflow
LISTED = 12  # names a message lists
LONGEST = 40  # characters of a value a message shows
NUMBER = re.compile(rb"\s*[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?)\s*", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Columns:
    """The rows of a table that hold a number in every column asked for."""

    values: Mapping[str, NDArray[np.float64]]  # by name, all of one length
    skipped: int  # rows in which a value is missing

    def matrix(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Some of them beside each other, [rows, len(names)]."""
        import numpy as np  # noqa: PLC0415 - not for --help

        return np.column_stack([self.values[name] for name in names])


def shown(name: str) -> str:
    r"""A name as it may stand in a line: without line breaks or a terminal's commands.

    >>> shown("a name"), shown("two\nlines")
    ('a name', 'two\\nlines')
    """
    return name if name.isprintable() else repr(name)[1:-1]


def _pyarrow(module: str = "pyarrow") -> Any:  # noqa: ANN401 - a module of no stubs
    return need(module, extra="fit", why="reading and writing tables")


def read(path: Path, names: Sequence[str]) -> Columns:
    """Read these columns of a CSV or Parquet file, without the rows in which one is missing.

    Missing is an empty cell, null, or one of the usual words for it, as NA and NaN. Rows are
    counted from 1, below the header.

    Raises:
        KindError: no table, or text where numbers are wanted.
        ValueRangeError: no such column, no rows, no values, or one that is not finite.
        OSError: the file cannot be read.

    """
    import numpy as np  # noqa: PLC0415 - not for --help

    data = _contents(path)
    head = data[:HEAD].to_pybytes()
    is_parquet = path.suffix.lower() in PARQUET or head.startswith(b"PAR1")
    table = (_parquet if is_parquet else _csv)(path, data, names)
    if not len(table):
        msg = f"{path} has columns and no rows; there is nothing to fit or to predict"
        raise ValueRangeError(msg)
    values = {name: _finite(path, name, table[name].to_numpy()) for name in names}
    here = np.logical_and.reduce([~np.isnan(x) for x in values.values()])
    if not here.any():
        msg = f"no row of {path} has a number in each of {_listed(names)}"
        raise ValueRangeError(msg)
    return Columns({name: x[here] for name, x in values.items()}, int((~here).sum()))


def _contents(path: Path) -> Buffer:
    pyarrow = _pyarrow()
    with path.open("rb") as file:  # in the system's words: not there, a folder, no rights
        if path.is_file():
            size = os.fstat(file.fileno()).st_size
            data = pyarrow.memory_map(str(path)).read_buffer() if size else pyarrow.py_buffer(b"")
        else:  # a pipe
            data = pyarrow.py_buffer(file.read())
    if not data.size:
        msg = f"{path} is empty; a table with the names of its columns in the first row is wanted"
        raise ValueRangeError(msg)
    return data


def _listed(names: Collection[str]) -> str:
    few = [repr(name) for name in names][:LISTED]
    more = len(names) - len(few)
    return ", ".join(few) + (f" and {more} more" if more else "")


def _check_names(path: Path, have: Sequence[str], names: Iterable[str]) -> None:
    for name in names:
        count = have.count(name)
        if not count:
            msg = f"{path} has no column {name!r}, only {_listed(have)}"
            raise ValueRangeError(msg)
        if count > 1:
            msg = f"{path} has {count} columns named {name!r}; rename all but one"
            raise ValueRangeError(msg)


def _clipped(value: bytes | str) -> str:
    text = value if isinstance(value, str) else value.decode(errors="backslashreplace")
    return repr(text if len(text) <= LONGEST else text[: LONGEST - 3] + "...")


def _refuse_text(path: Path, name: str, values: Iterable[bytes | str | None]) -> None:
    """Raise for the first that is no number."""
    for row, value in enumerate(values, 1):
        raw = value.encode(errors="surrogateescape") if isinstance(value, str) else value
        if raw is not None and not NUMBER.fullmatch(raw):
            assert value is not None
            msg = (
                f"column {name!r} of {path} must hold numbers, got the text {_clipped(value)} in "
                f"row {row} below the header; correct it, or leave it empty to skip the row"
            )
            raise KindError(msg)


def _finite(path: Path, name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np  # noqa: PLC0415 - not for --help

    if np.isnan(x).all():
        msg = f"column {name!r} of {path} holds no numbers, only missing values"
        raise ValueRangeError(msg)
    wrong = np.abs(x) > LARGEST
    if wrong.any():
        row = int(wrong.argmax())
        msg = (
            f"column {name!r} of {path} must hold finite numbers, none beyond {LARGEST:g}, got "
            f"{x[row]:g} in row {row + 1} below the header"
        )
        raise ValueRangeError(msg)
    return x


def _header(path: Path, data: Buffer) -> tuple[list[str], str]:
    """The names of the columns, and what stands between cells."""
    head = data[:HEAD].to_pybytes()
    if b"\0" in head:
        msg = f"{path} is neither Parquet nor CSV in UTF-8: there are zero bytes in it"
        raise KindError(msg)
    text = head.decode("utf-8-sig", errors="surrogateescape")
    first = next((line for line in text.splitlines() if line.strip()), "")
    # semicolons and tabs are as usual, where the comma is in the numbers
    between = next((mark for mark in ",;\t" if mark in first), ",")
    try:
        names = next(filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=between)), [])
    except csv.Error as cause:
        msg = f"{path} is no CSV table that can be read: {cause}"
        raise KindError(msg) from cause
    for name in names:
        if not name.isascii() and any("\ud800" <= letter <= "\udfff" for letter in name):
            raw = name.encode(errors="surrogateescape")
            msg = f"{path} must be in UTF-8, got the column {_clipped(raw)}; save it as UTF-8"
            raise KindError(msg)
    return names, between


def _csv(path: Path, data: Buffer, names: Sequence[str]) -> Table:
    pyarrow, reader = _pyarrow(), _pyarrow("pyarrow.csv")
    have, between = _header(path, data)
    _check_names(path, have, names)
    wrong: list[Any] = []

    def keep(row: Any) -> str:  # noqa: ANN401 - pyarrow's InvalidRow
        wrong.append(row)
        return "error"

    def table(kind: Any, *, threads: bool) -> Table:  # noqa: ANN401 - pyarrow's DataType
        return reader.read_csv(
            pyarrow.BufferReader(data),
            read_options=reader.ReadOptions(use_threads=threads),
            parse_options=reader.ParseOptions(
                delimiter=between, newlines_in_values=True, invalid_row_handler=keep
            ),
            convert_options=reader.ConvertOptions(
                include_columns=list(names),
                column_types=dict.fromkeys(names, kind),
                strings_can_be_null=True,
            ),
        )

    try:
        return table(pyarrow.float64(), threads=True)
    except pyarrow.ArrowInvalid as error:
        cause = error
    wrong.clear()
    as_text: Table = {}
    try:  # once more, slowly: to say what was wrong, and where
        as_text = table(pyarrow.binary(), threads=False)
    except pyarrow.ArrowInvalid as error:
        cause = error
    if wrong:
        row = wrong[0]
        msg = (
            f"row {row.number - 1} below the header of {path} has {_cells(row.actual_columns)}, "
            f"where the header has {row.expected_columns}"
        )
        raise KindError(msg) from cause
    for name in names if as_text else ():
        _refuse_text(path, name, _each(as_text[name]))
    msg = f"{path} is no CSV table that can be read: {cause}"
    raise KindError(msg) from cause


def _cells(count: int) -> str:
    return f"{count} cell" + ("s" if count != 1 else "")


def _each(column: Any) -> Iterable[bytes | str | None]:  # noqa: ANN401 - pyarrow's ChunkedArray
    for chunk in column.chunks:
        yield from chunk.to_pylist()


def _parquet(path: Path, data: Buffer, names: Sequence[str]) -> Table:
    pyarrow, parquet = _pyarrow(), _pyarrow("pyarrow.parquet")
    try:
        file = parquet.ParquetFile(pyarrow.BufferReader(data))
        _check_names(path, file.schema_arrow.names, names)
        table = file.read(columns=list(names))
    except (pyarrow.ArrowException, OSError) as cause:
        msg = f"{path} is no Parquet file that can be read: {cause}"
        raise KindError(msg) from cause
    return pyarrow.table({name: _as_numbers(path, name, table[name]) for name in names})


def _as_numbers(path: Path, name: str, column: Any) -> Any:  # noqa: ANN401 - a ChunkedArray
    pyarrow = _pyarrow()
    types, kind = pyarrow.types, column.type
    if types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null)
    if not is_text and not any(test(kind) for test in tests):
        msg = f"column {name!r} of {path} must hold numbers, got values of the type {kind}"
        raise KindError(msg)
    if is_text:
        _refuse_text(path, name, _each(column))
        column = _pyarrow("pyarrow.compute").utf8_trim_whitespace(column)
    if types.is_boolean(kind):
        column = column.cast(pyarrow.int8())
    return column.cast(pyarrow.float64(), safe=False)


def check_target(path: Path, sources: Iterable[Path | None], *, force: bool) -> None:
    """Raise unless a table may be written to ``path``; makes its folder.

    For asking before the work, rather than after it. A file that is there stays, unless ``force``;
    one that is read stays in any case.
    """
    if path.suffix.lower() not in TARGETS:
        msg = f"a table is written as {', '.join(TARGETS)}, got {str(path)!r}"
        raise ValueRangeError(msg)
    check_not_read(path, sources)
    if path.exists() and not force:
        msg = f"{path} is there already; give another name, or --force to write over it"
        raise ValueRangeError(msg)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(21, "Is a directory", str(path))
    # tried for real: rights, quotas and read-only disks cannot be told from outside
    aside = _aside(path)
    aside.open("xb").close()
    aside.unlink()


def check_not_read(path: Path, sources: Iterable[Path | None]) -> None:
    """Raise if ``path`` is one of the files that are read, by whatever name."""
    for source in sources:
        if source is not None and path.exists() and source.exists() and path.samefile(source):
            msg = f"{path} is read here, and will not be written over; give another name"
            raise ValueRangeError(msg)


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}")


def write(path: Path, columns: Mapping[str, NDArray[np.float64]]) -> None:
    """Write columns as CSV or Parquet, by the ending of ``path``; all of it or nothing.

    What is no finite number is left empty.
    """
    import numpy as np  # noqa: PLC0415 - not for --help

    pyarrow = _pyarrow()
    table = pyarrow.table(
        {name: pyarrow.array(x, mask=~np.isfinite(x)) for name, x in columns.items()}
    )
    aside = _aside(path)
    try:
        if path.suffix.lower() in PARQUET:
            _pyarrow("pyarrow.parquet").write_table(table, aside)
        else:
            _pyarrow("pyarrow.csv").write_csv(table, aside)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
