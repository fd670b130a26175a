"""Reads from a standby: own writes, lag, rights, and a standby that goes."""

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import psycopg
import pytest
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

from tests.conftest import TOKEN
from tests.replicas.conftest import Guest, Visit, search
from tests.support.replicas import Pair
from tests.support.tool_calls import read_error, remember
from textrawl.access.access_token import hash_token, make_token
from textrawl.embedded.postmaster import OWNER
from textrawl.memory.watches import Watch
from textrawl.models.active_model import Models
from textrawl.models.local import LocalEmbedder
from textrawl.postgres.database import Database
from textrawl.postgres.standby import MOST_LAG

pytestmark = pytest.mark.anyio

_ADD_TOKEN = """
    insert into textrawl.token (hash, kind, prefix, actor_id, home_space_id, scopes)
    select %s, kind, prefix, actor_id, home_space_id, scopes from textrawl.token where hash = %s
"""
_REVOKE = "update textrawl.token set revoked_at = now() where hash = %s"


def change(pair: Pair, statement: str, *values: object) -> None:
    """Change something on the primary, as another program does."""
    with psycopg.connect(pair.primary.dsn(OWNER), autocommit=True) as owner:
        owner.execute(statement.encode(), values)


async def test_searches_go_to_the_standby_and_a_caller_always_finds_their_own_facts(
    pair: Pair, visit: Visit
) -> None:
    async with visit(pair) as guest:
        await guest.wait_for_standby()
        for number in range(50):
            await remember(guest.client, "Ada", f"owns the stamp number{number}")
            assert f"number{number}" in await search(guest, f"number{number}")
        assert guest.count("standby_reads") > 45

        before = guest.count("primary_reads")
        pair.pause_replay()
        await remember(guest.client, "Ada", "plays the theremin")
        assert "theremin" in await search(guest, "theremin")
        assert guest.count("primary_reads") > before

        await guest.wait_for_standby(used=False)
        pair.resume_replay()
        await guest.wait_for_standby()


async def test_a_token_works_at_once_and_ends_within_the_bound_although_the_standby_is_late(
    pair: Pair, visit: Visit
) -> None:
    token = make_token()
    async with visit(pair, access_token=token) as guest:
        await guest.wait_for_standby()
        pair.pause_replay()
        change(pair, _ADD_TOKEN, hash_token(token), hash_token(TOKEN))
        await remember(guest.client, "Cleo", "walks on stilts")
        assert "stilts" in await search(guest, "stilts")

        pair.resume_replay()
        async for attempt in wait(10):
            with attempt:
                before = guest.count("standby_reads")
                assert "stilts" in await search(guest, "stilts")
                assert guest.count("standby_reads") > before
        pair.pause_replay()
        change(pair, _REVOKE, hash_token(token))
        began = time.monotonic()
        # This server trusts its own token for a minute, so the lag of the standby is the bound.
        async for attempt in wait(30):
            with attempt:
                title, _ = read_error(await guest.client.call_tool("query_memory", {"query": "x"}))
                assert title == "Not authenticated"
        assert time.monotonic() - began < MOST_LAG + 20


async def test_a_subscriber_who_hears_about_a_change_reads_it_even_if_the_standby_is_late(
    pair: Pair, visit: Visit
) -> None:
    async with visit(pair) as ada, visit(pair) as ben:
        await ada.wait_for_standby()
        await remember(ben.client, "Dan", "plays the kazoo")
        assert "kazoo" in await search(ada, "kazoo")
        heard = anyio.Event()

        async def notify() -> None:
            heard.set()

        await ada.app.watches.add({Watch(hash_token(TOKEN), entity="Dan"): notify})
        pair.pause_replay()
        await remember(ben.client, "Dan", "owns a zeppelin")
        await heard.wait()
        assert "zeppelin" in await search(ada, "zeppelin")


async def test_a_caller_finds_a_stored_fact_although_its_write_ended_with_an_error(
    doomed_pair: Pair, visit: Visit
) -> None:
    pair = doomed_pair
    async with visit(pair, database_timeout=5) as guest:
        await guest.wait_for_standby()
        await remember(guest.client, "Gus", "owns a kazoo")
        assert "kazoo" in await search(guest, "kazoo")
        pair.pause_replay()
        pair.make_synchronous()  # so the answer to the next write waits for the standby
        fact = {"entityName": "Gus", "entityType": "person", "observation": "owns a marimba"}
        title, _ = read_error(await guest.client.call_tool("remember_fact", fact))
        assert title == "Database unavailable"
        assert "owns a marimba" in await search(guest, "marimba")


async def test_reads_with_a_new_model_wait_until_the_standby_has_its_vectors(pair: Pair) -> None:
    pool = Database(pair.primary.dsn(), timeout=5, read_url=pair.standby.dsn())
    await pool.open()
    assert pool.standby is not None
    models = Models(pool, LocalEmbedder())
    await models.find_active()
    assert pool.standby.marks.find("anybody") > 0
    await pool.close()


async def test_conflicts_with_the_replay_and_ended_connections_cost_no_error(
    pair: Pair, visit: Visit
) -> None:
    async with let_replay_cancel_reads(pair), visit(pair) as guest:
        await guest.wait_for_standby()
        await remember(guest.client, "Ada", "plays the theremin")
        async with anyio.create_task_group() as readers:
            for _ in range(4):
                readers.start_soon(search_until_cancelled, guest)
            for _ in range(4):
                await guest.wait_for_standby()
                await anyio.to_thread.run_sync(disturb, pair)
            readers.cancel_scope.cancel()


@asynccontextmanager
async def let_replay_cancel_reads(pair: Pair) -> AsyncGenerator[None]:
    """Let the standby cancel a statement as soon as it holds up the replay."""
    pair.standby.execute("alter system set max_standby_streaming_delay = 0")
    pair.standby.execute("select pg_reload_conf()")
    try:
        yield
    finally:
        pair.standby.execute("alter system reset max_standby_streaming_delay")
        pair.standby.execute("select pg_reload_conf()")


def wait(seconds: float) -> AsyncRetrying:
    return AsyncRetrying(stop=stop_after_delay(seconds), wait=wait_fixed(0.1))


async def search_until_cancelled(guest: Guest) -> None:
    while True:
        assert "theremin" in await search(guest, "theremin")


def disturb(pair: Pair) -> None:
    """Let the replay conflict with all reads, and end all connections to the standby."""
    with psycopg.connect(pair.primary.dsn(OWNER)) as owner:
        # One table: a lock on two could meet a statement that takes them in another order.
        owner.execute("lock table textrawl.observation in access exclusive mode")
    pair.standby.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'textrawl_app'"
    )
