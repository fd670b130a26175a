"""Answers that say when a fact was said."""

from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.conftest import ACTOR, Connect, Era
from tests.support.tool_calls import A_SHORT_ID, ask, read, remember, text_of

pytestmark = pytest.mark.anyio

SEARCH = {"mode": "search", "query": "tea"}
ENTITY = {"mode": "entity", "entityName": "Jeff"}
DAY = "2025-03-04"


async def fill(client: Client, owner: psycopg.Connection) -> None:
    """A fact of a day that is long ago, said just before midnight in UTC."""
    fact = {"entityName": "Jeff", "entityType": "person", "observation": "likes tea"}
    await client.call_tool("remember_fact", fact)
    moment = "2025-03-04 23:59:59.5+00"
    owner.execute("update observation set created_at = %s, said_at = %s", (moment, moment))


async def test_each_fact_carries_the_day_it_was_said(
    client: Client, owner: psycopg.Connection
) -> None:
    await fill(client, owner)

    found = await client.call_tool("query_memory", {**SEARCH, "dates": True})
    entity = await client.call_tool("query_memory", {**ENTITY, "dates": True})

    [fact] = read(found)["e"][0]["m"]
    assert fact == {"c": "likes tea", "s": fact["s"], "on": DAY}
    answer: Any = found.structured_content
    moment = answer["entities"][0]["memories"][0]["createdAt"]
    assert datetime.fromisoformat(moment) == datetime(2025, 3, 4, 23, 59, 59, 500_000, UTC)
    assert read(entity) == {"t": "person", "o": [{"c": "likes tea", "on": DAY}]}
    answer = entity.structured_content
    assert answer["observations"][0]["createdAt"] == moment


async def test_lines_carry_it_before_the_text(
    connect: Connect, era: Era, owner: psycopg.Connection
) -> None:
    client = await connect(era, compact_responses="lines")
    await fill(client, owner)

    found = text_of(await client.call_tool("query_memory", {**SEARCH, "dates": True}))
    entity = text_of(await client.call_tool("query_memory", {**ENTITY, "dates": True}))

    assert found.splitlines()[1].split(" ", 1)[1] == f"{DAY}: likes tea"
    assert entity.splitlines() == ["Jeff (person)", f"{DAY}: likes tea"]


async def test_without_being_asked_for_it_costs_nothing(client: Client) -> None:
    await remember(client, "Jeff", "likes tea")

    found = await client.call_tool("query_memory", {**SEARCH, "dates": False})

    assert read(found) == await ask(client, **SEARCH)
    answer: Any = found.structured_content
    assert "createdAt" not in answer["entities"][0]["memories"][0]
    assert (await ask(client, **ENTITY))["o"] == ["likes tea"]


async def test_ids_carry_it_with_the_author_as_before(
    client: Client, owner: psycopg.Connection
) -> None:
    await fill(client, owner)

    [fact] = (await ask(client, **ENTITY, includeIds=True, dates=True))["o"]

    assert fact == {"c": "likes tea", "id": A_SHORT_ID, "by": ACTOR, "on": DAY}
    assert fact == (await ask(client, **ENTITY, includeIds=True))["o"][0]


async def test_days_are_those_of_utc_wherever_postgres_stands(
    connect: Connect, era: Era, owner: psycopg.Connection, database: str
) -> None:
    owner.execute(f"alter database {database} set timezone = 'Pacific/Auckland'")  # pyright: ignore[reportArgumentType, reportCallIssue]
    client = await connect(era)
    await fill(client, owner)

    assert (await ask(client, **SEARCH, dates=True))["e"][0]["m"][0]["on"] == DAY
    assert (await ask(client, **ENTITY, dates=True))["o"][0]["on"] == DAY
