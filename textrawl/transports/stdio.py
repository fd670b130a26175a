"""One client over stdin and stdout, until it closes them or the task is cancelled.

Signals are left to the caller, who has to stop more than the transport.
"""

import fcntl
import os
import select
import socket
import stat
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager, suppress
from typing import Any, Self

import anyio
import anyio.to_thread
from anyio.abc import AsyncResource
from mcp.server import MCPServer
from mcp.shared.message import SessionMessage

from textrawl.transports.bodies import MOST_BYTES
from textrawl.transports.messages import Fault, Outline, read_message, refuse_length

_CHUNK = 65_536  # bytes: what a pipe holds


async def serve_stdio(server: MCPServer[Any]) -> None:
    """Serves one client over stdin and stdout until it closes them. May be cancelled."""
    # run_stdio_async of the SDK does not clean up: the low-level server does.
    low = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]
    with _claim(0, os.devnull) as wire_in, _claim(1, None) as wire_out:
        answers = _Answers(wire_out)
        questions = _Questions(wire_in, answers)
        await low.run(questions, answers, low.create_initialization_options())


@contextmanager
def _claim(number: int, instead: str | None) -> Generator[int]:
    """A descriptor of what stdin (0) or stdout (1) is.

    Meanwhile that one is something else, for children and stray prints: the file `instead`, or what
    stderr is.
    """
    wire = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3)
    other = os.open(instead, os.O_RDONLY) if instead else os.dup(2)
    os.dup2(other, number)
    os.close(other)
    try:
        yield wire
    finally:
        os.dup2(wire, number)
        os.close(wire)


class _Answers(AsyncResource):
    """Writes messages to a descriptor, a line each; to a pipe or socket without a thread.

    A sender that is cancelled leaves what is unwritten of its line to the next one.
    """

    def __init__(self, wire: int) -> None:
        self._wire = wire
        self._unwritten = bytearray()
        self._turn = anyio.Lock(fast_acquire=True)
        mode = os.fstat(wire).st_mode
        self._pipe = stat.S_ISFIFO(mode)
        self._socket = socket.socket(fileno=os.dup(wire)) if stat.S_ISSOCK(mode) else None
        self._poll = select.poll()
        self._poll.register(wire, select.POLLOUT)

    async def aclose(self) -> None:
        """Leaves the descriptor open."""
        if self._socket is not None:
            self._socket.close()

    async def send(self, item: SessionMessage, /) -> None:
        """Writes a message. Raises BrokenResourceError when nobody reads any more."""
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        self._unwritten += text.encode() + b"\n"
        try:
            async with self._turn:
                while self._unwritten:
                    del self._unwritten[: await self._write()]
        except OSError as error:
            raise anyio.BrokenResourceError from error

    async def _write(self) -> int:
        """Writes the beginning of what is unwritten; how much that was."""
        if not self._pipe and self._socket is None:
            return await anyio.to_thread.run_sync(os.write, self._wire, bytes(self._unwritten))
        if not self._poll.poll(0):
            await anyio.wait_writable(self._wire)
        # Neither waits, and the descriptor stays a blocking one, which others may share: a pipe
        # that polls as writable has room for PIPE_BUF bytes.
        if self._socket is None:
            return os.write(self._wire, self._unwritten[: select.PIPE_BUF])
        with suppress(BlockingIOError):
            return self._socket.send(self._unwritten, socket.MSG_DONTWAIT)
        return 0


class _Questions(AsyncResource):
    """Messages of a descriptor, a line each. Waiting for one can be cancelled.

    The SDK waits in a thread, which nobody but the client can wake, so a signal would not end it.
    It also drops what is no message without a word; here that is answered.
    """

    def __init__(self, wire: int, answers: _Answers) -> None:
        self._wire = wire
        self._answers = answers
        mode = os.fstat(wire).st_mode
        self._pollable = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(wire)
        self._lines = self._read_lines()

    def __aiter__(self) -> Self:
        return self

    async def receive(self) -> SessionMessage:
        """The next message. Raises EndOfStream when the client sends no more."""
        try:
            return await anext(self)
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def __anext__(self) -> SessionMessage:
        async for line in self._lines:
            read = line if isinstance(line, Fault) else read_message(line)
            if not isinstance(read, Fault):
                return SessionMessage(read)
            await self._answers.send(SessionMessage(read.reply))
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Reads no more; the descriptor stays open."""
        await self._lines.aclose()

    async def _read_lines(self) -> AsyncGenerator[bytes | Fault]:
        """Lines that are not blank, and faults in place of those that are too long."""
        line = _Line()
        while chunk := await self._read_chunk():
            *ended, rest = chunk.split(b"\n")
            for piece in ended:
                line.extend(piece)
                if whole := line.end():
                    yield whole
            line.extend(rest)
        if whole := line.end():
            yield whole

    async def _read_chunk(self) -> bytes:
        if self._pollable:
            await anyio.wait_readable(self._wire)
            return os.read(self._wire, _CHUNK)
        return await anyio.to_thread.run_sync(os.read, self._wire, _CHUNK)


class _Line:
    """A line that comes in pieces; of one that is too long no more than its outline is kept."""

    def __init__(self) -> None:
        self._text = bytearray()
        self._outline: Outline | None = None

    def extend(self, piece: bytes) -> None:
        """Adds a piece."""
        if self._outline is None and len(self._text) + len(piece) > MOST_BYTES:
            self._outline = Outline()
            self._outline.feed(bytes(self._text))
        if self._outline is not None:
            self._outline.feed(piece)
        else:
            self._text += piece

    def end(self) -> bytes | Fault | None:
        """What it was, None for a blank one; another begins."""
        text, outline = bytes(self._text), self._outline
        self._text.clear()
        self._outline = None
        return refuse_length(outline) if outline else text if text.strip() else None
