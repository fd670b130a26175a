"""The embedding model of a distributed memory is changed while a server serves all its cells."""

import os
import re
import signal
from collections.abc import AsyncIterator, Callable, Iterator

import anyio
import pytest

from tests.cluster.settlers import Settlers
from tests.conftest import ACTOR
from tests.support.cluster import ClusterMemory
from tests.support.providers import EmbeddingServer
from tests.support.upkeep import LONG_AGO, Desk, Embed, build_embed, finish, open_desk_of
from textrawl import Settings
from textrawl.cluster.cluster import ClusterDatabase
from textrawl.embedded.postmaster import OWNER

pytestmark = pytest.mark.anyio

NARROW, WIDE = "openai:narrow", "ollama:wide"
START = ("start", "--provider", "ollama", "--model", "wide")


@pytest.fixture
def narrow() -> Iterator[EmbeddingServer]:
    with EmbeddingServer(dimensions=48) as server:
        yield server


@pytest.fixture
def wide() -> Iterator[EmbeddingServer]:
    with EmbeddingServer(dimensions=64) as server:
        yield server


@pytest.fixture
async def desk(
    memory: ClusterMemory,
    settlers: Settlers,
    settings: Callable[..., Settings],
    narrow: EmbeddingServer,
    wide: EmbeddingServer,
) -> AsyncIterator[Desk]:
    """A server of somebody who reads all spaces. Its provider is OpenAI."""
    with memory.open(OWNER) as owner:
        for name in settlers.names.values():
            owner.execute("select textrawl.grant_access(%s, %s, '{read}')", (ACTOR, name))
    memory.send_directory()
    chosen = settings(
        database_url=memory.dsn(),
        embedding_provider="openai",
        embedding_model="narrow",
        openai_api_key="key",
        openai_base_url=narrow.openai_url,
        ollama_base_url=wide.url,
    )
    async with open_desk_of(chosen, ClusterDatabase(memory.dsn(), timeout=10)) as desk:
        yield desk


@pytest.fixture
def embed(memory: ClusterMemory, narrow: EmbeddingServer, wide: EmbeddingServer) -> Embed:
    """Starts `textrawl embed`, as the owner."""
    return build_embed(
        DATABASE_URL=memory.dsn(OWNER),
        OPENAI_API_KEY="key",
        OPENAI_BASE_URL=narrow.openai_url,
        OLLAMA_BASE_URL=wide.url,
    )


def settle(settlers: Settlers, text: str = "owns thing") -> dict[int, str]:
    """A fact in each space, stored without a vector."""
    facts = {space: f"{text} {space}" for space in settlers.spaces}
    for space, fact in facts.items():
        settlers.remember(space, "Ada", fact)
    return facts


def count_vectors(settlers: Settlers, model: int) -> dict[int, int]:
    """The number of vectors of each space."""
    query = f"select count(*) from embedding_{model} where space_id = %s"  # noqa: S608 - ours
    found: dict[int, int] = {}
    for space in settlers.spaces:
        [(found[space],)] = settlers.fetch(space, query, space, role=OWNER)  # pyright: ignore[reportArgumentType]
    return found


def read_models(memory: ClusterMemory) -> dict[str, str]:
    with memory.open(OWNER) as owner:
        return dict(
            owner.execute("select name, status from textrawl.embedding_models()").fetchall()
        )


def follow(desk: Desk) -> None:
    """As if the seconds were over for which a server believes what it knows of the models."""
    desk.clock.now += LONG_AGO


async def find_all(desk: Desk, settlers: Settlers, facts: dict[int, str]) -> None:
    """Each fact is found by its vector, in whichever cell it is."""
    for fact in facts.values():
        assert fact in await desk.search(fact, searchMode="semantic", limit=50)


async def test_a_model_is_built_in_all_cells_and_switched_to_under_a_server(
    desk: Desk, embed: Embed, memory: ClusterMemory, settlers: Settlers, wide: EmbeddingServer
) -> None:
    facts = settle(settlers)
    await desk.upkeep.do_round()
    assert set(count_vectors(settlers, 1).values()) == {1}
    await find_all(desk, settlers, facts)

    assert "Every fact has a vector of ollama:wide" in await finish(embed(*START))
    assert read_models(memory) == {NARROW: "active", WIDE: "building"}
    assert set(count_vectors(settlers, 2).values()) == {1}
    settle(settlers, "came between")
    await find_all(desk, settlers, facts)
    asked = len(wide.requests)

    assert f"{WIDE} is in use from now on" in await finish(embed("switch"))
    assert set(count_vectors(settlers, 2).values()) == {2}
    assert len(wide.requests) > asked
    follow(desk)
    asked = len(wide.requests)
    await find_all(desk, settlers, facts)
    assert len(wide.requests) == asked + len(facts)
    for space in settlers.spaces:
        [index] = settlers.fetch(space, "select valid from vector_index(2)", role=OWNER)
        assert index == (True,)

    settle(settlers, "came after")
    await desk.upkeep.do_round()
    assert set(count_vectors(settlers, 1).values()) == {3}
    assert set(count_vectors(settlers, 2).values()) == {3}


async def test_a_change_is_taken_back_at_once_and_the_other_model_dropped(
    desk: Desk, embed: Embed, memory: ClusterMemory, settlers: Settlers, narrow: EmbeddingServer
) -> None:
    facts = settle(settlers)
    await desk.upkeep.do_round()
    for words in (START, ("switch",)):
        await finish(embed(*words))
    follow(desk)
    answer = await finish(embed("status"))
    for name, status in {NARROW: "previous", WIDE: "active"}.items():
        assert re.search(rf"{name}\s+{status}\s+[0-9]+\s+{len(facts)}\s+0\s", answer), answer

    assert f"{NARROW} is in use again" in await finish(embed("rollback"))
    follow(desk)
    asked = len(narrow.requests)
    await find_all(desk, settlers, facts)
    assert len(narrow.requests) == asked + len(facts)

    await finish(embed("drop", WIDE))
    assert read_models(memory) == {NARROW: "active"}
    for node in memory.cluster.nodes:
        with memory.open("postgres", node) as session:
            session.execute("set citus.override_table_visibility = off")
            left = session.execute("select relname from pg_class where relname ~ '^embedding_2'")
            assert left.fetchall() == []
    await find_all(desk, settlers, facts)


async def test_a_build_that_was_killed_goes_on_where_it_stopped(
    desk: Desk, embed: Embed, settlers: Settlers, wide: EmbeddingServer
) -> None:
    for round_ in range(5):
        settle(settlers, f"owns thing {round_}")
    await desk.upkeep.do_round()
    wide.hold(after=2)  # one tells the dimensions, one has vectors
    first = embed(*START)
    await anyio.to_thread.run_sync(wide.wait_for_requests, 3)
    os.kill(first.pid, signal.SIGKILL)
    await anyio.to_thread.run_sync(first.communicate)
    wide.release()
    done = sum(count_vectors(settlers, 2).values())
    assert 0 < done < 80

    asked = len(wide.texts)
    assert "Every fact has a vector" in await finish(embed(*START))
    assert set(count_vectors(settlers, 2).values()) == {5}
    assert len(wide.texts) - asked <= 80 - done + 1


async def test_all_workers_are_needed_to_start_a_model(
    desk: Desk, embed: Embed, memory: ClusterMemory, settlers: Settlers
) -> None:
    """The error names the worker, and nothing is changed."""
    facts = settle(settlers)
    await desk.upkeep.do_round()
    node = memory.cluster.workers[0]
    node.stop()
    try:
        said = await finish(embed(*START), code=1)
    finally:
        node.start()
    assert f"127.0.0.1:{node.port} cannot be reached" in said
    assert read_models(memory) == {NARROW: "active"}

    assert "Every fact has a vector" in await finish(embed(*START))
    assert sum(count_vectors(settlers, 2).values()) == len(facts)


async def test_a_build_waits_for_a_worker_that_is_away(
    desk: Desk, embed: Embed, memory: ClusterMemory, settlers: Settlers, wide: EmbeddingServer
) -> None:
    """Meanwhile upkeep gives the other cells their vectors."""
    for round_ in range(5):
        settle(settlers, f"owns thing {round_}")
    await desk.upkeep.do_round()
    wide.hold(after=2)
    building = embed(*START)
    await anyio.to_thread.run_sync(wide.wait_for_requests, 3)
    away = settlers.cells[settlers.spaces[0]].node
    node = memory.cluster.find_node(away)
    node.stop()
    try:
        wide.release()
        there = [space for space in settlers.spaces if settlers.cells[space].node != away]
        for space in there:
            settlers.remember(space, "Ada", "came between")
        await desk.upkeep.do_round()
        for space in there:
            query = "select count(*) from embedding_1 where space_id = %s"
            assert settlers.fetch(space, query, space, role=OWNER) == [(6,)]
        assert "space-00" in await finish(embed("status"), code=1)
        assert building.poll() is None
    finally:
        node.start()

    assert "Every fact has a vector" in await finish(building)
    assert sum(count_vectors(settlers, 2).values()) == 80 + len(there)


async def test_who_still_believes_in_a_model_that_was_dropped_is_answered_all_the_same(
    desk: Desk, embed: Embed, settlers: Settlers
) -> None:
    facts = settle(settlers)
    await desk.upkeep.do_round()
    await finish(embed(*START))
    for words in (("switch",), ("drop", NARROW)):
        await finish(embed(*words))
    [stored] = await desk.remember("collects stamps")
    assert not stored.is_error
    assert "stamps" in await desk.search("stamps")
    await find_all(desk, settlers, facts)
    await desk.upkeep.do_round()
    assert set(count_vectors(settlers, 2).values()) == {1}
    for space in settlers.spaces:
        [rest] = settlers.fetch(space, "select count(*) from embedding_pending", role=OWNER)
        assert rest == (0,)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("switch",), "No other model was built"),
        (("rollback",), "There is no previous model"),
        (("drop", NARROW), f"{NARROW} is in use"),
        (("drop", "openai:none"), "No model openai:none"),
    ],
)
async def test_what_cannot_be_done_with_a_model_is_said_in_one_line(
    desk: Desk, embed: Embed, words: tuple[str, ...], message: str
) -> None:
    await desk.remember("plays the theremin")
    [line] = (await finish(embed(*words), code=1)).splitlines()
    assert line.startswith(f"textrawl: {message}")


def test_the_vector_index_of_a_cell_is_that_of_an_ordinary_memory(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    """The text of it is written twice, because Citus needs it in a function of a superuser."""
    with memory.open(OWNER) as owner:
        owner.execute("select textrawl.register_embedding_model('test:first', 3)")
        owner.execute("select textrawl.start_embedding_model('test:second', 3)")
        owner.execute("select textrawl_content.distribute_models()")
        built = {
            definition.split(" USING ")[1]
            for (definition,) in owner.execute(
                """select indexdef from pg_indexes
                   where tablename ~ '^embedding_[12]$' and indexdef ~ 'hnsw'"""
            ).fetchall()
        }
        count = (
            "select count(*) from pg_indexes where tablename = 'embedding_2' and indexdef ~ 'hnsw'"
        )
        assert owner.execute(count).fetchall() == [(1,)]
    assert len(built) == 1
