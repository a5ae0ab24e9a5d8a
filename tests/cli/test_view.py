"""``regard view``: served, saved, or refused in one line."""

import os
import signal
import subprocess
import sys
import urllib.request

import pytest
import torch

import regard.studio
from regard.cli.main import main
from regard.scores import Dot
from regard.tasks.captures import save_captures
from regard.viewing.captured import Captured
from tests.tasks.tagging import tiny as tagging
from tests.viewing.pages import Page


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return str(tagging.tiny_run(tmp_path_factory.mktemp("runs") / "run"))


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("kept") / "x.safetensors"
    call = Captured("layer", torch.randn(1, 2, 4, 3), torch.randn(1, 2, 4, 3), Dot(), None)
    save_captures(call, path, list("abcd"))
    return str(path)


def said(capsys, *words, code=0):
    assert main(["view", *map(str, words)]) == code
    return capsys.readouterr()


def test_a_page_is_saved(run, tmp_path, capsys):
    path = tmp_path / "x.html"
    got = said(capsys, run, "--text", "dogs bark.", "--save", path)
    assert (got.out, got.err) == ("", f"The view is in {path}\n")
    header = Page(path.read_text(encoding="utf-8")).header
    assert header["title"] == "dogs bark ."
    assert len(header["maps"]) == 4
    assert header["live"] is None


def test_a_figure_is_saved(kept, tmp_path, capsys):
    said(capsys, kept, "--heads", "1", "--save", tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_it_is_served(kept, capsys, monkeypatch):
    asked = []
    serve = lambda view, port, *, open_browser: asked.append((view, port, open_browser))
    monkeypatch.setattr(regard.studio, "serve", serve)
    said(capsys, kept, "--port", "5555", "--open")
    said(capsys, kept, "--layers", "layer", "--heads", "1")
    (view, *rest), (some, *usual) = asked
    assert (len(view.heads), rest) == (2, [5555, True])
    assert (len(some.heads), usual) == (1, [0, False])


def test_two_are_compared(kept, run, tmp_path, capsys):
    said(capsys, kept, run, "--text", "dogs bark.", "--save", tmp_path / "x.html")
    header = Page((tmp_path / "x.html").read_text(encoding="utf-8")).header
    assert {layer["model"] for layer in header["layers"]} == {
        name if len(name) <= 60 else f"{name[:59]}…" for name in (kept, run)
    }


def test_a_page_that_was_saved_is_opened(kept, tmp_path, capsys, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    path = tmp_path / "x.html"
    said(capsys, kept, "--save", path)
    assert said(capsys, path).out == f"{path.as_uri()}\n"
    assert opened == []
    said(capsys, path, "--open")
    assert opened == [path.as_uri()]


WRONG = [
    (["nothing"], "there is no capture, no run and no model 'nothing'"),
    (["{kept}", "--text", "a"], "is a capture, which has read its text; leave --text"),
    (["{kept}", "{kept}"], "is named twice"),
    (["{kept}", "--heads", "x"], "--heads must be a whole number from 0 to 100000, got 'x'"),
    (["{kept}", "--heads", "5"], "--heads must be among 0, 1"),
    (["{kept}", "--layers", "x"], "--layers must be among layer"),
    (["{kept}", "--save", "x.txt"], "a view is saved as .html, .png, .svg, .pdf, got"),
    (["{kept}", "--save", "x.html", "--open"], "--port and --open belong to a server"),
    (["{kept}", "--save", "x.html", "--port", "5555"], "--port and --open belong to a server"),
    (["{kept}", "--port", "80"], "must be a whole number from 1024 to 65535, got '80'"),
    (["{run}"], "say with --text what the model shall read"),
    (["{run}", "--text", "a", "--file", "x.wav"], "--file is what a classifier"),
    (["x.html"], "x.html: No such file or directory"),
    (["x.html", "y.html"], "pages are opened one at a time"),
    (["{tmp}/other.html"], "is no page that regard wrote"),
    (["{tmp}/broken.safetensors"], "is no safetensors file"),
    ([], "the following arguments are required: WHAT"),
]


@pytest.mark.parametrize(("words", "why"), WRONG, ids=lambda x: " ".join(x)[:30])
def test_what_is_wrong_is_told_in_a_line(words, why, kept, run, tmp_path, capsys, monkeypatch):
    (tmp_path / "other.html").write_text("<p>hello")
    (tmp_path / "broken.safetensors").write_bytes(b"hello, this is no tensor")
    monkeypatch.chdir(tmp_path)
    words = [x.format(kept=kept, run=run, tmp=tmp_path) for x in words]
    got = said(capsys, *words, code=2)
    assert got.out == ""
    assert got.err.startswith("regard: ")
    assert why in got.err
    assert got.err.count("\n") == 1


def test_without_the_packages_of_a_server_a_page_can_still_be_saved(
    kept, tmp_path, capsys, monkeypatch
):
    monkeypatch.setitem(sys.modules, "starlette", None)
    assert "pip install 'regard[studio]'" in said(capsys, kept, code=2).err
    said(capsys, kept, "--save", tmp_path / "x.html")


@pytest.mark.skipif(os.name != "posix", reason="signals are another thing elsewhere")
def test_from_the_command_line_to_the_browser_and_back(kept):
    with subprocess.Popen(
        [sys.executable, "-m", "regard", "view", kept],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            address = process.stdout.readline().strip()
            opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            with opener.open(address, timeout=30) as answer:
                found = Page(answer.read().decode())
                policy = answer.headers["Content-Security-Policy"]
            base = address.partition("?")[0]
            path = f"{base}tile?map=1&r0=0&r1=4&c0=0&c1=4"
            with opener.open(path, timeout=30) as answer:
                assert len(answer.read()) == 16 + 4 * 16
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()
    assert found.header["live"] == {"tile": "tile", "line": "line"}
    assert "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert (process.returncode, out, err.count("\n")) == (0, "", 2)
