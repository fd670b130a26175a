"""Serving an application on an address until told to stop. Signals are left to the caller."""

import errno
import socket
from collections.abc import Generator
from contextlib import contextmanager

import anyio
import uvicorn
from starlette.types import ASGIApp

from textrawl.errors import StartRefused
from textrawl.transports.http.connections import Connection
from textrawl.transports.http.hosts import bracket

_GRACE = 3  # seconds that open requests and streams have to end
_IDLE = 75  # seconds that a connection may be kept: longer than a proxy keeps it
_MOST_CONNECTIONS = 700  # most systems allow a process 1,024 files
_BACKLOG = 256  # connections that wait to be accepted, which may be all at once


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to the address. Raises StartRefused."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio turns off Nagle's algorithm only where it is: without
    # that each answer would wait 40 ms for the client's acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        # From here on clients wait rather than being refused: it may be said that we listen.
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        taken = error.errno == errno.EADDRINUSE
        reason = "is taken" if taken else f"cannot be listened on ({error.strerror})"
        raise StartRefused(
            f"TEXTRAWL_HTTP_PORT: {bracket(host)}:{port} {reason}: choose another with --port"
        ) from error
    return listener


async def serve_app(app: ASGIApp, listener: socket.socket) -> None:
    """Serves `app` until it is cancelled; open requests then have three seconds to end."""
    http = _Uvicorn(
        uvicorn.Config(
            app, http=Connection, ws="none", lifespan="on",
            log_config=None, access_log=False, server_header=False,
            limit_concurrency=_MOST_CONNECTIONS, backlog=_BACKLOG,
            timeout_keep_alive=_IDLE, timeout_graceful_shutdown=_GRACE,
        )
    )  # fmt: skip
    async with anyio.create_task_group() as group:
        group.start_soon(_end_with_us, http)
        with anyio.CancelScope(shield=True):
            await http.serve(sockets=[listener])
        group.cancel_scope.cancel()


class _Uvicorn(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leaves signals alone: uvicorn would raise them again, before anything was cleaned up."""
        yield


async def _end_with_us(http: uvicorn.Server) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        http.should_exit = True
