"""The statements that a call sends, with and without a standby."""

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tenacity import Retrying, stop_after_delay, wait_fixed

from tests.conftest import TOKEN, Databases
from tests.support.replicas import Pair, probe_both
from textrawl.access.access_token import hash_token
from textrawl.embedded.postmaster import APP
from textrawl.postgres.database import Database

pytestmark = pytest.mark.anyio

_OPENING = 2  # statements of a new connection: is there a pooler, and where are the vector types


@dataclass(frozen=True)
class Principal:
    actor: str


@dataclass(frozen=True)
class Owner:
    owns_memory: bool


async def call_often(database: Database) -> None:
    """Five writes and five reads, as Postgres declares them."""
    for _ in range(5):
        await database.call("authenticate", Principal, credential=hash_token(TOKEN))
        await database.call("owns_memory", Owner)


@asynccontextmanager
async def open_pool(conninfo: str, **options: Any) -> AsyncGenerator[Database]:
    pool = Database(conninfo, timeout=5, max_size=1, **options)
    await pool.open()
    try:
        yield pool
    finally:
        await pool.close()


def count_statements(log: Path) -> Callable[[], int]:
    """Return a function that counts the statements since now."""
    begin = log.stat().st_size

    def count() -> int:
        text = log.read_bytes()[begin:].decode()
        return len(re.findall(r"LOG:  (?:execute|statement)", text))

    return count


async def test_without_a_standby_a_call_is_one_statement(
    postgres: Databases, database: str
) -> None:
    postgres.execute("alter database {name} set log_statement = 'all'", name=database)
    count = count_statements(postgres.cluster.data.parent / "postgres-18.log")
    async with open_pool(postgres.cluster.dsn(APP, database)) as pool:
        await call_often(pool)
    assert count() == _OPENING + 10


async def test_with_a_standby_a_write_also_asks_for_its_place_and_a_read_for_the_standbys(
    pair: Pair,
) -> None:
    pair.primary.execute("alter role textrawl_app set log_statement = 'all'")
    for attempt in Retrying(stop=stop_after_delay(60), wait=wait_fixed(0.02)):
        with attempt:
            assert pair.standby.execute("select 1 from pg_db_role_setting where setdatabase = 0")
    async with open_pool(pair.primary.dsn(), read_url=pair.standby.dsn()) as pool:
        assert pool.standby is not None
        await probe_both(pool)
        await call_often(pool)
        counts = [count_statements(node.paths.log) for node in (pair.primary, pair.standby)]
        await call_often(pool)
        written, read = [count() for count in counts]
        assert written == 10
        assert read >= 10  # and more while a read waits for the replay
    pair.primary.execute("alter role textrawl_app reset log_statement")
