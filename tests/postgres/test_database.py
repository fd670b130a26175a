"""The pool: what a caller meets when Postgres restarts, goes, freezes, or says no."""

import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, LiteralString

import anyio
import psycopg
import pytest
from anyio import to_thread
from psycopg.conninfo import make_conninfo
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

from tests.conftest import TOKEN
from tests.support.gateway import Gateway
from tests.support.upkeep import open_desk
from textrawl import Settings, errors
from textrawl.access.access_token import hash_token
from textrawl.embedded.postmaster import OWNER, SUPERUSER
from textrawl.postgres.database import Database
from textrawl.postgres.sqlstates import DataRefused

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Space:
    default_space: int


@dataclass(frozen=True)
class Slept:
    sleep: float


@dataclass(frozen=True)
class Fact:
    observation_id: str


@asynccontextmanager
async def open_pool(url: str, *, timeout: float = 5, **options: Any) -> AsyncGenerator[Database]:
    database = Database(url, timeout=timeout, **options)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


@pytest.fixture
def administrator(postgres: Any, database: str) -> Iterator[psycopg.Connection]:
    """A superuser's connection to the database of the test."""
    with psycopg.connect(postgres.cluster.dsn(SUPERUSER, database), autocommit=True) as connection:
        connection.execute("set search_path = textrawl, public")
        yield connection


def count_connections(administrator: psycopg.Connection, state: str = "%") -> int:
    row = administrator.execute(
        "select count(*) from pg_stat_activity where application_name = 'textrawl' "
        "and datname = current_database() and state like %s",
        (state,),
    ).fetchone()
    return row[0] if row else 0


async def wait_for_active(administrator: psycopg.Connection, count: int) -> None:
    async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.01)):
        with attempt:
            assert count_connections(administrator, "active") >= count


async def wait_for_rest(administrator: psycopg.Connection) -> None:
    async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.01)):
        with attempt:
            assert count_connections(administrator, "active") == 0


async def wait_for_an_answer(database: Database) -> None:
    async for attempt in AsyncRetrying(stop=stop_after_delay(60)):
        with attempt:
            assert await database.call("default_space", Space) == [Space(1)]


async def wait_for_refusals(caplog: pytest.LogCaptureFixture, count: int) -> None:
    async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.01)):
        with attempt:
            assert caplog.text.count("error connecting") >= count


async def test_no_call_fails_when_postgres_is_restarted_between_calls(gateway: Gateway) -> None:
    async with open_pool(gateway.conninfo, max_size=5) as database:

        async def ask() -> None:
            assert await database.call("default_space", Space) == [Space(1)]

        for _ in range(3):
            async with anyio.create_task_group() as group:
                for _ in range(20):
                    group.start_soon(ask)
            before = gateway.accepted
            await gateway.cut()
            await ask()
            assert gateway.accepted > before


async def test_a_database_that_is_away_is_told_within_the_time_limit_and_serves_again(
    gateway: Gateway,
) -> None:
    await gateway.close()
    async with open_pool(gateway.conninfo, timeout=1) as database:
        began = time.monotonic()
        with pytest.raises(errors.DatabaseUnavailable):
            await database.call("default_space", Space)
        assert time.monotonic() - began < 30

        await gateway.open()
        await wait_for_an_answer(database)


async def test_a_call_that_waits_is_answered_as_soon_as_the_database_is_back(
    gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("WARNING", logger="psycopg")
    await gateway.close()
    async with (
        open_pool(gateway.conninfo, timeout=30) as database,
        anyio.create_task_group() as group,
    ):
        group.start_soon(database.call, "default_space", Space)
        await wait_for_refusals(caplog, 6)  # more than the pool goes on trying by itself
        await gateway.open()


async def test_a_frozen_database_is_given_up_within_the_time_limit(gateway: Gateway) -> None:
    # A pool gives up its connection after the first call, so the second call has another pool.
    async with (
        open_pool(gateway.conninfo, timeout=1) as database,
        open_pool(gateway.conninfo, timeout=1) as other,
    ):
        for pool in (database, other):
            await pool.call("default_space", Space)
        gateway.freeze()
        began = time.monotonic()
        with pytest.raises(errors.DatabaseUnavailable, match="stores nothing twice"):
            await database.call("default_space", Space)
        assert time.monotonic() - began < 30
        with pytest.raises(errors.DatabaseUnavailable, match="a repeated call stores it again"):
            await other.call("add_reflection", Space)

        gateway.thaw()
        await wait_for_an_answer(database)


async def test_a_statement_over_the_time_limit_ends_on_the_server_too(
    administrator: psycopg.Connection, database_url: str
) -> None:
    administrator.execute(
        "create function textrawl.sleep(seconds float) returns float language sql "
        "as 'select $1 from pg_sleep($1)'"
    )
    async with open_pool(database_url, timeout=0.5) as database:
        with pytest.raises(errors.DatabaseUnavailable, match="changed nothing"):
            await database.call("sleep", Slept, seconds=60.0)
        assert count_connections(administrator, "active") == 0


async def test_more_calls_than_can_wait_are_told_to_come_back(
    administrator: psycopg.Connection, database_url: str
) -> None:
    administrator.execute("create table textrawl.gate (); grant all on textrawl.gate to public")
    administrator.execute(
        "create function textrawl.sleep(seconds float) returns float language sql security definer "
        "as 'select $1 from textrawl.gate right join (select 1) on true'"
    )
    outcomes: list[str] = []
    turned_away = anyio.Event()

    async def ask() -> None:
        try:
            await database.call("sleep", Slept, seconds=1.0)
            outcomes.append("answered")
        except errors.ServerBusy:
            outcomes.append("busy")
            if outcomes.count("busy") == 48:
                turned_away.set()

    async with open_pool(database_url, max_size=2, timeout=30) as database:
        administrator.execute("begin; lock table textrawl.gate in access exclusive mode")
        async with anyio.create_task_group() as group:
            for _ in range(250):
                group.start_soon(ask)
            await turned_away.wait()
            await to_thread.run_sync(lambda: administrator.execute("commit"))
    # 200 wait, and one or two are served, if the pool was ready so soon.
    assert 48 <= outcomes.count("busy") <= 50
    assert outcomes.count("busy") + outcomes.count("answered") == 250


async def test_calls_that_are_cancelled_leave_the_pool_whole(
    administrator: psycopg.Connection, database_url: str
) -> None:
    administrator.execute(
        "create function textrawl.sleep(seconds float) returns float language sql "
        "as 'select $1 from pg_sleep($1)'"
    )
    async with open_pool(database_url, max_size=2, timeout=20) as database:
        for _ in range(3):
            async with anyio.create_task_group() as group:
                for _ in range(6):
                    group.start_soon(lambda: database.call("sleep", Slept, seconds=20.0))
                await wait_for_active(administrator, 2)
                group.cancel_scope.cancel()
            # Nobody waits for them any more: Postgres ends the statements.
            await wait_for_rest(administrator)
        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(database.call, "default_space", Space)
        assert count_connections(administrator) <= 2


async def test_two_writers_in_each_others_way_are_tried_again(
    administrator: psycopg.Connection, database_url: str
) -> None:
    administrator.execute("create sequence textrawl.tries")
    administrator.execute(
        "create function textrawl.sleep(seconds float) returns float language plpgsql "
        "security definer as $$ begin if nextval('textrawl.tries') < 3 then "
        "raise exception using errcode = '40P01'; end if; return seconds; end $$"
    )
    async with open_pool(database_url) as database:
        assert await database.call("sleep", Slept, seconds=2.0) == [Slept(2.0)]


@pytest.mark.parametrize(
    ("code", "kind", "advice"),
    [
        ("40P01", errors.ServerBusy, "nothing was changed; call again"),
        ("40001", errors.ServerBusy, "nothing was changed; call again"),
        ("54000", errors.ArgumentInvalid, "shorten it"),
    ],
)
async def test_a_call_that_postgres_gave_up_says_what_to_do_and_that_nothing_was_changed(
    administrator: psycopg.Connection,
    database_url: str,
    code: LiteralString,
    kind: type[errors.TextrawlError],
    advice: str,
) -> None:
    administrator.execute(
        "create function textrawl.sleep(seconds float) returns float language plpgsql as $$ begin "
        f"raise exception using errcode = '{code}'; end $$"
    )
    async with open_pool(database_url) as database:
        with pytest.raises(kind, match=advice) as caught:
            await database.call("sleep", Slept, seconds=2.0)
    assert "nothing was changed" in caught.value.fix


async def test_a_call_that_finds_its_rows_locked_is_told_to_come_back_before_its_time_is_up(
    administrator: psycopg.Connection, database_url: str
) -> None:
    administrator.execute("create table textrawl.gate (); grant all on textrawl.gate to public")
    administrator.execute(
        "create function textrawl.sleep(seconds float) returns float language sql security definer "
        "as 'select $1 from textrawl.gate right join (select 1) on true'"
    )
    async with open_pool(database_url, timeout=1) as database:
        with administrator.transaction():
            administrator.execute("lock table textrawl.gate in access exclusive mode")
            with pytest.raises(errors.ServerBusy, match="nothing was changed"):
                await database.call("sleep", Slept, seconds=1.0)
        await wait_for_an_answer(database)


async def test_a_standby_says_where_writes_go(database_url: str) -> None:
    url = make_conninfo(database_url, options="-c default_transaction_read_only=on")
    async with open_pool(url) as database:
        assert await database.call("default_space", Space) == [Space(1)]
        with pytest.raises(errors.DatabaseUnavailable, match="primary"):
            await database.call(
                "remember_fact",
                Fact,
                entity="Ada",
                type="person",
                observation="x",
                credential=hash_token(TOKEN),
            )


async def test_no_call_leaves_a_setting_to_the_next_one(
    administrator: psycopg.Connection, settings: Callable[..., Settings]
) -> None:
    administrator.execute(
        "create function textrawl.sleep() returns text language sql security definer as $$ "
        "select pg_backend_pid() || string_agg(name || '=' || setting, ' ' order by name) "
        "from pg_settings where source = 'session' $$"
    )
    async with open_desk(settings(), connections=1) as desk:
        before = await desk.memory.database.call("sleep", Slept)
        await desk.remember("plays the theremin")
        await desk.build("collects stamps")
        for query in ("who plays?", "100 % 'quoted' \\ text"):
            await desk.search(query)
        await desk.upkeep.do_round()
        await desk.client.call_tool("forget_entity", {"entityName": "Ada", "confirm": True})
        assert await desk.memory.database.call("sleep", Slept) == before


async def test_what_postgres_says_of_other_rows_reaches_neither_caller_nor_log(
    administrator: psycopg.Connection, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    administrator.execute(
        "create function textrawl.sleep(seconds float) returns float language plpgsql as $$ begin "
        "raise exception 'key (content)=(canary)' using errcode = 'unique_violation'; end $$"
    )
    with caplog.at_level(logging.DEBUG):
        async with open_pool(database_url) as database:
            with pytest.raises(errors.InternalError) as caught:
                await database.call("sleep", Slept, seconds=2.0)
    assert "23505" in caplog.text
    assert "canary" not in caplog.text + str(caught.value)
    assert caught.value.__cause__ is None


async def test_a_refusal_of_our_own_functions_keeps_its_code(database_url: str) -> None:
    async with open_pool(database_url) as database:
        with pytest.raises(DataRefused) as caught:
            await database.call(
                "remember_fact",
                Fact,
                entity="Ada",
                type="person",
                observation="x",
                replaces="y",
                credential=hash_token(TOKEN),
            )
    assert caught.value.code == "TR001"


async def test_a_function_of_another_version_says_what_to_run(
    postgres: Any, database: str, database_url: str
) -> None:
    with psycopg.connect(postgres.cluster.dsn(OWNER, database), autocommit=True) as owner:
        owner.execute("alter function textrawl.default_space rename to gone")
        async with open_pool(database_url) as pool:
            with pytest.raises(errors.DatabaseUnavailable, match="textrawl doctor"):
                await pool.call("default_space", Space)


async def test_options_of_the_connection_string_are_kept(
    administrator: psycopg.Connection, database_url: str
) -> None:
    administrator.execute(
        "create function textrawl.sleep() returns float language sql "
        "as $$ select current_setting('work_mem')::text = '7MB' and "
        "current_setting('statement_timeout') = '3s' $$".replace("returns float", "returns boolean")
    )
    async with open_pool(
        make_conninfo(database_url, options="-c work_mem=7MB"), timeout=3
    ) as database:
        [row] = await database.call("sleep", Slept)
    assert row.sleep


async def test_the_check_runs_before_the_first_call_until_it_passes(database_url: str) -> None:
    runs: list[str] = []

    async def refuse() -> None:
        runs.append("refused" if not runs else "passed")
        if len(runs) == 1:
            raise errors.StartRefused("run `textrawl migrate`")

    async with open_pool(database_url, check=refuse) as database:
        with pytest.raises(errors.DatabaseUnavailable, match="textrawl migrate"):
            await database.call("default_space", Space)
        for _ in range(2):
            await database.call("default_space", Space)
    assert runs == ["refused", "passed"]
