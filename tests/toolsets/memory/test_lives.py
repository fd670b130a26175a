"""How long states usually hold: an answer shows the day of a fact that is older than that."""

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.conftest import Connect
from tests.support.tool_calls import ask, remember, text_of

pytestmark = pytest.mark.anyio


def days_ago(days: int) -> str:
    """Return a day as an ISO date."""
    return (datetime.now(UTC) - timedelta(days=days)).date().isoformat()


async def show(client: Client, name: str) -> list[Any]:
    """Return the facts of an entity, by a look-up and by a search that must agree."""
    looked_up = (await ask(client, mode="entity", entityName=name))["o"]
    found = await ask(client, mode="search", query=name, minScore=0)
    [entity] = [entity for entity in found["e"] if entity["n"] == name]
    days = {fact["c"]: fact.get("on") for fact in entity["m"]}
    assert days == {
        fact if isinstance(fact, str) else fact["c"]: None if isinstance(fact, str) else fact["on"]
        for fact in looked_up
    }
    return looked_up


async def test_a_fact_older_than_its_kind_usually_lives_carries_its_day_and_no_other_fact_does(
    client: Client,
) -> None:
    old = ("works at Globex", "likes tea", "was born in 1990")
    told: dict[str, int] = dict.fromkeys(old, 4 * 365)
    told["costs 9 euros per month"] = 200
    for fact, days in told.items():
        await remember(client, "Rosa", fact, saidAt=days_ago(days))
    await remember(client, "Tom", "works at Initech")

    expected = {fact if fact != "works at Globex" else (fact, days_ago(4 * 365)) for fact in told}
    assert {
        fact if isinstance(fact, str) else (fact["c"], fact["on"])
        for fact in await show(client, "Rosa")
    } == expected
    assert await show(client, "Tom") == ["works at Initech"]


async def test_lives_are_measured_from_the_replacements_of_the_memory_itself(
    client: Client, owner: psycopg.Connection
) -> None:
    for number in range(5):
        name = f"Press {number}"
        await remember(client, name, "status: green", "concept", saidAt=days_ago(90))
        await remember(
            client, name, "status: red", "concept", saidAt=days_ago(80), replaces="status: green"
        )
    await remember(client, "Press 9", "status: blue", "concept", saidAt=days_ago(30))
    await remember(client, "Press 8", "status: blue", "concept", saidAt=days_ago(3))
    assert await show(client, "Press 9") == ["status: blue"]

    owner.execute("select refresh_search_statistics(force => true)")

    assert await show(client, "Press 9") == [{"c": "status: blue", "on": days_ago(30)}]
    assert await show(client, "Press 8") == ["status: blue"]


async def test_names_leads_and_ends_that_have_not_come_measure_nothing(
    client: Client, owner: psycopg.Connection
) -> None:
    kinds = {"is called": ("Ann", "Bo"), "leads": ("Atlas", "Boreas"), "works at": ("A", "B")}
    for number in range(5):
        for verb, (old, new) in kinds.items():
            later = {"validFrom": "9999-01-01"} if verb == "works at" else {"saidAt": days_ago(80)}
            name, fact = f"Person {number}", f"{verb} {old}"
            await remember(client, name, fact, saidAt=days_ago(90))
            await remember(client, name, f"{verb} {new}", **later, replaces=fact)

    owner.execute("select refresh_search_statistics(force => true)")

    assert owner.execute("select lives from space_statistics").fetchone() == (None,)


async def test_a_fact_that_was_confirmed_since_is_not_doubted(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Rosa", "works at Globex", saidAt=days_ago(4 * 365))
    owner.execute("update observation set created_at = said_at")
    assert await show(client, "Rosa") != ["works at Globex"]

    await remember(client, "Rosa", "works at Globex")

    assert await show(client, "Rosa") == ["works at Globex"]


async def test_a_fact_with_an_end_and_a_question_of_another_time_show_periods_instead(
    client: Client,
) -> None:
    years = 4 * 365
    await remember(
        client, "Rosa", "works at Globex", saidAt=days_ago(years), validUntil="2999-01-01"
    )
    await remember(client, "Tom", "works at Initech", saidAt=days_ago(years))

    assert await show(client, "Rosa") == ["works at Globex"]
    past = await ask(client, mode="entity", entityName="Tom", asOf=days_ago(years - 9))
    assert past["o"] == ["works at Initech"]


async def test_a_line_begins_with_the_day_and_the_digest_has_it_too(connect: Connect) -> None:
    client = await connect(compact_responses="lines")
    await client.call_tool(
        "remember_fact",
        {"entityName": "Rosa", "entityType": "person", "observation": "works at Globex",
         "saidAt": days_ago(4 * 365)},
    )  # fmt: skip

    found = text_of(await client.call_tool("query_memory", {"query": "where does Rosa work"}))
    [digest] = (await client.read_resource("memory://space/default/digest")).contents

    assert f"{days_ago(4 * 365)}: works at Globex" in found
    assert f"- {days_ago(4 * 365)}: works at Globex" in digest.text  # pyright: ignore
