"""The embedding model is changed while a server serves, and nobody who calls notices."""

import os
import re
import signal
from collections.abc import AsyncIterator, Callable, Iterator

import anyio
import psycopg
import pytest

from tests.conftest import Databases
from tests.support.providers import EmbeddingServer, Fault
from tests.support.upkeep import LONG_AGO, Desk, Embed, build_embed, count, finish, open_desk
from textrawl import Settings, errors
from textrawl.embedded.postmaster import OWNER

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

NARROW, WIDE = "openai:text-embedding-3-small", "ollama:wide"
START = ("start", "--provider", "ollama", "--model", "wide")


@pytest.fixture
def wide() -> Iterator[EmbeddingServer]:
    with EmbeddingServer(dimensions=384) as server:
        yield server


@pytest.fixture
async def desk(remote: Callable[..., Settings], wide: EmbeddingServer) -> AsyncIterator[Desk]:
    """A server with OpenAI, which may also ask an Ollama."""
    async with open_desk(remote(ollama_base_url=wide.url)) as desk:
        yield desk


@pytest.fixture
def embed(
    postgres: Databases, database: str, provider: EmbeddingServer, wide: EmbeddingServer
) -> Embed:
    """Starts `textrawl embed`, as the owner."""
    return build_embed(
        DATABASE_URL=postgres.cluster.dsn(OWNER, database),
        OPENAI_API_KEY="key",
        OPENAI_BASE_URL=provider.openai_url,
        OLLAMA_BASE_URL=wide.url,
    )


def follow(desk: Desk) -> None:
    """As if the seconds were over for which a server believes what it knows of the models."""
    desk.clock.now += LONG_AGO


def read_models(owner: psycopg.Connection) -> dict[str, str]:
    return dict(owner.execute("select name, status from embedding_models()").fetchall())


async def test_a_model_is_built_beside_the_old_one_and_switched_to_under_a_server(
    desk: Desk, embed: Embed, owner: psycopg.Connection, wide: EmbeddingServer
) -> None:
    await desk.build(*(f"owns thing {number}" for number in range(20)))

    answer = await finish(embed(*START))
    assert "run `textrawl embed switch`" in answer
    assert read_models(owner) == {NARROW: "active", WIDE: "building"}
    await desk.remember("came between")
    assert (count(owner, "embedding_1"), count(owner, "embedding_2")) == (21, 20)

    answer = await finish(embed("switch"))
    assert f"{WIDE} is in use from now on" in answer
    assert count(owner, "embedding_2") == 21  # it caught up first
    follow(desk)
    asked = len(wide.requests)
    assert "owns thing 7" in await desk.search("thing 7", searchMode="semantic")
    assert len(wide.requests) == asked + 1

    await desk.remember("came after")
    await desk.upkeep.do_round()
    assert (count(owner, "embedding_1"), count(owner, "embedding_2")) == (22, 22)


async def test_a_change_is_taken_back_at_once_and_the_other_model_dropped(
    desk: Desk, embed: Embed, owner: psycopg.Connection, provider: EmbeddingServer
) -> None:
    await desk.build(*(f"owns thing {number}" for number in range(20)))
    for words in (START, ("switch",)):
        await finish(embed(*words))
    follow(desk)
    await desk.remember("came after")
    await desk.upkeep.do_round()
    answer = await finish(embed("status"))
    for name, status in {NARROW: "previous", WIDE: "active"}.items():
        assert re.search(rf"{name}\t{status}\t[0-9]+\t21\t0\t", answer), answer

    assert f"{NARROW} is in use again" in await finish(embed("rollback"))
    follow(desk)
    asked = len(provider.requests)
    assert "came after" in await desk.search("came after that", searchMode="semantic")
    assert len(provider.requests) == asked + 1

    await finish(embed("drop", WIDE))
    assert read_models(owner) == {NARROW: "active"}
    assert count(owner, "pg_class where relname = 'embedding_2'") == 0
    assert "owns thing 7" in await desk.search("thing 7", searchMode="semantic")


async def test_a_build_that_was_killed_goes_on_where_it_stopped(
    desk: Desk, embed: Embed, owner: psycopg.Connection, wide: EmbeddingServer
) -> None:
    for round_ in range(4):
        await desk.build(*(f"owns thing {round_}.{number}" for number in range(50)))
    wide.hold(after=2)  # one tells the dimensions, one has vectors
    first = embed(*START)
    await anyio.to_thread.run_sync(wide.wait_for_requests, 3)
    os.kill(first.pid, signal.SIGKILL)
    await anyio.to_thread.run_sync(first.communicate)
    wide.release()
    done = count(owner, "embedding_2")
    assert 0 < done < 200
    assert count(owner, "vector_index(2) where valid") == 0  # nobody searches it yet

    asked = len(wide.texts)
    await finish(embed(*START))
    assert count(owner, "embedding_2") == 200
    assert count(owner, "vector_index(2) where valid") == 1
    assert len(wide.texts) - asked <= 200 - done + 1


async def test_a_build_waits_for_a_provider_that_is_away(
    desk: Desk, embed: Embed, owner: psycopg.Connection, wide: EmbeddingServer
) -> None:
    await desk.build(*(f"owns thing {number}" for number in range(50)))
    wide.fail(Fault.FAILING, after=1)
    building = embed(*START)
    await anyio.to_thread.run_sync(wide.wait_for_requests, 3)
    wide.heal()
    await finish(building)
    assert count(owner, "embedding_2") == 50


async def test_a_server_told_of_another_model_serves_the_active_one_and_says_what_to_run(
    settings: Callable[..., Settings],
    desk: Desk,
    provider: EmbeddingServer,
    owner: psycopg.Connection,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await desk.remember("plays the theremin")
    changed = settings(
        embedding_provider="local", openai_api_key="key", openai_base_url=provider.openai_url
    )
    async with open_desk(changed) as other:
        asked = len(provider.requests)
        assert "theremin" in await other.search("theremin", searchMode="semantic")
        await other.remember("collects stamps")
        assert len(provider.requests) == asked + 2
    assert read_models(owner) == {NARROW: "active"}
    assert count(owner, "embedding_1") == 2
    [warning] = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert "`textrawl embed start --provider local --model wordllama-l2-supercat-256`" in warning


async def test_a_server_that_cannot_ask_the_active_model_goes_by_keywords_and_says_why(
    settings: Callable[..., Settings], desk: Desk, owner: psycopg.Connection
) -> None:
    await desk.remember("plays the theremin")
    async with open_desk(settings(embedding_provider="local")) as other:
        found = await other.search("theremin")
        assert "plays the theremin" in found
        assert "keyword only" in found
        answer = await other.search("theremin", searchMode="semantic")
        assert NARROW in answer
        assert "TEXTRAWL_OPENAI_API_KEY is not set" in answer
        [stored] = await other.remember("collects stamps")
        assert not stored.is_error
        with pytest.raises(errors.EmbeddingUnavailable):
            await other.upkeep.do_round()
    await desk.upkeep.do_round()
    assert count(owner, "embedding_1") == 2


async def test_who_still_believes_in_a_model_that_was_dropped_is_answered_all_the_same(
    desk: Desk, embed: Embed, owner: psycopg.Connection
) -> None:
    await desk.remember("plays the theremin")
    await finish(embed(*START))
    for words in (("switch",), ("drop", NARROW)):
        await finish(embed(*words))
    [stored] = await desk.remember("collects stamps")
    assert not stored.is_error
    assert "stamps" in await desk.search("stamps")
    assert "theremin" in await desk.search("theremin", searchMode="semantic")
    await desk.upkeep.do_round()
    assert count(owner, "embedding_2") == 2
    assert count(owner, "embedding_pending") == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("switch",), "No other model was built"),
        (("rollback",), "There is no previous model"),
        (("drop", NARROW), f"{NARROW} is in use"),
        (("drop", "openai:none"), "No model openai:none"),
        (("start", "--provider", "openai"), f"{NARROW} is in use already"),
        (("start", "--provider", "none"), "Embedding service not configured"),
    ],
)
async def test_what_cannot_be_done_with_a_model_is_said_in_one_line(
    desk: Desk, embed: Embed, words: tuple[str, ...], message: str
) -> None:
    await desk.remember("plays the theremin")
    said = await finish(embed(*words), code=1)
    [line] = said.splitlines()
    assert line.startswith(f"textrawl: {message}")


async def test_there_are_two_models_at_most(desk: Desk, embed: Embed) -> None:
    await desk.remember("plays the theremin")
    await finish(embed(*START))
    third = ("start", "--provider", "ollama", "--model", "third")
    assert f"Vectors of {WIDE} are being built" in await finish(embed(*third), code=1)
    await finish(embed("switch"))
    assert f"Vectors of {NARROW} are being built" in await finish(embed(*third), code=1)
    back = ("start", "--provider", "openai", "--model", "text-embedding-3-small")
    assert "`textrawl embed rollback`" in await finish(embed(*back), code=1)
