"""A question that names a time: facts of that time come first, and no others are lost."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from mcp import Client

from tests.support.tool_calls import ask, remember

pytestmark = pytest.mark.anyio


async def search(client: Client, query: str, **arguments: Any) -> dict[str, float]:
    """Return the score of each fact found, best first."""
    answer = await ask(client, mode="search", query=query, **arguments)
    facts = [fact for entity in answer["e"] for fact in entity["m"]]
    return {fact["c"]: fact["s"] for fact in facts}


def days_ago(days: int) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).date().isoformat()


async def test_the_fact_of_the_time_that_is_asked_for_comes_first(client: Client) -> None:
    await remember(client, "Jeff", "ran ten kilometres", saidAt=days_ago(400))
    await remember(client, "Jeff", "ran nine kilometres", saidAt=days_ago(1))
    await remember(client, "Jeff", "ran five kilometres", saidAt=days_ago(90))

    for query, first in {
        "how far did Jeff run yesterday": "ran nine kilometres",
        "how far did Jeff run three months ago": "ran five kilometres",
        f"how far did Jeff run on {days_ago(400)}": "ran ten kilometres",
        "wie weit lief Jeff gestern": "ran nine kilometres",
    }.items():
        found = await search(client, query)
        assert next(iter(found)) == first, query
        assert len(found) >= 2, query
        assert all(0 <= score <= 1 for score in found.values())


async def test_a_time_without_facts_changes_nothing(client: Client) -> None:
    await remember(client, "Jeff", "likes tea", saidAt="2023-05-08")
    await remember(client, "Jeff", "likes coffee", saidAt="2024-05-08")

    without = await search(client, "what does Jeff like")
    assert (await search(client, "what does Jeff like", searchMode="semantic")).keys() == (
        without.keys()
    )
    assert await search(client, "what does Jeff like today") != {}
    assert (await search(client, "what did Jeff like 300 years ago")).keys() == without.keys()


async def test_a_fact_far_from_the_question_is_not_lifted_above_one_that_answers_it(
    client: Client,
) -> None:
    await remember(client, "Jeff", "ran ten kilometres in Graz", saidAt=days_ago(400))
    await remember(client, "Ada", "collects stamps of Norway", saidAt=days_ago(1))

    found = await search(client, "did Jeff run in Graz yesterday?")

    assert next(iter(found)) == "ran ten kilometres in Graz"
