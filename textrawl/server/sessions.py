"""The sessions of clients at the socket of a host.

A pipe connects the socket with the stdin and stdout that its client knows. Each session is one of
MCP over stdio, with settings and an access token of its own. It uses the open memory of the host.
"""

import os
import resource
import socket
from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Self

import anyio
import anyio.to_thread
from anyio.abc import AsyncResource
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
from textrawl.access.access_token import hash_token
from textrawl.client.local import LocalTools
from textrawl.environment import read_sources
from textrawl.errors import ArgumentInvalid, StartRefused
from textrawl.host.answers import Admission, answer
from textrawl.host.conversation import (
    CAPABILITIES,
    HANDSHAKE_VERSIONS,
    MODERN_VERSIONS,
    VERSION,
)
from textrawl.host.description_file import (
    GREETINGS,
    LISTS,
    DescriptionFile,
    name_description,
)
from textrawl.host.entrance import LEAVING_LINE, choose_host, name_log
from textrawl.host.framing import CHUNK, LineSplitter
from textrawl.host.listener import TRAIL_NAMES, Listener, locate
from textrawl.memory.opening import name_memory
from textrawl.postgres.migrations import check
from textrawl.server.description import NAME
from textrawl.server.messages import MessageFault, read_message, refuse_length
from textrawl.server.server import MemoryServer, create_server, create_session_server
from textrawl.settings import Settings, adapt_settings
from textrawl.tools.call import App
from textrawl.values.remotes import clean_keys
from textrawl.values.text import clean_name

_FINISHING = 60.0  # seconds that calls have to end after the end of the input: an LLM needs most
_MOST = 200  # sessions at the same time
_SETTLING = 1.0  # seconds after the beginning of a session
_LEAVING = 1.0  # seconds that sessions have to end, less than a client waits before it kills
_CLIENT = f"{VERSION.rpartition('/')[0]}/clientInfo"


async def describe(
    server: MemoryServer, versions: Sequence[str] = (*HANDSHAKE_VERSIONS, *MODERN_VERSIONS)
) -> dict[str, dict[str, bytes]]:
    """Return the greetings and lists as `server` writes them, by method and protocol version.

    A method that the server lacks, or that fails, has no results.
    """
    found: dict[str, dict[str, bytes]] = {method: {} for method in (*GREETINGS, *LISTS)}
    for version in versions:
        async for method, result in _ask(server, version):
            found[method][version] = result
    return found


async def _ask(server: MemoryServer, version: str) -> AsyncGenerator[tuple[str, bytes]]:
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
            if isinstance(message, JSONRPCResponse):
                begin = f'{{"jsonrpc":"2.0","id":"{message.id}","result":'
                yield str(message.id), _dump(message).removeprefix(begin.encode())[:-1]
        group.cancel_scope.cancel()


def _write_requests(version: str) -> list[JSONRPCRequest]:
    """Return the requests for a greeting and for each list."""
    client = {"name": NAME, "version": __version__}
    meta = {"_meta": {VERSION: version, CAPABILITIES: {}, _CLIENT: client}}
    hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    greeting, params = (GREETINGS[1], meta) if version in MODERN_VERSIONS else (GREETINGS[0], None)
    asked = {greeting: params or hello, **dict.fromkeys(LISTS, params)}
    return [
        JSONRPCRequest(jsonrpc="2.0", id=method, method=method, params=members)
        for method, members in asked.items()
    ]


def _read_client(params: Mapping[str, Any]) -> str:
    """Return the name and version that a client of either era gives, or nothing."""
    match params:
        case {"clientInfo": {"name": str(name), "version": str(number)}}:
            return clean_name(f"{name} {number}")
        case {"_meta": {"io.modelcontextprotocol/clientInfo": {**info}}}:
            return _read_client({"clientInfo": info})
        case _:
            return ""


def _dump(message: JSONRPCMessage) -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode()


class MessageWriter(AsyncResource):
    """Writes one message per line. If a sender is cancelled, the next one writes the rest."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.client = ""
        """The name of the client, as it gave it."""
        self._unwritten = bytearray()
        self._calls = set[RequestId]()
        self._questions = set[RequestId]()
        self._changed = anyio.Event()
        self._lock = anyio.Lock(fast_acquire=True)

    async def aclose(self) -> None:
        """Leave the connection open."""

    async def send(self, item: SessionMessage, /) -> None:
        """Write a message. Raises BrokenResourceError if the client has closed its end."""
        message = item.message
        if isinstance(message, JSONRPCRequest):
            self._questions.add(message.id)
            self._note_change()
        try:
            await self.write(_dump(message))
        finally:
            if isinstance(message, JSONRPCResponse | JSONRPCError):
                self._calls.discard(message.id)
                self._note_change()

    def note(self, message: JSONRPCMessage) -> None:
        """Note a message of the client, so that `finish` knows what has no answer yet."""
        if isinstance(message, JSONRPCRequest) and not self.client:
            self.client = _read_client(message.params or {})
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
        try:
            async with self._lock:
                while self._unwritten:
                    await self._write()
        except OSError as error:
            raise anyio.BrokenResourceError from error

    async def _write(self) -> None:
        try:
            sent = self._connection.send(self._unwritten, socket.MSG_DONTWAIT)
        except BlockingIOError:
            await anyio.wait_writable(self._connection)
        else:
            del self._unwritten[:sent]


class MessageReader(AsyncResource):
    """Reads one message per line, and answers broken messages, which the SDK would drop."""

    def __init__(self, connection: socket.socket, writer: MessageWriter) -> None:
        self._connection = connection
        self._writer = writer
        self._messages = self._read()

    def __aiter__(self) -> Self:
        return self

    async def receive(self) -> SessionMessage:
        """Return the next message. Raises EndOfStream at the end of the client's input."""
        try:
            return await anext(self)
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def __anext__(self) -> SessionMessage:
        async for message in self._messages:
            if not isinstance(message, MessageFault):
                self._writer.note(message)
                return SessionMessage(message)
            await self._writer.send(SessionMessage(message.reply))
        # The SDK ends calls at the end of the input.
        if (answered := await self._writer.finish()) is not None:
            return answered
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Stop reading. The connection stays open."""
        await self._messages.aclose()

    async def _read(self) -> AsyncGenerator[JSONRPCMessage | MessageFault]:
        splitter, chunk = LineSplitter(), b"\n"
        while chunk:
            await anyio.wait_readable(self._connection)
            try:
                chunk = self._connection.recv(CHUNK, socket.MSG_DONTWAIT)
            except BlockingIOError:
                chunk = b"\n"
            except OSError:  # the other end is closed
                chunk = b""
            for text in splitter.feed(chunk) if chunk else splitter.end():
                yield read_message(text) if isinstance(text, bytes) else refuse_length(text)


def build_server(settings: Settings, *, tokens_needed: bool = False) -> MemoryServer:
    """Create the MCP server of `settings`, which also listens on the sockets of its memory."""
    server = create_server(settings, tokens_needed=tokens_needed)
    sessions = Sessions(settings)
    server.run_beside = sessions.run
    return server


class Sessions:
    """The sessions and the answers that a host has for other processes.

    If the login of the database was not checked yet (`walled`), it is before a session begins: it
    must be one that row-level security restricts.
    """

    def __init__(self, settings: Settings, *, walled: bool = True) -> None:
        self._settings = settings
        self._walled = walled or settings.database_url is None
        self.address = choose_host(read_sources())
        self.ended = anyio.Event()
        """Set when somebody asks for the end of the host."""
        self._app: App | None = None
        self._since = datetime.now(UTC)
        self._open = set[MessageWriter]()
        self._described = set[Path]()

    def listen(self, app: App | None, *, ends: bool = True) -> list[Listener]:
        """Return what listens at the address of the host, and at that of its memory.

        `ends` is true if a request can end the process.
        """
        self._app = app
        end = self.ended.set if ends else None
        if app is None:
            return [Listener(self.address, partial(answer, None, end=end, host=self))]
        tools = LocalTools(
            app.store,
            self._settings,
            recalls=app.recalls,
            names=TRAIL_NAMES,
            directory=app.identity.directory,
        )
        own = Listener(self.address, partial(answer, tools, end=end, host=self))
        if self._settings.server_url:  # the socket of that memory must not lead to this one
            return [own]
        return [own, Listener(locate(self._settings), partial(answer, tools))]

    async def run(self, app: App) -> None:
        """Listen whenever no other process does, until cancelled."""
        async with anyio.create_task_group() as tasks:
            for listener in self.listen(app, ends=False):
                tasks.start_soon(listener.run)

    async def admit(self, params: dict[str, Any], /) -> Admission:
        """Return a session with the settings and the token of the client.

        Raises ArgumentInvalid if a setting is wrong.
        """
        if len(self._open) >= _MOST:
            raise ArgumentInvalid(f"{_MOST} clients are served: end one", title="Session refused")
        given, token = params.get("settings", {}), params.get("token")
        repository, checkout = (str(params.get(name) or "") for name in ("repository", "checkout"))
        place = clean_keys(repository), checkout or None
        try:
            if not self._walled and self._settings.database_url is not None:
                login = self._settings.database_url.get_secret_value()
                await check(login, connect_timeout=self._settings.database_timeout)
                self._walled = True
            server = await anyio.to_thread.run_sync(self._build, given, token, *place)
        except StartRefused as error:
            raise ArgumentInvalid(str(error), title="Session refused") from error
        path = name_description(self.address, given, token)
        return Admission(partial(self._serve, server, path), reads=server.list_reads())

    def describe(self, *, ends: bool) -> dict[str, Any]:
        """Return what `textrawl status` shows of this process."""
        return {
            "process": os.getpid(),
            "version": __version__,
            "since": self._since.isoformat(timespec="seconds"),
            "megabytes": _read_megabytes(),
            "memory": name_memory(self._settings),
            "clients": sorted(writer.client for writer in self._open),
            "log": str(name_log(self.address)),
            "ends": ends,
        }

    def _build(
        self,
        given: Mapping[str, Any],
        token: str | None,
        repository: str | None,
        checkout: str | None,
    ) -> MemoryServer:
        """Return the server of a session. Settings that the client does not set are the default.

        Raises StartRefused.
        """
        settings = adapt_settings(self._settings, given)
        if self._app is None:
            return create_server(settings)
        credential = hash_token(token) if token else self._app.store.of_login
        return create_session_server(settings, self._app, credential, repository, checkout)

    async def _serve(
        self,
        server: MemoryServer,
        description: Path,
        descriptor: int,
        leaving: anyio.Event,
    ) -> None:
        low = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]
        with socket.socket(fileno=os.dup(descriptor)) as connection:
            writer = MessageWriter(connection)
            reader = MessageReader(connection, writer)
            self._open.add(writer)
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(_leave, leaving, writer, tasks.cancel_scope)
                    if description not in self._described:
                        tasks.start_soon(self._renew, server, description)
                    await low.run(reader, writer, low.create_initialization_options())
                    tasks.cancel_scope.cancel()
            finally:
                self._open.discard(writer)

    async def _renew(self, server: MemoryServer, path: Path) -> None:
        """Write the description of `server` for the next start, if it has changed.

        The first calls of the session come first. If the description is right for one version of
        the protocol, it is right for the others.
        """
        await anyio.sleep(_SETTLING)
        file, version = DescriptionFile(path), MODERN_VERSIONS[-1]
        newest = await describe(server, [version])
        known = {method: file.answers.get(method, {}).get(version) for method in newest}
        if known != {method: each.get(version) for method, each in newest.items()}:
            await anyio.to_thread.run_sync(file.write, await describe(server))
        self._described.add(path)


def _read_megabytes() -> int:
    """Return the resident memory of this process, or its peak where the system has no /proc."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 20
    return pages * resource.getpagesize() >> 20


async def _leave(leaving: anyio.Event, writer: MessageWriter, scope: anyio.CancelScope) -> None:
    """Let the client end the session when this process ends."""
    await leaving.wait()
    with anyio.move_on_after(_LEAVING):
        await writer.write(LEAVING_LINE)
        await anyio.sleep(_LEAVING)
    scope.cancel()
