"""What the server answers: the page, and pieces of its maps."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from regard.errors import StateError
from regard.studio.guard import POLICY, Guard, Refusal
from regard.studio.tiles import Asked, Cache, line, tile

if TYPE_CHECKING:
    from regard.viewing.heads import Head

__all__ = ["Application"]

GONE = 499  # nobody reads it
_META = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')


class Application:
    """The answers to one view, behind a guard.

    Args:
        heads: the maps, in the order the page has them.
        page: as HTML, with its Content-Security-Policy.
        port: where the server listens.

    """

    def __init__(self, heads: Sequence[Head], page: str, port: int) -> None:
        self._heads = heads
        self._page = page
        self._policy = _policy(page)
        self._cache = Cache()
        # one at a time: torch takes all cores for each, and two would take twice as long
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="regard-tiles")
        self._turn = asyncio.Semaphore(1)
        routes = {"/": self._whole, "/tile": self._answers(tile), "/line": self._answers(line)}
        app = Starlette(
            routes=[Route(path, answer) for path, answer in routes.items()],
            exception_handlers={Refusal: _refused},
        )
        self.guard = Guard(app, port, routes)

    def close(self) -> None:
        """Work no more."""
        self._worker.shutdown(wait=False, cancel_futures=True)

    async def _whole(self, request: Request) -> Response:
        return HTMLResponse(self._page, headers={POLICY.decode(): self._policy})

    def _answers(self, kind: Callable[[Sequence[Head], str], Asked]) -> Callable[..., Any]:
        async def answer(request: Request) -> Response:
            asked = kind(self._heads, request.scope["query_string"].decode("ascii"))
            body = self._cache.get(asked.key)
            if body is None:
                body = await self._worked_out(asked, request)
            return Response(body, media_type="application/octet-stream")

        return answer

    async def _worked_out(self, asked: Asked, request: Request) -> bytes:
        async with self._turn:
            # who has moved on has closed the connection: those that came later wait for the rest
            if await request.is_disconnected():
                raise Refusal(GONE, "nobody waits for it")
            body = self._cache.get(asked.key)  # somebody else may have asked the same
            if body is None:
                loop = asyncio.get_running_loop()
                body = await loop.run_in_executor(self._worker, asked.answer)
                self._cache.put(asked.key, body)
        return body


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return PlainTextResponse(f"{error.why}\n", error.status)


def _policy(page: str) -> str:
    """What the page itself says may run in it; and that no other page may hold it."""
    found = _META.search(page)
    if found is None:
        msg = "a page that is served must have a Content-Security-Policy, and this one has none"
        raise StateError(msg)
    return f"{html.unescape(found[1])}; frame-ancestors 'none'"
