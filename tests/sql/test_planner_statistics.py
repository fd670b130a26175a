"""New tables get the planner's statistics while they grow, and do not wait for autovacuum."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Barrier
from typing import Any

import psycopg
import pytest

from tests.conftest import Databases
from tests.sql.sessions import fetch
from tests.support.http_team import wait_until
from textrawl import Settings
from textrawl.embedded.postmaster import APP
from textrawl.memory import opening

Sql = psycopg.Connection[Any]

_SESSIONS = 4
_ANALYSES = (
    "select analyze_count from pg_stat_user_tables where relid = 'textrawl.lexeme'::regclass"
)


def grow(sql: Sql, begin: int, end: int) -> None:
    """Add words, and let all sessions see how many rows there are."""
    sql.execute(
        "insert into textrawl.lexeme (space_id, word, frequency)"
        " select default_space(), 'w' || n, 1 from generate_series(%s::int, %s::int) n",
        (begin, end - 1),
    )
    sql.execute("select pg_stat_force_next_flush()")


@pytest.fixture
def sql(owner: Sql) -> Sql:
    """A session of the owner, in a database where autovacuum does not analyze the words."""
    owner.execute("set search_path = textrawl, public")
    owner.execute("alter table lexeme set (autovacuum_enabled = false)")
    return owner


@pytest.mark.ordinary("the rows of a cluster are in several tables")
def test_several_sessions_analyze_a_table_once_at_each_threshold(
    sql: Sql, postgres: Databases, database: str
) -> None:
    url, together = postgres.cluster.dsn(APP, database), Barrier(_SESSIONS)

    def refresh(session: Sql) -> int:
        together.wait()
        return fetch(session, "select textrawl.refresh_planner_statistics()")

    analyzed = list[int]()
    with ExitStack() as stack:
        threads = stack.enter_context(ThreadPoolExecutor(_SESSIONS))
        servers = [
            stack.enter_context(psycopg.connect(url, autocommit=True)) for _ in range(_SESSIONS)
        ]
        ends = (99, 100, 101, 999, 1000, 1001, 9999, 10000, 20000)
        for begin, end in zip((0, *ends), ends, strict=False):
            grow(sql, begin, end)
            for _ in range(2):
                analyzed.append(sum(threads.map(refresh, servers)))

    assert analyzed == [0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0]
    assert fetch(sql, _ANALYSES) == 3


@pytest.mark.anyio
@pytest.mark.ordinary("the rows of a cluster are in several tables")
async def test_an_open_memory_analyzes_the_tables_that_have_grown(
    sql: Sql, settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_ANALYSIS_INTERVAL", 0.01)
    grow(sql, 0, 100)
    sql.execute("vacuum lexeme")  # this counts the rows, but makes no statistics
    async with opening.open_memory(settings(embedding_provider="none")):
        await wait_until(lambda: fetch(sql, _ANALYSES) == 1)
