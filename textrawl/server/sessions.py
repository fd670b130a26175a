"""A server that also answers through sockets: quick commands, and clients of other processes.

Other processes hand their clients over to this server. Each session is one of MCP over stdio, with
settings of its own, on the connection of a socket. It uses the open memory of this process.
"""

from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from textrawl.client.local import LocalTools
from textrawl.environment import read_sources
from textrawl.errors import ArgumentInvalid, StartRefused
from textrawl.resident.answers import Admission, answer
from textrawl.resident.client import choose_address
from textrawl.resident.listener import TRAIL_NAMES, Listener, locate
from textrawl.server.early_reader import Endpoint
from textrawl.server.handover import (
    LEAVING_LINE,
    SESSION_SETTINGS,
    describe_shared,
    let_others_join,
)
from textrawl.server.server import MemoryServer, create_server, create_session_server
from textrawl.server.stdio_session import MessageReader, MessageWriter
from textrawl.settings import Settings, read_settings
from textrawl.tools.call import App

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
