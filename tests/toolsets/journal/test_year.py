"""A year of days becomes weeks, months and a year, each once, whatever happens in between."""

import re
from collections import Counter
from datetime import date, timedelta
from typing import Any

import anyio
import psycopg
import pytest

from tests.conftest import Connect
from tests.support.llm_server import LlmServer
from tests.support.provider_server import Fault
from tests.toolsets.journal.consolidating import consolidate, name_llm, read_texts

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

# 2018 begins and ends on a Monday: no week of it belongs to another year, and the last one is 53rd.
DAYS = [date(2018, 1, 1) + timedelta(days=day) for day in range(365)]
WEEKS = {f"{year}-W{week:02}" for year, week, _ in (day.isocalendar() for day in DAYS)}
MONTHS = {f"2018-{month:02}" for month in range(1, 13)}
ORDER = ("weekly", "monthly", "yearly")


@pytest.fixture
def year(owner: psycopg.Connection) -> psycopg.Connection:
    """A bullet for each day."""
    with owner.transaction():
        for day in DAYS:
            owner.execute(
                "select write_entry('daily', %s, %s, 'laptop', space => default_space())",
                (str(day), f"- what I did on {day} [chat:{day:%j}]"),
            )
    return owner


@pytest.fixture(params=["openai", "ollama"])
def llm(request: pytest.FixtureRequest, llm_server: LlmServer) -> dict[str, Any]:
    """Settings of a server with an LLM, once in each protocol."""
    llm_server.write = lambda asked: "- " + "x" * len(re.findall("^- ", asked.user, re.MULTILINE))
    return {"toolsets": ["journal"], **name_llm(request.param, llm_server)}


def count_requests(server: LlmServer) -> Counter[str]:
    """How often the LLM was asked for each period."""
    asked = re.compile(r"entries of (\S+) into")
    return Counter(str(asked.findall(request.system)[0]) for request in server.requests)


def check(year: psycopg.Connection) -> None:
    """There is an entry for each period, made of all entries below it, which are unchanged."""
    weekly, monthly, yearly = (read_texts(year, granularity) for granularity in ORDER)
    assert (weekly.keys(), monthly.keys(), yearly.keys()) == (WEEKS, MONTHS, {"2018"})
    assert len(WEEKS) == 53
    assert weekly["2018-W19"] == "# Weekly Memory - 2018-W19\n\n- xxxxxxx"
    assert monthly["2018-01"].endswith("- xxxxx")  # the Mondays of January
    assert yearly["2018"].endswith(f"- {'x' * 12}")
    versions = "select count(*), max(number), sum(number) from document_version"
    assert year.execute(versions).fetchone() == (431, 1, 431)
    assert year.execute("select count(*) from consolidation").fetchone() == (0,)


async def test_a_year_becomes_53_weeks_12_months_and_a_year_each_once_though_two_servers_work(
    connect: Connect, year: psycopg.Connection, llm: dict[str, Any], llm_server: LlmServer
) -> None:
    clients = [await connect(**llm), await connect(**llm)]

    for granularity in ORDER:
        async with anyio.create_task_group() as both:
            for client in clients:
                both.start_soon(
                    client.call_tool,
                    "memory_consolidate",
                    {"granularity": granularity, "all": True},
                )
    for granularity in ORDER:  # again: there is nothing to do
        assert (await consolidate(clients[0], granularity, all=True))["consolidations"] == []

    check(year)
    assert set(count_requests(llm_server).values()) == {1}


async def test_a_provider_that_fails_in_the_middle_is_asked_again_later(
    connect: Connect, year: psycopg.Connection, llm: dict[str, Any], llm_server: LlmServer
) -> None:
    llm_server.fail(Fault.KEY_REFUSED, after=20)
    done = await consolidate(await connect(**llm), "weekly", all=True, fails=True)
    failed = [period for period in done["consolidations"] if not period["success"]]
    assert len(read_texts(year, "weekly")) == 20
    assert all(period["error"].startswith("LLM_UNREACHABLE: ") for period in failed)

    llm_server.heal()
    client = await connect(**llm)
    for granularity in ORDER:
        assert (await consolidate(client, granularity, all=True))["success"] is True

    check(year)
