"""One client over stdin and stdout, until it closes them or the task is cancelled.

Signals are left to the caller, who has to stop more than the transport.
"""

import fcntl
import os
import stat
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from typing import Any, cast

import anyio
import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import WriteStream
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError
from pydantic_core import from_json

from textrawl.transports.bodies import MOST_BYTES

_CHUNK = 65_536  # bytes: what a pipe holds


async def serve_stdio(server: MCPServer[Any]) -> None:
    """Serves one client over stdin and stdout until it closes them. May be cancelled."""
    # run_stdio_async of the SDK does not clean up: the low-level server does.
    low = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]
    with _claim_stdin() as wire:
        lines = _Lines(wire)
        async with stdio_server(stdin=cast("anyio.AsyncFile[str]", lines)) as (read, write):
            lines.answers = write  # reading begins with the first wait, which is below
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
    """Messages of a descriptor, a line each. Waiting for one can be cancelled.

    The SDK waits in a thread, which nobody but the client can wake, so a signal would not end it.
    It also drops what is no message without a word; here that is answered.
    """

    answers: WriteStream[SessionMessage]

    def __init__(self, wire: int) -> None:
        self._wire = wire
        mode = os.fstat(wire).st_mode
        self._pollable = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(wire)

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._read_lines():
            if error := _find_error(line):
                refusal = JSONRPCError(jsonrpc="2.0", id=None, error=error)
                await self.answers.send(SessionMessage(refusal))
            elif line.strip():
                yield line.decode()

    async def _read_lines(self) -> AsyncIterator[bytes]:
        line = bytearray()
        while chunk := await self._read_chunk():
            *ended, rest = chunk.split(b"\n")
            for piece in ended:
                _extend(line, piece)
                yield bytes(line)
                line.clear()
            _extend(line, rest)
        yield bytes(line)

    async def _read_chunk(self) -> bytes:
        if self._pollable:
            await anyio.wait_readable(self._wire)
            return os.read(self._wire, _CHUNK)
        return await anyio.to_thread.run_sync(os.read, self._wire, _CHUNK)


def _extend(line: bytearray, piece: bytes) -> None:
    """Adds `piece`, but for what is more than enough to know that the line is too long."""
    line += piece[: MOST_BYTES + 1 - len(line)]


def _find_error(line: bytes) -> ErrorData | None:
    """What is wrong with `line` as a message; a blank one is none, and not wrong."""
    if len(line) > MOST_BYTES:
        return ErrorData(
            code=INVALID_REQUEST, message=f"A message has at most {MOST_BYTES} bytes: send less"
        )
    if not line.strip():
        return None
    try:
        from_json(line, allow_inf_nan=False)  # what reads it next would take NaN for a number
    except ValueError:
        return ErrorData(code=PARSE_ERROR, message="Not JSON in UTF-8, a message a line")
    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return ErrorData(code=INVALID_REQUEST, message="Not a JSON-RPC 2.0 message")
    return None
