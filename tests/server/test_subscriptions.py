"""Clients hear about changes of what they subscribed to, whoever makes them."""

import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import anyio
import psycopg
import pytest
from mcp import Client, MCPError
from mcp.client.session import IncomingMessage
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated
from mcp.types import (
    INVALID_PARAMS,
    EmptyResult,
    ResourceUpdatedNotification,
    SubscribeRequest,
    SubscribeRequestParams,
    UnsubscribeRequest,
    UnsubscribeRequestParams,
)

from tests.attacks.site import issue
from tests.conftest import ACTOR, Connect, Era
from tests.support.commands import name_memory, serve_over_stdio
from tests.support.listening import listen
from tests.support.tool_calls import remember
from textrawl import Settings, create_server
from textrawl.access.access_token import hash_token

pytestmark = pytest.mark.anyio

ADA, DIGEST = "memory://entity/Ada%20L%C3%B6w", "memory://space/default/digest"
LIST = "list"


async def subscribe(client: Client, uri: str) -> None:
    """Subscribe as clients of the legacy era do."""
    request = SubscribeRequest(params=SubscribeRequestParams(uri=uri))
    await client.session.send_request(request, EmptyResult)


async def unsubscribe(client: Client, uri: str) -> None:
    """End a subscription as clients of the legacy era do."""
    request = UnsubscribeRequest(params=UnsubscribeRequestParams(uri=uri))
    await client.session.send_request(request, EmptyResult)


class Ear:
    """What a client heard: addresses, and LIST for a change of the list."""

    def __init__(self) -> None:
        self.heard = list[str]()
        self._arrived = anyio.Event()

    def hear(self, word: str) -> None:
        self.heard.append(word)
        self._arrived.set()
        self._arrived = anyio.Event()

    async def wait_for(self, *words: str) -> None:
        """Wait until all these words were heard, and forget them."""
        with anyio.fail_after(20):
            while not {*words} <= {*self.heard}:
                await self._arrived.wait()
        self.heard.clear()

    async def handle(self, message: IncomingMessage) -> None:
        """Handle messages of a session of the legacy era."""
        if isinstance(message, ResourceUpdatedNotification):
            self.hear(message.params.uri)

    @asynccontextmanager
    async def subscribe(
        self, client: Client, era: Era, *uris: str, lists: bool = False
    ) -> AsyncGenerator[Any]:
        """Subscribe for the time of the block, in the way of the era."""
        if era == "legacy":
            for uri in uris:
                await subscribe(client, uri)
            yield None
            for uri in uris:
                await unsubscribe(client, uri)
            return
        async with (
            client.listen(resource_subscriptions=uris, resources_list_changed=lists) as stream,
            anyio.create_task_group() as group,
        ):
            group.start_soon(self._follow, stream)
            yield stream
            group.cancel_scope.cancel()

    async def _follow(self, stream: Any) -> None:
        async for event in stream:
            if isinstance(event, ResourceUpdated):
                self.hear(event.uri)
            elif isinstance(event, ResourcesListChanged):
                self.hear(LIST)


@pytest.fixture
def ear() -> Ear:
    return Ear()


@pytest.fixture(params=["memory", "stdio", "http"])
async def client(
    request: pytest.FixtureRequest,
    settings: Callable[..., Settings],
    database_url: str,
    era: Era,
    ear: Ear,
) -> AsyncIterator[Client]:
    """A client over each transport, in both eras."""
    async with AsyncExitStack() as stack:
        if request.param == "http":
            target: Any = (await stack.enter_async_context(listen(settings()))).mcp
        elif request.param == "stdio":
            target = serve_over_stdio(database_url)
        else:
            target = create_server(settings())
        yield await stack.enter_async_context(Client(target, mode=era, message_handler=ear.handle))


async def run_command(database_url: str, *words: str) -> None:
    """Run a command of textrawl in a process of its own."""
    environment = {**os.environ, **name_memory(database_url)}
    await anyio.run_process([sys.executable, "-m", "textrawl", *words], env=environment)


@pytest.mark.slow
async def test_a_change_by_any_process_is_heard_over_every_transport(
    client: Client, era: Era, ear: Ear, owner: psycopg.Connection, database_url: str
) -> None:
    async with ear.subscribe(client, era, ADA, DIGEST):
        await run_command(database_url, "remember", "Ada Löw", "leads QA", "--type", "person")
        await ear.wait_for(ADA, DIGEST)
        owner.execute("select remember_fact('ada löw', 'person', 'drinks tea')")
        await ear.wait_for(ADA, DIGEST)
        await remember(client, "Ada Löw", "has a dog")
        await ear.wait_for(ADA, DIGEST)
        await client.call_tool("forget_entity", {"entityName": "Ada Löw", "confirm": True})
        await ear.wait_for(ADA, DIGEST)
    owner.execute("select remember_fact('Ada Löw', 'person', 'is back')")
    async with ear.subscribe(client, era, DIGEST):
        await remember(client, "Ben", "is new")
        await ear.wait_for(DIGEST)
    assert ear.heard == []


async def test_what_is_announced_is_true_in_each_era(client: Client, era: Era) -> None:
    capabilities = client.server_capabilities.model_dump(
        mode="json", by_alias=True, exclude_none=True
    )

    assert capabilities == {
        "prompts": {"listChanged": False},
        "resources": {"subscribe": True, "listChanged": era == "auto"},
        "tools": {"listChanged": False},
        "completions": {},
    }


async def test_a_stream_has_only_what_the_server_sends(
    connect: Connect, owner: psycopg.Connection, ear: Ear
) -> None:
    client = await connect(toolsets=["memory", "identity"])
    await client.call_tool(
        "identity_write", {"category": "self", "filename": "me.md", "content": "x"}
    )
    unknown = ["memory://identity/self/me.md", "memory://knowledge-graph", "file:///x"]
    async with client.listen(
        resource_subscriptions=[ADA, *unknown], tools_list_changed=True, resources_list_changed=True
    ) as stream:
        honoured = stream.honored.model_dump(exclude_none=True)

    assert honoured == {"resources_list_changed": True, "resource_subscriptions": [ADA]}


async def test_the_list_changes_with_spaces_and_identity_files(
    connect: Connect, owner: psycopg.Connection, ear: Ear
) -> None:
    client = await connect(toolsets=["memory", "identity"])
    async with ear.subscribe(client, "auto", ADA, lists=True):
        owner.execute("select create_space('red')")
        owner.execute("select grant_access(%s, 'red', '{read}')", (ACTOR,))
        await ear.wait_for(LIST)
        owner.execute("select write_identity('self', 'me.md', 'x')")
        await ear.wait_for(LIST)


async def test_a_resource_without_subscriptions_is_refused(connect: Connect) -> None:
    client = await connect("legacy", toolsets=["memory", "graph"])
    for uri in ("memory://knowledge-graph", "memory://entity/", "x"):
        with pytest.raises(MCPError) as refused:
            await subscribe(client, uri)
        assert refused.value.error.code == INVALID_PARAMS
        assert "memory://entity/{name}" in refused.value.error.message


async def test_the_number_of_subscriptions_is_bounded(connect: Connect, era: Era) -> None:
    client = await connect(era)
    uris = [f"memory://entity/{number}" for number in range(101)]

    with pytest.raises(MCPError) as refused:
        async with Ear().subscribe(client, era, *uris):
            pass

    assert refused.value.error.code == INVALID_PARAMS
    assert "At most 100" in refused.value.error.message
    if era == "legacy":
        await unsubscribe(client, uris[0])
        await subscribe(client, uris[100])


@pytest.mark.slow
async def test_who_cannot_read_hears_nothing_and_learns_nothing(
    settings: Callable[..., Settings], owner: psycopg.Connection, era: Era, ear: Ear
) -> None:
    owner.execute("select create_space('red')")
    stranger, member = (issue(owner, name, "red", "read") for name in ("sam", "mia"))
    owner.execute("select grant_access('mia', 'default', '{read}')")
    insider, own = Ear(), "memory://space/red/digest"
    async with AsyncExitStack() as stack:
        for token, listener in ((stranger, ear), (member, insider)):
            server = create_server(settings(access_token=token))
            client = await stack.enter_async_context(
                Client(server, mode=era, message_handler=listener.handle)
            )
            await stack.enter_async_context(listener.subscribe(client, era, ADA, DIGEST, own))
        owner.execute("select remember_fact('Ada Löw', 'person', 'leads QA')")
        await insider.wait_for(ADA, DIGEST)
        red = owner.execute("select id from space where name = 'red'").fetchone() or (0,)
        owner.execute("select remember_fact('Bo', 'person', 'leads', space => %s)", red)
        await ear.wait_for(own)
        await insider.wait_for(own)
        assert ear.heard == []
        revoked = (hash_token(member),)
        owner.execute("select revoke_token(prefix) from token where hash = %s", revoked)
        for fact in ("leads", "drinks tea"):  # so that the other server looks at least once
            owner.execute("select remember_fact('Ada Löw', 'person', %s)", (fact,))
            owner.execute("select remember_fact('Cy', 'person', %s, space => %s)", (fact, *red))
            await ear.wait_for(own)
        assert (ear.heard, insider.heard) == ([], [])
