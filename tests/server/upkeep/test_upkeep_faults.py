"""Whatever provider and workers do, facts stay, and only good vectors are stored."""

from collections.abc import Callable

import anyio
import psycopg
import pytest

from tests.support.providers import EmbeddingServer, Fault
from tests.support.upkeep import LONG_AGO, Desk, count, make_due, open_desk
from textrawl import Settings, errors
from textrawl.server.lifespan import Upkeep

pytestmark = pytest.mark.anyio

_SHAPES = """
    select vector_dims(vector), round(vector_norm(vector::vector)::numeric, 2) from embedding_1"""

FAULTS = [
    Fault.WRONG_DIMENSIONS,
    Fault.MIXED_DIMENSIONS,
    Fault.NO_DIMENSIONS,
    Fault.FEWER,
    Fault.NAN,
    Fault.ZERO,
    Fault.BAD_JSON,
    Fault.TRUNCATED,
    Fault.HANG,
]


@pytest.mark.slow
async def test_a_vector_that_is_none_is_never_stored_and_the_fact_always(
    desk: Desk, provider: EmbeddingServer, owner: psycopg.Connection
) -> None:
    await desk.remember("registers the model")
    for fault in FAULTS:
        known = count(owner, "fact")
        provider.fail(fault)
        await desk.build(f"plays the theremin {known}", f"collects stamps {known}")
        [single] = await desk.remember(f"keeps bees {known}")
        assert not single.is_error, fault
        assert count(owner, "fact") == known + 3
        assert count(owner, "embedding_1") == known, fault

        desk.clock.now += LONG_AGO
        try:
            await desk.upkeep.do_round()
        except errors.EmbeddingUnavailable:
            assert count(owner, "embedding_pending") == 3
        assert set(owner.execute(_SHAPES).fetchall()) == {(1536, 1)}, fault

        provider.heal()
        desk.clock.now += LONG_AGO
        make_due(owner)
        await desk.upkeep.do_round()
        assert count(owner, "embedding_1") == known + 3, fault
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
    await desk.memory.models.find_active()  # which binds the memory to it
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
    await desk.memory.models.find_active()  # which binds the memory to it
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
    await desk.memory.models.find_active()  # which binds the memory to it
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
    await desk.memory.models.find_active()  # which binds the memory to it
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
                embedding_provider="openai",
                openai_api_key="key",
                embedding_model="mine",
                openai_base_url=server.openai_url,
            )
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
    await desk.memory.models.find_active()  # which binds the memory to it
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
