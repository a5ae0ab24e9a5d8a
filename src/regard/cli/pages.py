"""Pages of what a verb found: translations, tags and labels, each with where it was looked."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from regard.errors import ValueRangeError

if TYPE_CHECKING:  # torch takes seconds to import, and `--help` does without
    from regard.cli.fitted import Fitted
    from regard.tasks.classification import Classified
    from regard.tasks.tagging import Tagged
    from regard.tasks.translation.translated import Translation
    from regard.viewing.notes import Note
    from regard.viewing.view import View

__all__ = ["check", "flag", "of_classified", "of_fit", "of_tagged", "of_translation"]

SUFFIXES = (".html", ".htm")
LONGEST = 60  # letters of a title


def flag(parser: argparse.ArgumentParser, what: str) -> None:
    """Add --page."""
    parser.add_argument(
        "--page",
        type=Path,
        metavar="PATH",
        help=f"save {what} there as a page for the browser, .html: one file, no network",
    )


def check(path: Path) -> None:
    """Raise unless a page can be written there: before the work, not after it."""
    if path.suffix.lower() not in SUFFIXES:
        msg = f"a page is written as {SUFFIXES[0]}, got {str(path)!r}"
        raise ValueRangeError(msg)
    if path.exists() and not path.is_file():
        msg = f"{path} is a folder, a device or a pipe, not a file; give another name"
        raise ValueRangeError(msg)
    from regard.viewing import page  # noqa: PLC0415 - imports torch

    page.policy()  # the script is there
    if not path.parent.exists():
        path.parent.mkdir(parents=True, exist_ok=True)


def of_translation(translation: Translation) -> View | None:
    """Source against target: a map a sentence and a way to say it; None if it is empty."""
    from regard.viewing.called import sentence, translations  # noqa: PLC0415 - not for --help
    from regard.viewing.document import Drawn  # noqa: PLC0415 - imports torch
    from regard.viewing.heads import DenseHead  # noqa: PLC0415 - likewise
    from regard.viewing.notes import scored  # noqa: PLC0415 - not for --help
    from regard.viewing.tokens import readable  # noqa: PLC0415 - likewise
    from regard.viewing.view import View  # noqa: PLC0415 - likewise

    parts = translation.parts or (translation,)
    drawn, words = [], []
    for i, part in enumerate(parts, 1):
        ways = [way for way in part.alternatives if way.tokens and part.source_tokens]
        name = sentence(i)[0] if len(parts) > 1 else "translation"
        words += [readable(part.source_tokens)] * bool(ways)
        keys = len(words) - 1
        for k, way in enumerate(ways, 1):
            words.append(readable(way.tokens))
            drawn.append(Drawn(DenseHead(way.look(), name, k), len(words) - 1, keys))
    several = [f"{_short(way.text)} ({way.score:.3f})" for way in translation.alternatives]
    said = [scored(several)] if len(several) > 1 else []
    title = _short(translation.source)
    called = translations(len(parts))
    return View(drawn, words, title=title, said=said, called=called) if drawn else None


def of_tagged(tagged: Tagged, layer: int | None, head: int | None) -> View | None:
    """Word against word: a map a sentence, a layer and a head; None if there are no words.

    Args:
        tagged: the text.
        layer: which one alone, counted from 1; None: all.
        head: likewise.

    """
    from regard.viewing.called import Called, sentence  # noqa: PLC0415 - not for --help
    from regard.viewing.document import Drawn  # noqa: PLC0415 - imports torch
    from regard.viewing.heads import DenseHead  # noqa: PLC0415 - likewise
    from regard.viewing.tokens import readable  # noqa: PLC0415 - likewise
    from regard.viewing.view import View  # noqa: PLC0415 - likewise

    drawn, words = [], []
    labels: dict[str, Note] = {}
    several = len(tagged.sentences) > 1
    for i, part in enumerate(tagged.sentences, 1):
        if not part.words:
            continue
        named = [f"{word}/{label}" for word, label in part]
        words += [readable(named), readable(list(part.words))]
        for at, heads in enumerate(part.look(), 1):
            name, label = sentence(i, at) if several else (str(at), None)
            labels |= {name: label} if label else {}
            drawn += [
                Drawn(DenseHead(w, name, number), len(words) - 2, len(words) - 1)
                for number, w in enumerate(heads, 1)
                if layer in (None, at) and head in (None, number)
            ]
    title = _short(" ".join(tagged.words))
    return View(drawn, words, title=title, called=Called(None, None, labels)) if drawn else None


def of_classified(name: str, classified: Classified) -> View:
    """The looks of a classifier at the words, over the spectrogram or over the image."""
    from regard.viewing.backdrop import over_image, over_sound  # noqa: PLC0415 - not for --help
    from regard.viewing.called import looks as where_it_looked  # noqa: PLC0415 - likewise
    from regard.viewing.document import Drawn  # noqa: PLC0415 - imports torch
    from regard.viewing.heads import DenseHead  # noqa: PLC0415 - likewise
    from regard.viewing.tokens import readable  # noqa: PLC0415 - likewise
    from regard.viewing.view import View  # noqa: PLC0415 - likewise

    backdrop, keys = None, [str(place) for place in classified.places]
    if classified.kind == "sound":
        keys = [f"{start:.2f}-{end:.2f} s" for start, end in classified.places]
        frames = len(classified.content)
        first = classified.places[0][1] / classified.places[-1][1]  # of the whole
        backdrop = over_sound(classified.content, max(round(frames * first), 1))
    elif classified.kind == "images":
        keys = [f"{top}, {left}" for top, left, _, _ in classified.places]
        top, left, bottom, right = classified.places[0]
        backdrop = over_image(classified.content, int(max(bottom - top, right - left)))
    looks = classified.looks
    likely = f"{classified.label} {100 * classified.probability:.0f} %"
    rows = [likely] if len(looks) == 1 else [f"{likely}, look {i + 1}" for i in range(len(looks))]
    words = [readable(rows), readable(keys)]
    short = _short(name) if classified.kind == "text" else Path(name).name
    return View(
        [Drawn(DenseHead(looks, "attention"), 0, 1)],
        words,
        title=f"{short}: {classified.label}",
        backdrop=backdrop,
        called=where_it_looked(),
    )


def of_fit(fitted: Fitted, title: str) -> View:
    """The data, the curve, and a width to move."""
    from regard.viewing.looking import look  # noqa: PLC0415 - imports torch

    return look(fitted.model, title=title)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
