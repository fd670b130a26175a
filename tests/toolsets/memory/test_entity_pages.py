"""An entity with many facts, read page by page."""

from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.conftest import Connect, Era
from tests.support.tool_calls import ask, relate, remember, text_of

pytestmark = pytest.mark.anyio

ENTITY = {"mode": "entity", "entityName": "Ada"}


async def fill(client: Client, owner: psycopg.Connection, number: int) -> list[str]:
    """Texts of that many facts about Ada, newest first; many were said at the same moment."""
    await remember(client, "Ada", "fact 0")
    owner.execute(
        """insert into observation (space_id, id, entity_id, entity_type, content, content_hash,
               source, confidence, valid_from, author_id, client, tool, created_at, fts)
           select space_id, gen_random_uuid(), entity_id, entity_type, 'fact ' || n,
               md5('fact ' || n)::uuid, source, confidence, valid_from, author_id, client, tool,
               created_at + (n / 7) * interval '1 millisecond', fts
           from observation cross join generate_series(1, %s) n""",
        [number - 1],
    )
    rows = owner.execute("select content from observation order by created_at desc, id").fetchall()
    return [content for (content,) in rows]


async def read_pages(client: Client, **more: Any) -> list[str]:
    """Facts of all pages, each page as the one before it promised."""
    found, left = list[str](), -1
    while left:
        page = await ask(client, **ENTITY, offset=len(found), maxTokens=25_000, **more)
        assert left in (-1, page.get("more", 0) + len(page["o"]))
        assert page["o"]
        found += page["o"]
        left = page.get("more", 0)
    return found


@pytest.mark.slow
async def test_an_entity_of_5000_facts_is_read_whole_without_doubles(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(structured_content="off", embedding_provider="none")
    texts = await fill(client, owner, 5000)

    assert await read_pages(client, maxObs=100) == texts
    assert len(set(texts)) == 5000


async def test_pages_of_what_was_valid_at_a_moment_hold_just_that(
    client: Client, owner: psycopg.Connection
) -> None:
    texts = await fill(client, owner, 25)
    ended = {f"fact {number}" for number in range(0, 25, 2)}
    owner.execute(
        "update observation set valid_until = '2030-01-01' where content = any(%s)", [[*ended]]
    )

    assert await read_pages(client, maxObs=4) == texts
    assert await read_pages(client, maxObs=4, asOf="2031-01-01") == [
        text for text in texts if text not in ended
    ]


async def test_beyond_the_last_fact_there_is_an_empty_page(client: Client) -> None:
    for number in range(3):
        await remember(client, "Ada", f"fact {number}")
    for offset in (3, 1000, 2**31, 10**30):
        result = await client.call_tool("query_memory", {**ENTITY, "offset": offset})

        assert not result.is_error
        assert text_of(result) == '{"t":"person","o":[]}'
        answer: Any = result.structured_content
        assert answer["observations"] == []
        assert (answer["hasMore"], answer["totalObservations"]) == (False, 3)


async def test_both_halves_tell_whether_more_follows(connect: Connect, era: Era) -> None:
    client = await connect(era, compact_responses="lines")
    facts = [{"entityName": "Ada", "entityType": "person", "observation": o} for o in "abcde"]
    await client.call_tool("build_knowledge", {"facts": facts})

    page = await client.call_tool("query_memory", {**ENTITY, "maxObs": 2, "offset": 2})
    last = await client.call_tool("query_memory", {**ENTITY, "maxObs": 2, "offset": 4})

    answer: Any = page.structured_content
    assert answer["hasMore"]
    assert text_of(page).splitlines()[-1] == "more 1"
    answer = last.structured_content
    assert not answer["hasMore"]
    assert "more" not in text_of(last)
    assert len(text_of(last).splitlines()) == 2


async def test_relations_come_with_the_first_page(client: Client) -> None:
    await remember(client, "Ada", "likes tea")
    await remember(client, "Ada", "sings")
    await relate(client, "Ada", "knows", "Grace")

    first = await ask(client, **ENTITY, maxObs=1)
    second = await ask(client, **ENTITY, maxObs=1, offset=1)

    assert first == {"t": "person", "o": ["sings"], "r": {"out": ["knows→Grace"]}, "more": 1}
    assert second == {"t": "person", "o": ["likes tea"]}


async def test_facts_that_the_budget_left_out_are_on_the_next_page(
    client: Client, owner: psycopg.Connection
) -> None:
    texts = await fill(client, owner, 40)
    found = list[str]()
    while len(found) < len(texts):
        page = await ask(client, **ENTITY, maxObs=20, maxTokens=500, offset=len(found))
        assert page["o"]
        assert len(found) + len(page["o"]) + page.get("cut", 0) + page.get("more", 0) == 40
        found += page["o"]

    assert found == texts
