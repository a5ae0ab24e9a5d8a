"""The entry point ``regard <verb>``: find the verb, run it, turn errors into one line.

A verb is a module of ``regard.cli`` with two functions, and a line in ``VERBS``::

    def arguments(parser: argparse.ArgumentParser) -> None   # its flags and its help text
    def run(args: argparse.Namespace) -> int                 # does it, returns the exit code

Nothing heavy (torch, matplotlib) is imported when such a module is, only when ``run`` is called:
``regard --help`` and ``regard <verb> --help`` should answer at once.
"""

from __future__ import annotations

import argparse
import io
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from regard.cli.streams import complain, let_go, open_streams
from regard.errors import RegardError
from regard.version import __version__

__all__ = ["VERBS", "main"]

VERBS = {  # the module in regard.cli, and what `regard --help` says of it
    "classify": "texts, sounds or images, with a trained classifier",
    "compare": "CNN, RNN and self-attention measured: how time, operations and paths grow",
    "demo": "kernel regression as attention: a table, and a figure with --figure",
    "evaluate": "how good a model is, on data it has not seen",
    "export": "a translator as ONNX",
    "fit": "kernel regression on the columns of a CSV or Parquet file",
    "study": "encoders compared on your own data: accuracy against how much there is",
    "tag": "the words of a text, a file or standard input, with a trained tagger",
    "train": "a translator, a tagger or a classifier from files",
    "translate": "a text, a file or standard input, with a trained translator",
    "view": "where a model looks, in the browser",
}

OK, WRONG, INTERRUPTED, CLOSED = 0, 2, 130, 141  # the last two: 128 + SIGINT, 128 + SIGPIPE


class _Parser(argparse.ArgumentParser):
    """A parser that answers a bad argument with one line, not with the whole usage."""

    def error(self, message: str) -> NoReturn:
        if message.startswith(("unrecognized arguments: -", "argument -h/--help: ignored")):
            for words in (x.metavar for x in self._actions if not x.option_strings and x.nargs):
                message += f"; a {words} that begins with - goes after --"
        self.exit(WRONG, f"regard: {message}; see '{self.prog} --help'\n")


def _top() -> _Parser:
    width = max(map(len, VERBS))
    verbs = "\n".join(f"  {name:<{width}}  {summary}" for name, summary in VERBS.items())
    parser = _Parser(
        prog="regard",
        usage="regard [--help] [--version] <verb> ...",
        description="Attention as one operation: score, mask, softmax, average.",
        epilog=f"verbs:\n{verbs}\n\n'regard <verb> --help' tells more about one of them.",
        formatter_class=argparse.RawDescriptionHelpFormatter,  # keeps the lines of the epilog
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"regard {__version__}")
    return parser


def _dispatch(words: Sequence[str]) -> int:
    """Parse the words before the verb here and those after it by the verb's own flags."""
    first = next((i for i, word in enumerate(words) if not word.startswith("-")), len(words))
    top = _top()
    top.parse_args(words[:first])
    if first == len(words):
        top.print_help()
        return OK
    verb, *rest = words[first:]
    if verb not in VERBS:
        top.error(f"there is no verb {verb!r}, only {', '.join(VERBS)}")
    module = import_module(f"regard.cli.{verb}")
    parser = _Parser(prog=f"regard {verb}", description=VERBS[verb], allow_abbrev=False)
    module.arguments(parser)
    return int(module.run(parser.parse_args(rest)))


def _code(words: Sequence[str]) -> int:
    try:
        return _dispatch(words)
    except SystemExit as done:  # argparse leaves so after --help, --version and a bad argument
        return done.code if isinstance(done.code, int) else OK


def _one_line(error: Warning | Exception | str) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror  # without "[Errno 13]"
        if error.filename is not None:
            text = f"{error.filename}: {text}"
    # a name may hold line breaks or a terminal's commands
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def _warned(message: Warning | str, *_: object, **__: object) -> None:
    """A warning as one line: where in the code it was given is nothing to who typed a command."""
    complain(f"warning: {_one_line(message)}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``regard`` with these words, or those of the command line; returns the exit code."""
    if not open_streams():
        complain(
            "standard output is closed, and nothing could be told; if so meant, add >/dev/null"
        )
        return WRONG
    if isinstance(sys.stdout, io.TextIOWrapper):
        # a path need not be printable in the terminal's encoding, or in any
        sys.stdout.reconfigure(errors="backslashreplace")
    usual, warnings.showwarning = warnings.showwarning, _warned
    try:
        code = _code(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()  # here, where a full disk can still be told
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:  # `regard demo | head -1` got all it wanted
        code = CLOSED
    except (RegardError, OSError) as error:
        complain(_one_line(error))
        code = WRONG
    finally:
        warnings.showwarning = usual
    let_go()
    return code
