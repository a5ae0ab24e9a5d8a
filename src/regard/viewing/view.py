"""Weights to look at: in a notebook, as a page, on paper, in a terminal, in words."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

from regard.errors import StateError, ValueRangeError
from regard.viewing import figures, page, prints, telling
from regard.viewing.called import Called
from regard.viewing.document import LIMIT, Document, Drawn, attention, layers_of
from regard.viewing.heads import Head
from regard.viewing.kernel import Kernel, kernel_document
from regard.viewing.notes import Note
from regard.viewing.terminal import alignment_lines

__all__ = ["View"]

PAGES = (".html", ".htm")
ROWS, POOLS = 64, 32  # of a drawing in a terminal; of more, so many pools


class View:
    """What ``regard.look`` gives; a notebook shows it as a page.

    Args:
        drawn: the heads.
        tokens: the lists of tokens they point at, as they are to be shown.
        title: above it all.
        language: "en", "zh", or None: the reader's.
        limit: bytes that the numbers of a page take at most, in base64.
        backdrop: a picture the keys are patches of.
        said: what a page must say, in each language.
        called: what the reader calls layers and heads that are none.
        kernel: data with their kernel, instead of heads.

    """

    def __init__(
        self,
        drawn: Sequence[Drawn] = (),
        tokens: Sequence[Sequence[str]] = (),
        *,
        title: str = "",
        language: str | None = None,
        limit: int = LIMIT,
        backdrop: dict[str, Any] | None = None,
        said: Sequence[Note] = (),
        called: Called | None = None,
        kernel: Kernel | None = None,
    ) -> None:
        self.drawn, self.tokens = list(drawn), [list(some) for some in tokens]
        self.title, self.language, self.limit = title, language, limit
        self.backdrop, self.said, self.kernel = backdrop, tuple(said), kernel
        self.called = called

    @property
    def heads(self) -> list[Head]:
        """The heads, in the order of the maps of the document."""
        return [one.head for one in self.drawn]

    def __repr__(self) -> str:
        if self.kernel is not None:
            return f"<View of {len(self.kernel.x):,} points, {self.kernel.kernel} kernel>"
        layers, _ = layers_of(self.drawn)
        heads, deep = len(self.drawn), len(layers)
        return f"<View of {heads:,} head{'s'[: heads != 1]} in {deep:,} layer{'s'[: deep != 1]}>"

    def document(self, *, live: bool = False) -> Document:
        """Everything a page shows; ``live``: small, for a page that can ask for more."""
        return self._live if live else self._document

    @cached_property
    def _document(self) -> Document:
        return self._made(live=False)

    @cached_property
    def _live(self) -> Document:
        return self._made(live=True)

    def _made(self, *, live: bool) -> Document:
        if self.kernel is not None:
            return kernel_document(self.kernel, title=self.title, language=self.language)
        return attention(
            self.drawn,
            self.tokens,
            title=self.title,
            language=self.language,
            limit=self.limit,
            backdrop=self.backdrop,
            said=self.said,
            called=self.called,
            live=live,
        )

    def html(self) -> str:
        """One page that needs nothing else, not even a network."""
        return page.html(self.document(), summary=self.summary())

    def _repr_html_(self) -> str:
        return page.frame(self.html(), self.title)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        layer: int | str | None = None,
        head: int | None = None,
    ) -> None:
        """Write a page (.html), or a figure (.png, .svg, .pdf); whole, or not at all.

        Args:
            path: where; its ending says what.
            layer: of a figure: which, by number or name; None: all.
            head: of a figure: which of the layer; None: all.

        """
        path = Path(path)
        suffix = path.suffix.lower()
        if suffix not in (*PAGES, *figures.SUFFIXES):
            known = ", ".join((PAGES[0], *figures.SUFFIXES))
            msg = f"a view is saved as {known}, got {str(path)!r}"
            raise ValueRangeError(msg)
        if suffix in PAGES:
            if layer is not None or head is not None:
                msg = "a page holds all heads; leave layer and head out, or choose in look()"
                raise ValueRangeError(msg)
            data = self.html().encode()
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = _beside(path)
            _renamed(beside, path, lambda: beside.write_bytes(data))
            return
        figures.check_path(path)
        figure = self.figure(layer=layer, head=head)
        beside = _beside(path)
        _renamed(beside, path, lambda: figures.save(figure, beside))

    def figure(self, *, layer: int | str | None = None, head: int | None = None) -> figures.Figure:
        """A matplotlib Figure of one head, or of all heads in small."""
        if self.kernel is not None:
            return self.kernel.draw(self.title)
        chosen = self._chosen(layer, head)
        if len(chosen) == 1:
            return prints.draw_one(self.drawn[chosen[0]], self.tokens, self._caption(chosen[0]))
        return prints.draw_grid([self.drawn[i] for i in chosen], self.title)

    def show(
        self,
        *,
        layer: int | str | None = None,
        head: int | None = None,
        width: int | None = None,
        stream: TextIO | None = None,
    ) -> None:
        """Draw one head with characters, in a terminal; the first unless told.

        Args:
            layer: which, by number or name.
            head: which of the layer.
            width: columns; None: those of the terminal.
            stream: where to; None: standard output.

        """
        out = stream or sys.stdout
        if self.kernel is not None:
            out.write(f"{self.summary()}\n")
            return
        i = self._chosen(layer, head)[0]
        one = self.drawn[i]
        cells = ROWS if max(one.head.n, one.head.m) <= ROWS else POOLS
        weights = one.head.tile(slice(None), slice(None), cells, "mass", telling.BUDGET).values
        lines = alignment_lines(
            weights,
            self._labels(one.col_tokens, one.head.m, weights.shape[1]),
            self._labels(one.row_tokens, one.head.n, weights.shape[0]),
            width=width or shutil.get_terminal_size().columns,
            unicode=_has_shades(out),
        )
        said = telling.described(one.head, self._name(i), self.language)
        text = "".join(f"{line}\n" for line in (said, *lines))
        encoding = getattr(out, "encoding", None) or "utf-8"
        out.write(text.encode(encoding, "replace").decode(encoding))

    def _labels(self, which: int | None, size: int, cells: int) -> list[str]:
        """Of each row or column its token; of a pool the first and the last place."""
        if cells == size:
            words = None if which is None else self.tokens[which]
            return [telling.named(words, i) for i in range(size)]
        starts = [-(-i * size // cells) for i in range(cells + 1)]
        return [f"{a}" if b == a + 1 else f"{a}-{b - 1}" for a, b in pairwise(starts)]

    def summary(self, *, layer: int | str | None = None, head: int | None = None) -> str:
        """Which tokens look where, in words: of one head, the first unless told."""
        if self.kernel is not None:
            data = self.kernel
            return (
                f"{len(data.x):,} points, x from {data.x.min():.4g} to {data.x.max():.4g}, "
                f"averaged by the {data.kernel} kernel of width {data.width:.4g}"
            )
        i = self._chosen(layer, head)[0]
        one = self.drawn[i]
        rows, cols = (
            None if which is None else self.tokens[which]
            for which in (one.row_tokens, one.col_tokens)
        )
        first = telling.described(one.head, self._name(i), self.language)
        return "\n".join([first, *telling.told(one.head, rows, cols, self.language)])

    def _name(self, i: int) -> str:
        """Of a head: its model, layer and number, as far as there are several."""
        language = self.language or "en"
        layers, places = layers_of(self.drawn)
        layer = layers[places[i]]
        label = self.called.layers.get(layer["name"]) if self.called else None
        name = layer["name"] if label is None else label[language]
        if name.isdecimal():  # weights without names have numbers
            name = f"layer {name}" if language == "en" else f"层 {name}"
        head = f"{self._head()[language]} {self.drawn[i].head.number}"
        several = places.count(places[i]) > 1
        return ", ".join(filter(None, (layer["model"], name, head if several else "")))

    def _caption(self, i: int) -> str:
        """Above the figure of one head: the title, and which of several heads it is."""
        return ": ".join(filter(None, (self.title, self._name(i) if len(self.drawn) > 1 else "")))

    def _head(self) -> Note:
        """What a head is called."""
        called = self.called.head if self.called else None
        return called or {"en": "head", "zh": "头"}

    def _chosen(self, layer: int | str | None, head: int | None) -> list[int]:
        """The numbers of the maps that are meant."""
        layers, places = layers_of(self.drawn)
        if not layers:
            msg = "there is nothing to look at: no attention was captured"
            raise StateError(msg)
        found = list(range(len(places)))
        if layer is not None:
            names = [x["name"] for x in layers]
            if layer not in (range(len(layers)) if isinstance(layer, int) else names):
                known = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")  # noqa: PLR2004
                msg = (
                    f"layer must be a number below {len(layers)}, or one of {known}; got {layer!r}"
                )
                raise ValueRangeError(msg)
            number = layer if isinstance(layer, int) else names.index(layer)
            found = [i for i in found if places[i] == number]
        if head is not None:
            numbers = sorted({self.drawn[i].head.number for i in found})
            found = [i for i in found if self.drawn[i].head.number == head]
            if not found:
                msg = f"head must be one of {', '.join(map(str, numbers))}; got {head!r}"
                raise ValueRangeError(msg)
        return found


def _beside(path: Path) -> Path:
    """A name in the same folder, with the same ending."""
    return path.with_name(f".regard-writing-{os.getpid()}-{secrets.token_hex(4)}{path.suffix}")


def _renamed(beside: Path, path: Path, write: Any) -> None:  # noqa: ANN401 - a function of nothing
    """Write beside it, then rename: a reader finds the old file or the new one."""
    try:
        write()
        os.replace(beside, path)  # noqa: PTH105 - the one step that counts
    except BaseException as error:  # Ctrl-C is no reason to leave a part behind
        with suppress(OSError):
            beside.unlink()
        if isinstance(error, OSError):  # under the name the caller knows
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def _has_shades(stream: TextIO) -> bool:
    try:
        "░█…中".encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
