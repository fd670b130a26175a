"""Facts whose vectors could not be had at once get them later."""

from collections.abc import Callable

import psycopg
import pytest

from tests.support.providers import EmbeddingServer, Fault
from tests.support.upkeep import LONG_AGO, Desk, count, open_desk
from tests.toolsets.items.calls import ask, put
from textrawl import Settings
from textrawl.memory.backlog import count_backlog

pytestmark = pytest.mark.anyio


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
    active = await desk.memory.models.find_active()
    assert await count_backlog(desk.memory.database, active) == 0
    assert count(owner, "embedding_1") == 1
    again = await desk.search("theremin", searchMode="semantic")
    assert "plays the theremin" in again
    assert "note" not in again


async def test_a_semantic_search_without_its_provider_says_what_to_do(
    desk: Desk, provider: EmbeddingServer
) -> None:
    provider.fail(Fault.FAILING)
    answer = await desk.search("theremin", searchMode="semantic")
    assert answer.startswith("Embedding service unavailable. ")


async def test_a_semantic_search_without_any_provider_names_what_to_configure(
    settings: Callable[..., Settings],
) -> None:
    async with open_desk(settings(embedding_provider="none")) as desk:
        answer = await desk.search("theremin", searchMode="semantic")
        assert "Embedding service not configured. " in answer
        assert "Set OPENAI_API_KEY or configure Ollama" in answer
        await desk.remember("plays the theremin")
        assert "embedding service not configured" in await desk.search("theremin")
        await desk.upkeep.do_round()


async def test_a_model_that_comes_later_gets_vectors_for_older_facts(
    settings: Callable[..., Settings], remote: Callable[..., Settings], owner: psycopg.Connection
) -> None:
    async with open_desk(settings(embedding_provider="none")) as before:
        await before.remember("plays the theremin", "collects stamps")
    async with open_desk(remote()) as desk:
        await desk.upkeep.do_round()
        assert count(owner, "embedding_1") == 2
        assert "collects stamps" in await desk.search("stamps", searchMode="semantic")


async def test_an_item_gets_its_vector_at_once_or_later_and_never_that_of_a_former_value(
    desk: Desk, provider: EmbeddingServer, owner: psycopg.Connection
) -> None:
    await put(desk.client, {"plays": "theremin"}, "first")
    provider.fail(Fault.DOWN)
    for value in ("collects stamps", "collects coins"):
        await put(desk.client, value, "second")
    await put(desk.client, "unread", "third", index=False)
    found = await ask(desk.client, "search_items", query="coins")
    assert [item["key"] for item in found["items"]] == ["second"]
    former = owner.execute("select text_id from item_vector where vector is null").fetchone()
    await put(desk.client, "collects shells", "second")

    provider.heal()
    desk.clock.now += LONG_AGO
    await desk.upkeep.do_round()
    active = await desk.memory.models.find_active()
    assert await count_backlog(desk.memory.database, active) == 0
    by_meaning = """
        select v.key from item_vector i, search_items('xyzzy', model => 1, vector => i.vector) v
        join item o using (key) where o.document_id = i.document_id order by v.score desc, v.key"""
    assert owner.execute(by_meaning).fetchall() == [("first",), ("second",)]
    assert former is not None
    assert not owner.execute("select from item_vector where text_id = %s", former).fetchall()


async def test_a_model_that_comes_later_gets_vectors_for_older_items(
    settings: Callable[..., Settings], remote: Callable[..., Settings], owner: psycopg.Connection
) -> None:
    async with open_desk(settings(embedding_provider="none")) as before:
        for key in ("first", "second"):
            await put(before.client, "plays the theremin", key)
    async with open_desk(remote()) as desk:
        await desk.upkeep.do_round()
        vectors = "select count(*) from item_vector where vector is not null"
        assert owner.execute(vectors).fetchall() == [(2,)]
