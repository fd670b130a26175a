"""The session of one client over stdin and stdout.

The session ends when the client closes stdin or when the task is cancelled. The caller handles
signals, because at a signal it has to stop more than the transport.
"""

import os
import select
import stat
from collections.abc import AsyncGenerator, Sequence
from typing import Any, Self

import anyio
import anyio.to_thread
from anyio.abc import AsyncResource
from mcp.server import MCPServer
from mcp.shared.message import SessionMessage
from mcp.types import (
    CONNECTION_CLOSED,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from textrawl import __version__
from textrawl.server.description import NAME
from textrawl.server.early_lists import METHODS, EarlyLists
from textrawl.server.early_reader import (
    CAPABILITIES,
    CLIENT,
    HANDSHAKE_VERSIONS,
    MODERN_VERSIONS,
    VERSION,
    Endpoint,
    Greeter,
)
from textrawl.server.framing import CHUNK, Text
from textrawl.server.messages import MessageFault, read_message, refuse_length

_FINISHING = 60.0  # seconds that calls have to end after the end of the input: an LLM needs most


async def serve_stdio(
    server: MCPServer[Any], early_reader: Endpoint, lists: EarlyLists | None = None
) -> None:
    """Serve the client of `early_reader` until the client disconnects or the task is cancelled.

    `lists` are compared with those of `server`, and written for the next start.
    """
    # The low-level server cleans up at its end, but `run_stdio_async` of the SDK does not.
    low = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]
    early_reader.take_over()
    if early_reader.greeter is not None:
        early_reader.greeter.end_lists()
    writer = MessageWriter(early_reader)
    reader = MessageReader(early_reader, writer)
    async with anyio.create_task_group() as beside:
        if lists is not None:
            beside.start_soon(_renew_lists, server, lists, early_reader.greeter, writer)
        await low.run(reader, writer, low.create_initialization_options())
        beside.cancel_scope.cancel()


async def _renew_lists(
    server: MCPServer[Any], lists: EarlyLists, greeter: Greeter | None, writer: "MessageWriter"
) -> None:
    """Write the lists of `server`, and tell a client that got another list before.

    If the file is right for the client's version, it is right for the others.
    """
    version = (greeter and greeter.agreed) or MODERN_VERSIONS[-1]
    current = await ask_for_lists(server, [version])
    if lists.answers and all(
        lists.answers.get(method, {}).get(version) == current[method].get(version)
        for method in METHODS
    ):
        return
    answers = await ask_for_lists(server)
    await anyio.to_thread.run_sync(lists.write, answers)
    if greeter is None:
        return
    for method, given in greeter.listed.items():
        if given != answers[method].get(str(greeter.agreed)):
            changed = f"notifications/{method.split('/')[0]}/list_changed"
            note = JSONRPCNotification(jsonrpc="2.0", method=changed)
            await writer.send(SessionMessage(note))


async def ask_for_lists(
    server: MCPServer[Any], versions: Sequence[str] = (*HANDSHAKE_VERSIONS, *MODERN_VERSIONS)
) -> dict[str, dict[str, bytes]]:
    """Return the results of METHODS as `server` writes them, by method and protocol version.

    A method that the server lacks, or that fails, has no results.
    """
    found: dict[str, dict[str, bytes]] = {method: {} for method in METHODS}
    for version in versions:
        async for method, result in _ask_for_lists(server, version):
            found[method][version] = result
    return found


async def _ask_for_lists(server: MCPServer[Any], version: str) -> AsyncGenerator[tuple[str, bytes]]:
    low = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]
    requests = _write_requests(version)
    ask, questions = anyio.create_memory_object_stream[SessionMessage | Exception](len(requests))
    answers, hear = anyio.create_memory_object_stream[SessionMessage](len(requests))
    async with ask, hear, anyio.create_task_group() as group:
        group.start_soon(low.run, questions, answers, low.create_initialization_options())
        for request in requests:
            await ask.send(SessionMessage(request))
        for _ in requests:
            message = (await hear.receive()).message
            if isinstance(message, JSONRPCResponse) and message.id in METHODS:
                begin = f'{{"jsonrpc":"2.0","id":"{message.id}","result":'
                yield str(message.id), _dump(message).removeprefix(begin.encode())[:-1]
        group.cancel_scope.cancel()


def _write_requests(version: str) -> list[JSONRPCRequest]:
    """Return the requests for each list, after a handshake if this version has one."""
    client = {"name": NAME, "version": __version__}
    modern = version in MODERN_VERSIONS
    hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    params = {"_meta": {VERSION: version, CAPABILITIES: {}, CLIENT: client}} if modern else None
    handshake = JSONRPCRequest(jsonrpc="2.0", id=0, method="initialize", params=hello)
    lists = [JSONRPCRequest(jsonrpc="2.0", id=one, method=one, params=params) for one in METHODS]
    return lists if modern else [handshake, *lists]


def _dump(message: JSONRPCMessage) -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode()


class MessageWriter(AsyncResource):
    """Writes one message per line. Writing to a pipe or socket does not need a thread.

    If a sender is cancelled, the next sender writes the rest of its line.
    """

    def __init__(self, early_reader: Endpoint) -> None:
        self._output = early_reader.output
        self._hides = early_reader.hides
        self._unwritten = early_reader.unwritten
        self._calls = set[RequestId]()
        self._questions = set[RequestId]()
        self._changed = anyio.Event()
        self._lock = anyio.Lock(fast_acquire=True)
        self._poll = select.poll()
        self._poll.register(self._output.descriptor, select.POLLOUT)

    async def aclose(self) -> None:
        """Leave the descriptor open."""

    async def send(self, item: SessionMessage, /) -> None:
        """Write a message. Raises BrokenResourceError if the client has closed its end."""
        message = item.message
        if isinstance(message, JSONRPCRequest):
            self._questions.add(message.id)
            self._note_change()
        if not isinstance(message, JSONRPCResponse | JSONRPCError):
            await self.write(_dump(message))
            return
        try:
            if not self._hides(message.id):
                await self.write(_dump(message))
        finally:
            self._calls.discard(message.id)
            self._note_change()

    def note(self, message: JSONRPCMessage) -> None:
        """Note a message of the client, so that `finish` knows what has no answer yet."""
        match message:
            case JSONRPCRequest(method="tools/call"):
                self._calls.add(message.id)
            case JSONRPCNotification(method="notifications/cancelled", params={"requestId": name}):
                self._calls.discard(name)
            case JSONRPCResponse() | JSONRPCError():
                self._questions.discard(message.id)
            case _:
                pass

    async def finish(self) -> SessionMessage | None:
        """Wait until every call of a tool has its answer, or for at most a minute.

        Return the answer to a question that such a call asks a client whose input has ended.
        """
        with anyio.move_on_after(_FINISHING):
            while self._calls:
                if self._questions:
                    error = ErrorData(
                        code=CONNECTION_CLOSED, message="The client's input has ended"
                    )
                    question = self._questions.pop()
                    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=question, error=error))
                await self._changed.wait()
        return None

    def _note_change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def write(self, line: bytes) -> None:
        """Write a line. Raises BrokenResourceError if the client has closed its end."""
        self._unwritten += line + b"\n"
        await self.flush()

    async def flush(self) -> None:
        """Write all pending bytes. Raises BrokenResourceError if the client has closed its end."""
        try:
            async with self._lock:
                while self._unwritten:
                    del self._unwritten[: await self._write()]
        except OSError as error:
            raise anyio.BrokenResourceError from error

    async def _write(self) -> int:
        """Write the beginning of the pending bytes, and return the number of bytes written."""
        if not self._output.pollable:
            return await anyio.to_thread.run_sync(self._output.write, bytes(self._unwritten))
        if not self._poll.poll(0):
            await anyio.wait_writable(self._output.descriptor)
        return self._output.write(self._unwritten)


class MessageReader(AsyncResource):
    """Reads one message per line. The wait for a message can be cancelled.

    The SDK waits in a thread that only input can wake, so a signal would not end the wait. The SDK
    also drops broken messages silently, but this class answers them.
    """

    def __init__(self, early_reader: Endpoint, writer: MessageWriter) -> None:
        self._input = early_reader.input
        self._early_reader = early_reader
        self._writer = writer
        mode = os.fstat(self._input).st_mode
        self._pollable = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(self._input)
        self._texts = self._read_texts()

    def __aiter__(self) -> Self:
        return self

    async def receive(self) -> SessionMessage:
        """Return the next message. Raises EndOfStream at the end of the client's input."""
        try:
            return await anext(self)
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def __anext__(self) -> SessionMessage:
        async for text in self._texts:
            message = read_message(text) if isinstance(text, bytes) else refuse_length(text)
            if not isinstance(message, MessageFault):
                self._writer.note(message)
                return SessionMessage(message)
            await self._writer.send(SessionMessage(message.reply))
        # The SDK ends calls at the end of the input.
        if (answer := await self._writer.finish()) is not None:
            return answer
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Stop reading. The descriptor stays open."""
        await self._texts.aclose()

    async def _read_texts(self) -> AsyncGenerator[Text]:
        """Yield the lines that got no greeting. The lines that the thread read come first."""
        early_reader = self._early_reader
        # The thread can end before it has written a greeting. Write the greeting now, because the
        # SDK's answer to the same request is dropped.
        await self._writer.flush()
        while early_reader.waiting:
            yield early_reader.waiting.popleft()
        while not early_reader.ended:
            chunk = await self._read_chunk()
            early_reader.ended = not chunk
            for text in early_reader.splitter.feed(chunk) if chunk else early_reader.splitter.end():
                if passed := await self._greet(text):
                    yield passed

    async def _greet(self, text: Text) -> Text | None:
        """Answer `text` if it needs a greeting, and return the text that the SDK has to read."""
        greeter = self._early_reader.greeter
        greeting = greeter.greet(text) if greeter and isinstance(text, bytes) else None
        if greeting is None:
            return text
        await self._writer.write(greeting.answer)
        return greeting.passed

    async def _read_chunk(self) -> bytes:
        try:
            if self._pollable:
                await anyio.wait_readable(self._input)
                return os.read(self._input, CHUNK)
            return await anyio.to_thread.run_sync(os.read, self._input, CHUNK)
        except OSError:  # a socket or terminal whose other end is closed
            return b""
