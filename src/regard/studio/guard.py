"""Who may ask: a request is refused unless everything about it is right."""

from __future__ import annotations

import hmac
import logging
import secrets
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

__all__ = ["POLICY", "PROTECTION", "Guard", "Refusal"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = b"content-security-policy"
PROTECTION = (  # in every answer
    (b"cache-control", b"no-store"),
    (POLICY, b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)
LONGEST_PATH, LONGEST_QUERY = 128, 512
MOST_HEADERS, MOST_LETTERS = 64, 16_384  # of all headers
SECRET = 32  # bytes
OWN = (b"same-origin", b"none")  # of our own page, or typed by the reader
WHERE = "open the address that was printed when this server began"

_log = logging.getLogger(__name__)


class Refusal(Exception):  # noqa: N818 - an answer, not a fault of ours
    """Why a request is refused, in the words the reader gets."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


class Guard:
    """Lets the reader through who came with the token, and nobody else.

    The token comes once, in the address. The answer to it is a cookie with another secret, and
    the same address without the token. The name in ``Host`` is what keeps out a foreign page whose
    own name was made to point here; where the request comes from, if the browser says so, keeps
    out all others.

    Args:
        app: what answers those who may ask.
        port: where the server listens.
        paths: which there are.

    """

    def __init__(self, app: App, port: int, paths: Collection[str]) -> None:
        self.app = app
        self.hosts = [f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost", "[::1]")]
        self.paths = {path.encode() for path in paths}
        self.token = secrets.token_urlsafe(SECRET)
        self.cookie = f"regard-{port}"  # cookies are shared by all servers of a machine
        self._value = secrets.token_urlsafe(SECRET)
        self._tickets: list[str] = []

    def ticket(self) -> str:
        """A token for one visit: for a browser whose command line others may read."""
        self._tickets.append(secrets.token_urlsafe(SECRET))
        return self._tickets[-1]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, if it may be."""
        if scope["type"] != "http":
            return
        begun = False

        async def protected(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                given = list(message.get("headers", ()))
                names = {name.lower() for name, _ in given}
                given += [(name, value) for name, value in PROTECTION if name not in names]
                message = {**message, "headers": given}
            await send(message)

        try:
            if self._enters(scope):
                cookie = f"{self.cookie}={self._value}; HttpOnly; SameSite=Strict; Path=/"
                extra = [(b"location", b"/"), (b"set-cookie", cookie.encode())]
                await _say(protected, 303, "", extra)
                return
            await self.app(scope, receive, protected)
        except Refusal as refusal:
            await _say(protected, refusal.status, refusal.why, [(b"connection", b"close")])
        except Exception as error:
            why = " ".join(str(error).split())
            _log.warning("an answer failed: %s: %s", type(error).__name__, why)
            if begun:
                raise  # cut off: half an answer must not look like a whole one
            await _say(protected, 500, "this answer failed", [(b"connection", b"close")])

    def _enters(self, scope: Scope) -> bool:
        """Whether this is a first visit, with the token; raises if the request is refused."""
        headers = list(scope["headers"])
        _check_form(scope, headers)
        self._check_source(headers)
        if scope["raw_path"] not in self.paths:
            raise Refusal(404, "there is nothing here")
        query = scope["query_string"]
        if scope["raw_path"] == b"/" and query:
            name, _, token = query.partition(b"=")
            if name == b"token" and self._is_token(token):
                return True
            raise Refusal(403, f"this is not the token; {WHERE}")
        if not self._has_cookie(headers):
            raise Refusal(403, f"you are not known here; {WHERE}")
        return False

    def _check_source(self, headers: list[tuple[bytes, bytes]]) -> None:
        host = _only(headers, b"host")
        if host not in self.hosts:
            raise Refusal(403, f"this server has another name; {WHERE}")
        origin = _only(headers, b"origin")
        if origin is not None and origin != b"http://" + host:
            raise Refusal(403, "another page may not ask here")
        site = _only(headers, b"sec-fetch-site")
        if site is not None and site not in OWN:
            raise Refusal(403, f"another page may not ask here; {WHERE}")

    def _is_token(self, given: bytes) -> bool:
        if hmac.compare_digest(given, self.token.encode()):
            return True
        for ticket in self._tickets:
            if hmac.compare_digest(given, ticket.encode()):
                self._tickets.remove(ticket)
                return True
        return False

    def _has_cookie(self, headers: list[tuple[bytes, bytes]]) -> bool:
        own = f"{self.cookie}=".encode()
        crumbs = [
            crumb.strip(b" \t")
            for name, value in headers
            if name == b"cookie"
            for crumb in value.split(b";")
        ]
        found = [crumb[len(own) :] for crumb in crumbs if crumb.startswith(own)]
        # another server of this machine can set a second one: then none is believed
        return len(found) == 1 and hmac.compare_digest(found[0], self._value.encode())


def _check_form(scope: Scope, headers: list[tuple[bytes, bytes]]) -> None:
    """Only what a browser sends to read a page: anything else is somebody trying."""
    if scope["http_version"] != "1.1":
        raise Refusal(505, "only HTTP/1.1 is spoken here")
    if scope["method"] not in ("GET", "HEAD"):
        raise Refusal(405, "there is nothing here but to be read: GET or HEAD")
    if not scope["raw_path"].startswith(b"/"):
        raise Refusal(400, "the path must begin with /")
    if len(scope["raw_path"]) > LONGEST_PATH or len(scope["query_string"]) > LONGEST_QUERY:
        raise Refusal(414, "the address is too long")
    letters = sum(len(name) + len(value) for name, value in headers)
    if len(headers) > MOST_HEADERS or letters > MOST_LETTERS:
        raise Refusal(431, "there are too many headers, or too long ones")
    names = {name for name, _ in headers}
    if names & {b"content-length", b"transfer-encoding", b"expect"}:
        raise Refusal(400, "there is nothing here to send a body to")
    if b"upgrade" in names:
        raise Refusal(400, "only HTTP/1.1 is spoken here")


def _only(headers: list[tuple[bytes, bytes]], wanted: bytes) -> bytes | None:
    found = [value for name, value in headers if name == wanted]
    if len(found) > 1:
        raise Refusal(400, f"there may be one header {wanted.decode()}")
    return found[0] if found else None


async def _say(
    send: Send, status: int, line: str, headers: Collection[tuple[bytes, bytes]] = ()
) -> None:
    body = f"{line}\n".encode() if line else b""
    head = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        *headers,
    ]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})
