"""One client over stdin and stdout, until it closes them or the task is cancelled.

Signals are left to the caller, who has to stop more than the transport.
"""

import os
import select
import stat
from collections.abc import AsyncGenerator
from typing import Any, Self

import anyio
import anyio.to_thread
from anyio.abc import AsyncResource
from mcp.server import MCPServer
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCResponse

from textrawl.transports.framing.lines import CHUNK, Text
from textrawl.transports.framing.messages import Fault, read_message, refuse_length
from textrawl.transports.stdio.reception import Reception


async def serve_stdio(server: MCPServer[Any], reception: Reception) -> None:
    """Serves the client that `reception` has received, until it leaves. May be cancelled."""
    # run_stdio_async of the SDK does not clean up: the low-level server does.
    low = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]
    reception.take_over()
    answers = _Answers(reception)
    questions = _Questions(reception, answers)
    await low.run(questions, answers, low.create_initialization_options())


class _Answers(AsyncResource):
    """Writes messages to a descriptor, a line each; to a pipe or socket without a thread.

    A sender that is cancelled leaves what is unwritten of its line to the next one.
    """

    def __init__(self, reception: Reception) -> None:
        self._outlet = reception.outlet
        self._greeter = reception.greeter
        self._unwritten = reception.unwritten
        self._turn = anyio.Lock(fast_acquire=True)
        self._poll = select.poll()
        self._poll.register(self._outlet.wire, select.POLLOUT)

    async def aclose(self) -> None:
        """Leaves the descriptor open."""

    async def send(self, item: SessionMessage, /) -> None:
        """Writes a message. Raises BrokenResourceError when nobody reads any more."""
        message = item.message
        if isinstance(message, JSONRPCResponse | JSONRPCError) and self._is_known(message.id):
            return
        await self.write(message.model_dump_json(by_alias=True, exclude_unset=True).encode())

    async def write(self, line: bytes) -> None:
        """Writes a line. Raises BrokenResourceError when nobody reads any more."""
        self._unwritten += line + b"\n"
        await self.flush()

    async def flush(self) -> None:
        """Write what is unwritten. Raises BrokenResourceError when nobody reads any more."""
        try:
            async with self._turn:
                while self._unwritten:
                    del self._unwritten[: await self._write()]
        except OSError as error:
            raise anyio.BrokenResourceError from error

    def _is_known(self, identity: int | str | None) -> bool:
        return self._greeter is not None and self._greeter.hides(identity)

    async def _write(self) -> int:
        """Writes the beginning of what is unwritten; how much that was."""
        if not self._outlet.pollable:
            return await anyio.to_thread.run_sync(self._outlet.write, bytes(self._unwritten))
        if not self._poll.poll(0):
            await anyio.wait_writable(self._outlet.wire)
        return self._outlet.write(self._unwritten)


class _Questions(AsyncResource):
    """Messages of a descriptor, a line each. Waiting for one can be cancelled.

    The SDK waits in a thread, which nobody but the client can wake, so a signal would not end it.
    It also drops what is no message without a word; here that is answered.
    """

    def __init__(self, reception: Reception, answers: _Answers) -> None:
        self._wire = reception.wire_in
        self._reception = reception
        self._answers = answers
        mode = os.fstat(self._wire).st_mode
        self._pollable = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(self._wire)
        self._texts = self._read_texts()

    def __aiter__(self) -> Self:
        return self

    async def receive(self) -> SessionMessage:
        """The next message. Raises EndOfStream when the client sends no more."""
        try:
            return await anext(self)
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def __anext__(self) -> SessionMessage:
        async for text in self._texts:
            read = read_message(text) if isinstance(text, bytes) else refuse_length(text)
            if not isinstance(read, Fault):
                return SessionMessage(read)
            await self._answers.send(SessionMessage(read.reply))
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Reads no more; the descriptor stays open."""
        await self._texts.aclose()

    async def _read_texts(self) -> AsyncGenerator[Text]:
        """Lines that were not answered by a greeting, first those that have waited."""
        reception = self._reception
        # The thread may have ended between a greeting and its writing, and the SDK's own is hidden.
        await self._answers.flush()
        while reception.waiting:
            yield reception.waiting.popleft()
        while not reception.ended:
            chunk = await self._read_chunk()
            reception.ended = not chunk
            for text in reception.lines.feed(chunk) if chunk else reception.lines.end():
                if passed := await self._greet(text):
                    yield passed

    async def _greet(self, text: Text) -> Text | None:
        """What the SDK has to read of `text`: it, or something in its place, or nothing."""
        greeter = self._reception.greeter
        greeting = greeter.greet(text) if greeter and isinstance(text, bytes) else None
        if greeting is None:
            return text
        await self._answers.write(greeting.answer)
        return greeting.passed

    async def _read_chunk(self) -> bytes:
        try:
            if self._pollable:
                await anyio.wait_readable(self._wire)
                return os.read(self._wire, CHUNK)
            return await anyio.to_thread.run_sync(os.read, self._wire, CHUNK)
        except OSError:  # a socket or terminal whose other end is gone
            return b""
