"""The verb ``regard view``: where a model looks, in the browser."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from regard.cli import pages
from regard.cli.flags import number
from regard.cli.texts import word
from regard.errors import FileError, ValueRangeError

if TYPE_CHECKING:  # torch takes seconds to import, and `regard view --help` does without
    from regard.viewing.view import View

__all__ = ["arguments", "run"]

PAGES = (".html", ".htm")
MARK = b'id="regard-document"'  # in every page of ours, and in its first part
BEGINNING = 1 << 20  # bytes of a page


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags and the help text of ``regard view``."""
    parser.description = (
        "Show where a model looks, in the browser of this machine: all layers and heads, to be "
        "zoomed into down to single weights, however long the text. A small server answers this "
        "machine alone, and whoever has the address with its token; Ctrl-C ends it. With --save a "
        "page is written instead, which needs no server. Several things are compared."
    )
    add = parser.add_argument
    add(
        "what",
        nargs="+",
        metavar="WHAT",
        help="a capture (.safetensors), the folder of a run, a model that comes with regard, or a "
        "page (.html) that was saved",
    )
    add("--text", metavar="TEXT", help="what the model reads; quote it")
    add("--file", type=Path, metavar="PATH", help="the same of a classifier of sounds or images")
    add(
        "--layers",
        metavar="NAME,...",
        help="only these layers, by the names of modules or their beginnings, as encoder.0",
    )
    add("--heads", metavar="N,...", help="only these heads, counted from 0")
    add(
        "--save",
        type=Path,
        metavar="PATH",
        help="write a page (.html) or a figure (.png, .svg, .pdf) there, and serve nothing",
    )
    add(
        "--port",
        type=lambda text: int(number(text, int, 1024, 65535)),
        default=0,
        metavar="N",
        help="where the server listens, from 1024 on (default: any that is free)",
    )
    add("--open", action="store_true", help="show it in the browser at once")
    add(
        "--device",
        choices=("cpu", "cuda"),
        default="cpu",
        help="where to compute (default %(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    """Find it, look, and serve or save."""
    if any(name.lower().endswith(PAGES) for name in args.what):
        return _shown(args)
    if args.save is not None:
        _check_save(args)
    else:
        _check_serve()
    view = _view(args)
    if args.save is not None:
        view.save(args.save)
        sys.stderr.write(f"The view is in {args.save}\n")
        return 0
    from regard.studio import serve  # noqa: PLC0415 - imports torch

    serve(view, args.port, open_browser=args.open)
    return 0


def _check_save(args: argparse.Namespace) -> None:
    """Before the work: a typing error should not cost it."""
    if args.port or args.open:
        msg = "--port and --open belong to a server, and with --save there is none"
        raise ValueRangeError(msg)
    if args.save.suffix.lower() in PAGES:
        pages.check(args.save)
        return
    from regard.viewing import figures  # noqa: PLC0415 - imports torch

    if args.save.suffix.lower() not in figures.SUFFIXES:
        known = ", ".join((PAGES[0], *figures.SUFFIXES))
        msg = f"a view is saved as {known}, got {str(args.save)!r}"
        raise ValueRangeError(msg)
    figures.check_path(args.save)


def _check_serve() -> None:
    from regard.optional import need  # noqa: PLC0415 - not for --help
    from regard.viewing import page  # noqa: PLC0415 - imports torch

    for package in ("starlette", "uvicorn"):
        need(package, extra="studio", why="regard view without --save")
    page.policy(live=True)  # the page is there


def _view(args: argparse.Namespace) -> View:
    from regard.cli import viewed  # noqa: PLC0415 - not for --help

    layers = None if args.layers is None else [name for name in args.layers.split(",") if name]
    chosen = viewed.Chosen(layers, _heads(args.heads))
    views = {}
    for name in args.what:
        if name in views:
            msg = f"{name} is named twice"
            raise ValueRangeError(msg)
        if Path(name).is_file():
            if len(args.what) == 1 and (args.text is not None or args.file is not None):
                msg = f"{name} is a capture, which has read its text; leave --text and --file out"
                raise ValueRangeError(msg)
            views[name] = viewed.of_file(Path(name), chosen)
        else:
            text = None if args.text is None else word(args.text)
            views[name] = viewed.of_model(name, text, args.file, chosen, args.device)
    return viewed.together(views)


def _heads(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(number(part, int, 0, 100_000)) for part in text.split(",")]
    except argparse.ArgumentTypeError as cause:
        msg = f"--heads {cause}"
        raise ValueRangeError(msg) from cause


def _shown(args: argparse.Namespace) -> int:
    """A page that was saved needs no server: only to be opened."""
    if len(args.what) > 1:
        msg = "pages are opened one at a time; give one of them"
        raise ValueRangeError(msg)
    path = Path(args.what[0])
    with path.open("rb") as file:
        if MARK not in file.read(BEGINNING):
            msg = f"{path}: is no page that regard wrote"
            raise FileError(msg)
    address = path.resolve().as_uri()
    sys.stdout.write(f"{address}\n")
    if args.open:
        import webbrowser  # noqa: PLC0415 - not for --help

        webbrowser.open(address)
    return 0
