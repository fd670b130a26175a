"""Serving an application on an address until cancelled. The caller handles signals."""

import asyncio
import errno
import socket
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import anyio
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from textrawl.errors import StartRefused
from textrawl.server.http.guards import LIVENESS, bracket

_MOST_HEADERS = 65_536  # bytes. The check comes after each read, so the last read can exceed it.
_LIVENESS = LIVENESS.encode()


class HttpConnection(HttpToolsProtocol):
    """An HTTP/1.1 connection."""

    _in_headers = True
    _unread = 0
    used_at = 0.0  # when a request last began or ended, by the clock of the event loop

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] - as in uvicorn
        """Make room for this connection and open it."""
        self._make_room()
        super().connection_made(transport)
        self.used_at = self.loop.time()

    def data_received(self, data: bytes) -> None:
        """Parse the data, and refuse headers over the limit."""
        super().data_received(data)
        if self._in_headers and not self.transport.is_closing():
            self._unread += len(data)
            if self._unread > _MOST_HEADERS:
                self.send_400_response("Headers too large.")

    def on_message_begin(self) -> None:
        """Begin to count the bytes of headers."""
        super().on_message_begin()
        self.used_at = self.loop.time()
        self._in_headers, self._unread = True, 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """Accept headers. Ignore trailers, because guards do not check lines after a body."""
        if self._in_headers:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start the request. /healthz is exempt from the connection limit."""
        self._in_headers = False
        alive = self.url.partition(b"?")[0] == _LIVENESS
        self.limit_concurrency = None if alive else self.config.limit_concurrency
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Record when the connection was last used."""
        super().on_response_complete()
        self.used_at = self.loop.time()

    def _make_room(self) -> None:
        """Close an idle connection if the limit is reached."""
        most = self.config.limit_concurrency
        if most is None or len(self.connections) + 1 < most:
            return
        others: list[HttpConnection] = [
            one for one in self.connections if isinstance(one, HttpConnection)
        ]
        counts = Counter(other.address for other in others)
        idle = [other for other in others if other.is_idle]
        if not idle:
            return
        oldest = min(idle, key=lambda other: (-counts[other.address], other.used_at))
        self.connections.discard(oldest)  # otherwise it counts until the system has closed it
        oldest.transport.close()

    @property
    def address(self) -> str:
        """The address of the client, or of its proxy."""
        return self.client[0] if self.client else ""

    @property
    def is_idle(self) -> bool:
        """True if no request waits for its response."""
        cycle: Any = self.cycle
        return not self.pipeline and (cycle is None or bool(cycle.response_complete))


_GRACE = 3  # seconds that open requests and streams have to end
_IDLE = 75  # seconds until an idle connection is closed: longer than proxies keep it
_MOST_CONNECTIONS = 700  # most systems allow a process 1,024 open files
_BACKLOG = 256  # connections that can wait to be accepted


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on the address. Raises StartRefused."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns off Nagle's algorithm only if the socket is created with the protocol TCP. The
    # algorithm would delay each response by 40 ms until the client's acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        # From now on, clients are not refused but wait. Therefore the address can be announced.
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        taken = error.errno == errno.EADDRINUSE
        reason = "is in use" if taken else f"cannot be used ({error.strerror})"
        raise StartRefused(
            f"TEXTRAWL_HTTP_PORT: {bracket(host)}:{port} {reason}: choose another with --port"
        ) from error
    return listener


async def serve_app(
    app: ASGIApp, listener: socket.socket, end_streams: Callable[[], None] = lambda: None
) -> None:
    """Serve `app` until cancelled. Open requests then have three seconds to end.

    `end_streams` ends the requests that would last as long as the server.
    """
    http = _Uvicorn(
        uvicorn.Config(
            app,
            http=HttpConnection,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=_MOST_CONNECTIONS,
            backlog=_BACKLOG,
            timeout_keep_alive=_IDLE,
            timeout_graceful_shutdown=_GRACE,
        )
    )
    async with anyio.create_task_group() as group:
        group.start_soon(_stop_when_cancelled, http, end_streams)
        with anyio.CancelScope(shield=True):
            await http.serve(sockets=[listener])
        group.cancel_scope.cancel()


class _Uvicorn(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Handle no signals, because uvicorn would raise them again before the cleanup."""
        yield


async def _stop_when_cancelled(http: uvicorn.Server, end_streams: Callable[[], None]) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        http.should_exit = True
        end_streams()
