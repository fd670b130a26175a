"""What one session writes is stored in the order in which it came, also when it is sent at once."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import anyio
import psycopg
import pytest
from mcp import Client
from mcp.types import CallToolResult, ElicitRequestParams, ElicitResult

from tests.conftest import Connect, Era
from tests.support.commands import serve_over_stdio
from tests.support.listening import listen
from tests.support.tool_calls import remember, text_of
from textrawl import Settings, create_server, scheduling

pytestmark = pytest.mark.anyio

TIMES = 20


@pytest.fixture(params=["memory", "http", "stdio"])
async def open_client(
    request: pytest.FixtureRequest, era: Era, settings: Callable[..., Settings], database_url: str
) -> AsyncIterator[Callable[..., Awaitable[Client]]]:
    """Connects a client over each transport, in each era."""
    async with AsyncExitStack() as stack:

        async def connect(*toolsets: str) -> Client:
            own = settings(toolsets=list(toolsets))
            target: Any = create_server(own)
            if request.param == "http":
                target = (await stack.enter_async_context(listen(own))).mcp
            elif request.param == "stdio":
                target = serve_over_stdio(database_url, TOOLSETS=",".join(toolsets))
            return await stack.enter_async_context(Client(target, mode=era))

        yield connect


async def send(client: Client, *calls: tuple[str, dict[str, Any]]) -> list[CallToolResult]:
    """Make calls at once, in this order, before any is answered."""
    results: dict[int, CallToolResult] = {}

    async def make(place: int, tool: str, arguments: dict[str, Any]) -> None:
        results[place] = await client.call_tool(tool, arguments)

    async with anyio.create_task_group() as together:
        for place, (tool, arguments) in enumerate(calls):
            together.start_soon(make, place, tool, arguments)
    return [results[place] for place in range(len(calls))]


async def test_what_is_sent_in_one_turn_is_stored_in_its_order(
    open_client: Callable[..., Awaitable[Client]], owner: psycopg.Connection
) -> None:
    """A relation follows its ends, and what is added and then deleted is gone."""
    client = await open_client("graph")

    for turn in range(TIMES):
        ends, gone = [f"A{turn}", f"B{turn}"], f"C{turn}"
        nodes = [{"name": name, "entityType": "x", "observations": ["is"]} for name in ends]
        edge = {"from": ends[0], "to": ends[1], "relationType": "knows"}
        doomed: dict[str, Any] = {"name": gone, "entityType": "x", "observations": []}
        for result in await send(
            client,
            ("create_entities", {"entities": nodes}),
            ("create_relations", {"relations": [edge]}),
            ("create_entities", {"entities": [doomed]}),
            ("add_observations", {"observations": [{"entityName": gone, "contents": ["x"]}]}),
            ("delete_entities", {"entityNames": [gone]}),
        ):
            assert not result.is_error, text_of(result)

    assert owner.execute("select count(*) from relation").fetchone() == (TIMES,)
    assert owner.execute("select count(*) from entity").fetchone() == (2 * TIMES,)


@pytest.mark.slow
async def test_a_type_that_is_said_first_stays_when_a_relation_is_sent_with_it(
    open_client: Callable[..., Awaitable[Client]], owner: psycopg.Connection
) -> None:
    client = await open_client("memory")

    for turn in range(TIMES):
        fact = {"entityName": f"Ada {turn}", "entityType": "person", "observation": "leads QA"}
        edge = {"fromEntity": f"Ada {turn}", "relation": "works at", "toEntity": "Acme"}
        for result in await send(client, ("remember_fact", fact), ("relate_entities", edge)):
            assert not result.is_error, text_of(result)

    kinds = owner.execute("select entity_type from entity where name like 'Ada%'").fetchall()
    assert kinds == [("person",)] * TIMES


@pytest.mark.parametrize("era", ["legacy"])
async def test_while_a_user_is_asked_other_writes_go_on(
    connect: Connect, era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduling, "_LONGEST_WAIT", 300)
    answered = anyio.Event()

    async def answer(context: object, params: ElicitRequestParams) -> ElicitResult:
        await answered.wait()
        return ElicitResult(action="accept", content={"confirm": True})

    client = await connect(era, callback=answer)
    await remember(client, "Doomed", "likes tea")

    async with anyio.create_task_group() as together:
        together.start_soon(client.call_tool, "forget_entity", {"entityName": "Doomed"})
        with anyio.fail_after(60):
            for number in range(3):
                await remember(client, "Ada", f"fact number {number}")
        answered.set()

    found = await client.call_tool("query_memory", {"mode": "list"})
    assert "Doomed" not in text_of(found)


async def test_a_write_that_fails_holds_up_no_other(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduling, "_LONGEST_WAIT", 300)
    client = await connect(toolsets=["graph"])
    bad = {"from": "Nobody", "to": "Nobody else", "relationType": "knows"}
    node: dict[str, Any] = {"name": "A", "entityType": "x", "observations": []}

    with anyio.fail_after(60):
        results = await send(
            client,
            ("create_relations", {"relations": [bad]}),
            ("create_entities", {"entities": 7}),
            ("create_entities", {"entities": [node]}),
        )

    assert [result.is_error for result in results] == [True, True, False]
