"""A memory with a sentence encoder: no write waits for it, and its scale is measured there."""

import json
import sys
from collections.abc import AsyncIterator, Callable

import anyio
import psycopg
import pytest

from tests.conftest import Databases
from tests.support.encoder import list_path
from tests.support.http_team import wait_until
from tests.support.upkeep import LONG_AGO, Desk, Embed, build_embed, count, finish, open_desk
from textrawl import Settings, scheduling
from textrawl.client.local import describe_own, open_local
from textrawl.embedded.postmaster import OWNER

pytestmark = pytest.mark.anyio

LOCAL = "local:wordllama-l2-supercat-256"
ENCODER = "encoder:all-minilm-l6-v2-int8"
DRINK = "Which drink does she prefer?"  # without a word of the fact that answers it
TEA = "Her favourite beverage is tea"

Scale = tuple[float, float, float, bool]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package of the encoder is on the path, here and in other processes."""
    monkeypatch.setattr(sys, "path", list_path())
    monkeypatch.delenv("PYTHONPATH")


@pytest.fixture
async def desk(settings: Callable[..., Settings], shown: None) -> AsyncIterator[Desk]:
    """A server with the encoder, whose memory is new."""
    async with open_desk(settings()) as desk:
        yield desk


@pytest.fixture
def embed(postgres: Databases, database: str) -> Embed:
    """Starts `textrawl embed`, as the owner."""
    return build_embed(DATABASE_URL=postgres.cluster.dsn(OWNER, database))


def read_scale(owner: psycopg.Connection, name: str = LOCAL) -> Scale:
    row = owner.execute(
        "select round(cosine_floor::numeric, 2)::float8, round(cosine_ceiling::numeric, 2)::float8,"
        " round(trust::numeric, 2)::float8, calibrated_at is not null"
        " from embedding_model where name = %s",
        [name],
    ).fetchone()
    assert row is not None
    return row


def forget_vectors(owner: psycopg.Connection) -> None:
    owner.execute(
        "with gone as (delete from embedding_1 returning space_id, observation_id)"
        " insert into embedding_pending (model_id, space_id, observation_id)"
        " select 1, space_id, observation_id from gone"
    )


async def test_the_first_facts_are_stored_before_the_model_is_loaded_and_embedded_by_upkeep(
    desk: Desk, owner: psycopg.Connection
) -> None:
    [stored] = await desk.remember(TEA)
    assert not stored.is_error
    assert count(owner, "embedding_model") == 0
    assert TEA in await desk.search("beverage")

    await desk.upkeep.do_round()

    assert owner.execute("select name, dimensions, status from embedding_model").fetchall() == [
        (ENCODER, 384, "active")
    ]
    assert (count(owner, "embedding_1"), count(owner, "embedding_pending")) == (1, 0)
    assert TEA in await desk.search(DRINK, searchMode="semantic")
    await desk.remember("A train leaves from platform nine")
    assert count(owner, "embedding_1") == 2  # a loaded model embeds a fact while it is stored


async def test_vectors_are_made_in_the_background_between_calls(
    desk: Desk, owner: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduling, "_LONGEST_PAUSE", 3600)
    await desk.remember(TEA)
    await desk.upkeep.do_round()
    forget_vectors(owner)

    async with anyio.create_task_group() as beside:
        with owner.transaction():
            owner.execute("lock table ranking_weight")  # which only a search reads
            beside.start_soon(desk.search, "beverage")
            await wait_until(lambda: count(owner, "pg_locks where not granted") > 0)
            beside.start_soon(desk.upkeep.run)
            await wait_until(lambda: count(owner, "embedding_pending where attempts > 0") > 0)
            await anyio.wait_all_tasks_blocked()
            assert count(owner, "embedding_1") == 0
        await wait_until(lambda: count(owner, "embedding_1") == 1)
        beside.cancel_scope.cancel()


async def test_background_work_goes_on_although_calls_never_end(
    desk: Desk, owner: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.remember(TEA)
    await desk.upkeep.do_round()
    forget_vectors(owner)
    monkeypatch.setattr(scheduling.Traffic, "calls", 1)

    async with anyio.create_task_group() as beside:
        beside.start_soon(desk.upkeep.run)
        await wait_until(lambda: count(owner, "embedding_1") == 1)
        beside.cancel_scope.cancel()


@pytest.mark.slow
async def test_a_batch_that_takes_the_encoder_too_long_is_stored_at_once_and_embedded_later(
    desk: Desk, owner: psycopg.Connection
) -> None:
    await desk.remember(TEA)
    await desk.upkeep.do_round()
    long = [f"{number} {'travels by train and by boat ' * 60}" for number in range(50)]

    stored = await desk.build(*long)

    assert not stored.is_error
    assert (count(owner, "embedding_1"), count(owner, "embedding_pending")) == (1, 50)
    assert "travels" in await desk.search("who travels by boat")
    await desk.upkeep.do_round()
    assert (count(owner, "embedding_1"), count(owner, "embedding_pending")) == (51, 0)


@pytest.mark.slow
async def test_the_encoder_is_built_beside_the_local_model_and_switched_to_under_a_server(
    settings: Callable[..., Settings], embed: Embed, owner: psycopg.Connection, shown: None
) -> None:
    async with open_desk(settings(embedding_provider="local")) as desk:
        await desk.remember(TEA, "A train leaves from platform nine")

        assert f"{ENCODER} finds more: run" in await finish(embed("status"))
        await finish(embed("start", "--provider", "encoder"))
        said = await finish(embed("switch"))
        assert f"{ENCODER} is in use from now on" in said
        desk.clock.now += LONG_AGO
        await desk.upkeep.do_round()  # it loads the model

        assert TEA in await desk.search(DRINK, searchMode="semantic", limit=1)
        await desk.remember("plays the theremin")
        assert (count(owner, "embedding_1"), count(owner, "embedding_2")) == (2, 3)


def write_facts() -> list[str]:
    places = ["Oslo", "Rome", "Lima", "Cairo", "Kyoto", "Quito", "Paris", "Delhi", "Accra", "Perth"]
    return [
        f"{who} {does} in {place} with {what} every summer since {1990 + number}"
        for number, place in enumerate(places)
        for who, does, what in [
            ("her brother", "repairs old bicycles", "two friends"),
            ("the neighbour", "grows tomatoes and beans", "great patience"),
            ("an aunt", "teaches children to swim", "a loud whistle"),
            ("the choir", "sings songs of sailors", "an accordion"),
            ("a baker", "sells bread before sunrise", "much flour on both hands"),
            ("the doctor", "walks along the river", "a small grey dog"),
        ]
    ]


@pytest.mark.slow
async def test_a_model_is_measured_with_the_facts_of_the_memory_and_keeps_what_was_measured(
    settings: Callable[..., Settings], embed: Embed, owner: psycopg.Connection
) -> None:
    async with open_desk(settings()) as desk:
        facts = write_facts()
        await desk.build(*facts[:30])
        await desk.build(*facts[30:])
    assert read_scale(owner) == (0.0, 0.7, 0.5, False)

    said = await finish(embed("calibrate"))

    floor, ceiling, trust, measured = read_scale(owner)
    assert f"{LOCAL}: texts with a cosine of {floor:g} or less count as unrelated, with " in said
    assert f"with {ceiling:g} or more as equal" in said
    assert measured
    assert -0.2 < floor < 0.3
    assert 0.6 < ceiling <= 1
    assert 0.3 < trust < 0.9
    async with open_desk(settings()) as desk:  # a server brings the program's values along
        assert "bread" in await desk.search("who bakes", searchMode="semantic")
    assert read_scale(owner) == (floor, ceiling, trust, True)
    [shown] = json.loads(await finish(embed("status", "--json")))
    assert (shown["cosine_floor"], shown["trust"]) == pytest.approx((floor, trust))
    assert shown["calibrated_at"]
    await finish(embed("calibrate", LOCAL, "--reset"))
    assert read_scale(owner) == (0.0, 0.7, 0.5, False)


async def test_a_measurement_that_is_not_possible_changes_nothing(
    settings: Callable[..., Settings], embed: Embed, owner: psycopg.Connection
) -> None:
    async with open_desk(settings()) as desk:
        await desk.build(*write_facts()[:40])
    for words, message in (
        (("calibrate",), "Too few facts to measure with: a calibration needs 50 facts of 6 words"),
        (("calibrate", "openai:none"), "No model openai:none"),
    ):
        assert message in await finish(embed(*words), code=1)

        assert read_scale(owner) == (0.0, 0.7, 0.5, False)


async def test_a_memory_without_a_model_cannot_be_measured(embed: Embed) -> None:
    assert "No model is in use yet" in await finish(embed("calibrate"), code=1)


async def test_a_program_without_upkeep_waits_until_the_encoder_is_loaded(
    settings: Callable[..., Settings], owner: psycopg.Connection, shown: None
) -> None:
    own = settings()
    async with open_local(own) as tools:
        fact = {"entityName": "Ada", "entityType": "person", "observation": TEA}
        await tools.call("remember_fact", fact, describe_own(own))

    assert owner.execute("select name from embedding_model").fetchall() == [(ENCODER,)]
    assert (count(owner, "embedding_1"), count(owner, "embedding_pending")) == (1, 0)
