"""What goes on beside the calls, driven by hand: facts get their vectors, and only good ones."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, LiteralString, cast

import anyio
import psycopg
import pytest
from mcp import Client
from mcp.types import CallToolResult, TextContent

from tests.providers import Clock, EmbeddingServer, Fault
from textrawl import Settings, create_server, errors
from textrawl.database import Database
from textrawl.embeddings import choose_embedder
from textrawl.memory import Memory
from textrawl.runtime import build_renderer
from textrawl.toolsets import App
from textrawl.upkeep import Upkeep

pytestmark = pytest.mark.anyio

LONG_AGO = 10_000.0  # seconds: longer than any breaker or worker waits


@dataclass(frozen=True)
class Desk:
    """A server whose upkeep is done by hand, and its parts."""

    client: Client
    memory: Memory
    upkeep: Upkeep
    clock: Clock

    async def remember(self, *observations: str) -> list[CallToolResult]:
        fact = {"entityName": "Ada", "entityType": "person"}
        return [
            await self.client.call_tool("remember_fact", {**fact, "observation": text})
            for text in observations
        ]

    async def search(self, query: str, **more: Any) -> str:
        result = await self.client.call_tool(
            "query_memory", {"mode": "search", "query": query, **more}
        )
        [text] = result.content
        assert isinstance(text, TextContent)
        return text.text


@asynccontextmanager
async def open_desk(settings: Settings) -> AsyncGenerator[Desk]:
    clock = Clock()
    embedder = choose_embedder(settings, clock=clock)
    assert settings.database_url is not None
    database = Database(settings.database_url.get_secret_value(), timeout=10)
    await database.open()
    memory = Memory(database, embedder)
    app = App(memory, build_renderer(settings), "ada")
    try:
        async with Client(create_server(settings, app=app)) as client:
            yield Desk(client, memory, Upkeep(memory), clock)
    finally:
        await database.close()
        if embedder is not None:
            await embedder.aclose()


@pytest.fixture
def provider() -> Iterator[EmbeddingServer]:
    with EmbeddingServer(dimensions=1536) as server:
        yield server


@pytest.fixture
def remote(settings: Callable[..., Settings], provider: EmbeddingServer) -> Callable[..., Settings]:
    """Settings with an OpenAI that can fail."""

    def make(**changes: Any) -> Settings:
        return settings(
            embedding_provider="openai", openai_api_key="key", openai_base_url=provider.openai_url,
            embedding_timeout=1, **changes,
        )  # fmt: skip

    return make


@pytest.fixture
async def desk(remote: Callable[..., Settings]) -> AsyncIterator[Desk]:
    async with open_desk(remote()) as desk:
        yield desk


def count(owner: psycopg.Connection, what: str) -> int:
    query = cast("LiteralString", f"select count(*) from {what}")  # noqa: S608 - ours
    row = owner.execute(query).fetchone()
    return row[0] if row else 0


def make_due(owner: psycopg.Connection) -> None:
    """As if the waiting time of every claimed fact were over."""
    owner.execute("update embedding_pending set next_attempt = now()")


async def test_a_fact_remembered_while_the_embedder_is_down_is_found_by_keyword(
    desk: Desk, provider: EmbeddingServer, owner: psycopg.Connection
) -> None:
    provider.fail(Fault.DOWN)
    [stored] = await desk.remember("plays the theremin")
    assert not stored.is_error

    found = await desk.search("theremin")
    assert "plays the theremin" in found
    assert '"note":"keyword only: embedding service unavailable"' in found

    provider.heal()
    desk.clock.now += LONG_AGO
    await desk.upkeep.do_round()
    assert await desk.upkeep.count_backlog() == 0
    assert count(owner, "embedding_1") == 1
    again = await desk.search("theremin", searchMode="semantic")
    assert "plays the theremin" in again
    assert "note" not in again


async def test_a_semantic_search_without_its_provider_says_what_to_do(
    desk: Desk, provider: EmbeddingServer
) -> None:
    provider.fail(Fault.FAILING)
    told = await desk.search("theremin", searchMode="semantic")
    assert told.startswith('{"error":"Embedding service unavailable"')


async def test_a_semantic_search_without_any_provider_names_what_to_configure(
    settings: Callable[..., Settings],
) -> None:
    async with open_desk(settings(embedding_provider="none")) as desk:
        told = await desk.search("theremin", searchMode="semantic")
        assert '"error":"Embedding service not configured"' in told
        assert "Set OPENAI_API_KEY or configure Ollama" in told
        await desk.remember("plays the theremin")
        assert "embedding service not configured" in await desk.search("theremin")
        await desk.upkeep.do_round()
        assert await desk.upkeep.count_backlog() == 0


async def test_a_model_that_comes_later_gets_vectors_for_older_facts(
    settings: Callable[..., Settings], remote: Callable[..., Settings], owner: psycopg.Connection
) -> None:
    async with open_desk(settings(embedding_provider="none")) as before:
        await before.remember("plays the theremin", "collects stamps")
    async with open_desk(remote()) as desk:
        await desk.upkeep.do_round()
        assert count(owner, "embedding_1") == 2
        assert "collects stamps" in await desk.search("stamps", searchMode="semantic")


async def test_facts_of_one_model_wait_for_the_vectors_of_the_other(
    settings: Callable[..., Settings], remote: Callable[..., Settings], owner: psycopg.Connection
) -> None:
    async with open_desk(remote()) as openai, open_desk(settings()) as local:
        for desk in (openai, local):
            await desk.upkeep.do_round()
        await openai.remember("plays the theremin")
        await local.remember("collects stamps")
        assert [await desk.upkeep.count_backlog() for desk in (openai, local)] == [1, 1]
        for desk in (openai, local):
            await desk.upkeep.do_round()
        assert [count(owner, f"embedding_{model}") for model in (1, 2)] == [2, 2]


@pytest.mark.parametrize(
    "fault",
    [
        Fault.WRONG_DIMENSIONS,
        Fault.MIXED_DIMENSIONS,
        Fault.NO_DIMENSIONS,
        Fault.FEWER,
        Fault.NAN,
        Fault.ZERO,
        Fault.BAD_JSON,
        Fault.TRUNCATED,
        Fault.HANG,
    ],
)
async def test_a_vector_that_is_none_is_never_stored_and_the_fact_always(
    desk: Desk, provider: EmbeddingServer, owner: psycopg.Connection, fault: Fault
) -> None:
    await desk.remember("registers the model")
    provider.fail(fault)
    batch = [
        {"entityName": "Ada", "entityType": "person", "observation": text}
        for text in ("plays the theremin", "collects stamps")
    ]
    await desk.client.call_tool("build_knowledge", {"facts": batch})
    [single] = await desk.remember("keeps bees")
    assert not single.is_error
    assert count(owner, "observation") == 4
    assert count(owner, "embedding_1") == 1

    desk.clock.now += LONG_AGO
    try:
        await desk.upkeep.do_round()
    except errors.EmbeddingUnavailable:
        assert count(owner, "embedding_pending") == 3
    left = owner.execute(
        "select vector_dims(vector), round(vector_norm(vector::vector)::numeric, 2) "
        "from embedding_1"
    ).fetchall()
    assert set(left) == {(1536, 1)}

    provider.heal()
    desk.clock.now += LONG_AGO
    make_due(owner)
    await desk.upkeep.do_round()
    assert count(owner, "embedding_1") == 4
    assert count(owner, "embedding_pending") == 0


async def test_a_text_that_the_provider_refuses_blocks_no_other(
    desk: Desk, provider: EmbeddingServer, owner: psycopg.Connection
) -> None:
    provider.fail(Fault.DOWN)
    await desk.remember(*(f"fact number {number}" for number in range(9)), "contains arsenic")
    provider.heal()
    provider.poison = "arsenic"
    desk.clock.now += LONG_AGO
    await desk.upkeep.do_round()
    assert count(owner, "embedding_1") == 9
    assert owner.execute(
        "select content, attempts, next_attempt > now() from embedding_pending "
        "join observation on id = observation_id"
    ).fetchall() == [("contains arsenic", 1, True)]

    requests = len(provider.requests)
    await desk.upkeep.do_round()
    assert len(provider.requests) == requests  # it is not asked for again so soon
    await desk.remember("comes after")
    assert count(owner, "embedding_1") == 10
    assert "contains arsenic" in await desk.search("arsenic")


async def test_a_text_that_is_refused_again_and_again_is_tried_ever_less_often(
    desk: Desk, provider: EmbeddingServer, owner: psycopg.Connection
) -> None:
    provider.poison = "arsenic"
    await desk.remember("contains arsenic")
    waits: list[float] = []
    for _ in range(9):
        await desk.upkeep.do_round()
        row = owner.execute(
            "select extract(epoch from next_attempt - now())::float from embedding_pending"
        ).fetchone()
        assert row is not None
        waits.append(row[0])
        make_due(owner)
    minutes = [round(wait / 60) for wait in waits]
    assert minutes == [1, 2, 4, 8, 16, 32, 60, 60, 60]


async def test_a_provider_that_is_down_costs_a_fact_none_of_its_attempts(
    desk: Desk, provider: EmbeddingServer, owner: psycopg.Connection
) -> None:
    provider.fail(Fault.DOWN)
    await desk.remember("plays the theremin")
    for _ in range(5):
        with pytest.raises(errors.EmbeddingUnavailable):
            await desk.upkeep.do_round()
    assert owner.execute(
        "select attempts, next_attempt <= now() from embedding_pending"
    ).fetchall() == [(0, True)]


async def test_two_workers_never_embed_the_same_fact(
    desk: Desk,
    remote: Callable[..., Settings],
    provider: EmbeddingServer,
    owner: psycopg.Connection,
) -> None:
    provider.fail(Fault.DOWN)
    for name in ("Ada", "Bob"):
        batch = [
            {"entityName": name, "entityType": "person", "observation": f"fact number {number}"}
            for number in range(50)
        ]
        await desk.client.call_tool("build_knowledge", {"facts": batch})
    provider.heal()
    asked = len(provider.requests)
    desk.clock.now += LONG_AGO
    async with open_desk(remote()) as second, anyio.create_task_group() as group:
        group.start_soon(desk.upkeep.do_round)
        group.start_soon(second.upkeep.do_round)
    texts = [text for request in provider.requests[asked:] for text in request.texts]
    assert len(texts) == len(set(texts)) == 100
    assert count(owner, "embedding_1") == 100
    assert count(owner, "embedding_pending") == 0


async def test_what_a_worker_that_died_had_claimed_is_done_by_another(
    desk: Desk,
    provider: EmbeddingServer,
    remote: Callable[..., Settings],
    owner: psycopg.Connection,
) -> None:
    provider.fail(Fault.DOWN)
    await desk.remember("plays the theremin")
    provider.heal()
    desk.clock.now += LONG_AGO
    provider.hold()
    async with anyio.create_task_group() as group:
        group.start_soon(desk.upkeep.do_round)
        await anyio.to_thread.run_sync(provider.wait_for_requests, len(provider.requests) + 1)
        group.cancel_scope.cancel()
    provider.release()
    async with open_desk(remote()) as second:
        await second.upkeep.do_round()
        assert count(owner, "embedding_1") == 0  # it may still be at work
        make_due(owner)
        await second.upkeep.do_round()
    assert count(owner, "embedding_1") == 1


async def test_a_fact_forgotten_while_it_is_embedded_leaves_nothing(
    desk: Desk, provider: EmbeddingServer, owner: psycopg.Connection
) -> None:
    provider.fail(Fault.DOWN)
    await desk.remember("plays the theremin", "collects stamps")
    provider.heal()
    desk.clock.now += LONG_AGO
    provider.hold()
    async with anyio.create_task_group() as group:
        group.start_soon(desk.upkeep.do_round)
        await anyio.to_thread.run_sync(provider.wait_for_requests, len(provider.requests) + 1)
        await desk.client.call_tool("forget_entity", {"entityName": "Ada", "confirm": True})
        provider.release()
    for table in ("observation", "embedding_pending", "embedding_1"):
        assert count(owner, table) == 0


async def test_a_model_under_whose_name_another_runs_is_told_and_stores_nothing(
    settings: Callable[..., Settings], owner: psycopg.Connection
) -> None:
    with EmbeddingServer(dimensions=64) as small, EmbeddingServer(dimensions=32) as smaller:
        for server in (small, smaller):
            changed = settings(
                embedding_provider="openai", openai_api_key="key", embedding_model="mine",
                openai_base_url=server.openai_url,
            )  # fmt: skip
            async with open_desk(changed) as desk:
                [stored] = await desk.remember(f"fact of {server.dimensions}")
                assert not stored.is_error
                if server is smaller:
                    with pytest.raises(errors.EmbeddingUnavailable, match="dimensions"):
                        await desk.upkeep.do_round()
    assert owner.execute("select distinct vector_dims(vector) from embedding_1").fetchall() == [
        (64,)
    ]


async def test_rounds_go_on_after_one_that_failed(
    desk: Desk, provider: EmbeddingServer, owner: psycopg.Connection
) -> None:
    provider.fail(Fault.DOWN)
    await desk.remember("plays the theremin")
    asked = len(provider.requests)
    provider.fail(Fault.FAILING, times=2)  # the attempt and its repetition
    desk.clock.now += LONG_AGO
    async with anyio.create_task_group() as group:
        group.start_soon(Upkeep(desk.memory, pause=0.01).run)
        await anyio.to_thread.run_sync(provider.wait_for_requests, asked + 3)
        group.cancel_scope.cancel()
    make_due(owner)
    await desk.upkeep.do_round()
    assert count(owner, "embedding_1") == 1


async def test_statistics_of_the_search_are_kept_up_to_date(
    desk: Desk, owner: psycopg.Connection
) -> None:
    await desk.remember("plays the theremin")
    await desk.upkeep.do_round()
    assert count(owner, "lexeme where word = 'theremin'") == 1
