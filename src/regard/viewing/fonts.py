"""Letters for labels the usual font has none for, such as Chinese ones.

matplotlib's own font, DejaVu Sans, has Latin, Greek and Cyrillic. For other characters an installed
font that has them is set on the texts that need it, and on nothing else: no global setting changes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from regard.optional import need

__all__ = ["Lettering", "lettering"]

FAMILIES = (  # which to take where several have the characters: made for screens, simplified first
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "PingFang SC",
    "Microsoft YaHei",
    "Hiragino Sans GB",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "SimHei",
    "Heiti SC",
    "STHeiti",
    "Noto Sans CJK JP",  # the first face of the file that holds all five, and may stand for them
    "Noto Sans CJK TC",
    "Noto Sans CJK KR",
    "Noto Serif CJK SC",
    "SimSun",
    "Songti SC",
    "Arial Unicode MS",
    "Droid Sans Fallback",
)
NOT_REAL = ("Last Resort",)  # has a box for every character, and claims to have them all
BOX = "\u25a1"  # a white square, what a missing character looks like
NAMED = 8  # characters a warning names


@dataclass(frozen=True)
class Lettering:
    """How to write some texts: in which fonts, and what has to be drawn as a box.

    >>> Lettering(missing=frozenset("B")).text("A B C")
    'A □ C'
    """

    families: tuple[str, ...] = ()  # of matplotlib, tried in turn; none: what is set anyway
    missing: frozenset[str] = field(default=frozenset())

    @property
    def style(self) -> dict[str, Any]:
        """The arguments for matplotlib's ``set_xlabel`` and the like."""
        return {"family": list(self.families)} if self.families else {}

    def text(self, text: object) -> str:
        """The text, with a box for what no font has: matplotlib would draw one and warn of each."""
        if text is None:
            return ""
        return "".join(BOX if letter in self.missing else letter for letter in str(text))


def lettering(texts: Iterable[object]) -> Lettering:
    """Find fonts for these texts; where there are none, say once what to install.

    >>> lettering(["queries", "keys"]).style
    {}
    """
    letters = {
        letter
        for text in texts
        if text is not None
        for letter in str(text)
        if letter.isprintable() and not letter.isspace()
    }
    usual = _usual_families()
    manager = _manager()
    paths = [manager.findfont(manager.FontProperties(family=[family])) for family in usual]
    missing = letters.difference(*(_has(path, letters) for path in paths))
    chosen: list[str] = []
    for family, path in _candidates() if missing else ():
        if found := _has(path, missing):
            chosen.append(family)
            missing -= found
        if not missing:
            break
    if missing:
        shown = "".join(sorted(missing)[:NAMED]) + ("..." if len(missing) > NAMED else "")
        warnings.warn(
            f"no installed font has {shown}, drawn as boxes here; install one that does, for "
            "Chinese Noto Sans CJK (Debian, Ubuntu: apt install fonts-noto-cjk; Fedora: dnf "
            "install google-noto-sans-cjk-fonts; others: https://fonts.google.com/noto)",
            UserWarning,
            stacklevel=3,  # the caller of heatmap or show_heatmaps
        )
    return Lettering((*usual, *chosen) if chosen else (), frozenset(missing))


def _manager() -> Any:  # noqa: ANN401 - a module of no stubs
    need("matplotlib", extra="view", why="a figure")
    return need("matplotlib.font_manager", extra="view", why="a figure")


def _usual_families() -> tuple[str, ...]:
    """What matplotlib is set to, which may well be a font someone has chosen for Chinese."""
    return tuple(_manager().FontProperties().get_family())


def _has(path: str, letters: set[str]) -> set[str]:
    """Those of the letters that the font in this file has."""
    try:
        charmap = _manager().get_font(path).get_charmap()
    except (OSError, RuntimeError):  # a broken file, or one removed since it was listed
        return set()
    return {letter for letter in letters if ord(letter) in charmap}


def _candidates() -> Iterator[tuple[str, str]]:
    """The installed families with a file of each, those made for it first."""
    installed = _files(_manager().fontManager.ttflist)
    yield from ((family, installed[family]) for family in FAMILIES if family in installed)
    # matplotlib keeps its list from the first time it ran: what was installed since is not on it
    new = _add_new_fonts()
    yield from ((family, new[family]) for family in FAMILIES if family in new)
    for family, path in {**new, **installed}.items():
        if family not in FAMILIES and not family.startswith(NOT_REAL):
            yield family, path


def _files(entries: Iterable[Any]) -> dict[str, str]:
    files: dict[str, str] = {}
    for entry in entries:
        files.setdefault(entry.name, entry.fname)
    return files


def _add_new_fonts() -> dict[str, str]:
    """Put the fonts installed since matplotlib made its list on it; returns what it added."""
    manager = _manager()
    known = {str(entry.fname) for entry in manager.fontManager.ttflist}
    before = len(manager.fontManager.ttflist)
    for path in sorted(set(manager.findSystemFonts()) - known):
        with suppress(OSError, RuntimeError, ValueError):  # a broken file, or of no known kind
            manager.fontManager.addfont(path)
    return _files(manager.fontManager.ttflist[before:])
