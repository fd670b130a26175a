"""A memory survives the next commit, or is refused before anything is changed."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.conftest import Databases
from textrawl.embedded.postmaster import OWNER, SUPERUSER
from textrawl.errors import SchemaOutdated, StartRefused
from textrawl.postgres.migration_record import hash_migration
from textrawl.postgres.migrations import MigrationReport, check, migrate
from textrawl.postgres.sql_files import read_folder

pytestmark = pytest.mark.anyio

# The newest migration of an unreleased version, and the commit that exports its memories.
UNRELEASED = {
    "0008_graph": "2c80c28",
    "0013_mind": "404fb95",
    "0014_corpus": "404fb95",
    "0015_review": "404fb95",
    "0017_revisions": "0ac4ee0",
    "0020_closed": "14baf02",
}
_RECORD = """
    create table migration (name text primary key, applied_at timestamptz not null default now());
    create table code (singleton boolean primary key default true, fingerprint text not null)
"""
_CATALOGUE = """
    select format('%s %s %s', c.oid::regclass, attname, format_type(atttypid, atttypmod))
    from pg_class c left join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'textrawl'::regnamespace
    union all
    select pg_get_functiondef(oid) from pg_proc where pronamespace = 'textrawl'::regnamespace
    union all
    select conname from pg_constraint where connamespace = 'textrawl'::regnamespace
    union all
    select to_jsonb(m)::text from textrawl.migration m
    order by 1
"""


@pytest.fixture
def empty(postgres: Databases) -> Iterator[str]:
    """The conninfo of the owner of a database with pgvector and nothing else."""
    with postgres.create() as name:
        with psycopg.connect(postgres.cluster.dsn(SUPERUSER, name), autocommit=True) as superuser:
            superuser.execute("create extension vector")
        yield postgres.cluster.dsn(OWNER, name)


@pytest.fixture
def memory(postgres: Databases, database: str) -> str:
    """The conninfo of the owner of a memory of this version."""
    return postgres.cluster.dsn(OWNER, database)


def run(conninfo: str, statement: Any) -> None:
    with psycopg.connect(conninfo, autocommit=True) as owner:
        owner.execute("set search_path = textrawl, public")
        owner.execute(statement)


def read(conninfo: str, query: Any = _CATALOGUE) -> list[Any]:
    with psycopg.connect(conninfo) as owner:
        return [value for (value,) in owner.execute(query).fetchall()]


async def test_a_memory_of_edited_migrations_is_refused_with_the_commands_that_move_it(
    empty: str,
) -> None:
    run(empty, f"create schema textrawl; {_RECORD}")
    run(empty, "insert into migration (name) values ('0001_spaces')")
    for newest, exporter in UNRELEASED.items():
        run(empty, sql.SQL("insert into migration (name) values ({})").format(newest))
        before = read(empty)

        with pytest.raises(StartRefused) as refusal:
            await migrate(empty)

        words = str(refusal.value)
        assert f"`git worktree add ../textrawl-old {exporter}`" in words
        assert "`.uv/bin/uv run --project ../textrawl-old textrawl export memory.jsonl`" in words
        assert "`textrawl import memory.jsonl`" in words
        patch = "checkout 5923471 -- textrawl/postgres/owner_session.py"
        assert (patch in words) == (newest == "0017_revisions")
        assert ("DATA_DIR and DATABASE_URL are the names there" in words) == (newest[:4] == "0008")
        assert "Nothing was changed" in words
        assert read(empty) == before


async def test_a_migration_that_was_edited_after_a_memory_ran_it_is_refused(memory: str) -> None:
    run(memory, "update migration set hash = 'of another text' where name = '0005_events'")
    before = read(memory)

    for look in (migrate, check):
        with pytest.raises(
            StartRefused,
            match=r"another text of 0005_events .* nothing was changed.*export .*import",
        ):
            await look(memory)

    assert read(memory) == before


def test_only_comments_of_a_migration_can_be_edited() -> None:
    text = "create table t (a int);\n"
    commented = "-- A table.\ncreate table t (a int);\n\ncomment on table t is\n  'A; table';\n"
    assert hash_migration(commented) == hash_migration(text)
    assert hash_migration(text.replace("int", "bigint")) != hash_migration(text)


async def test_a_memory_keeps_its_tables_when_migrations_are_squashed(memory: str) -> None:
    run(memory, "update migration set name = '0001_draft' where name = '0001_actors'")
    with pytest.raises(SchemaOutdated, match="run `textrawl migrate`"):
        await check(memory, serving=False)

    await migrate(memory)

    names = read(memory, "select name from textrawl.migration order by 1")
    assert names == list(read_folder("migrations"))
    await check(memory, serving=False)


async def test_a_changed_table_is_named_by_migrate(memory: str) -> None:
    run(
        memory,
        """alter table entity alter column name drop not null;
           alter table entity add column mood text;
           drop policy owner on space""",
    )

    with pytest.raises(StartRefused) as refusal:
        await migrate(memory, thorough=True)

    words = str(refusal.value)
    assert "the column entity.name differs" in words
    assert "the column entity.mood is not of this version" in words
    assert "the policy space.owner is missing" in words
    assert "`textrawl export memory.jsonl`" in words


async def test_a_view_that_somebody_dropped_is_made_again(memory: str) -> None:
    before = read(memory)
    run(memory, "drop view memory_proposals")

    assert await migrate(memory, thorough=True) == MigrationReport([], rebuilt=True)
    assert read(memory) == before


async def test_a_function_of_a_trigger_that_somebody_changed_is_named(memory: str) -> None:
    run(
        memory,
        """create or replace function keep_events() returns trigger
           language plpgsql as 'begin return new; end'""",
    )

    with pytest.raises(StartRefused, match="the function keep_events differs"):
        await migrate(memory, thorough=True)


async def test_what_an_administrator_added_is_no_fault(memory: str) -> None:
    run(
        memory,
        """create index my_idx on observation (created_at);
           create table my_notes (note text primary key);
           create function my_function() returns integer return 1""",
    )

    assert await migrate(memory, thorough=True) == MigrationReport([], rebuilt=False)
