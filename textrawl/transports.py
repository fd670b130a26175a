"""Serving over stdio and over Streamable HTTP, until the client goes or the task is cancelled.

Signals are left to the caller, who has to stop more than the transport.
"""

import errno
import fcntl
import ipaddress
import os
import socket
import stat
import sys
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from typing import cast

import anyio
import anyio.to_thread
import uvicorn
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse

from textrawl.errors import StartRefused, TextrawlError
from textrawl.server import MemoryServer

_GRACE = 3  # seconds that open requests and streams have to end
_PROBE = 2  # seconds after which a probe would have given up on us
_CHUNK = 65_536  # bytes: what a pipe holds


async def serve_stdio(server: MemoryServer) -> None:
    """Serves one client over stdin and stdout until it closes them. May be cancelled."""
    # run_stdio_async of the SDK does not clean up: the low-level server does.
    low = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]
    with _claim_stdin() as wire:
        lines = cast("anyio.AsyncFile[str]", _Lines(wire))
        async with stdio_server(stdin=lines) as (read, write):
            await low.run(read, write, low.create_initialization_options())


@contextmanager
def _claim_stdin() -> Generator[int]:
    """A descriptor of what stdin is; meanwhile stdin itself is empty, for children to read."""
    wire = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        yield wire
    finally:
        os.dup2(wire, 0)
        os.close(wire)


class _Lines:
    """Lines of a descriptor. Waiting for one can be cancelled.

    The SDK waits in a thread, which nobody but the client can wake, so a signal would not end it.
    """

    def __init__(self, wire: int) -> None:
        self._wire = wire
        mode = os.fstat(wire).st_mode
        self._pollable = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(wire)

    async def __aiter__(self) -> AsyncIterator[str]:
        parts: list[bytes] = []
        while chunk := await self._read_chunk():
            first, *others = chunk.split(b"\n")
            parts.append(first)
            for other in others:
                yield b"".join(parts).decode("utf-8", "replace")
                parts = [other]
        if last := b"".join(parts):
            yield last.decode("utf-8", "replace")

    async def _read_chunk(self) -> bytes:
        if self._pollable:
            await anyio.wait_readable(self._wire)
            return os.read(self._wire, _CHUNK)
        return await anyio.to_thread.run_sync(os.read, self._wire, _CHUNK)


async def serve_http(server: MemoryServer, host: str, port: int) -> None:
    """Serves any number of clients at http://host:port/mcp until it is cancelled.

    Open requests then have three seconds to end.
    Raises StartRefused for an address that others can reach, or one that cannot be listened on.
    """
    refuse_exposure(host)
    with _listen(host, port) as listener:
        async with server.open():
            http = _Uvicorn(
                uvicorn.Config(
                    build_http_app(server, host), log_config=None, access_log=False,
                    timeout_graceful_shutdown=_GRACE,
                )
            )  # fmt: skip
            address = f"{_bracket(host)}:{listener.getsockname()[1]}"
            sys.stderr.write(f"textrawl listens on http://{address}/mcp\n")
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


def refuse_exposure(host: str) -> None:
    """Raises StartRefused unless `host` is this machine alone: there is no authentication yet."""
    if host != "localhost":
        try:
            safe = ipaddress.ip_address(host).is_loopback
        except ValueError:
            safe = False
        if not safe:
            raise StartRefused(
                f"HTTP_HOST: {host} can be reached by others and there is no authentication yet: "
                "use 127.0.0.1, and a tunnel or an authenticating proxy for others"
            )


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio turns off Nagle's algorithm only where it is: without
    # that each answer would wait 40 ms for the client's acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        taken = error.errno == errno.EADDRINUSE
        reason = "is taken" if taken else f"cannot be listened on ({error.strerror})"
        raise StartRefused(
            f"HTTP_PORT: {_bracket(host)}:{port} {reason}: choose another with --port"
        ) from error
    return listener


def _bracket(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def build_http_app(server: MemoryServer, host: str = "127.0.0.1") -> Starlette:
    """The ASGI application: /mcp for both protocol eras, /healthz and /readyz for probes."""
    server.custom_route("/healthz", methods=["GET"])(_answer_alive)

    async def answer_ready(_: Request) -> JSONResponse:
        """200 when a call would be answered, else 503 with what is missing."""
        missing = await _find_missing(server)
        if missing is None:
            return JSONResponse({"status": "ready"})
        return JSONResponse({"status": missing}, status_code=503)

    server.custom_route("/readyz", methods=["GET"])(answer_ready)
    return server.streamable_http_app(transport_security=_allow(host))


def _allow(host: str) -> TransportSecuritySettings:
    """Requests to names of this machine and from pages of it: no rebound name can be one of them.

    Given always, since the SDK protects only some loopback addresses by itself.
    """
    names = [_bracket(host), "127.0.0.1", "localhost", "[::1]"]
    origins = [f"{scheme}://{name}" for scheme in ("http", "https") for name in names]
    return TransportSecuritySettings(
        allowed_hosts=[*names, *(f"{name}:*" for name in names)],
        allowed_origins=[*origins, *(f"{origin}:*" for origin in origins)],
    )


async def _find_missing(server: MemoryServer) -> str | None:
    """Why a call would not be answered; None if it would."""
    if server.app is None:
        return None
    try:
        with anyio.fail_after(_PROBE):
            await server.app.memory.ping()
    except TimeoutError:
        return "database slow"
    except TextrawlError as error:
        return error.title.lower()
    return None


async def _answer_alive(_: Request) -> JSONResponse:
    """200 as long as the process answers at all."""
    return JSONResponse({"status": "ok"})
