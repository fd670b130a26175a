"""memory_list: pages of entries, newest first."""

from typing import Any

import pytest
from mcp import Client

from tests.conftest import Connect
from tests.support.tool_calls import read, refuse
from tests.toolsets.journal.entries import delete, record

pytestmark = pytest.mark.anyio


async def fill(client: Client) -> None:
    """Nine entries around a week of May 2026."""
    for day in range(11, 16):
        await record(client, f"- Day {day}", date=f"2026-05-{day}")
    await record(client, "A week", granularity="weekly", date="2026-W20")
    await record(client, "A month", granularity="monthly", date="2026-05")
    await record(client, "A year", granularity="yearly", date="2026")
    event = {"granularity": "significant", "date": "2026-05-12", "slug": "first-conversation"}
    await record(client, "We met. " * 30, **event)


async def list_all(client: Client, **arguments: Any) -> tuple[list[str], int]:
    """Dates of a page, and the total."""
    result = await client.call_tool("memory_list", arguments)
    assert not result.is_error, result.content
    page: dict[str, Any] = result.structured_content or {}
    return [entry["date"] for entry in page["memories"]], page["total"]


async def test_a_list_has_the_newest_first_and_the_total(connect: Connect) -> None:
    client = await connect(toolsets=["journal"])
    await fill(client)

    whole = await list_all(client)
    second = await list_all(client, limit=2, offset=2)
    behind = await list_all(client, offset=20)

    dates = [
        "2026-05-15", "2026-05-14", "2026-05-13", "2026-05-12", "2026-05-12", "2026-05-11",
        "2026-W20", "2026-05", "2026",
    ]  # fmt: skip
    assert whole == (dates, 9)
    assert second == (dates[2:4], 9)
    assert behind == ([], 9)


async def test_a_list_shows_the_first_words_the_slug_and_the_instance(connect: Connect) -> None:
    client = await connect(toolsets=["journal"])
    await fill(client)

    listed = read(await client.call_tool("memory_list", {"granularity": "significant"}))

    assert listed == {
        "total": 1,
        "m": [
            {
                "g": "significant", "d": "2026-05-12", "slug": "first-conversation",
                "c": ("We met. " * 30)[:100] + "…", "src": "laptop",
            }
        ],
    }  # fmt: skip


async def test_a_list_of_a_period_has_the_entries_that_overlap_it(connect: Connect) -> None:
    client = await connect(toolsets=["journal"])
    await fill(client)
    for given, expected in (
        ({"afterDate": "2026-05-14", "granularity": "daily"}, ["2026-05-15", "2026-05-14"]),
        ({"beforeDate": "2026-05-11"}, ["2026-05-11", "2026-W20", "2026-05", "2026"]),
        ({"beforeDate": "2026-05-10"}, ["2026-05", "2026"]),
        ({"afterDate": "2026-05-16"}, ["2026-W20", "2026-05", "2026"]),
        ({"afterDate": "2026-05-18", "beforeDate": "2026-05-20"}, ["2026-05", "2026"]),
        ({"beforeDate": "2025-12-31"}, []),
    ):
        assert await list_all(client, **given) == (expected, len(expected))


async def test_a_period_begins_and_ends_with_a_day(connect: Connect) -> None:
    client = await connect(toolsets=["journal"])
    for date in ("2026-02-29", "2026-05", "yesterday", "20260512"):
        title, fix = await refuse(client, "memory_list", afterDate=date)

        assert (title, "afterDate" in fix) == ("Invalid argument", True)


async def test_a_deleted_entry_is_no_longer_listed(connect: Connect) -> None:
    client = await connect(toolsets=["journal"])
    await record(client, "- A day")
    await delete(client)

    assert await list_all(client) == ([], 0)
