"""Serving an application on an address until cancelled. The caller handles signals."""

import errno
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager

import anyio
import uvicorn
from starlette.types import ASGIApp

from textrawl.errors import StartRefused
from textrawl.transports.http.connections import Connection
from textrawl.transports.http.hosts import bracket

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
            http=Connection,
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
