"""`Client` and `SyncClient`: the light client, and the memory that is opened in this process."""

import logging
from contextlib import AsyncExitStack, ExitStack
from functools import cache
from threading import Thread, main_thread
from typing import Self

from anyio.from_thread import BlockingPortal, start_blocking_portal

from textrawl import __version__
from textrawl.client.local import LocalTools, describe_own, open_local
from textrawl.settings import Settings, find_withheld, read_settings
from textrawl_client import client as light
from textrawl_client.connections import Connection, HttpConnection
from textrawl_client.wire import PROMPT, TOOL, Answer, Call, encode, write_address

logger = logging.getLogger("textrawl")


class _LocalConnection:
    """The way to a memory that is open in this process. `stack` closes it."""

    def __init__(
        self, tools: LocalTools, settings: Settings, client: str, stack: AsyncExitStack
    ) -> None:
        self._tools = tools
        self._settings = settings
        self._client = f"{client} {__version__}"
        self._stack = stack

    async def send(self, call: Call) -> Answer:
        """Return the answer to a call. Raises TextrawlError."""
        encode(call.arguments)  # what a server cannot read is refused here too
        wishes = {"space": call.space, **(call.wishes or {})}
        program = describe_own(self._settings, self._client, **wishes)
        if call.method in (TOOL, PROMPT):
            return await self._tools.call(call.name, call.arguments, program)
        return await self._tools.operate(call.method, call.arguments, program)

    async def close(self) -> None:
        """Close the memory."""
        await self._stack.aclose()


class _PortalConnection:
    """A connection that lives in an event loop of a thread. Each call waits for its result."""

    def __init__(self, inner: Connection, portal: BlockingPortal, stack: ExitStack) -> None:
        self._inner = inner
        self._portal = portal
        self._stack = stack
        _open_connections.add(self)
        _start_closing()

    async def send(self, call: Call) -> Answer:
        """Return the answer to a call. Raises TextrawlError."""
        return self._portal.call(self._inner.send, call)

    async def close(self) -> None:
        """Close the memory, and end the thread."""
        self.end()

    def end(self) -> None:
        """Do the same as `close`."""
        _open_connections.discard(self)
        self._stack.close()


class Client(light.Client):
    """A memory: `async with Client() as memory`, or `Client(url)` for a server over HTTP.

    Without `url`, the settings decide: the server in SERVER_URL, the database in DATABASE_URL, or
    the embedded Postgres, which is created if it does not exist. A server gets `token`, or else the
    token of the settings. `space` is the only space that calls reach. `timeout` is the time limit
    of a request over HTTP, in seconds.

    Opening raises StartRefused for wrong settings, and textrawl's errors if the memory cannot be
    opened. A server is reached with the first call. Every method raises the errors of the tool
    that it stands for: ArgumentInvalid, ScopeMissing, ReadOnly, DatabaseUnavailable, ServerBusy,
    ServerUnreachable. Several tasks can use one client.
    """

    _default_name = "textrawl-python"

    def _connect(self) -> None:
        """Check the address. The memory must be opened."""
        if self._url is not None:
            write_address(self._url, self._space)

    async def __aenter__(self) -> Self:
        """Open the memory, unless it is open."""
        if self.is_open or self._root is not self:
            return self
        settings = read_settings()
        for line in find_withheld() if self._url is None else ():
            logger.warning("%s", line)
        if url := self._url or settings.server_url:
            known = settings.access_token
            token = self._token or (known.get_secret_value() if known else None)
            timeout, blocking = self._timeout, self._blocking
            self._connection = HttpConnection(
                url, token, self._name, timeout=timeout, blocking=blocking
            )
        elif self._blocking:
            self._connection = _open_in_thread(settings, self._name)
        else:
            async with AsyncExitStack() as stack:
                tools = await stack.enter_async_context(open_local(settings))
                self._connection = _LocalConnection(tools, settings, self._name, stack.pop_all())
        return self


def _open_in_thread(settings: Settings, client: str) -> _PortalConnection:
    """Open the memory of the settings in the event loop of a new thread."""
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())
        opening = portal.wrap_async_context_manager(open_local(settings))
        tools = stack.enter_context(opening)
        inner = _LocalConnection(tools, settings, client, AsyncExitStack())
        return _PortalConnection(inner, portal, stack.pop_all())


_open_connections: "set[_PortalConnection]" = set()


@cache
def _start_closing() -> None:
    """Start the thread that closes the open memories at the end of the program.

    Python then ends only daemon threads without waiting, and a connection that still waits for its
    thread would wait forever.
    """
    Thread(target=_close_at_end, name="textrawl-end").start()


def _close_at_end() -> None:
    main_thread().join()
    for connection in list(_open_connections):
        connection.end()


class _BlockingClient(Client):
    """A client whose methods wait for no event loop."""

    _blocking = True


class SyncClient(light.SyncClient):
    """A memory: `with SyncClient() as memory`, or `SyncClient(url)` for a server over HTTP.

    It has the methods of `Client`, and they wait for the result. Several threads can use one
    client. A memory that is opened in this process has an event loop in a thread of its own.
    Instead of `with`, a program can call `open` and `close`. A client that is still open at the end
    of the main thread is closed then.
    """

    _kind = _BlockingClient
