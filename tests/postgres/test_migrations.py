"""Bringing a database to the schema of this version, and saying why it does not fit."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from textrawl.embedded.postmaster import APP, OWNER, SUPERUSER
from textrawl.errors import DatabaseUnavailable, StartRefused
from textrawl.postgres.database import Database
from textrawl.postgres.migrations import MigrationReport, check, migrate

pytestmark = pytest.mark.anyio

CANARY = "correct horse@battery/staple"

SCHEMA = """
    select 'function ' || p.oid::regprocedure || ' ' || md5(pg_get_functiondef(p.oid))
    from pg_proc p where pronamespace = 'textrawl'::regnamespace
    union all
    select format('column %s.%s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod))
    from pg_attribute join pg_class c on c.oid = attrelid
    where c.relnamespace = 'textrawl'::regnamespace and attnum > 0
    order by 1
"""


@pytest.fixture(params=["postgres", "postgres_16"], ids=["18", "16"])
def empty(request: pytest.FixtureRequest) -> Iterator[tuple[str, psycopg.Connection]]:
    """A database with pgvector and nothing else: its conninfo and a connection, as its owner."""
    databases = request.getfixturevalue(request.param)
    with databases.create() as name:
        with psycopg.connect(databases.cluster.dsn(SUPERUSER, name), autocommit=True) as superuser:
            superuser.execute("create extension vector")
        conninfo = databases.cluster.dsn(OWNER, name)
        with psycopg.connect(conninfo, autocommit=True) as connection:
            yield conninfo, connection


@pytest.fixture(params=["postgres", "postgres_16"], ids=["18", "16"])
def migrated(request: pytest.FixtureRequest) -> Iterator[tuple[str, psycopg.Connection]]:
    """A memory of this version: its conninfo and a connection, as its owner."""
    databases = request.getfixturevalue(request.param)
    with databases.create("migrated") as name:
        conninfo = databases.cluster.dsn(OWNER, name)
        with psycopg.connect(conninfo, autocommit=True) as connection:
            yield conninfo, connection


@dataclass(frozen=True)
class Stored:
    duplicate: bool


def read_schema(connection: psycopg.Connection) -> list[Any]:
    return connection.execute(SCHEMA).fetchall()


async def test_a_database_without_a_memory_says_so_and_eight_who_start_at_once_migrate_it_once(
    empty: tuple[str, psycopg.Connection],
) -> None:
    conninfo, connection = empty
    reports: list[MigrationReport] = []
    with pytest.raises(StartRefused, match="no memory yet: run `textrawl migrate`"):
        await check(conninfo)

    async def start() -> None:
        reports.append(await migrate(conninfo))

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(start)
    assert sorted(report.rebuilt for report in reports) == [False] * 7 + [True]
    [applied] = [report.applied for report in reports if report.rebuilt]
    assert applied[0] == "0001_actors"
    recorded = connection.execute("select name from textrawl.migration order by 1").fetchall()
    assert [name for (name,) in recorded] == applied
    await check(conninfo, serving=False)


async def test_migrating_again_changes_nothing(migrated: tuple[str, psycopg.Connection]) -> None:
    conninfo, connection = migrated
    before = read_schema(connection)
    assert await migrate(conninfo) == MigrationReport([], rebuilt=False)
    assert read_schema(connection) == before


async def test_functions_of_another_version_are_replaced_and_facts_kept(
    migrated: tuple[str, psycopg.Connection],
) -> None:
    conninfo, connection = migrated
    fresh = read_schema(connection)
    connection.execute("select * from textrawl.remember_fact('Ada', 'person', 'likes proofs')")
    connection.execute("create function textrawl.left_over() returns integer return 1")
    connection.execute("create view textrawl.left_view as select textrawl.left_over()")
    connection.execute("update textrawl.code set fingerprint = 'of another version'")
    with pytest.raises(
        StartRefused, match=r"functions in this database belong to another.*textrawl migrate"
    ):
        await check(conninfo)

    assert await migrate(conninfo) == MigrationReport([], rebuilt=True)

    assert read_schema(connection) == fresh
    assert connection.execute("select content from textrawl.observation").fetchone() == (
        "likes proofs",
    )


async def test_views_that_were_built_on_ours_are_named_before_they_would_go(
    migrated: tuple[str, psycopg.Connection],
) -> None:
    conninfo, connection = migrated
    connection.execute("create schema report")
    connection.execute("create view report.facts as select * from textrawl.memory_observations")
    connection.execute("update textrawl.code set fingerprint = 'of another version'")

    with pytest.raises(StartRefused, match=r"view report.facts depends on .*memory_observations"):
        await migrate(conninfo)

    assert connection.execute("select count(*) from report.facts").fetchone() == (0,)
    connection.execute("drop view report.facts")
    assert await migrate(conninfo) == MigrationReport([], rebuilt=True)


@pytest.mark.parametrize("squashed", ["", "0001_memory", "0001_spaces"])
async def test_a_newer_database_is_refused_and_left_alone(
    migrated: tuple[str, psycopg.Connection], squashed: str
) -> None:
    """Also if its version has other names for the migrations of this one."""
    conninfo, connection = migrated
    connection.execute("insert into textrawl.migration (name) values ('9999_future')")
    if squashed:
        rename = "update textrawl.migration set name = %s where name = '0001_actors'"
        connection.execute(rename, [squashed])
        connection.execute("alter table textrawl.entity add column mood text")
    before = read_schema(connection)
    for look in (migrate, check):
        with pytest.raises(StartRefused, match=r"newer textrawl.*9999_future.*upgrade"):
            await look(conninfo)
    assert read_schema(connection) == before


async def test_a_database_from_before_the_first_release_is_refused_and_left_alone(
    migrated: tuple[str, psycopg.Connection],
) -> None:
    conninfo, connection = migrated
    connection.execute(
        """update textrawl.migration set name = '0001_memory' where name = '0001_actors';
           alter table textrawl.entity add column mood text"""
    )
    before = read_schema(connection)
    for look in (migrate, check):
        with pytest.raises(StartRefused, match=r"before the first release \(it has 0001_memory\)"):
            await look(conninfo)
    assert read_schema(connection) == before


async def test_an_older_database_is_told_to_migrate(
    migrated: tuple[str, psycopg.Connection],
) -> None:
    conninfo, connection = migrated
    connection.execute("delete from textrawl.migration")
    with pytest.raises(StartRefused, match="older than this textrawl: run `textrawl migrate`"):
        await check(conninfo)


async def test_a_migration_that_fails_leaves_no_half_schema(
    empty: tuple[str, psycopg.Connection],
) -> None:
    conninfo, connection = empty
    connection.execute("create schema textrawl; create table textrawl.relation ()")
    with pytest.raises(psycopg.errors.DuplicateTable):
        await migrate(conninfo)
    tables = connection.execute(
        "select relname from pg_class where relnamespace = 'textrawl'::regnamespace"
    ).fetchall()
    assert tables == [("relation",)]


async def test_without_pgvector_it_is_said_what_to_install(postgres: Any) -> None:
    with (
        postgres.create() as name,
        pytest.raises(StartRefused, match="create extension vector"),
    ):
        await migrate(postgres.cluster.dsn(OWNER, name))


async def test_without_the_right_to_create_it_is_said_who_must_migrate(postgres: Any) -> None:
    with postgres.create() as name:
        with psycopg.connect(postgres.cluster.dsn(SUPERUSER, name), autocommit=True) as superuser:
            superuser.execute("create extension vector")
        with pytest.raises(StartRefused, match=r"textrawl migrate.*owner"):
            await migrate(postgres.cluster.dsn(APP, name))


async def test_a_role_without_rights_on_the_memory_is_told_which_to_get(
    postgres: Any, database: str
) -> None:
    with psycopg.connect(postgres.cluster.dsn(OWNER, database), autocommit=True) as owner:
        owner.execute(f"revoke all on schema textrawl from {APP}")
    with pytest.raises(StartRefused, match=f"grant {APP} to"):
        await check(postgres.cluster.dsn(APP, database))


async def test_a_database_of_another_encoding_is_refused(postgres: Any) -> None:
    name = "test_latin"
    postgres.execute(
        "create database {name} template template0 encoding latin1 locale 'C' owner {owner}",
        name=name,
        owner=OWNER,
    )
    try:
        with pytest.raises(StartRefused, match="UTF8"):
            await migrate(postgres.cluster.dsn(OWNER, name))
    finally:
        postgres.execute("drop database {name}", name=name)


async def test_a_login_that_is_refused_is_told_without_the_password(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    for change, message in (
        ({"user": "nobody_of_that_name"}, "refuses the login.*nobody_of_that_name"),
        ({"dbname": "no_such_database"}, "refuses the login.*no_such_database"),
        ({"port": CANARY}, "percent-encoded"),
    ):
        conninfo = make_conninfo(database_url, password=CANARY, **change)
        with caplog.at_level(logging.DEBUG), pytest.raises(StartRefused, match=message) as caught:
            await check(conninfo)
        for word in CANARY.replace("@", " ").replace("/", " ").split():
            assert word not in caplog.text + str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ada:{CANARY}@127.0.0.1/memory",
        f"postgresql://ada:{CANARY}",
        "postgresql://ada:correct@horse@127.0.0.1/memory",
        "postgresql://ada:1234/horse@127.0.0.1/memory",
        f"host=127.0.0.1 password={CANARY}",
    ],
)
async def test_a_connection_string_that_cannot_be_read_is_not_repeated(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(StartRefused) as caught:
        await check(url)
    assert "percent-encoded" in str(caught.value)
    for word in ("horse", "battery", "staple"):
        assert word not in caplog.text + str(caught.value)


async def test_a_server_that_is_away_is_no_reason_to_refuse_the_start(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match="Start Postgres"):
        await check(make_conninfo(host=str(tmp_path), password=CANARY, dbname="x"))


async def measure_migration(conninfo: str) -> float:
    """Migrate, and return the seconds: calls wait so long too, on a busy machine over ten."""
    began = anyio.current_time()
    await migrate(conninfo)
    return anyio.current_time() - began


@pytest.mark.slow
async def test_nobody_is_disturbed_while_functions_are_replaced(
    empty: tuple[str, psycopg.Connection],
) -> None:
    """Another version starts on the database while calls go on."""
    conninfo, connection = empty
    database = Database(conninfo, timeout=max(10.0, 3 * await measure_migration(conninfo)))
    over = anyio.Event()
    answered: list[int] = []

    async def call(number: int) -> None:
        while not over.is_set():
            about = {"entity": f"Person {number}", "type": "person"}
            observation = f"fact {len(answered)}"
            await database.call("remember_fact", Stored, **about, observation=observation)
            answered.append(number)

    await database.open()
    try:
        async with anyio.create_task_group() as group:
            for number in range(2):
                group.start_soon(call, number)
            for version in range(5):
                connection.execute("update textrawl.code set fingerprint = %s", (str(version),))
                assert (await migrate(conninfo)).rebuilt
            over.set()
    finally:
        await database.close()
    assert len(set(answered)) == 2
    stored = connection.execute("select count(*) from textrawl.observation").fetchone()
    assert stored == (len(answered),)
