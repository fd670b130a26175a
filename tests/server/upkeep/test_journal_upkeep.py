"""The consolidation of the journal in the background of a server."""

import logging
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from anyio import to_thread

from tests.support.llm_server import LlmServer
from tests.support.provider_server import Fault
from textrawl import Settings
from textrawl.access.principal import Directory
from textrawl.errors import StartRefused
from textrawl.memory.opening import open_memory
from textrawl.server.lifespan import open_app
from textrawl.server.llm_upkeep import JournalUpkeep

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer(lambda _: "- all of it") as server:
        yield server


@pytest.fixture
def given(owner: psycopg.Connection, server: LlmServer) -> dict[str, Any]:
    """Settings that name the LLM, on a journal with a week."""
    owner.execute(
        "select write_entry('daily', '2018-01-03', '- a day', 'laptop', space => default_space())"
    )
    return {"llm_provider": "ollama", "llm_model": "m", "llm_base_url": server.url}


def list_paths(owner: psycopg.Connection) -> list[str]:
    rows = owner.execute("select path from document order by path").fetchall()
    return [path for (path,) in rows]


async def test_a_round_consolidates_all_that_is_due(
    settings: Callable[..., Settings], owner: psycopg.Connection, given: dict[str, Any]
) -> None:
    async with open_memory(settings(**given)) as memory:
        upkeep = JournalUpkeep(memory, Directory(memory.database))
        await upkeep.do_round()
        await upkeep.do_round()

    assert list_paths(owner) == [
        "daily/2018-01-03/laptop",
        "monthly/2018-01",
        "weekly/2018-W01",
        "yearly/2018",
    ]
    tools = owner.execute("select distinct tool from event where tool <> 'sql'").fetchall()
    assert tools == [("memory_consolidate",)]


async def test_a_fault_is_logged_without_a_text_and_repeated_in_the_next_round(
    settings: Callable[..., Settings],
    owner: psycopg.Connection,
    given: dict[str, Any],
    server: LlmServer,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server.fail(Fault.MODEL_MISSING, times=1)
    async with open_memory(settings(**given)) as memory:
        upkeep = JournalUpkeep(memory, Directory(memory.database))
        with caplog.at_level(logging.WARNING, "textrawl"):
            await upkeep.do_round()
        await upkeep.do_round()

    assert "2018-W01 is consolidated later: LLM_MODEL_MISSING" in caplog.text
    assert "a day" not in caplog.text
    assert "weekly/2018-W01" in list_paths(owner)


async def test_a_space_in_which_the_server_only_reads_is_left_alone(
    settings: Callable[..., Settings], owner: psycopg.Connection, given: dict[str, Any]
) -> None:
    owner.execute("update space_grant set scopes = '{read}'")
    async with open_memory(settings(**given)) as memory:
        await JournalUpkeep(memory, Directory(memory.database)).do_round()

    assert list_paths(owner) == ["daily/2018-01-03/laptop"]


async def test_a_server_without_a_token_of_its_own_says_so(
    settings: Callable[..., Settings], given: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    async with open_memory(settings(**given, access_token=None)) as memory:
        await JournalUpkeep(memory, Directory(memory.database)).do_round()

    assert "the server needs an access token of its own" in caplog.text


async def test_the_setting_needs_an_llm(settings: Callable[..., Settings]) -> None:
    with pytest.raises(StartRefused, match="TEXTRAWL_CONSOLIDATE_JOURNAL needs an LLM"):
        async with open_app(settings(consolidate_journal=True)):
            pass


async def test_a_server_consolidates_only_if_it_is_told_to(
    settings: Callable[..., Settings], given: dict[str, Any], server: LlmServer
) -> None:
    async with open_app(settings(**given)):
        pass
    assert server.requests == []
    async with open_app(settings(**given, consolidate_journal=True)):
        await to_thread.run_sync(server.wait_for_requests, 1)
