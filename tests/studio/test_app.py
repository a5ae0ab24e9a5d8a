"""What is answered through the server: tiles that are right, in time, and none for who has left."""

import socket
import struct
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
import torch

from regard import Additive, Causal, Dot, rectangle, weights
from regard.errors import StateError
from regard.studio.app import Application
from regard.viewing.captured import Captured
from regard.viewing.heads import heads_of
from tests.studio.listening import Plain, get, listening
from tests.studio.test_tiles import GOOD, WRONG, read

LONG = 100_000
SOON = 15.0  # seconds, on a machine that does much else; it takes less than one


@pytest.fixture(scope="module")
def plain():
    return Plain(torch.rand(40, 50))


@pytest.fixture(scope="module")
def studio(plain):
    with listening([plain, plain]) as found:
        yield found


def test_a_tile_comes_as_it_was_asked_for(studio, plain):
    answer = get(studio, "/tile?map=1&r0=3&r1=9&c0=4&c1=50&cells=99&reduce=max")
    got, every = read(answer.body)
    assert answer.headers["content-type"] == "application/octet-stream"
    assert torch.equal(got, plain.weights[3:9, 4:50])
    assert every == 3
    assert plain.asked[-1] == (slice(3, 9), slice(4, 50), 99, "max")


def test_a_line(studio, plain):
    got, _ = read(get(studio, "/line?map=0&axis=col&at=7&cells=100").body)
    assert torch.equal(got, plain.weights[:, 7:8])


def test_what_was_asked_before_is_not_worked_out_again(studio, plain):
    path = "/tile?map=0&r0=1&r1=9&c0=4&c1=50"
    first = get(studio, path).body
    count = len(plain.asked)
    assert get(studio, path).body == first
    assert get(studio, f"{path}&cells=256&reduce=mass").body == first  # what it is by default
    assert len(plain.asked) == count


@pytest.mark.parametrize("name", WRONG)
def test_numbers_that_are_none_by_raw_socket(studio, name):
    for value in WRONG[name]:
        if " " in value or not value.isascii():
            continue  # no request line: see the attacks on the guard
        good = GOOD | {"r1": "40", "c1": "50"} | {name: value}
        answer = get(studio, "/tile?" + "&".join(f"{k}={v}" for k, v in good.items()))
        assert answer.status == 400
        assert answer.body.count(b"\n") == 1


def test_an_answer_that_fails_tells_no_more_than_that(studio, plain, monkeypatch, caplog):
    def broken(*_):
        raise RuntimeError("secret place /root")

    monkeypatch.setattr(plain, "tile", broken)
    answer = get(studio, "/tile?map=0&r0=2&r1=3&c0=0&c1=1")
    assert answer.status == 500
    assert b"secret" not in answer.body
    assert b"Traceback" not in answer.body
    assert answer.headers["x-content-type-options"] == "nosniff"
    monkeypatch.undo()
    assert get(studio, "/tile?map=0&r0=2&r1=3&c0=0&c1=1").status == 200


def test_for_who_has_left_nothing_is_worked_out(studio, plain, monkeypatch):
    """Six who moved on do not keep the seventh waiting."""
    begun, go = threading.Event(), threading.Event()
    worked = []
    real = plain.tile

    def slow(rows, *rest):
        begun.set()
        assert go.wait(10)
        worked.append(rows.start)
        return real(rows, *rest)

    monkeypatch.setattr(plain, "tile", slow)
    lines = []
    for r0 in range(10, 17):
        lines.append(socket.create_connection(("127.0.0.1", studio.port), timeout=10))
        lines[-1].sendall(
            f"GET /tile?map=0&r0={r0}&r1=40&c0=0&c1=3 HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\n"
            f"Cookie: {studio.cookie}\r\n\r\n".encode()
        )
    assert begun.wait(10)
    for one in lines[:-1]:
        one.close()
    until = time.monotonic() + 5
    while len(studio._server.server_state.connections) > 1 and time.monotonic() < until:
        time.sleep(0.02)
    go.set()
    assert lines[-1].recv(100).startswith(b"HTTP/1.1 200")
    lines[-1].close()
    assert 16 in worked
    assert len(worked) <= 2  # the one that had begun, and the one that is waited for


def test_eight_readers_at_once():
    torch.manual_seed(3)
    q, k = torch.randn(2, 1, 8, 300, 4)
    score = Additive(torch.randn(4))
    heads = heads_of(Captured("", q, k, score, Causal()))
    dense = weights(q, k, score=score, mask=Causal())[0]
    wrong = []

    def reader(number):
        for r0 in range(0, 250, 10):
            at = f"r0={r0}&r1={r0 + 40}&c0={number}&c1={number + 50}"
            got, every = read(get(studio, f"/tile?map={number}&{at}").body)
            wanted = dense[number, r0 : r0 + 40, number : number + 50]
            if every != 1 or not torch.allclose(got, wanted, rtol=1e-4, atol=1e-6):
                wrong.append((number, r0))

    with listening(heads) as studio:
        readers = [threading.Thread(target=reader, args=(number,)) for number in range(8)]
        for one in readers:
            one.start()
        for one in readers:
            one.join(30)
    assert wrong == []


def test_what_eight_want_at_once_is_worked_out_once(studio, plain, monkeypatch):
    real = plain.tile
    monkeypatch.setattr(plain, "tile", lambda *a: (time.sleep(0.2), real(*a))[1])
    plain.asked.clear()
    got = []
    path = "/tile?map=1&r0=1&r1=33&c0=2&c1=44"
    readers = [threading.Thread(target=lambda: got.append(get(studio, path))) for _ in range(8)]
    for one in readers:
        one.start()
    for one in readers:
        one.join(10)
    assert [x.status for x in got] == [200] * 8
    assert len({x.body for x in got}) == 1
    assert len(plain.asked) == 1


def test_a_page_without_a_policy_is_not_served():
    with pytest.raises(StateError, match="must have a Content-Security-Policy"):
        Application([], "<title>x</title>", 1)


def most_memory(*, anew=False):
    """Bytes of memory this process had at most, since it was asked anew; 0 where nobody knows."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    if anew:
        with suppress(OSError):  # where it may not be asked anew
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    (line,) = (x for x in status.read_text(encoding="ascii").splitlines() if x.startswith("VmHWM"))
    return int(line.split()[1]) << 10


def test_a_hundred_thousand_tokens():
    """The whole picture, and weights that are exact, each in a moment and in little memory."""
    torch.manual_seed(0)
    q, k = torch.randn(1, 1, LONG, 64), torch.randn(1, 1, LONG, 64)
    with listening(heads_of(Captured("", q, k, Dot(), None))) as studio:
        before = most_memory(anew=True)
        start = time.monotonic()
        first, every = read(get(studio, f"/tile?map=0&r0=0&r1={LONG}&c0=0&c1={LONG}").body)
        whole = time.monotonic() - start
        assert first.shape == (256, 256)
        assert every > 100  # and the page says so
        torch.testing.assert_close(first.sum(-1), torch.ones(256), atol=1e-3, rtol=0)
        start = time.monotonic()
        close, every = read(get(studio, "/tile?map=0&r0=70000&r1=70064&c0=30000&c1=30064").body)
        exact = time.monotonic() - start
        wanted = rectangle(q, k, slice(70000, 70064), slice(30000, 30064))[0, 0]
        assert every == 1
        torch.testing.assert_close(close, wanted, atol=1e-9, rtol=1e-4)
        start = time.monotonic()
        row, _ = read(get(studio, "/line?map=0&axis=row&at=99999").body)
        line = time.monotonic() - start
        assert row.shape == (1, 1024)
        more = most_memory() - before
    print(f"{more >> 20} MiB more; whole {whole:.2f} s, exact {exact:.2f} s, line {line:.2f} s")  # noqa: T201
    assert max(whole, exact, line) < SOON
    assert more < 400 << 20  # all weights would be 40 GB


def test_bytes_are_as_the_page_reads_them(studio):
    body = get(studio, "/tile?map=0&r0=0&r1=2&c0=0&c1=3").body
    assert struct.unpack("<4i", body[:16]) == (0x31544752, 2, 3, 3)
    assert len(body) == 16 + 2 * 3 * 4
