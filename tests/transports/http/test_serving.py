"""A memory over Streamable HTTP as clients meet it: both eras, probes, refusals to start."""

import socket
import time
from collections.abc import AsyncGenerator, Callable
from typing import Any

import anyio
import httpx2
import psycopg
import pytest
from mcp import Client
from mcp.types import ElicitRequestParams, ElicitResult, TextContent
from tenacity import AsyncRetrying, stop_after_delay

from tests.conftest import Era
from tests.support.gateway import Gateway
from tests.support.listening import Address, listen
from textrawl import Settings, create_server
from textrawl.errors import StartRefused
from textrawl.server.http.application import serve_http
from textrawl.server.http.metrics import Metrics

pytestmark = pytest.mark.anyio

FACT = {"entityName": "Ada", "entityType": "person", "observation": "likes proofs"}


@pytest.fixture
async def address(settings: Callable[..., Settings]) -> AsyncGenerator[Address]:
    async with listen(settings()) as address:
        yield address


async def test_a_client_of_either_era_remembers_and_recalls_over_http(
    address: Address, era: Era, owner: psycopg.Connection
) -> None:
    async with Client(address.mcp, mode=era) as client:
        stored = await client.call_tool("remember_fact", FACT)
        assert not stored.is_error
    async with Client(address.mcp, mode=era) as another:
        found = await another.call_tool("query_memory", {"mode": "search", "query": "proofs"})
    [text] = found.content
    assert isinstance(text, TextContent)
    assert "likes proofs" in text.text
    assert owner.execute("select client, tool from observation").fetchall() == [
        ("mcp 0.1.0", "remember_fact")
    ]


async def test_an_answer_does_not_wait_for_an_acknowledgement_of_its_beginning(
    address: Address, era: Era
) -> None:
    """Nagle's algorithm and delayed acknowledgements together cost 40 ms an answer."""
    async with Client(address.mcp, mode=era) as client:
        taken: list[float] = [1]
        while min(taken) >= 0.03 and len(taken) < 500:  # the first ones, or all on a busy machine
            began = time.perf_counter()
            await client.call_tool("query_memory", {"mode": "list"})
            taken.append(time.perf_counter() - began)
    assert min(taken) < 0.03


async def test_many_clients_share_one_server_and_one_pool(
    address: Address, owner: psycopg.Connection
) -> None:
    async def remember(number: int, era: Era) -> None:
        async with Client(address.mcp, mode=era) as client:
            await client.call_tool("remember_fact", {**FACT, "observation": f"fact {number}"})

    async with anyio.create_task_group() as group:
        for number in range(8):
            group.start_soon(remember, number, "legacy" if number % 2 else "auto")
    assert owner.execute("select count(*) from observation").fetchone() == (8,)
    [connections] = owner.execute(
        "select count(*) from pg_stat_activity where datname = current_database() "
        "and application_name = 'textrawl'"
    ).fetchone() or (0,)
    assert connections <= 5


async def test_a_client_can_be_asked_for_a_confirmation_over_http(
    address: Address, era: Era
) -> None:
    asked: list[str] = []

    async def agree(context: Any, params: ElicitRequestParams) -> ElicitResult:
        del context
        asked.append(params.message)
        return ElicitResult(action="accept", content={"confirm": True})

    async with Client(address.mcp, mode=era, elicitation_callback=agree) as client:
        await client.call_tool("remember_fact", FACT)
        forgotten = await client.call_tool("forget_entity", {"entityName": "Ada"})
    assert not forgotten.is_error
    assert len(asked) == 1


@pytest.mark.slow
async def test_the_probes_tell_a_database_that_is_away_and_heal(
    settings: Callable[..., Settings], gateway: Gateway
) -> None:
    changes = {"database_url": gateway.conninfo, "database_timeout": 1}
    async with (
        listen(settings(**changes)) as address,
        httpx2.AsyncClient(timeout=60) as http,
    ):

        async def probe(path: str) -> tuple[int, Any]:
            answer = await http.get(f"{address.root}{path}")
            return answer.status_code, answer.json()

        assert await probe("/readyz") == (200, {"status": "ready"})
        await gateway.close()
        assert await probe("/readyz") == (503, {"status": "database unavailable"})
        assert await probe("/healthz") == (200, {"status": "ok"})
        await gateway.open()
        async for attempt in AsyncRetrying(stop=stop_after_delay(60)):
            with attempt:
                assert await probe("/readyz") == (200, {"status": "ready"})
        gateway.freeze()
        began = time.monotonic()
        status, _ = await probe("/readyz")
        assert status == 503
        assert time.monotonic() - began < 30
        gateway.thaw()


async def test_the_probe_waits_no_longer_than_those_who_probe(
    settings: Callable[..., Settings], gateway: Gateway
) -> None:
    async with (
        listen(settings(database_url=gateway.conninfo, database_timeout=60)) as address,
        httpx2.AsyncClient() as http,
    ):
        gateway.freeze()
        answer = await http.get(f"{address.root}/readyz", timeout=30)
        assert (answer.status_code, answer.json()) == (503, {"status": "database slow"})
        gateway.thaw()


async def test_without_memory_it_is_ready_and_has_no_tools(
    settings: Callable[..., Settings], era: Era
) -> None:
    async with listen(settings(enable_memory=False)) as address, httpx2.AsyncClient() as http:
        assert (await http.get(f"{address.root}/readyz")).status_code == 200
        async with Client(address.mcp, mode=era) as client:
            assert (await client.list_tools()).tools == []


async def start(settings: Settings) -> None:
    await serve_http(create_server(settings), settings, lookup=None, metrics=Metrics())


async def test_a_port_that_is_taken_or_not_allowed_is_told(
    settings: Callable[..., Settings],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StartRefused, match=f"TEXTRAWL_HTTP_PORT.*{port} is in use.*--port"):
            await start(settings(http_port=port))


async def test_an_address_that_others_reach_is_refused_before_anything_listens(
    settings: Callable[..., Settings],
) -> None:
    with pytest.raises(StartRefused, match=r"--insecure: other machines can reach 0\.0\.0\.0"):
        await start(settings(http_host="0.0.0.0", http_port=0))  # noqa: S104


async def test_a_database_that_does_not_fit_is_refused_before_anything_listens(
    postgres: Any, settings: Callable[..., Settings]
) -> None:
    with postgres.create() as name:
        url = postgres.cluster.dsn("textrawl_owner", name)
        with pytest.raises(StartRefused, match="textrawl migrate"):
            await start(settings(database_url=url, http_port=0))
