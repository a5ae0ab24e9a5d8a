"""A connection that is not waited for forever, and never one of too many."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from regard.studio.guard import PROTECTION

__all__ = ["Connection"]

MOST = 64  # at a time
WAITED = 10.0  # seconds for the whole head of a request, from the last answer on
ANSWERED = 60.0  # seconds for an answer to be worked out and fetched


class Connection(H11Protocol):
    """As uvicorn's, with an end to patience.

    Uvicorn waits for the rest of a request as long as it takes, so that a few hundred beginnings
    would keep everybody else out. Here each has its time; and where there are too many, the one
    that was waited for longest makes room.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as uvicorn has them
        super().__init__(*args, **kwargs)
        self.since = time.monotonic()
        self._clock: asyncio.TimerHandle | None = None
        self._watched: object = None
        self._last = b""

    @property
    def busy(self) -> bool:
        """Whether it is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait(WAITED)
        # one that is told to close is still among them until the loop comes round
        found = [x for x in self.connections if isinstance(x, Connection)]
        found = [x for x in found if not x.transport.is_closing()]
        if len(found) > MOST:
            idle = [x for x in found if not x.busy]  # never none: this one is
            min(idle, key=lambda x: x.since).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        # h11 takes a line feed alone for the end of a line, where others do not: two readings
        # of one text are how requests are smuggled
        whole = self._last + data
        if whole.count(b"\n") != whole.count(b"\r\n") or b"\0" in data:
            if self.busy:
                self.transport.abort()
            else:
                self.send_400_response("this is no HTTP request")
            return
        self._last = data[-1:] if data.endswith(b"\r") else b""
        super().data_received(data)

    def handle_events(self) -> None:
        if self.transport.is_closing():
            return
        super().handle_events()
        if self.busy and self.cycle is not self._watched:
            self._watched = self.cycle
            self._wait(ANSWERED)

    def on_response_complete(self) -> None:
        self.since = time.monotonic()
        self._wait(WAITED)
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()  # an answer is under way
            return
        body = b"this is no HTTP request\n"
        head = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            *PROTECTION,
        ]
        event = h11.Response(status_code=400, headers=head, reason=b"Bad Request")
        for part in (event, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(part) or b"")
        self.transport.close()

    def _wait(self, seconds: float) -> None:
        self._stop()
        self._clock = self.loop.call_later(seconds, self._end)

    def _stop(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _end(self) -> None:
        self._clock = None
        self.transport.abort()
