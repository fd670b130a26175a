"""The period that the text of a fact names: read when it is stored, and right in every answer."""

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.conftest import ACTOR
from tests.support.clock import set_back
from tests.support.tool_calls import ask, read, remember

pytestmark = pytest.mark.anyio

HAMBURG = "lived in Hamburg from 2016 until March 2021"


async def find(client: Client, query: str, **more: Any) -> list[tuple[str, str | None]]:
    """The found facts with their periods, best first."""
    answer = await ask(client, mode="search", query=query, **more)
    return [(fact["c"], fact.get("p")) for entity in answer.get("e", []) for fact in entity["m"]]


async def read_periods(client: Client, name: str) -> dict[str, str]:
    """The period of each fact of an entity."""
    answer = await ask(client, mode="entity", entityName=name, asOf="ever")
    return {fact["c"]: fact["p"] for fact in answer["o"]}


def shift(days: int) -> str:
    return (datetime.now(UTC).date() + timedelta(days=days)).isoformat()


async def test_the_reply_says_which_period_was_read_from_the_text(client: Client) -> None:
    told = await remember(client, "Kim", HAMBURG)
    assert (told["p"], told["ended"]) == ("2016/2021-03", True)
    assert (await remember(client, "Kim", "works at Initech since 2019"))["p"] == "2019/"
    assert (await remember(client, "Kim", "ran the marathon in 2023"))["p"] == "2023/"
    for text in ("uses Python 3.11", "used to play chess", "loves the 2020 edition of the book"):
        assert "p" not in await remember(client, "Kim", text), text
    batch = [{"entityName": "Kim", "entityType": "person", "observation": text}
             for text in ("plays the oboe", "sings in the choir since Easter 2025")]  # fmt: skip
    built = read(await client.call_tool("build_knowledge", {"facts": batch}))
    assert built["facts"] == {"new": 2, "dup": 0, "p": {"1": "2025-04-20/"}}

    assert await read_periods(client, "Kim") == {
        HAMBURG: "2016-01-01/2021-03-31",
        "works at Initech since 2019": "2019-01-01/",
        "ran the marathon in 2023": "2023-01-01/",
        "uses Python 3.11": f"{shift(0)}/",
        "used to play chess": f"{shift(0)}/",
        "loves the 2020 edition of the book": f"{shift(0)}/",
        "plays the oboe": f"{shift(0)}/",
        "sings in the choir since Easter 2025": "2025-04-20/",
    }


async def test_a_fact_is_found_at_the_time_that_its_text_names(client: Client) -> None:
    await remember(client, "Kim", "prefers the editor Vim")
    await remember(client, "Kim", "lives in Kiel", validFrom="2021-04-01")
    await remember(client, "Kim", HAMBURG)
    assert (await find(client, "where did Kim live in 2020?"))[0] == (
        HAMBURG,
        "2016-01-01/2021-03-31",
    )
    assert (await find(client, "where did Kim live?", asOf="2020-06-01"))[0][0] == HAMBURG
    now = await find(client, "where does Kim live?")
    assert now[:2] == [("lives in Kiel", None), (HAMBURG, "2016-01-01/2021-03-31")]
    assert HAMBURG in dict(await find(client, "has Kim lived in Hamburg?"))
    profile = await ask(client, mode="entity", entityName="Kim")
    assert HAMBURG not in profile["o"]


async def test_what_has_not_begun_comes_after_what_is_so_now(client: Client) -> None:
    await remember(client, "the archive", "is in the main building", "concept")
    told = await remember(client, "the archive", "will be in the annex from 2090", "concept")
    assert told == told | {"p": "2090/"}
    found = await find(client, "where is the archive?")
    assert found == [
        ("is in the main building", None), ("will be in the annex from 2090", "2090-01-01/"),
    ]  # fmt: skip


async def test_times_of_the_call_win_over_the_text(client: Client) -> None:
    told = await remember(client, "Kim", HAMBURG, validFrom="2017-05-01", validUntil="2020-12-31")
    assert "p" not in told
    told = await remember(client, "Kim", "works at Hooli since 2019", validUntil="2022-06-30")
    assert told["p"] == "2019/"
    told = await remember(client, "Kim", "works at Acme since last year", saidAt="2020-05-01")
    assert told["p"] == "2019/"
    told = await remember(client, "Kim", "works at Umbrella since 2019", validUntil="2018-06-30")
    assert "p" not in told
    assert await read_periods(client, "Kim") == {
        HAMBURG: "2017-05-01/2020-12-31",
        "works at Hooli since 2019": "2019-01-01/2022-06-30",
        "works at Acme since last year": "2019-01-01/",
        "works at Umbrella since 2019": "2018-06-30/2018-06-30",
    }


async def test_a_date_in_the_text_does_not_turn_a_correction_around(client: Client) -> None:
    await remember(client, "Kim", "lives in Bonn", saidAt="2024-05-01")
    told = await remember(client, "Kim", "lives in Kiel since 2021", replaces="lives in Bonn")
    assert "before" not in told
    assert "p" not in told
    again = await remember(
        client, "Kim", "lives in Kiel since 2021", replaces="lives in Kiel since 2021"
    )
    assert again["dup"]
    told = await remember(
        client, "Kim", "lives in Rom from 2090 on", replaces="lives in Kiel since 2021"
    )
    assert told["p"] == "2090/"
    assert await read_periods(client, "Kim") == {
        "lives in Bonn": f"2024-05-01/{shift(0)}",
        "lives in Kiel since 2021": f"{shift(0)}/2090-01-01",
        "lives in Rom from 2090 on": "2090-01-01/",
    }


async def test_a_text_with_a_period_is_one_fact_and_its_undo_leaves_nothing(
    client: Client, owner: psycopg.Connection
) -> None:
    for text in (HAMBURG, "works at Initech since 2019", "drove to Rome yesterday"):
        await remember(client, "Kim", text)
        assert (await remember(client, "Kim", text))["dup"], text
        assert "p" not in await remember(client, "Kim", text)
    before = await read_periods(client, "Kim")
    [[undo]] = owner.execute(
        "select undo_id from undo_author(%s, %s)", (ACTOR, shift(-2))
    ).fetchall()
    owner.execute("select revert_undo(%s)", (undo,))
    assert await read_periods(client, "Kim") == before
    assert HAMBURG in dict(await find(client, "has Kim lived in Hamburg?"))


async def test_a_value_that_returns_has_its_own_years(client: Client) -> None:
    await remember(client, "Kim", "drinks tea", saidAt="2020-03-01")
    await remember(client, "Kim", "drinks coffee", saidAt="2022-03-01", replaces="drinks tea")
    await remember(client, "Kim", "drinks tea again since 2024", replaces="drinks coffee")
    assert (await find(client, "what did Kim drink in 2023?"))[0][0] == "drinks coffee"
    assert (await find(client, "what does Kim drink?"))[0][0] == "drinks tea again since 2024"


async def test_a_correction_begins_today_though_the_clock_ran_ahead(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Kim", "lives in Bonn")
    set_back(owner, timedelta(days=400))
    told = await remember(client, "Kim", "lives in Kiel", replaces="lives in Bonn")
    assert "before" not in told
    assert (await read_periods(client, "Kim"))["lives in Kiel"] == f"{shift(0)}/"
