"""The time at which a fact was said: given with it, shown with it, and asked for by period."""

from datetime import UTC, datetime, time, timedelta, timezone
from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.conftest import Connect, Era
from tests.support.tool_calls import A_MOMENT, ask, count, read, refuse, remember, text_of

pytestmark = pytest.mark.anyio

_FACT = {"entityName": "Jeff", "entityType": "person", "observation": "likes tea"}
_SEARCH = {"mode": "search", "query": "tea"}
_ENTITY = {"mode": "entity", "entityName": "Jeff"}
_SAID = "select nullif(said_at, created_at) from observation"


async def find(client: Client, **arguments: Any) -> set[str]:
    """Return the contents that a search for tea finds."""
    answer = await ask(client, **_SEARCH, limit=50, maxTokens=25_000, **arguments)
    return {fact["c"] for entity in answer["e"] for fact in entity["m"]}


async def look_up(client: Client, **arguments: Any) -> set[str]:
    """Return the facts of Jeff."""
    return set((await ask(client, **_ENTITY, maxObs=100, maxTokens=25_000, **arguments))["o"])


async def list_names(client: Client, **arguments: Any) -> set[str]:
    """Return the names of all entities of the list."""
    answer = await ask(client, mode="list", limit=100, maxTokens=25_000, **arguments)
    assert answer["n"] == len(answer["e"])
    return {entity["n"] for entity in answer["e"]}


async def test_a_fact_is_stored_with_the_instant_that_was_given(
    client: Client, owner: psycopg.Connection
) -> None:
    cases = [
        ("2023-05-08", datetime(2023, 5, 8, tzinfo=UTC)),
        ("2023-05-08T10:30", datetime(2023, 5, 8, 10, 30, tzinfo=UTC)),
        ("2023-05-08T01:30+02:00", datetime(2023, 5, 7, 23, 30, tzinfo=UTC)),
        ("2023-05-08T10:30:15.25Z", datetime(2023, 5, 8, 10, 30, 15, 250_000, UTC)),
        (" 2023-05-08 ", datetime(2023, 5, 8, tzinfo=UTC)),
        ("none", None),
        ("", None),
        (None, None),
    ]
    for number, (given, stored) in enumerate(cases):
        fact = _FACT | {"observation": f"tells story {number}", "saidAt": given}
        read(await client.call_tool("remember_fact", fact))
        read(await client.call_tool("build_knowledge", {"facts": [fact | {"entityName": "Ada"}]}))

        found = owner.execute(_SAID + " where content = %s", (fact["observation"],)).fetchall()
        assert found == [(stored,), (stored,)], given


async def test_today_may_have_begun_elsewhere_already(
    client: Client, owner: psycopg.Connection
) -> None:
    today = datetime.now(timezone(timedelta(hours=14))).date()
    await remember(client, "Jeff", "likes tea", saidAt=today.isoformat())
    assert owner.execute(_SAID).fetchone() == (datetime.combine(today, time.min, UTC),)

    after_tomorrow = (datetime.now(UTC) + timedelta(days=2)).date().isoformat()
    title, _ = await refuse(client, "remember_fact", **_FACT, saidAt=after_tomorrow)

    assert title == "Invalid argument"
    assert count(owner, "observation") == 1


async def test_ids_and_dates_show_the_day_that_was_given(
    connect: Connect, era: Era, client: Client
) -> None:
    await remember(client, "Jeff", "likes tea", saidAt="2023-05-08T23:30-02:00")

    for shown in ({"includeIds": True}, {"dates": True}):
        found = await client.call_tool("query_memory", {**_SEARCH, **shown})
        entity = await client.call_tool("query_memory", {**_ENTITY, **shown})
        assert read(found)["e"][0]["m"][0]["on"] == "2023-05-09"
        assert read(entity)["o"][0]["on"] == "2023-05-09"
        answers: list[Any] = [found.structured_content, entity.structured_content]
        for fact in (answers[0]["entities"][0]["memories"][0], answers[1]["observations"][0]):
            assert datetime.fromisoformat(fact["saidAt"]) == datetime(2023, 5, 9, 1, 30, tzinfo=UTC)
            assert fact["createdAt"] == A_MOMENT
    lines = await connect(era, compact_responses="lines")
    text = text_of(await lines.call_tool("query_memory", {**_ENTITY, "dates": True}))
    assert text.splitlines()[1] == "2023-05-09: likes tea"


async def test_a_fact_without_an_instant_shows_none(client: Client) -> None:
    await remember(client, "Jeff", "likes tea")

    found = await client.call_tool("query_memory", {**_SEARCH, "includeIds": True})
    entity = await client.call_tool("query_memory", {**_ENTITY, "includeIds": True})

    answers: list[Any] = [found.structured_content, entity.structured_content]
    assert "saidAt" not in answers[0]["entities"][0]["memories"][0]
    assert "saidAt" not in answers[1]["observations"][0]


async def test_the_same_text_of_another_day_is_another_fact(
    client: Client, owner: psycopg.Connection
) -> None:
    first = await remember(client, "Jeff", "likes tea", saidAt="2023-05-08")
    same = await remember(client, "Jeff", "likes tea", saidAt="2023-05-08")
    kept = await remember(client, "Jeff", "likes tea")
    other = await remember(client, "Jeff", "likes tea", saidAt="2023-06-01")

    assert same == kept == first | {"dup": True}
    assert other["obs"] != first["obs"]
    days = [(datetime(2023, 5, 8, tzinfo=UTC),), (datetime(2023, 6, 1, tzinfo=UTC),)]
    assert owner.execute(f"{_SAID} order by 1").fetchall() == days


async def test_the_day_is_found_by_its_words(client: Client) -> None:
    await remember(client, "Jeff", "likes tea", saidAt="2023-05-08")
    await remember(client, "Ada", "sails", saidAt="2021-11-30")

    for query in ("2021-11-30", "30 November 2021", "november"):
        answer = await ask(client, mode="search", query=query)
        assert answer["e"][0]["n"] == "Ada", query


async def test_a_date_as_bound_includes_its_whole_day(client: Client) -> None:
    instants = {"first": "2023-05-08", "last": "2023-05-08T23:59:59.999999Z",
                "before": "2023-05-07T23:59:59Z", "after": "2023-05-09"}  # fmt: skip
    for name, instant in instants.items():
        await remember(client, "Jeff", f"{name} tea", saidAt=instant)

    period = {"since": "2023-05-08", "until": "2023-05-08"}
    assert await find(client, **period) == {"first tea", "last tea"}
    assert await look_up(client, **period) == {"first tea", "last tea"}
    exact = {"since": "2023-05-08T02:00+02:00", "until": "2023-05-08T00:00Z"}
    assert await find(client, **exact) == {"first tea"}
    assert await look_up(client, until="2023-05-07") == {"before tea"}
    assert await look_up(client, since="2023-05-09", until="2999-01-01") == {"after tea"}


async def test_the_list_has_entities_with_a_valid_fact_of_the_period(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Jeff", "likes tea", saidAt="2023-05-08")
    await remember(client, "Ada", "likes tea", saidAt="2024-05-08")
    await remember(client, "Bo", "liked tea", saidAt="2023-05-08")
    owner.execute("update observation set valid_until = now() where content = 'liked tea'")

    assert await list_names(client, until="2023-12-31") == {"Jeff"}
    assert await list_names(client, since="2024-01-01") == {"Ada"}
    assert await list_names(client, since="2022-01-01") == {"Jeff", "Ada"}
    assert await list_names(client) == {"Jeff", "Ada", "Bo"}


async def test_pages_count_the_facts_of_the_period_only(client: Client) -> None:
    for number in range(5):
        await remember(client, "Jeff", f"fact {number}", saidAt=f"2023-05-0{number + 1}")

    page = await ask(client, **_ENTITY, since="2023-05-02", until="2023-05-04", maxObs=2)
    rest = await ask(client, **_ENTITY, since="2023-05-02", until="2023-05-04", offset=2)

    assert (page["o"], page["more"]) == (["fact 3", "fact 2"], 1)
    assert (rest["o"], "more" in rest) == (["fact 1"], False)
