"""The server from its beginning to its end: where it listens, what it prints, how it stops."""

import asyncio
import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import pytest
import torch

from regard.errors import KindError, MissingError, StateError, ValueRangeError
from regard.studio import serving
from regard.studio.serving import Studio
from tests.studio.listening import PAGE, Plain, get, listening

HEADS = [Plain(torch.rand(3, 3))]


class Slow(Plain):
    """A map whose tiles take their time."""

    def __init__(self):
        super().__init__(torch.rand(3, 3))
        self.begun = threading.Event()

    def tile(self, *how):
        self.begun.set()
        time.sleep(4)
        return super().tile(*how)


SERVE = """
import sys, torch
sys.path.insert(0, {root!r})
from tests.studio.listening import PAGE, Plain
from tests.studio.test_serving import Slow
from regard.studio import serving
serving.serve_parts([Plain(torch.rand(3, 3))], PAGE)
"""


def test_only_this_machine_can_reach_it():
    with listening(HEADS) as studio:
        assert studio._socket.getsockname()[0] == "127.0.0.1"
        assert studio.address.startswith(f"http://127.0.0.1:{studio.port}/?token=")
        others = {x[4][0] for x in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
        for other in others - {"127.0.0.1", "127.0.1.1"}:
            with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
                socket.create_connection((other, studio.port), timeout=1)


def test_a_port_of_ones_own():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    studio = Studio(HEADS, PAGE, port)
    assert studio.port == port
    with pytest.raises(StateError, match=f"port {port} cannot be had: address already in use"):
        Studio(HEADS, PAGE, port)
    studio.close()
    Studio(HEADS, PAGE, port).close()


@pytest.mark.parametrize("port", [-1, 1, 80, 1023, 65536, 10**9])
def test_a_port_there_is_not(port):
    with pytest.raises(ValueRangeError, match=f"from 1024 to 65535, got {port}"):
        Studio(HEADS, PAGE, port)


@pytest.mark.parametrize("port", ["8000", 8000.0, None, True])
def test_a_port_that_is_no_number(port):
    with pytest.raises(KindError, match="port must be a whole number"):
        Studio(HEADS, PAGE, port)


def test_two_servers_have_two_tokens():
    one, two = Studio(HEADS, PAGE), Studio(HEADS, PAGE)
    tokens = {x.address.rpartition("=")[2] for x in (one, two)}
    assert len(tokens) == 2
    one.close()
    two.close()


def test_a_browser_that_knows_nothing_of_us_is_let_in():
    """As urllib follows the redirection and keeps the cookie, so does a browser."""
    with listening(HEADS) as studio:
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(studio.address, timeout=5) as answer:
            assert answer.read().decode() == PAGE
            assert "token" not in answer.url
        with opener.open(f"http://127.0.0.1:{studio.port}/line?map=0&axis=row&at=0") as answer:
            assert answer.read()[:4] == b"RGT1"
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"http://127.0.0.1:{studio.port}/", timeout=5)


def test_the_browser_gets_a_ticket_not_the_token(monkeypatch):
    opened = []
    done = threading.Event()
    monkeypatch.setattr(serving.webbrowser, "open", lambda x: (opened.append(x), done.set()))
    with listening(HEADS) as studio:
        studio.open_browser()
        assert done.wait(5)
        assert opened[0] != studio.address
        path = opened[0].partition(str(studio.port))[2]
        assert get(studio, path, cookie=False).status == 303


def test_in_a_notebook_whose_own_loop_runs_already():
    studio = Studio(HEADS, PAGE)

    async def cell():
        threading.Timer(1.0, studio.stop).start()
        studio.run()

    answered = []
    asker = threading.Thread(
        target=lambda: answered.append(get(studio, "/", cookie=False).status), daemon=True
    )
    asker.start()
    asyncio.run(cell())
    asker.join(5)
    assert answered == [403]


def test_it_stops_while_a_tile_is_worked_out():
    slow = Slow()
    answers = []
    with listening([slow]) as studio:
        reader = threading.Thread(
            target=lambda: answers.append(get(studio, "/tile?map=0&r0=0&r1=3&c0=0&c1=3").status)
        )
        reader.start()
        assert slow.begun.wait(5)
        start = time.monotonic()
    assert time.monotonic() - start < 3.8  # not when the tile is done
    reader.join(5)
    assert answers != [200]


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_what_is_missing_is_named(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingError, match=rf"needs {package}.*pip install 'regard\[studio\]'"):
        Studio(HEADS, PAGE)


@pytest.mark.skipif(os.name != "posix", reason="signals are another thing elsewhere")
@pytest.mark.parametrize("busy", [False, True])
def test_control_c_ends_it_with_a_line(request, busy):
    code = SERVE.format(root=str(request.config.rootpath))
    if busy:
        code = code.replace("Plain(torch.rand(3, 3))", "Slow()")
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        address = process.stdout.readline().strip()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(address, timeout=20) as answer:
            assert answer.status == 200
        if busy:
            where = f"{address.partition('?')[0]}tile?map=0&r0=0&r1=3&c0=0&c1=3"
            threading.Thread(target=lambda: _given_up(opener, where)).start()
            time.sleep(0.5)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert time.monotonic() - start < 10
    assert process.returncode == 0
    assert out == ""
    assert err.splitlines() == [
        "Open this address in a browser; Ctrl-C ends.",
        "The view is closed.",
    ]


def _given_up(opener, address):
    with pytest.raises((OSError, http.client.HTTPException)):
        opener.open(address, timeout=20)
