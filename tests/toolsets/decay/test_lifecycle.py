"""Memories are saved, found, used, ended and revived. The clock is moved in the rows."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from mcp import Client
from mcp.types import CallToolResult

from tests.conftest import ACTOR, Connect
from tests.support.tool_calls import AN_ID, ask, read, refuse, remember, text_of
from textrawl.wire.token_counter import choose_counter

pytestmark = pytest.mark.anyio

Owner = psycopg.Connection[Any]


async def save(client: Client, content: str, *tags: str, **more: Any) -> str:
    given = {"content": content, "tags": list(tags), "entities": ["Notes"], "strength": 1, **more}
    return read(await client.call_tool("save_memory", given))["id"]


async def search(client: Client, **given: Any) -> list[dict[str, Any]]:
    result = await client.call_tool("search_memory", given)
    assert result.structured_content is not None, result
    return result.structured_content["results"]


async def find(client: Client, **given: Any) -> list[str]:
    return [memory["content"] for memory in await search(client, **given)]


def age(owner: Owner, days: float, content: str = "%") -> None:
    """Move the last use of memories into the past."""
    owner.execute(
        "update retention r set last_used = r.last_used - make_interval(secs => 86400 * %s)"
        " from observation o where o.id = r.observation_id and o.content like %s",
        (days, content),
    )


async def test_a_search_tells_what_the_original_tells(client: Client, owner: Owner) -> None:
    memory = await save(client, "Project deadline is Dec 15", "project", "deadline")
    age(owner, 3)

    [found] = await search(client, query="deadline", tags=["project"], top_k=5, window_days=7)

    assert found.pop("last_used") < 1e11
    assert found.pop("similarity") > 0.3
    assert found == {
        "id": memory,
        "content": "Project deadline is Dec 15",
        "tags": ["project", "deadline"],
        "score": 0.5,
        "use_count": 0,
        "age_days": 0.0,
    }


async def test_a_search_without_a_query_lists_the_highest_scores(
    client: Client, owner: Owner
) -> None:
    await save(client, "old")
    await save(client, "strong", strength=2)
    await save(client, "new")
    age(owner, 5, "old")

    found = await search(client)

    assert [one["content"] for one in found] == ["strong", "new", "old"]
    assert all("similarity" not in one for one in found)


async def test_filters_hold_for_everything_that_a_search_finds(
    client: Client, owner: Owner
) -> None:
    for content, tag in (
        ("tea with milk", "drinks"),
        ("tea house", "places"),
        ("coffee", "drinks"),
    ):
        await save(client, content, tag)
    age(owner, 20, "coffee")

    assert await find(client, query="tea", tags=["Drinks"], window_days=7) == ["tea with milk"]
    assert sorted(await find(client, tags=["drinks"])) == ["coffee", "tea with milk"]
    assert sorted(await find(client, min_score=0.5)) == ["tea house", "tea with milk"]
    assert await find(client, tags=["unknown"], query="tea") == []
    assert await find(client, top_k=1, query="coffee", include_review_candidates=False) != []


async def test_an_old_memory_that_matches_is_found_behind_many_newer_ones(
    client: Client, owner: Owner
) -> None:
    await save(client, "the wifi password is on the fridge")
    for number in range(40):
        await save(client, f"unrelated matter {number}")
    owner.execute(
        "update retention set use_count = 200 where observation_id in"
        " (select id from observation where content like '%%wifi%%')"
    )
    age(owner, 9, "%wifi%")

    assert (await find(client, query="wifi password", top_k=3))[0].startswith("the wifi")


async def test_what_remember_fact_stores_is_found_touched_and_reviewed(connect: Connect) -> None:
    client = await connect(toolsets=["memory", "decay"])
    await remember(client, "Ada", "drinks green tea")

    [found] = await search(client, query="tea")
    touched = read(await client.call_tool("touch_memory", {"memory_id": found["id"]}))

    assert (found["score"], found["use_count"]) == (1.0, 0)
    assert touched["uses"] == 1


async def test_a_touch_makes_fresh_and_a_search_does_not(client: Client, owner: Owner) -> None:
    memory = await save(client, "Ada likes tea")
    age(owner, 3)

    before = await search(client, query="tea")
    again = await search(client, query="tea")
    result = await client.call_tool("touch_memory", {"memory_id": memory, "boost_strength": True})

    assert [one["score"] for one in before + again] == [0.5, 0.5]
    assert result.structured_content == {
        "success": True,
        "memory_id": memory,
        "old_score": 0.5,
        "new_score": 1.6673,
        "use_count": 1,
        "strength": 1.1,
        "message": "Memory reinforced. Score: 0.50 -> 1.67",
    }


async def test_the_example_of_a_use_in_another_domain(client: Client) -> None:
    one = await save(client, "prefers JWT", "security", "jwt", "preferences")
    other = await save(client, "the API is REST", "api", "backend")
    missing = str(uuid4())

    used = {"status": "reinforced", "new_use_count": 1, "new_review_count": 1}
    result = await client.call_tool(
        "observe_memory_usage",
        {"memory_ids": [one, other, missing], "context_tags": ["api", "authentication", "backend"]},
    )

    assert result.structured_content == {
        "reinforced": True,
        "count": 2,
        "cross_domain_count": 1,
        "results": [
            {"id": one, **used, "cross_domain": True, "strength": 1.1},
            {"id": other, **used, "cross_domain": False, "strength": 1.0},
            {"id": missing, "status": "not_found"},
        ],
    }


async def test_a_space_can_turn_reinforcement_off(client: Client, owner: Owner) -> None:
    one = await save(client, "prefers JWT")
    owner.execute("insert into decay_policy (space_id, auto_reinforce) values (1, false)")
    off = await client.call_tool("observe_memory_usage", {"memory_ids": [one]})
    none = await client.call_tool("observe_memory_usage", {"memory_ids": []})
    assert off.structured_content == {
        "reinforced": False,
        "count": 0,
        "reason": "auto_reinforce is disabled in config",
    }
    assert content_of(none)["reinforced"] is False


async def test_memories_that_are_due_take_three_slots_of_ten_and_repeat_nothing(
    client: Client, owner: Owner
) -> None:
    for number in range(12):
        await save(client, f"release plan number {number} of the product", strength=2)
    for number in range(5):
        await save(client, f"release plan draft {number}")
    age(owner, 8.5, "%draft%")

    found = await search(client, query="release plan")
    without = await search(client, query="release plan", include_review_candidates=False)

    due = [place for place, one in enumerate(found) if one.get("review_priority")]
    assert due == [2, 5, 8]
    assert len({one["id"] for one in found}) == len(found) == len(without) == 10
    assert not any(one.get("review_priority") for one in without)


async def test_gc_first_shows_what_it_would_end(client: Client, owner: Owner) -> None:
    memory = await save(client, "nobody needs this", "old")
    age(owner, 60)

    shown = await client.call_tool("gc", {})

    assert shown.structured_content == {
        "success": True,
        "dry_run": True,
        "removed_count": 1,
        "archived_count": 0,
        "freed_score_sum": 0.0402,
        "memory_ids": [memory],
        "total_affected": 1,
        "message": "Would remove 1 low-scoring memories",
    }
    assert await find(client, query="nobody needs") == ["nobody needs this"]


async def test_gc_ends_memories_and_undo_revives_them(connect: Connect, owner: Owner) -> None:
    client = await connect(toolsets=["memory", "decay"])
    for content in ("nobody needs this", "needed"):
        await save(client, content)
    age(owner, 60, "nobody%")
    [since] = owner.execute("select clock_timestamp()").fetchone() or [None]

    ended = await client.call_tool("gc", {"dry_run": False, "archive_instead": True, "limit": 50})

    assert content_of(ended)["archived_count"] == 1
    assert await find(client, query="nobody needs") == ["needed"]
    assert await find(client, status="archived") == ["nobody needs this"]
    assert "nobody" not in str(await ask(client, mode="search", query="nobody"))
    [undone] = owner.execute(
        "select undo_id, revived from undo_author(%s, %s)", (ACTOR, since)
    ).fetchall()
    assert undone[1] == 1
    assert "nobody needs this" in await find(client, query="nobody needs")
    owner.execute("select * from revert_undo(%s)", (undone[0],))
    assert await find(client, status="archived") == ["nobody needs this"]


async def test_undo_of_a_save_and_its_revert_keep_tags_uses_and_links(
    client: Client, owner: Owner
) -> None:
    [since] = owner.execute("select clock_timestamp()").fetchone() or [None]
    one, other = await save(client, "first", "a"), await save(client, "second")
    await client.call_tool("touch_memory", {"memory_id": one})
    link = {"from_memory_id": one, "to_memory_id": other, "relation_type": "supports"}
    await client.call_tool("create_relation", link)
    rows = "select to_jsonb(t) from retention t order by 1"
    links = "select to_jsonb(t) from memory_link t"
    before = owner.execute(rows).fetchall(), owner.execute(links).fetchall()

    [(undo,)] = owner.execute("select undo_id from undo_author(%s, %s)", (ACTOR, since)).fetchall()
    gone = owner.execute(rows).fetchall(), owner.execute(links).fetchall()
    owner.execute("select * from revert_undo(%s)", (undo,))

    assert gone == ([], [])
    assert (owner.execute(rows).fetchall(), owner.execute(links).fetchall()) == before


@pytest.mark.ordinary("the owner locks a row")
async def test_gc_waits_for_nobody_and_leaves_a_memory_in_use(client: Client, owner: Owner) -> None:
    await save(client, "in use")
    touched = await save(client, "touched")
    memory = await save(client, "free")
    age(owner, 60)

    with owner.transaction():
        owner.execute("select from observation where content = 'in use' for update")
        owner.execute("select from retention where observation_id = %s for update", (touched,))
        ended = await client.call_tool("gc", {"dry_run": False})

    assert content_of(ended)["memory_ids"] == [memory]


async def test_a_fact_that_no_tool_of_decay_saved_never_fades(client: Client, owner: Owner) -> None:
    memory = await save(client, "a memory")
    fact = await save(client, "a fact")
    owner.execute("update retention set saved = false where observation_id = %s", (fact,))
    age(owner, 60)

    ended = owner.execute(
        "select memory_id::text from forget_faded(array(select observation_id from retention))"
    ).fetchall()

    assert ended == [(memory,)]


def content_of(result: CallToolResult) -> dict[str, Any]:
    """The structured content of a result."""
    assert result.structured_content is not None, result
    return result.structured_content


async def test_links_are_shown_with_their_memories(client: Client) -> None:
    one = await save(client, "decided to use Postgres", "db", source="meeting")
    other = await save(client, "MySQL was considered")
    link = {"from_memory_id": one, "to_memory_id": other, "relation_type": "contradicts"}

    made = read(await client.call_tool("create_relation", link | {"strength": 0.5}))
    again = await client.call_tool("create_relation", link | {"strength": 0.7})
    missing = str(uuid4())
    opened = await client.call_tool("open_memories", {"memory_ids": [one, missing]})
    graph = await client.call_tool("read_graph", {"page_size": 1})

    assert made == {"ok": True, "rel": AN_ID}
    assert content_of(again)["message"] == "Updated the relation contradicts"
    content = content_of(opened)
    assert content["count"] == 1
    assert content["not_found"] == [missing]
    assert content["relations"] == [
        {"from": one, "to": other, "type": "contradicts", "strength": 0.7}
    ]
    assert content["memories"][0]["source"] == "meeting"
    first = content_of(graph)
    assert first["next_page"] == 2
    assert [memory["id"] for memory in first["memories"]] == [other]
    assert first["stats"]["total_memories"] == 2
    last = await client.call_tool("read_graph", {"page_size": 1, "page": 2})
    assert [one["id"] for one in content_of(last)["memories"]] == [one]


async def test_unknown_ids_and_wrong_values_are_refused(client: Client) -> None:
    memory, missing = await save(client, "text"), str(uuid4())

    failed = await client.call_tool("touch_memory", {"memory_id": missing})
    assert failed.is_error
    assert content_of(failed) == {"success": False, "message": f"Memory not found: {missing}"}
    link = {"from_memory_id": memory, "to_memory_id": missing, "relation_type": "related"}
    title, _ = await refuse(client, "create_relation", **link)
    assert title == f"Memory not found: {missing}"
    for tool, wrong in [
        ("touch_memory", {"memory_id": "abc-123"}),
        ("observe_memory_usage", {"memory_ids": ["abc"]}),
        ("observe_memory_usage", {"memory_ids": [memory] * 101}),
        ("search_memory", {"top_k": 101}),
        ("search_memory", {"window_days": 3651}),
        ("search_memory", {"min_score": 1.5}),
        ("search_memory", {"tags": ["?"]}),
        ("search_memory", {"preview_length": 5001}),
        ("gc", {"limit": 10_001}),
        ("create_relation", link | {"to_memory_id": memory}),
        ("create_relation", link | {"relation_type": "likes"}),
        ("create_relation", link | {"strength": 2}),
    ]:
        assert (await refuse(client, tool, **wrong))[0] == "Invalid argument"


async def test_pages_and_previews(client: Client) -> None:
    for number in range(5):
        await save(client, f"{number} " + "word " * 100)

    page = await client.call_tool("search_memory", {"page": 2, "page_size": 2})
    whole = await find(client, preview_length=0)

    content = content_of(page)
    assert content["pagination"] == {"page": 2, "page_size": 2, "total": 5, "has_more": True}
    assert [len(one["content"]) <= 301 for one in content["results"]] == [True, True]
    assert all(len(text) > 500 for text in whole)


async def test_missing_vectors_are_made_on_request(client: Client, owner: Owner) -> None:
    await save(client, "text")

    result = await client.call_tool("backfill_embeddings", {"dry_run": True})

    assert result.structured_content == {
        "success": True,
        "processed": 0,
        "pending": 0,
        "message": "Made 0 vectors; 0 facts wait for one",
    }


SAID_BESIDE = ["team meeting", "Q4 planning discussion"]


async def test_a_saved_memory_is_found_by_query_memory(connect: Connect) -> None:
    client = await connect(toolsets=["memory", "decay"])

    saved = read(
        await client.call_tool(
            "save_memory", {"content": "Ada prefers tea", "entities": ["Ada"], "strength": 1.2}
        )
    )

    found = await ask(client, mode="search", query="tea")
    assert saved == {"ok": True, "id": AN_ID}
    assert [(entity["n"], [fact["c"] for fact in entity["m"]]) for entity in found["e"]] == [
        ("Ada", ["Ada prefers tea"])
    ]


async def test_a_memory_keeps_what_was_said_beside_its_text(
    client: Client, owner: psycopg.Connection[Any]
) -> None:
    result = await client.call_tool(
        "save_memory",
        {
            "content": "The project deadline is December 15th",
            "tags": ["Project.Q4", "dead line"],
            "entities": ["project", "december"],
            **dict(zip(("source", "context"), SAID_BESIDE, strict=True)),
            "meta": {"by": 7},
            "strength": 1.5,
        },
    )

    stored = owner.execute(
        "select tags, entities, source, context, extra, strength, use_count, status, saved,"
        " last_used <= now() from retention"
    ).fetchall()
    assert result.structured_content == {
        "success": True,
        "memory_id": AN_ID,
        "has_embedding": True,
        "enrichment_applied": False,
        "message": f"Memory saved, with ID: {(result.structured_content or {})['memory_id']}",
    }
    tags, entities, *values = stored[0]
    assert (tags, entities) == (["project-q4", "dead_line"], ["project", "december"])
    assert values == [*SAID_BESIDE, {"by": 7}, 1.5, 0, "active", True, True]


async def test_entities_and_strength_are_found_in_the_text(client: Client) -> None:
    text = "Use JWT tokens for authentication in all new APIs"
    saved = read(await client.call_tool("save_memory", {"content": text}))

    assert saved == {"ok": True, "id": AN_ID, "e": ["jwt", "authentication", "apis"], "str": 1.0}


async def test_a_text_that_is_saved_again_is_the_same_memory_and_fresh(
    client: Client, owner: psycopg.Connection[Any]
) -> None:
    memory = {"content": "likes tea", "entities": ["Ada"], "strength": 1}
    first = read(await client.call_tool("save_memory", memory | {"tags": ["a"]}))
    owner.execute("update retention set last_used = '2020-01-01'")

    again = read(await client.call_tool("save_memory", memory | {"tags": ["b"], "strength": 2}))

    assert again == first
    [(tags, strength, last_used, uses)] = owner.execute(
        "select tags, strength, last_used, use_count from retention"
    ).fetchall()
    assert (tags, strength, uses) == (["a", "b"], 2, 0)
    assert last_used > datetime(2021, 1, 1, tzinfo=UTC)


async def test_a_long_memory_is_one_memory(client: Client, owner: psycopg.Connection[Any]) -> None:
    text = "A sentence of a long story. " * 200

    await client.call_tool("save_memory", {"content": text.strip(), "entities": ["Story"]})

    assert owner.execute("select count(*) from observation").fetchone() == (3,)
    assert owner.execute(
        "select memory_text(space_id, observation_id) from memory_decay"
    ).fetchall() == [(text.strip(),)]


async def test_a_memory_beyond_a_limit_is_refused(
    client: Client, owner: psycopg.Connection[Any]
) -> None:
    for wrong in (
        {"content": ""},
        {"content": "x" * 50_001},
        {"tags": ["ok", "!!!"]},
        {"tags": ["a"] * 51},
        {"tags": ["a" * 101]},
        {"entities": ["a"] * 101},
        {"source": "s" * 501},
        {"context": "c" * 1001},
        {"strength": 0.9},
        {"strength": 2.1},
        {"content": "\u200b"},
    ):
        title, _ = await refuse(client, "save_memory", **({"content": "tea"} | wrong))

        assert title == "Invalid argument"
        assert owner.execute("select count(*) from entity").fetchone() == (0,)


BUDGET = 500
TEXT = "the quarterly report needs another chapter about the harbour of Lisbon "


async def test_an_answer_that_is_too_long_keeps_the_first_memories(connect: Connect) -> None:
    client = await connect(toolsets=["decay"], max_response_tokens=BUDGET, structured_content="off")
    ids = [
        read(await client.call_tool("save_memory", {"content": f"{number}: {TEXT * 3}"}))["id"]
        for number in range(20)
    ]
    arguments: dict[str, dict[str, Any]] = {
        "search_memory": {"query": "harbour", "top_k": 20},
        "open_memories": {"memory_ids": ids},
        "read_graph": {"page_size": 20},
        "search_unified": {"query": "harbour", "limit": 20},
    }
    for tool in ("search_memory", "open_memories", "read_graph", "search_unified"):
        result = await client.call_tool(tool, arguments[tool])

        text = text_of(result)
        assert not result.is_error, text
        assert choose_counter().count(text) <= BUDGET
        if tool == "search_unified":
            assert text.startswith("[stm")
            assert "cut " in text
        else:
            answer = read(result)
            assert 0 < len(answer["m"]) < len(ids)
            assert len(answer["m"]) + answer["cut"] == len(ids)
