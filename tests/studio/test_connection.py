"""Who is slow, silent or too many keeps nobody else waiting."""

import socket
import time
from contextlib import suppress

import pytest
import torch

from regard.studio import connection
from tests.studio.listening import Answer, Plain, get, listening

HEAD = "GET / HTTP/1.1\r\nHost: 127.0.0.1:"


@pytest.fixture
def studio(monkeypatch):
    monkeypatch.setattr(connection, "WAITED", 1.0)
    monkeypatch.setattr(connection, "ANSWERED", 30.0)
    monkeypatch.setattr(connection, "MOST", 20)
    with listening([Plain(torch.rand(40, 50))]) as found:
        yield found


def opened(studio):
    return socket.create_connection(("127.0.0.1", studio.port), timeout=5)


def closed_after(line):
    """How many seconds until the other side has closed, and what it said before."""
    start, got = time.monotonic(), b""
    try:
        while more := line.recv(1 << 16):
            got += more
    except ConnectionResetError:
        pass
    return time.monotonic() - start, got


def soon(condition):
    """Whether it comes true before one loses patience."""
    until = time.monotonic() + 8
    while not condition() and time.monotonic() < until:
        time.sleep(0.05)
    return condition()


def open_ones(studio):
    return len(studio._server.server_state.connections)


def quick(studio):
    start = time.monotonic()
    assert get(studio, "/").status == 200
    return time.monotonic() - start < 3


def test_who_says_nothing_is_left(studio):
    with opened(studio) as line:
        seconds, got = closed_after(line)
    assert got == b""
    assert 0.5 < seconds < 8


def test_who_stops_in_the_middle_is_left(studio):
    with opened(studio) as line:
        line.sendall(HEAD.encode())
        seconds, got = closed_after(line)
    assert got == b""
    assert 0.5 < seconds < 8


def test_a_letter_now_and_then_does_not_buy_time(studio):
    with opened(studio) as line:
        start = time.monotonic()
        line.sendall(HEAD.encode())
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            while time.monotonic() < start + 9:
                line.sendall(b"1")
                time.sleep(0.05)
    assert 0.5 < time.monotonic() - start < 8


def test_nor_does_an_answer_that_was_had_before(studio):
    with opened(studio) as line:
        good = f"{HEAD}{studio.port}\r\nCookie: {studio.cookie}\r\n\r\n"
        line.sendall(good.encode())
        assert line.recv(1 << 16).startswith(b"HTTP/1.1 200")
        line.sendall(HEAD.encode())
        seconds, _ = closed_after(line)
    assert seconds < 8


def tile(studio):
    return (
        f"GET /tile?map=0&r0=0&r1=1&c0=0&c1=1 HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\n"
        f"Cookie: {studio.cookie}\r\n\r\n"
    ).encode()


def test_who_does_not_fetch_the_answer_is_left(monkeypatch):
    monkeypatch.setattr(connection, "WAITED", 1.0)
    large = torch.rand(3000, 3000)
    plain = Plain(large)
    plain.tile = lambda *_: type("Piece", (), {"values": large, "every": 1})  # 36 MB
    with listening([plain]) as studio, opened(studio) as line:
        line.sendall(tile(studio))
        assert soon(lambda: open_ones(studio) == 1)
        assert soon(lambda: open_ones(studio) == 0)
        assert get(studio, "/").status == 200


def slow(seconds):
    plain = Plain(torch.rand(3, 3))
    plain.tile = lambda *_: time.sleep(seconds) or plain.line("row", 0)
    return plain


def test_an_answer_may_take_longer_than_a_question(monkeypatch):
    monkeypatch.setattr(connection, "WAITED", 1.0)
    with listening([slow(1.5)]) as studio, opened(studio) as line:
        line.sendall(tile(studio))
        assert line.recv(1 << 16).startswith(b"HTTP/1.1 200")


def test_but_not_forever(monkeypatch):
    monkeypatch.setattr(connection, "ANSWERED", 0.3)
    with listening([slow(1.5)]) as studio, opened(studio) as line:
        line.sendall(tile(studio))
        assert closed_after(line)[1] == b""


def test_many_slow_ones_at_a_time(studio):
    lines = [opened(studio) for _ in range(60)]
    try:
        for line in lines:
            with suppress(OSError):  # one that had to make room
                line.sendall(HEAD.encode())
        assert quick(studio)
        assert open_ones(studio) <= 21
        assert soon(lambda: open_ones(studio) == 0)
        assert quick(studio)
    finally:
        for line in lines:
            line.close()


def test_half_open():
    """Who has said that nothing more will come gets no more, and holds nothing."""
    with listening([Plain(torch.rand(2, 2))]) as studio, opened(studio) as line:
        line.sendall(HEAD.encode())
        line.shutdown(socket.SHUT_WR)
        seconds, got = closed_after(line)
    assert (got, seconds < connection.WAITED / 2) == (b"", True)  # not after its time is up


def test_gone_before_the_answer(studio):
    for _ in range(50):
        line = opened(studio)
        line.sendall(f"{HEAD}{studio.port}\r\nCookie: {studio.cookie}\r\n\r\n".encode())
        line.close()
    assert quick(studio)


def test_a_request_in_pieces(studio):
    """The two letters that end a line may come one by one."""
    pieces = f"{HEAD}{studio.port}\r|\nCookie: {studio.cookie}\r|\n\r|\n".split("|")
    with opened(studio) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            line.sendall(piece.encode())
            time.sleep(0.05)
        assert Answer(line.recv(1 << 16)).status == 200
