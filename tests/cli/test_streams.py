"""Streams that are closed, full, or read by nobody: an exit code, a line, and no traceback."""

import io
import os
import subprocess
import sys

import pytest

from regard.cli import main as cli
from regard.cli import streams

CLOSED = (
    "regard: standard output is closed, and nothing could be told; if so meant, add >/dev/null\n"
)
# a verb that needs no torch: it does what its words say, one after the other
FAKE = """
import os, sys, types
import regard.cli.main as cli
from regard.errors import RegardError

fake = types.ModuleType("regard.cli.fake")
fake.arguments = lambda parser: parser.add_argument("words", nargs="*")

def run(args):
    for word in args.words:
        if word == "out":
            sys.stdout.write("text\\n" * 10)
        elif word == "err":
            sys.stderr.write("a message\\n")
        elif word == "much":
            for _ in range(1000):
                sys.stdout.write("text\\n" * 100)
        elif word == "wrong":
            raise RegardError("this is so")
        elif word == "file":
            with open("file", "w") as file:
                os.write(2, b"by its number")
                file.write("content")
    return 0

fake.run = run
sys.modules["regard.cli.fake"] = fake
cli.VERBS["fake"] = ""
sys.exit(cli.main())
"""


def shell(tmp_path, *words, redirected, buffered=True):
    """Run the fake verb under a shell; gives the exit code and what came out."""
    code = tmp_path / "fake.py"
    code.write_text(FAKE)
    command = " ".join([sys.executable, str(code), *words, redirected])
    done = subprocess.run(
        ["bash", "-c", f"{command}; echo code ${{PIPESTATUS[0]}} >{tmp_path / 'code'}"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONUNBUFFERED": "" if buffered else "1"},
        timeout=60,
    )
    return int((tmp_path / "code").read_text().split()[1]), done.stdout, done.stderr


TEXT = "text\n" * 10


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize(
    ("words", "redirected", "wanted"),
    [
        ("fake out", ">&-", (2, "", CLOSED)),
        ("--help", ">&-", (2, "", CLOSED)),
        ("--version", ">&- 2>&-", (2, "", "")),
        ("fake out err", "2>&-", (0, TEXT, "")),
        ("fake out err", "2>&- <&-", (0, TEXT, "")),
        ("fake out err", "<&-", (0, TEXT, "a message\n")),
        ("fake wrong", "2>&-", (2, "", "")),
        ("nonsense", "2>&-", (2, "", "")),
        ("fake out", ">/dev/full", (2, "", "regard: No space left on device\n")),
        ("fake wrong", "2>/dev/full", (2, "", "")),
        ("fake out err", "2>/dev/full", (2, TEXT, "")),
        ("fake much", "| head -1", (141, "text\n", "")),
        ("fake much err", "2>&1 | head -1", (141, "text\n", "")),
    ],
    ids=str,
)
def test_no_stream_makes_a_traceback(tmp_path, words, redirected, wanted, buffered):
    if "/dev/full" in redirected and not os.path.exists("/dev/full"):  # noqa: PTH110
        pytest.skip("there is no /dev/full here")
    assert shell(tmp_path, *words.split(), redirected=redirected, buffered=buffered) == wanted


@pytest.mark.parametrize("redirected", ["2>&-", "2>&- <&-"])
def test_a_closed_number_is_not_given_to_a_file(tmp_path, redirected):
    assert shell(tmp_path, "fake", "file", redirected=redirected) == (0, "", "")
    assert (tmp_path / "file").read_text() == "content"


def test_a_pipe_that_was_closed_before_is_no_error():
    with subprocess.Popen(
        [sys.executable, "-m", "regard", "--help"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # unbuffered, argparse meets the closed pipe as it writes, and swallows the error itself
        env={**os.environ, "PYTHONUNBUFFERED": ""},
    ) as process:
        process.stdout.close()  # long before python has started
        assert process.stderr.read() == b""
    assert process.returncode == cli.CLOSED


def test_streams_that_are_no_files(monkeypatch):
    class Full(io.StringIO):
        def flush(self):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    monkeypatch.setattr(sys, "stderr", Full())
    streams.complain("nobody hears it")
    streams.let_go()
    assert streams.open_streams()
