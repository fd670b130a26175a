"""save_memory: a memory is a fact, and what fades of it stands beside."""

from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from tests.conftest import Connect
from tests.support.tool_calls import AN_ID, ask, read, refuse

pytestmark = pytest.mark.anyio

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
    connect: Connect, owner: psycopg.Connection[Any]
) -> None:
    client = await connect(toolsets=["decay"])

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


async def test_entities_and_strength_are_found_in_the_text(connect: Connect) -> None:
    client = await connect(toolsets=["decay"])

    text = "Use JWT tokens for authentication in all new APIs"
    saved = read(await client.call_tool("save_memory", {"content": text}))

    assert saved == {"ok": True, "id": AN_ID, "e": ["jwt", "authentication", "apis"], "str": 1.0}


async def test_a_text_that_is_saved_again_is_the_same_memory_and_fresh(
    connect: Connect, owner: psycopg.Connection[Any]
) -> None:
    client = await connect(toolsets=["decay"])
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


async def test_a_long_memory_is_one_memory(
    connect: Connect, owner: psycopg.Connection[Any]
) -> None:
    client = await connect(toolsets=["decay"])
    text = "A sentence of a long story. " * 200

    await client.call_tool("save_memory", {"content": text.strip(), "entities": ["Story"]})

    assert owner.execute("select count(*) from observation").fetchone() == (3,)
    assert owner.execute(
        "select memory_text(space_id, observation_id) from memory_decay"
    ).fetchall() == [(text.strip(),)]


async def test_a_memory_beyond_a_limit_is_refused(
    connect: Connect, owner: psycopg.Connection[Any]
) -> None:
    client = await connect(toolsets=["decay"])
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
