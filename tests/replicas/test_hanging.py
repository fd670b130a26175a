"""A primary that hangs, is busy, or was replaced while it still answers."""

import logging
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio
import psycopg
import pytest
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

from tests.conftest import TOKEN
from tests.replicas.conftest import Visit, search
from tests.replicas.test_failover import find_lost
from tests.support.replicas import Pair, probe_both
from tests.support.tool_calls import remember
from textrawl.access.access_token import hash_token
from textrawl.embedded.postmaster import OWNER, SUPERUSER
from textrawl.errors import DatabaseUnavailable
from textrawl.postgres.database import Database

_log = logging.getLogger(__name__)

pytestmark = pytest.mark.anyio

_FUNCTIONS = """
    create table textrawl.tally (at timestamptz default now());
    grant insert, select on textrawl.tally to textrawl_app;
    create function textrawl.count_up(seconds float) returns integer volatile
        begin atomic
            insert into textrawl.tally default values;
            select pg_sleep(seconds);
            select count(*)::integer from textrawl.tally;
        end;
    create function textrawl.wait(seconds float) returns integer stable
        return case when pg_sleep(seconds) is not null then 1 end;
"""
_REMOVAL = """
    drop function textrawl.count_up;
    drop function textrawl.wait;
    drop table textrawl.tally;
"""


@dataclass(frozen=True)
class Counted:
    count_up: int


@dataclass(frozen=True)
class Waited:
    wait: int


@dataclass(frozen=True)
class Principal:
    actor: str


@dataclass(frozen=True)
class Model:
    name: str


@contextmanager
def add_functions(pair: Pair) -> Generator[None]:
    """Add a write that is not repeated, and a read, which both take some time."""
    with psycopg.connect(pair.primary.dsn(OWNER), autocommit=True) as owner:
        owner.execute(_FUNCTIONS)
        try:
            yield
        finally:
            owner.execute(_REMOVAL)


@asynccontextmanager
async def open_pool(
    conninfo: str, *, timeout: float = 10, **options: Any
) -> AsyncGenerator[Database]:
    pool = Database(conninfo, timeout=timeout, **options)
    await pool.open()
    try:
        yield pool
    finally:
        await pool.close()


async def wait_for_statements(pair: Pair, count: int) -> None:
    """Wait until the primary runs statements that sleep."""
    query = "select count(*) from pg_stat_activity where wait_event = 'PgSleep'"
    async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.02)):
        with attempt:
            assert pair.primary.execute(query) == [(count,)]


async def test_calls_of_a_primary_that_hangs_continue_on_the_promoted_standby(
    doomed_pair: Pair, visit: Visit
) -> None:
    pair = doomed_pair
    pair.make_synchronous()
    urls = {"database_url": pair.both(), "database_read_url": pair.both("standby")}
    async with visit(pair, **urls, embedding_provider="none") as guest:
        await guest.wait_for_standby()
        await remember(guest.client, "Ada", "plays the theremin")
        with pair.primary.freeze():
            ends: list[float] = []

            async def store(name: str) -> None:
                await remember(guest.client, name, f"{name} plays the kazoo")
                assert "theremin" in await search(guest, "theremin")
                ends.append(time.monotonic())

            async with anyio.create_task_group() as group:
                for name in ("Ben", "Cleo", "Dan", "Eve", "Fay", "Gus"):
                    group.start_soon(store, name)
                # All of them wait for the primary now, which is what a busy primary looks like.
                await guest.wait_for_standby(used=False)
                assert ends == []
                pair.standby.promote()
                ends.append(time.monotonic())
            _log.info("calls continued %.1f s after the promotion", max(ends) - ends[0])
            await remember(guest.client, "Hal", "Hal plays the kazoo")
    names = ("Ben", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal")
    stored = [*(f"{name} plays the kazoo" for name in names), "plays the theremin"]
    assert find_lost(pair.standby.dsn(SUPERUSER), stored) == set()


class Caller:
    """Calls of a function that is not repeated, and of a read."""

    def __init__(self, pool: Database) -> None:
        self._pool = pool
        self.errors: list[str] = []
        self.read: list[Waited] = []

    async def write(self) -> None:
        with pytest.raises(DatabaseUnavailable) as caught:
            await self._pool.call("count_up", Counted, seconds=3600.0)
        self.errors.append(str(caught.value))

    async def wait(self) -> None:
        self.read += await self._pool.call("wait", Waited, seconds=1.0)

    async def wait_for_error(self) -> None:
        async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.02)):
            with attempt:
                assert len(self.errors) == 1
        assert "The connection broke" in self.errors[0]


async def test_a_write_that_cannot_be_repeated_fails_at_once_and_is_not_doubled(
    doomed_pair: Pair,
) -> None:
    pair = doomed_pair
    pair.make_synchronous()
    with psycopg.connect(pair.primary.dsn(OWNER), autocommit=True) as owner:
        owner.execute(_FUNCTIONS)
    async with open_pool(pair.both()) as pool:
        assert pool.probe is not None
        caller = Caller(pool)
        await pool.call("count_up", Counted, seconds=0.0)
        async with anyio.create_task_group() as group:
            group.start_soon(caller.write)
            group.start_soon(caller.wait)
            await wait_for_statements(pair, 2)
            with pair.primary.freeze():
                pair.standby.promote()
                await pool.probe.look()
                await caller.wait_for_error()
                assert await pool.call("count_up", Counted, seconds=0.0) == [Counted(2)]
        assert caller.read == [Waited(1)]


async def test_calls_that_ended_during_the_wait_for_a_promotion_leave_nothing_behind(
    doomed_pair: Pair,
) -> None:
    pair = doomed_pair
    pair.make_synchronous()
    with psycopg.connect(pair.primary.dsn(OWNER), autocommit=True) as owner:
        owner.execute(_FUNCTIONS)
    async with open_pool(pair.both(), timeout=4, max_size=3) as pool:
        assert pool.probe is not None
        await pool.call("count_up", Counted, seconds=0.0)

        async def fail() -> None:
            with pytest.raises(DatabaseUnavailable):
                await pool.call("count_up", Counted, seconds=0.0)

        with pair.primary.freeze():
            async with anyio.create_task_group() as group:
                for _ in range(12):
                    group.start_soon(fail)
            pair.standby.promote()
            await pool.probe.look()
            for number in range(3):
                assert await pool.call("count_up", Counted, seconds=0.0) == [Counted(number + 2)]


async def test_a_primary_that_is_only_slow_is_not_left(pair: Pair) -> None:
    with add_functions(pair):
        async with open_pool(pair.both()) as pool:
            assert pool.probe is not None
            counted: list[Counted] = []

            async def write() -> None:
                counted.extend(await pool.call("count_up", Counted, seconds=0.2))

            async with anyio.create_task_group() as group:
                group.start_soon(write)
                await wait_for_statements(pair, 1)
                with pair.primary.freeze():
                    group.start_soon(pool.probe.ask)
                    await pool.probe.look()
                    await pool.probe.look()
            assert counted == [Counted(1)]


async def test_a_primary_that_was_replaced_is_left_although_it_answers(doomed_pair: Pair) -> None:
    pair = doomed_pair
    pair.make_synchronous()
    with psycopg.connect(pair.primary.dsn(OWNER), autocommit=True) as owner:
        owner.execute(_FUNCTIONS)
    async with open_pool(pair.both(), max_size=2) as pool:
        assert pool.probe is not None
        await pool.call("count_up", Counted, seconds=0.0)
        pair.standby.promote()
        await pool.probe.look()
        for _ in range(3):
            await pool.call("count_up", Counted, seconds=0.0)
    query = "select count(*) from textrawl.tally"
    assert (pair.primary.execute(query), pair.standby.execute(query)) == ([(1,)], [(4,)])


async def test_long_calls_on_all_connections_keep_no_short_call_and_no_probe_waiting(
    pair: Pair,
) -> None:
    with add_functions(pair):
        async with open_pool(
            pair.primary.dsn(), read_url=pair.standby.dsn(), max_size=2, timeout=60
        ) as pool:
            await probe_both(pool)
            async with anyio.create_task_group() as group:
                for _ in range(4):  # two of them wait
                    group.start_soon(partial(pool.call, "count_up", Counted, seconds=3600.0))
                await wait_for_statements(pair, 2)
                await pool.call("authenticate", Principal, credential=hash_token(TOKEN))
                await pool.call("embedding_models", Model)
                await pool.catch_up()
                await probe_both(pool)
                assert pool.standby is not None
                assert pool.standby.usable
                assert await pool.call("wait", Waited, seconds=0.0) == [Waited(1)]
                assert pool.standby.reads["standby"] == 1
                gauges = pool.read_gauges()
                assert (gauges["pool_size"], gauges["requests_waiting"]) == (3, 2)
                await wait_for_statements(pair, 2)
                group.cancel_scope.cancel()
