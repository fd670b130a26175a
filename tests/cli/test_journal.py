"""`textrawl journal consolidate`: what cron runs."""

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.conftest import TOKEN
from tests.support.commands import Run
from tests.support.llm_server import LlmServer
from tests.support.provider_server import Fault

PLAN = ("journal", "consolidate", "--dry-run")


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer(lambda _: "- all of it") as server:
        yield server


@pytest.fixture
def given(database_url: str, server: LlmServer, owner: psycopg.Connection) -> dict[str, Any]:
    """The environment of a command, on a journal of the days of two months."""
    owner.execute(
        "select write_entry('daily', d::date::text, '- a day', 'laptop', space => default_space())"
        " from generate_series(date '2018-01-01', '2018-02-28', '1 day') d"
    )
    return {
        "DATABASE_URL": database_url,
        "ACCESS_TOKEN": TOKEN,
        "LLM_PROVIDER": "ollama",
        "LLM_MODEL": "m",
        "LLM_BASE_URL": server.url,
    }


def test_all_that_is_due_is_consolidated_in_order(run: Run, given: dict[str, Any]) -> None:
    done = run("journal", "consolidate", **given)

    lines = done.out.splitlines()
    assert done.code == 0
    assert lines[0] == "weekly 2018-W01: consolidated"
    assert lines[-3:] == [
        "monthly 2018-01: consolidated",
        "monthly 2018-02: consolidated",
        "yearly 2018: consolidated",
    ]
    assert done.err == "Consolidated 12 periods.\n"
    again = run("journal", "consolidate", **given)
    assert (again.code, again.out, again.err) == (0, "", "Consolidated 0 periods.\n")


def test_a_dry_run_shows_what_is_due_and_asks_nobody(
    run: Run, given: dict[str, Any], server: LlmServer
) -> None:
    shown = run(*PLAN, **given)
    plain = json.loads(run(*PLAN, "weekly", "--json", **given).out)
    one = run(*PLAN, "weekly", "--date", "2018-01-03", **given)

    assert "weekly 2018-W09: due, 3 entries" in shown.out
    assert shown.err == "9 periods to consolidate.\n"
    assert plain[0] == {"granularity": "weekly", "period": "2018-W01", "state": "due", "sources": 7}
    assert one.out == "weekly 2018-W01: due, 7 entries\n"
    assert server.requests == []


def test_a_failed_period_is_told_and_makes_the_exit_code_1(
    run: Run, given: dict[str, Any], server: LlmServer
) -> None:
    server.fail(Fault.MODEL_MISSING)

    done = run("journal", "consolidate", "weekly", "--date", "2018-W02", "--json", **given)

    assert done.code == 1
    [period] = json.loads(done.out)
    assert period["error"].startswith("LLM_MODEL_MISSING: ")
    assert "run `ollama pull m`" in period["error"]


def test_without_an_llm_the_command_says_what_to_set(run: Run, given: dict[str, Any]) -> None:
    refused = run("journal", "consolidate", **given | {"LLM_PROVIDER": "none"})

    assert refused.code == 1
    assert "TEXTRAWL_LLM_PROVIDER" in refused.complaint


def test_a_wrong_argument_is_refused(run: Run, given: dict[str, Any]) -> None:
    for words, told in (
        (["daily"], "weekly, monthly or yearly"),
        (["--date", "2018-W02"], "give a granularity too"),
    ):
        refused = run("journal", "consolidate", *words, **given)

        assert refused.code == 2
        assert told in refused.complaint
