"""`Client`: the same methods, results and errors on a memory of the settings and on a server."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.library.conftest import ANSWERS, Reach
from tests.support.sources import store
from textrawl import Client, errors
from textrawl_client import Put

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("way", ANSWERS)]


async def test_what_is_remembered_is_recalled_with_its_origin(reach: Reach, way: str) -> None:
    memory = await reach(way)
    stored = await memory.remember("Ada", "leads QA at Acme", type="person")
    await memory.remember("Bo", "plays chess", type="person")
    found = await memory.recall("who leads QA?", limit=5)

    fact = found.facts[0]
    assert (fact.entity, fact.type, fact.content) == ("Ada", "person", "leads QA at Acme")
    assert (fact.author, fact.id[:8]) == ("ada", stored.id[:8])
    assert 0 < fact.score <= 1
    assert datetime.now(UTC) - timedelta(days=1, hours=1) < fact.said_at <= datetime.now(UTC)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert len(found) == len(found.facts)
    assert (await memory.recall("is there a zebra?")).missing == ("zebra",)


async def test_one_event_is_undone_any_tool_called_and_a_fact_stored_once_and_corrected_by_its_id(
    reach: Reach, way: str
) -> None:
    memory = await reach(way)
    stored = await memory.remember("Ada", "likes tea", type="person")
    listed = await memory.call("query_memory", {"mode": "list"}, reads=True)
    assert listed["total"] == 1
    with pytest.raises(errors.ArgumentInvalid):
        await memory.undo(10**9)
    [done] = await memory.undo(2)
    assert done.removed > 0
    assert len(await memory.recall("tea")) == 0
    assert await memory.get(stored.id) is None

    # The memory is empty again.
    first = await memory.remember("Ada", "lives in Graz", type="person")
    again = await memory.remember("Ada", "lives in Graz", type="person")
    log = "2026-11-25 10:11:12 INFO the worker sent a heartbeat\n" * 60
    [found] = await memory.recall(f"{log}where does Ada live?")
    await memory.remember("Ada", "lives in Linz", type="person", replaces=found.id)

    assert (first.duplicate, again.duplicate) == (False, True)
    assert (first.entity, first.type) == ("Ada", "person")
    assert [fact.content for fact in await memory.recall("where does Ada live?")] == [
        "lives in Linz"
    ]


async def test_a_close_fact_is_named_and_a_budget_omits_the_weakest_facts_and_says_how_many(
    reach: Reach, way: str
) -> None:
    memory = await reach(way)
    await memory.remember("Ada", "uses VS Code as primary editor", type="person")
    stored = await memory.remember("Ada", "uses VS Code as the primary editor", type="person")
    assert stored.similar.content == "uses VS Code as primary editor"

    for number in range(20):
        await memory.remember("Ada", f"likes tea number {number}", type="person")
    found = await memory.recall("tea", limit=20, max_tokens=400)
    assert 0 < len(found) < 20
    assert len(found) + found.omitted == 20


async def test_a_dry_run_deletes_nothing_and_one_fact_can_be_forgotten(
    reach: Reach, way: str
) -> None:
    memory = await reach(way)
    await memory.remember("Ada", "likes tea", type="person")
    plan = await memory.forget("Ada", dry_run=True)
    kept = await memory.recall("tea")
    done = await memory.forget("Ada")

    assert (plan.id, plan.facts, plan.relations, plan.sample) == (None, 1, 0, ("likes tea",))
    assert len(kept) == 1
    assert done.id
    assert len(await memory.recall("tea")) == 0

    stored = await memory.remember("Ada", "likes tea", type="person")
    await memory.remember("Ada", "likes chess", type="person")
    done = await memory.forget("Ada", fact=stored.id)

    assert done.id[:8] == stored.id[:8]
    assert {fact.content for fact in await memory.recall("what does Ada like?")} == {"likes chess"}


async def test_times_types_and_an_entity_restrict_an_answer(reach: Reach, way: str) -> None:
    memory = await reach(way)
    long_ago = datetime(2026, 3, 1, 12, tzinfo=UTC)
    await memory.remember("Ada", "likes tea", type="person", said_at=long_ago)
    await memory.remember("Tea", "grows in Assam", type="concept")

    [fact] = await memory.recall("tea", until="2026-04-01")
    assert fact.said_at.date() == long_ago.date()
    assert [one.entity for one in await memory.recall("tea", types=["concept"])] == ["Tea"]
    assert len(await memory.recall("tea", least_score=1)) == 0

    for number in range(30):
        await memory.remember(f"User {number}", "likes green tea in the morning", type="person")
    await memory.remember("User 7", "plays chess", type="person")

    found = await memory.recall("who likes green tea?", entity="user 7", limit=50)
    assert {fact.entity for fact in found} == {"User 7"}
    assert found.facts[0].content == "likes green tea in the morning"
    assert len(await memory.recall("green tea", entity="Nobody")) == 0


async def test_entities_are_related_and_relations_end(reach: Reach, way: str) -> None:
    memory = await reach(way)
    made = await memory.relate("Ada", "works at", "Acme", from_type="person")
    moved = await memory.relate("Ada", "works_at", "Beta", replaces=True)
    ended = await memory.relate("Ada", "works_at", "Beta", ended=True)

    assert (made.from_entity.name, made.from_entity.type) == ("Ada", "person")
    assert made.to_entity.name == "Acme"
    assert "works_at→Acme" in {fact.content for fact in await memory.recall("Ada", as_of="ever")}
    assert moved.ended == ("Acme",)
    assert ended.ended == ("Beta",)
    with pytest.raises(errors.ArgumentInvalid, match="Relation not found"):
        await memory.relate("Ada", "knows", "Cy", ended=True)


async def test_errors_are_the_errors_of_textrawl(reach: Reach, way: str) -> None:
    memory = await reach(way)
    await memory.remember("Ada", "likes tea", type="person")

    with pytest.raises(errors.NothingToDelete) as missing:
        await memory.forget("Nobody")
    assert missing.value.message == "There is no entity named Nobody"
    with pytest.raises(errors.FactNotFound) as unknown:
        await memory.remember("Ada", "likes coffee", type="person", replaces="likes milk")
    assert "replaces" in unknown.value.fix
    with pytest.raises(errors.EntityTypeInvalid):
        await memory.recall("tea", types=["robot"])
    with pytest.raises(errors.QueryMissing):
        await memory.recall("  ")
    with pytest.raises(errors.ArgumentInvalid, match="Empty period"):
        await memory.recall("tea", since="2026-02-01", until="2026-01-01")
    with pytest.raises(errors.ArgumentInvalid, match="Unknown tool"):
        await memory.call("no_tool", {})
    deep: list[Any] = []
    for _ in range(300):
        deep = [deep]
    with pytest.raises(errors.ArgumentInvalid, match="nested too deeply"):
        await memory.items.put(("u",), "deep", deep)
    with pytest.raises(errors.ArgumentInvalid, match="Value is not JSON"):
        await memory.items.put(("u",), "set", {1, 2})
    with pytest.raises(errors.ArgumentInvalid, match="must be true, false, or a list of paths"):
        await memory.items.put(("u",), "letters", 1, index="title")


async def test_entities_are_looked_up_listed_and_paged_and_a_fact_by_its_id(
    reach: Reach, way: str
) -> None:
    memory = await reach(way)
    stored = await memory.remember("Ada", "likes tea", type="person")
    await memory.remember("Ada", "likes chess")
    await memory.relate("Ada", "works_at", "Acme", to_type="organization")
    await memory.remember("adam", "sings", type="person")

    ada = await memory.entity("ADA", limit=1, offset=1)
    assert (ada.entity.name, ada.entity.type, ada.total_facts) == ("Ada", "person", 2)
    assert [fact.content for fact in ada.facts] == ["likes tea"]
    [relation] = (await memory.entity("Ada")).relations.outgoing
    assert (relation["relation_type"], relation["to_entity"]) == ("works_at", "Acme")
    assert await memory.entity("Nobody") is None

    page = await memory.list("ad", limit=1)
    assert (page.total, [one.name for one in page.entities]) == (2, ["adam"])
    assert [one.name for one in (await memory.list("ad", offset=1)).entities] == ["Ada"]
    assert [one.name for one in (await memory.list(types="organization")).entities] == ["Acme"]

    fact = await memory.get(stored.id)
    assert (fact.entity, fact.content, fact.valid, fact.author) == ("Ada", "likes tea", True, "ada")
    assert await memory.get("00000000-0000-4000-8000-000000000000") is None


async def test_whole_chunks_are_found_alone_and_passages_beside_facts(
    reach: Reach, way: str, owner: psycopg.Connection
) -> None:
    owner.execute("select create_space('meals', tier => 'personal')")
    owner.execute("select grant_access('ada', 'meals', array['read'])")
    store(owner, "meals")
    memory = await reach(way)
    await memory.remember("Ada", "serves tea", type="person")
    chunk, *_ = await memory.documents("when is tea served?")

    assert (chunk.entity, chunk.type, chunk.space) == ("meals.md", "document", "meals")
    assert chunk.id == chunk.chunk_id
    found = await memory.recall("when is tea served?")
    assert {fact.entity: fact.type for fact in found} == {"Ada": "person", "meals.md": "document"}


async def test_items_logs_and_the_journal_are_there_every_way(reach: Reach, way: str) -> None:
    memory = await reach(way)
    value = {"b": 1, "a": ["\u200b", "\0", None, 2.5]}
    put = await memory.items.put(("u", "Ada"), "k", value, metadata={"by": "test"}, version=0)
    with pytest.raises(errors.ItemExists):
        await memory.items.put(("u", "Ada"), "k", 1, version=0)
    await memory.items.put(("u", "Ada"), "k", None, version=put.version)
    first, last = await memory.items.get(("u", "Ada"), "k", version=1), await memory.items.list()

    assert (json.dumps(first.value), first.metadata) == (json.dumps(value), {"by": "test"})
    assert [(one.namespace, one.key, one.value, one.version) for one in last] == [
        (("u", "Ada"), "k", None, 2)
    ]
    assert await memory.items.get(("u", "ada"), "k") is None
    assert [one.version for one in await memory.items.history(("u", "Ada"), "k")] == [2, 1]
    log = memory.log("session", "7")
    assert await log.append(["hi", {"role": "user"}, "hi"]) == 3
    assert (await log.pop(), await log.read(last=1)) == ("hi", [{"role": "user"}])
    assert await log.read(0) == []
    assert await log.clear() == 2
    assert await memory.items.namespaces() == [("u", "Ada")]

    [kept] = await memory.items.put_many([Put(("u",), "short", 1, ttl=60)], delete=last)
    assert kept.expires_at - kept.updated_at < timedelta(seconds=62)
    assert [one.key for one in await memory.items.list()] == ["short"]

    entry = {"granularity": "daily", "date": "2026-05-12", "content": "- Met Ben [chat:7]"}
    await memory.call("memory_create", {**entry, "instanceId": "laptop", "chatIds": ["7"]})
    assert [one.date for one in await memory.journal("daily")] == ["2026-05-12"]


async def test_a_client_that_is_not_open_says_how_to_open_it(way: str, tmp_path: Path) -> None:
    client = Client() if way == "local" else Client("http://127.0.0.1:9")
    with pytest.raises(RuntimeError, match="async with"):
        await client.recall("tea")
