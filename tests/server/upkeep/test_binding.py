"""A memory is bound to a model for good: to one that was asked for, and that has answered."""

from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
import psycopg
import pytest

from tests.conftest import Databases
from tests.support.commands import Launch, launch
from tests.support.providers import EmbeddingServer, Fault
from tests.support.upkeep import LONG_AGO, count, open_desk
from textrawl import Settings
from textrawl.embedded.postmaster import OWNER

__all__ = ["launch"]

pytestmark = pytest.mark.anyio

LOCAL, OPENAI = "local:wordllama-l2-supercat-256", "openai:text-embedding-3-small"

Remote = Callable[..., Settings]


def read_active(owner: psycopg.Connection) -> list[Any]:
    return owner.execute("select name from embedding_models() where status = 'active'").fetchall()


async def test_a_key_that_was_meant_for_another_program_takes_no_fact_out_of_the_machine(
    remote: Remote, provider: EmbeddingServer, owner: psycopg.Connection
) -> None:
    inherited = remote().model_copy(
        update={"embedding_provider": "auto", "ollama_base_url": provider.url}
    )
    async with open_desk(inherited) as desk:
        await desk.remember("plays the theremin")
        assert "theremin" in await desk.search("theremin", searchMode="semantic")

    assert read_active(owner) == [(LOCAL,)]
    assert provider.requests == []


async def test_a_memory_that_has_the_model_of_a_provider_goes_on_with_it(
    remote: Remote,
    provider: EmbeddingServer,
    owner: psycopg.Connection,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with open_desk(remote()) as desk:
        await desk.remember("plays the theremin")
    asked = len(provider.requests)
    async with open_desk(remote().model_copy(update={"embedding_provider": "auto"})) as desk:
        await desk.remember("collects stamps")

    assert len(provider.requests) == asked + 1
    assert count(owner, "embedding_1") == 2
    assert read_active(owner) == [(OPENAI,)]
    assert [record for record in caplog.records if record.levelname == "WARNING"] == []


@pytest.mark.parametrize("fault", [Fault.FAILING, Fault.WRONG_DIMENSIONS, Fault.BAD_JSON])
async def test_a_new_memory_takes_no_model_before_its_provider_made_a_vector(
    remote: Remote, provider: EmbeddingServer, owner: psycopg.Connection, fault: Fault
) -> None:
    provider.fail(fault)
    async with open_desk(remote()) as desk:
        [stored] = await desk.remember("plays the theremin")
        assert not stored.is_error
        assert "keyword only" in await desk.search("theremin")
        assert read_active(owner) == []

        provider.heal()
        desk.clock.now += LONG_AGO
        await desk.upkeep.do_round()
        assert read_active(owner) == [(OPENAI,)]
        assert count(owner, "embedding_1") == 1


@pytest.mark.slow
@pytest.mark.parametrize("first", [True, False], ids=["new", "in use"])
async def test_a_build_registers_nothing_before_its_provider_has_answered(
    remote: Remote,
    launch: Launch,
    postgres: Databases,
    database: str,
    owner: psycopg.Connection,
    first: bool,
) -> None:
    if not first:
        async with open_desk(remote()) as desk:
            await desk.remember("plays the theremin")
    before = read_active(owner)

    building = launch(
        "embed",
        "start",
        "--provider",
        "ollama",
        "--model",
        "nomic-embed-text",
        OLLAMA_BASE_URL="http://127.0.0.1:1",
        DATABASE_URL=postgres.cluster.dsn(OWNER, database),
    )
    outcome = await anyio.to_thread.run_sync(building.end)

    assert outcome.code == 1
    assert "Embedding service unavailable" in outcome.complaint
    assert "127.0.0.1:1" in outcome.complaint
    assert owner.execute("select name from embedding_models()").fetchall() == before
