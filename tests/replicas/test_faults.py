"""A standby that dies, hangs, is promoted, or never was one."""

import logging
import signal
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import anyio
import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

from tests.conftest import Databases
from tests.replicas.conftest import Guest, Visit, search
from tests.support.folders import open_folder
from tests.support.replicas import Pair, probe_both, replicate
from tests.support.tool_calls import remember
from textrawl.embedded.postmaster import APP, OWNER, SUPERUSER
from textrawl.postgres.database import Database
from textrawl.postgres.standby import MOST_LAG

_log = logging.getLogger(__name__)

pytestmark = pytest.mark.anyio


class Readers:
    """Clients that search one fact until the end. A search that does not find it fails the test."""

    def __init__(self, guest: Guest) -> None:
        self._guest, self._ended = guest, False
        self.count, self.slowest = 0, 0.0

    async def read(self) -> None:
        while not self._ended:
            began = time.monotonic()
            assert "theremin" in await search(self._guest, "theremin")
            self.slowest = max(self.slowest, time.monotonic() - began)
            self.count += 1

    def end(self) -> None:
        self._ended = True


@pytest.mark.slow
async def test_a_standby_that_dies_or_hangs_under_load_costs_no_error(
    doomed_pair: Pair, visit: Visit
) -> None:
    pair = doomed_pair
    async with visit(pair) as guest:
        await guest.wait_for_standby()
        await remember(guest.client, "Ada", "plays the theremin")
        readers = Readers(guest)
        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(readers.read)
            await pair.standby.kill()
            await guest.wait_for_standby(used=False)
            await pair.standby.start()
            await guest.wait_for_standby()
            pair.standby.signal(signal.SIGSTOP)
            await guest.wait_for_standby(used=False)
            pair.standby.signal(signal.SIGCONT)
            await guest.wait_for_standby()
            readers.end()
        _log.info("%d searches, the slowest took %.1f s", readers.count, readers.slowest)
        assert readers.slowest < 6


async def test_a_server_that_is_no_standby_of_the_primary_answers_nothing(
    doomed_pair: Pair, visit: Visit, postgres: Databases, database: str
) -> None:
    pair = doomed_pair
    stranger = postgres.cluster.dsn(APP, database)
    async with visit(pair, database_read_url=stranger) as guest:
        await remember(guest.client, "Ada", "plays the theremin")
        assert "theremin" in await search(guest, "theremin")
        assert guest.count("standby_reads") == 0
    async with visit(pair) as guest:
        await guest.wait_for_standby()
        pair.standby.promote()
        assert "theremin" in await search(guest, "theremin")
        await guest.wait_for_standby(used=False)


async def test_another_database_or_login_of_the_standby_answers_nothing(pair: Pair) -> None:
    pair.primary.execute("create database other")
    with psycopg.connect(pair.primary.dsn(SUPERUSER, "other"), autocommit=True) as superuser:
        superuser.execute("create extension vector")
    node = pair.standby
    urls = (node.dsn(), node.dsn(OWNER), node.dsn(APP, "other"))
    assert [await probe(pair, url) for url in urls] == [True, False, False]


async def probe(pair: Pair, url: str) -> bool:
    """Return whether a pool uses a standby that has all of the WAL."""
    pool = Database(pair.primary.dsn(), timeout=5, read_url=url)
    await pool.open()
    try:
        assert pool.standby is not None
        async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.02)):
            with attempt:
                await probe_both(pool)
                assert pool.standby.lag < MOST_LAG
        return pool.standby.usable
    finally:
        await pool.close()


async def test_a_standby_that_comes_back_is_found_although_the_url_led_to_the_primary_meanwhile(
    doomed_pair: Pair, visit: Visit
) -> None:
    async with visit(doomed_pair, database_read_url=doomed_pair.both("prefer-standby")) as guest:
        await guest.wait_for_standby()
        await doomed_pair.standby.kill()
        await guest.wait_for_standby(used=False)
        await remember(guest.client, "Ada", "plays the theremin")
        assert "theremin" in await search(guest, "theremin")
        await doomed_pair.standby.start()
        await guest.wait_for_standby()


@pytest.mark.slow
async def test_a_standby_that_has_more_than_the_promoted_one_answers_nothing(
    doomed_pair: Pair,
) -> None:
    """Its position in the WAL is beyond that of the new primary, but with other writes."""
    pair = doomed_pair
    with open_folder() as folder:
        async with replicate(pair.primary, folder / "second") as second:
            pool = Database(pair.both(), timeout=10, read_url=second.dsn())
            await pool.open()
            assert pool.standby is not None
            await probe_both(pool)
            assert pool.standby.usable
            pair.standby.follow(None)
            pair.primary.execute("create table lost as select generate_series(1, 10_000)")
            await probe_both(pool)
            await pair.primary.kill()
            pair.standby.promote()
            second.follow(pair.standby)
            async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.02)):
                with attempt:
                    await probe_both(pool)
                    assert pool.standby.lag < MOST_LAG
                    assert not pool.standby.usable
            await pool.close()


@pytest.mark.slow
async def test_a_second_standby_that_follows_the_promoted_one_is_used_again(
    doomed_pair: Pair,
) -> None:
    pair = doomed_pair
    with open_folder() as folder:
        async with replicate(pair.primary, folder / "second") as second:
            pool = Database(pair.both(), timeout=10, read_url=second.dsn())
            await pool.open()
            assert pool.standby is not None
            await probe_both(pool)
            await pair.primary.kill()
            pair.standby.promote()
            second.follow(pair.standby)
            async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.1)):
                with attempt:
                    pair.standby.execute("checkpoint")
                    second.execute("checkpoint")  # otherwise it takes some minutes
                    await probe_both(pool)
                    assert pool.standby.usable
            await pool.close()


@pytest.mark.slow
async def test_a_late_standby_answers_nothing_although_another_one_of_the_url_is_not_late(
    doomed_pair: Pair,
) -> None:
    pair = doomed_pair
    with open_folder() as folder:
        async with replicate(pair.primary, folder / "second") as second:
            both = make_conninfo(Pair(pair.standby, second).both("standby"))
            url = make_conninfo(both, load_balance_hosts="random")
            pool = Database(pair.primary.dsn(), timeout=10, read_url=url, max_size=8)
            await pool.open()
            with psycopg.connect(pair.primary.dsn(OWNER), autocommit=True) as owner:
                owner.execute(_NEWS)
                await probe_both(pool)
                second.pause_replay()
                owner.execute("insert into textrawl.news values (2)")
            end = time.monotonic() + MOST_LAG
            while time.monotonic() < end:
                await probe_both(pool)
            async with anyio.create_task_group() as group:
                for _ in range(40):
                    group.start_soon(read_news, pool)
            await pool.close()


async def read_news(pool: Database) -> None:
    assert await pool.call("latest", Latest) == [Latest(2)]


@dataclass(frozen=True)
class Latest:
    latest: int


_NEWS = """
    create table textrawl.news as select 1 as number;
    grant select on textrawl.news to textrawl_app;
    create function textrawl.latest() returns integer stable begin atomic
        select pg_sleep(0.1);
        select max(number) from textrawl.news;
    end;
"""


async def test_long_reads_on_all_connections_are_not_taken_for_a_standby_that_hangs(
    pair: Pair,
) -> None:
    with let_reads_take(pair, 1.5):
        pool = Database(pair.primary.dsn(), timeout=10, read_url=pair.standby.dsn(), max_size=2)
        await pool.open()
        assert pool.standby is not None
        await probe_both(pool)
        async with anyio.create_task_group() as group:
            for _ in range(2):
                group.start_soon(partial(pool.call, "long_read", LongRead))
            await probe_both(pool)
            await probe_both(pool)
        assert pool.standby.usable
        assert pool.standby.reads == {"standby": 2, "primary": 0}
        await pool.close()


@dataclass(frozen=True)
class LongRead:
    long_read: bool


@contextmanager
def let_reads_take(pair: Pair, seconds: float) -> Generator[None]:
    """Add a function that reads for some time."""
    with psycopg.connect(pair.primary.dsn(OWNER), autocommit=True) as owner:
        owner.execute(
            "create function textrawl.long_read() returns boolean stable"
            f" return pg_sleep({seconds}) is not null".encode()
        )
        yield
        owner.execute("drop function textrawl.long_read")


async def test_without_positions_in_the_wal_the_primary_answers_everything(
    pair: Pair, visit: Visit
) -> None:
    """Some providers do not offer them."""
    pair.primary.execute("revoke execute on function pg_control_system from public")
    try:
        async with visit(pair) as guest:
            await remember(guest.client, "Eve", "repairs accordions")
            assert "accordions" in await search(guest, "accordions")
            assert guest.count("standby_reads") == 0
    finally:
        pair.primary.execute("grant execute on function pg_control_system to public")
