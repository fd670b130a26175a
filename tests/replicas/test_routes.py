"""Which server a call reaches: by the catalogue of Postgres, through poolers, by chance."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.replicas.conftest import Visit, search
from tests.support.folders import open_folder
from tests.support.pgbouncer import find_pgbouncer, run_pgbouncer
from tests.support.replicas import Node, Pair
from tests.support.tool_calls import remember
from textrawl.embedded.postmaster import APP, SUPERUSER
from textrawl.errors import DatabaseUnavailable
from textrawl.postgres import functions
from textrawl.postgres.database import Database

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Refreshed:
    refresh_search_statistics: bool


def test_the_lists_of_functions_agree_with_the_catalogue(owner: psycopg.Connection) -> None:
    rows = owner.execute(
        "select proname, provolatile from pg_proc where pronamespace = 'textrawl'::regnamespace"
    ).fetchall()
    writing = {name for name, volatility in rows if volatility == "v"}
    reading = {name for name, _ in rows} - writing

    assert (functions.REPEATABLE | functions.STORED_AGAIN | functions.SPREAD) - writing == set()
    assert functions.REPEATABLE.isdisjoint(functions.STORED_AGAIN)
    assert functions.PRIMARY_ONLY - reading == set()
    named = functions.SHORT | functions.HEAVY | functions.COMPLETE | functions.IN_ALL_CELLS
    assert named | functions.SCOPE_OF.keys() <= writing | reading


async def refresh(url: str, *, timeout: float = 10) -> None:
    """Call a function that writes, with a new connection."""
    pool = Database(url, timeout=timeout, max_size=1)
    await pool.open()
    try:
        await pool.call("refresh_search_statistics", Refreshed)
    finally:
        await pool.close()


async def test_a_write_that_reached_a_standby_is_sent_to_the_primary(pair: Pair) -> None:
    with pytest.raises(DatabaseUnavailable, match="standby"):
        await refresh(pair.standby.dsn())
    turned = Pair(pair.standby, pair.primary)
    with pytest.raises(DatabaseUnavailable, match="standby"):  # libpq takes the first host
        await refresh(turned.both("any"), timeout=1)
    # Each new connection leads to one of the two, so some calls reach the standby first.
    for _ in range(6):
        await refresh(make_conninfo(pair.both("any"), load_balance_hosts="random"))


@asynccontextmanager
async def pool_node(node: Node) -> AsyncGenerator[str]:
    users = [APP, SUPERUSER]
    with open_folder() as folder, run_pgbouncer(folder, node.dsn(), "transaction", users) as url:
        yield url


@pytest.mark.slow
@pytest.mark.skipif(find_pgbouncer() is None, reason="there is no pgbouncer on this machine")
async def test_own_facts_are_found_through_poolers_too(pair: Pair, visit: Visit) -> None:
    async with (
        pool_node(pair.primary) as primary,
        pool_node(pair.standby) as standby,
        visit(pair, database_url=primary, database_read_url=standby) as guest,
    ):
        await guest.wait_for_standby()
        for number in range(100):
            await remember(guest.client, "Fay", f"owns the coin number{number}")
            assert f"number{number}" in await search(guest, f"coin number{number}")
        assert guest.count("standby_reads") > 90
