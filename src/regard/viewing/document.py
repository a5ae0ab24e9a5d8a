"""What a page shows: a header that is JSON, and one block of bytes with all the numbers.

Weights are written as finely as the limit allows: exact, then exact in half precision, then pooled
into grids with the largest weights of each query beside them; ``page/src/document.ts`` reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from regard.version import __version__
from regard.viewing.called import Called
from regard.viewing.heads import Head
from regard.viewing.ladder import fitted
from regard.viewing.notes import Note
from regard.viewing.tokens import plain

__all__ = ["LIMIT", "Document", "Drawn", "attention", "header", "layers_of"]

FORMAT = "regard.view/1"
LIMIT = 4_000_000  # bytes of a page's numbers in base64


class Drawn(NamedTuple):
    """One head, and which lists of tokens stand along its sides."""

    head: Head
    row_tokens: int | None = None
    col_tokens: int | None = None
    model: str = ""  # where several are compared


@dataclass(frozen=True)
class Document:
    """A header that can be written as JSON, and the bytes it points into.

    Args:
        header: as ``page/src/document.ts`` has it.
        data: the numbers.
        deflated: the same, for zlib.

    """

    header: dict[str, Any]
    data: bytes = field(repr=False)
    deflated: bytes = field(repr=False)


def header(kind: str, *, title: str, language: str | None, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """A header with everything in it that a reader expects."""
    empty: dict[str, Any] = {
        "notes": [],
        "tokens": [],
        "layers": [],
        "called": None,
        "maps": [],
        "backdrop": None,
        "kernel": None,
        "live": None,
    }
    first = {
        "format": FORMAT,
        "kind": kind,
        "language": language,
        "title": plain(title),
        "made": f"regard {__version__}",
    }
    return first | empty | more


def attention(
    drawn: Sequence[Drawn],
    tokens: Sequence[Sequence[str]] = (),
    *,
    title: str = "",
    language: str | None = None,
    limit: int = LIMIT,
    backdrop: dict[str, Any] | None = None,
    said: Sequence[Note] = (),
    called: Called | None = None,
    live: bool = False,
) -> Document:
    """The document of some heads, as fine as the limit allows.

    Args:
        drawn: the heads.
        tokens: lists of tokens, as they are to be shown.
        title: above it.
        language: "en", "zh", or None: the reader's.
        limit: bytes that the numbers take at most, in base64.
        backdrop: a picture the keys are patches of.
        said: what a reader must know, besides what follows from the limit.
        called: what the reader calls layers and heads that are none.
        live: whether a server answers for what is not in it.

    Raises:
        ValueRangeError: so many heads do not fit however coarse they are.

    """
    most = limit * 3 // 4  # base64 writes 3 bytes as 4
    names, places = layers_of(drawn)
    labels = called.layers if called else {}
    layers = [one | {"label": labels.get(one["name"])} for one in names]
    block, maps, more = fitted([one.head for one in drawn], most, live=live)
    for here, one, layer in zip(maps, drawn, places, strict=True):
        here |= {"layer": layer, "row_tokens": one.row_tokens, "col_tokens": one.col_tokens}
    head = header(
        "attention",
        title=title,
        language=language,
        notes=[*said, *more],
        tokens=[list(some) for some in tokens],
        layers=layers,
        called=_words(called),
        maps=maps,
        backdrop=backdrop,
        live={"tile": "tile", "line": "line"} if live else None,
    )
    return Document(head, block.data, block.deflated())


def _words(called: Called | None) -> dict[str, Note] | None:
    if called is None or called.heads is None or called.head is None:
        return None
    return {"heads": called.heads, "head": called.head}


def layers_of(drawn: Sequence[Drawn]) -> tuple[list[dict[str, str]], list[int]]:
    """The layers, each once a call, and to which of them each head belongs."""
    layers: list[dict[str, str]] = []
    places: list[int] = []
    calls: dict[tuple[str, str], int] = {}
    before: Drawn | None = None
    for one in drawn:
        name = (one.model, one.head.layer)
        # a head that came before in the same layer: the layer was called once more
        if (
            before is None
            or name != (before.model, before.head.layer)
            or one.head.number <= before.head.number
        ):
            calls[name] = calls.get(name, 0) + 1
            again = f" #{calls[name]}" if calls[name] > 1 else ""
            layers.append({"name": plain(one.head.layer) + again, "model": plain(one.model)})
        places.append(len(layers) - 1)
        before = one
    return layers, places
