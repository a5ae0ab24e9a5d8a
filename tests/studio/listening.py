"""A server that runs beside the tests, and raw sockets to talk to it."""

import socket
import threading
import time
from contextlib import contextmanager, suppress
from typing import NamedTuple

import torch

from regard.studio.serving import Studio

CANARY = "canary-of-the-page"
PAGE = (
    '<!doctype html><meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    f"connect-src 'self'\"><title>{CANARY}</title>"
)


class Piece(NamedTuple):
    values: torch.Tensor
    every: int


class Plain:
    """A map that is all there, and notes what it is asked for."""

    layer, number, shape, work = "", 0, "cross", 64

    def __init__(self, weights):
        self.weights = weights
        self.n, self.m = weights.shape
        self.asked = []

    def tile(self, rows, cols, cells=256, reduce="mass", budget=None):
        self.asked.append((rows, cols, cells, reduce))
        return Piece(self.weights[rows, cols][:cells, :cells], 3)

    def line(self, axis, at, cells=1024, budget=None):
        self.asked.append((axis, at, cells))
        found = self.weights[at : at + 1] if axis == "row" else self.weights[:, at : at + 1]
        return Piece(found, 1)


@contextmanager
def listening(heads, page=PAGE):
    """A server in a thread, with ``cookie``: the header of somebody who was let in."""
    studio = Studio(heads, page)
    thread = threading.Thread(target=studio.run)
    thread.start()
    try:
        until = time.monotonic() + 10
        while not studio._server.started and time.monotonic() < until:
            time.sleep(0.01)
        studio.cookie = entered(studio)
        yield studio
    finally:
        studio.stop()
        thread.join(10)
        assert not thread.is_alive()


def entered(studio):
    """What a browser would send after it has opened the address."""
    path = studio.address.partition(str(studio.port))[2]
    answer = Answer(talk(studio, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\n\r\n"))
    assert answer.status == 303
    return answer.headers["set-cookie"].partition(";")[0]


def talk(studio, text, *, wait=5.0):
    """Send bytes, and read until an answer is whole, the other side closes, or time is up."""
    data = text.encode("latin-1") if isinstance(text, str) else text
    with socket.create_connection(("127.0.0.1", studio.port), timeout=wait) as line:
        with suppress(OSError):  # it may have closed while we were still talking
            line.sendall(data)
        return received(line)


def received(line):
    """All bytes until the other side closes, or one whole answer has come."""
    got = b""
    while not whole(got):
        try:
            more = line.recv(1 << 16)
        except (ConnectionResetError, BrokenPipeError, TimeoutError):
            break
        if not more:
            break
        got += more
    return got


def whole(got):
    _, blank, body = got.partition(b"\r\n\r\n")
    if not blank:
        return False
    answer = Answer(got)
    return len(body) >= int(answer.headers.get("content-length", 1 << 40))


class Answer:
    """An HTTP answer, taken apart."""

    def __init__(self, data):
        head, _, self.body = data.partition(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        self.status = int(first.split(" ")[1]) if first.startswith("HTTP/1.1 ") else None
        pairs = (line.partition(": ") for line in rest)
        self.headers = {name.lower(): value for name, _, value in pairs}


def get(studio, path, *headers, cookie=True, method="GET"):
    """What a reader who was let in gets."""
    head = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{studio.port}"]
    head += [f"Cookie: {studio.cookie}"] if cookie else []
    return Answer(talk(studio, "\r\n".join([*head, *headers, "", ""])))
