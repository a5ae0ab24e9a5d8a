"""Start the server on this machine, say where it is, and end it when asked to."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from regard.errors import KindError, StateError, ValueRangeError
from regard.optional import need

if TYPE_CHECKING:
    from regard.viewing.heads import Head
    from regard.viewing.view import View

__all__ = ["Studio", "serve", "serve_parts"]

HERE = "127.0.0.1"  # and nowhere else
LOWEST, HIGHEST = 1024, 65535
HEAD_BYTES = 1 << 14  # of a request
SOON = 2  # seconds an answer has when the server ends


class Studio:
    """A server for one view; made, it listens, and ``run`` answers.

    Args:
        heads: the maps, in the order the page has them.
        page: as HTML.
        port: from 1024 on; 0: any that is free.

    Attributes:
        address: where, with the token that lets in.

    """

    def __init__(self, heads: Sequence[Head], page: str, port: int = 0) -> None:
        for package in ("starlette", "uvicorn"):
            need(package, extra="studio", why="a live view")
        import uvicorn  # noqa: PLC0415 - a package some do without

        from regard.studio.app import Application  # noqa: PLC0415 - imports starlette
        from regard.studio.connection import Connection  # noqa: PLC0415 - imports uvicorn

        self._socket = _bound(port)
        try:
            self.port = int(self._socket.getsockname()[1])
            self._app = Application(heads, page, self.port)
            self._server = uvicorn.Server(
                uvicorn.Config(
                    self._app.guard,
                    loop="asyncio",
                    http=Connection,
                    ws="none",
                    lifespan="off",
                    interface="asgi3",
                    log_config=None,
                    log_level="critical",
                    access_log=False,
                    proxy_headers=False,
                    server_header=False,
                    date_header=False,
                    timeout_graceful_shutdown=SOON,
                    h11_max_incomplete_event_size=HEAD_BYTES,
                )
            )
        except BaseException:
            self._socket.close()
            raise

    @property
    def address(self) -> str:
        return self._address(self._app.guard.token)

    def _address(self, token: str) -> str:
        return f"http://{HERE}:{self.port}/?token={token}"

    def open_browser(self) -> None:
        """Show the page in the reader's browser, by a token that is good once."""
        address = self._address(self._app.guard.ticket())
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    def run(self) -> None:
        """Answer until ``stop``, or until Ctrl-C, which is raised again."""
        try:
            if _in_a_loop():  # a notebook's: there cannot be a second one in this thread
                self._beside()
            else:
                self._server.run(sockets=[self._socket])
        finally:
            self.close()

    def _beside(self) -> None:
        thread = threading.Thread(target=self._server.run, args=([self._socket],))
        thread.start()
        try:
            while thread.is_alive():
                thread.join(0.1)  # no longer: Ctrl-C is heard in between
        finally:
            self.stop()
            thread.join()

    def stop(self) -> None:
        """Let ``run`` return; from any thread."""
        self._server.should_exit = True

    def close(self) -> None:
        """Listen no longer."""
        self._socket.close()
        self._app.close()


def serve(view: View, port: int = 0, *, open_browser: bool = False) -> None:
    """Serve a view to this machine's own browser, until Ctrl-C.

    The address is printed, with a token: whoever has it can look, and nobody else.

    Args:
        view: as ``regard.look`` gives it.
        port: from 1024 on; 0: any that is free.
        open_browser: show it at once.

    Raises:
        MissingError: without ``regard[studio]``.
        StateError: the port is taken.

    """
    from regard.viewing.page import html  # noqa: PLC0415 - imports torch

    page = html(view.document(live=True), live=True)
    serve_parts(view.heads, page, port, open_browser=open_browser)


def serve_parts(
    heads: Sequence[Head], page: str, port: int = 0, *, open_browser: bool = False
) -> None:
    """The same of maps and a page that are at hand."""
    studio = Studio(heads, page, port)
    sys.stdout.write(f"{studio.address}\n")
    sys.stdout.flush()
    sys.stderr.write("Open this address in a browser; Ctrl-C ends.\n")
    sys.stderr.flush()
    if open_browser:
        studio.open_browser()
    try:
        studio.run()
    except KeyboardInterrupt:
        sys.stderr.write("The view is closed.\n")


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _bound(port: Any) -> socket.socket:  # noqa: ANN401 - checked here
    if isinstance(port, bool) or not isinstance(port, int):
        msg = f"port must be a whole number, got {type(port).__name__}"
        raise KindError(msg)
    if port and not LOWEST <= port <= HIGHEST:
        msg = f"port must be 0 or from {LOWEST} to {HIGHEST}, got {port}"
        raise ValueRangeError(msg)
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere it lets two servers have one port
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((HERE, port))
        found.listen(128)
    except OSError as cause:
        found.close()
        what = (cause.strerror or str(cause)).lower()
        msg = f"port {port} cannot be had: {what}; take another one, or none for any that is free"
        raise StateError(msg) from cause
    return found
