"""The session of one client over stdin and stdout, and sessions for other processes.

The session ends when the client closes stdin or when the task is cancelled. The caller handles
signals, because at a signal it has to stop more than the transport.

A server also answers through sockets: quick commands, and clients that other processes hand over to
it. Each of these sessions is one of MCP over stdio, with settings of its own, on the connection of
a socket. It uses the open memory of this process.
"""

import os
import select
import stat
from collections.abc import AsyncGenerator, Sequence
from functools import partial
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
from textrawl.client.local import LocalTools
from textrawl.environment import read_sources
from textrawl.errors import ArgumentInvalid, StartRefused
from textrawl.resident.answers import Admission, answer
from textrawl.resident.client import choose_address
from textrawl.resident.listener import TRAIL_NAMES, Listener, locate
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
from textrawl.server.framing import Text
from textrawl.server.handover import (
    LEAVING_LINE,
    SESSION_SETTINGS,
    describe_shared,
    let_others_join,
)
from textrawl.server.messages import MessageFault, read_message, refuse_length
from textrawl.server.server import MemoryServer, create_server, create_session_server
from textrawl.settings import Settings, read_settings
from textrawl.tools.call import App

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

        If a call asks the client a question after the end of the input, return an answer to it.
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
        self._early_reader = early_reader
        self._writer = writer
        source = early_reader.input
        mode = os.fstat(source).st_mode
        self._pollable = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(source)
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
            if self._pollable:
                await anyio.wait_readable(early_reader.input)
                chunk = early_reader.read()
            else:
                chunk = await anyio.to_thread.run_sync(early_reader.read)
            for text in early_reader.split(chunk):
                passed = early_reader.greet(text)
                if passed is not text:  # it got a greeting
                    await self._writer.flush()
                if passed is not None:
                    yield passed


_MOST = 200  # sessions at the same time
_LEAVING = 1.0  # seconds that sessions have to end, less than a client waits before it kills


def build_server(settings: Settings, *, tokens_needed: bool = False) -> MemoryServer:
    """Create the MCP server of `settings`, which also listens on the sockets of its memory."""
    server = create_server(settings, tokens_needed=tokens_needed)
    # The socket of a memory in SERVER_URL must not lead to this memory.
    if settings.server_url is None:
        server.run_beside = partial(_listen, settings)
    return server


async def _listen(settings: Settings, app: App) -> None:
    """Answer requests and serve sessions with the memory of a server, until cancelled."""
    directory = app.identity.directory
    tools = LocalTools(
        app.store, settings, recalls=app.recalls, names=TRAIL_NAMES, directory=directory
    )
    host = Sessions(settings, app)
    hosting = Listener(host.address, partial(answer, tools, host=host), host.begin)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hosting.run)
        tasks.start_soon(Listener(locate(settings), partial(answer, tools)).run)


class Sessions:
    """The sessions that this server has for other processes."""

    def __init__(self, settings: Settings, app: App) -> None:
        self._settings, self._app = settings, app
        sources = read_sources()
        self._shared = describe_shared(sources)
        self.address = choose_address(sources).narrow(self._shared)
        self._count = 0

    def begin(self) -> None:
        """Let the processes that wait for this server ask for sessions."""
        let_others_join()

    async def admit(self, params: dict[str, Any], /) -> Admission:
        """Return a session with the settings of the client.

        Raises ArgumentInvalid if another setting, the user or the installation differs.
        """
        if params.get("shared") != self._shared or self._count >= _MOST:
            raise ArgumentInvalid("Open the memory yourself", title="Session refused")
        try:
            server = await anyio.to_thread.run_sync(self._build, params.get("settings", {}))
        except StartRefused as error:
            raise ArgumentInvalid(str(error), title="Session refused") from error
        return Admission(partial(self._serve, server), reads=server.list_reads())

    def _build(self, given: dict[str, Any]) -> MemoryServer:
        """Return the server of a session. Settings that the client does not set are the default.

        Raises StartRefused.
        """
        fields = Settings.model_fields
        own = {
            name: str(given[name]) if name in given else fields[name].get_default()
            for name in SESSION_SETTINGS
        }
        everything = {name: getattr(self._settings, name) for name in fields} | own
        return create_session_server(read_settings(**everything), self._app)

    async def _serve(self, server: MemoryServer, descriptor: int, leaving: anyio.Event) -> None:
        endpoint = Endpoint(descriptor, descriptor)
        low = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]
        writer = MessageWriter(endpoint)
        reader = MessageReader(endpoint, writer)
        self._count += 1
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_leave, leaving, writer, tasks.cancel_scope)
                await low.run(reader, writer, low.create_initialization_options())
                tasks.cancel_scope.cancel()
        finally:
            self._count -= 1
            endpoint.output.close()


async def _leave(leaving: anyio.Event, writer: MessageWriter, scope: anyio.CancelScope) -> None:
    """Let the client end the session when this process ends."""
    await leaving.wait()
    with anyio.move_on_after(_LEAVING):
        await writer.write(LEAVING_LINE)
        await anyio.sleep(_LEAVING)
    scope.cancel()
