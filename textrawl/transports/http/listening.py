"""Serving an application on an address until cancelled. Signals are handled by the caller."""

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
_IDLE = 75  # seconds for which an idle connection is kept: longer than a proxy keeps it
_MOST_CONNECTIONS = 700  # most systems allow a process 1,024 files
_BACKLOG = 256  # connections that may wait to be accepted


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on the address. Raises StartRefused."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Name the protocol: only then does asyncio turn off Nagle's algorithm, which would delay each
    # response by 40 ms until the client's acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        # From here on clients wait instead of being refused, so the address may be announced.
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
    """Serve `app` until cancelled; open requests then have three seconds to end."""
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
        group.start_soon(_stop_when_cancelled, http)
        with anyio.CancelScope(shield=True):
            await http.serve(sockets=[listener])
        group.cancel_scope.cancel()


class _Uvicorn(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Handle no signals: uvicorn would raise them again before anything is cleaned up."""
        yield


async def _stop_when_cancelled(http: uvicorn.Server) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        http.should_exit = True
