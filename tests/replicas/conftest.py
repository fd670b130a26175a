"""A primary and its standby, and clients of servers that use both."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

from tests.conftest import TOKEN
from tests.support.folders import open_folder
from tests.support.replicas import Pair, run_pair
from tests.support.tool_calls import text_of
from textrawl import create_server, read_settings
from textrawl.server.lifespan import open_app
from textrawl.server.server import MemoryServer
from textrawl.tools.call import App


class Guest:
    """A client and its server."""

    def __init__(self, client: Client, server: MemoryServer, app: App) -> None:
        self.client, self.server, self.app = client, server, app

    def count(self, name: str) -> float:
        """A metric of the server."""
        return self.server.read_gauges()[name]

    async def wait_for_standby(self, *, used: bool = True) -> None:
        """Wait until the server reads from the standby, or no longer."""
        async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.02)):
            with attempt:
                assert self.count("standby_used") == used


async def search(guest: Guest, query: str) -> str:
    """The text of an answer of query_memory."""
    return text_of(await guest.client.call_tool("query_memory", {"query": query}))


Visit = Callable[..., AbstractAsyncContextManager[Guest]]


@pytest.fixture(scope="session")
def common_pair() -> Iterator[Pair]:
    """A primary with a migrated memory, and a standby that follows it, for many tests."""
    # In a thread of its own: an event loop of the session would stop tests that run another.
    with (
        open_folder() as folder,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(run_pair(folder)) as pair,
    ):
        yield pair


@pytest.fixture
def pair(common_pair: Pair) -> Iterator[Pair]:
    """Servers for a test that ends none of them."""
    yield common_pair
    common_pair.resume_replay()


@pytest.fixture
async def doomed_pair() -> AsyncIterator[Pair]:
    """Servers for a test that kills or promotes them."""
    with open_folder() as folder:
        async with run_pair(folder) as pair:
            yield pair


@pytest.fixture
def visit() -> Visit:
    """Opens a server that reads from the standby, and a client of it."""

    @asynccontextmanager
    async def open_guest(pair: Pair, **changes: Any) -> AsyncGenerator[Guest]:
        urls = {"database_url": pair.primary.dsn(), "database_read_url": pair.standby.dsn()}
        settings = read_settings(**{**urls, "access_token": TOKEN, **changes})
        async with open_app(settings) as app:
            server = create_server(settings, app=app)
            async with Client(server) as client:
                yield Guest(client, server, app)

    return open_guest
