"""sql/schema.sql and sql/catalogue.txt have all tables, as the migrations make them."""

import os
from typing import Any

import anyio
import psycopg

from tests.conftest import Databases
from tests.sql.table_dump import dump_tables
from tests.support.pages import ROOT
from textrawl.embedded.postmaster import OWNER, SUPERUSER
from textrawl.postgres.migration_record import (
    Difference,
    compare_catalogue,
    read_found,
    write_catalogue,
)

SCHEMA = ROOT / "sql/schema.sql"
CATALOGUE = ROOT / "sql/catalogue.txt"


def test_each_migration_has_a_number_of_its_own() -> None:
    numbers = [file.name[:4] for file in sorted((ROOT / "sql/migrations").glob("*.sql"))]

    assert sorted(set(numbers)) == numbers


def test_the_committed_tables_are_those_that_the_migrations_make(
    sql: psycopg.Connection[Any],
) -> None:
    found = dump_tables(sql)
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SCHEMA.write_text(found, encoding="utf-8")

    assert SCHEMA.read_text(encoding="utf-8") == found


def test_the_committed_catalogue_is_that_of_the_migrations(
    postgres: Databases, database: str
) -> None:
    async def find() -> tuple[str, list[Difference]]:
        dsn = postgres.cluster.dsn(OWNER, database)
        async with await psycopg.AsyncConnection.connect(dsn) as connection:
            return write_catalogue(await read_found(connection)), await compare_catalogue(
                connection
            )

    found, differences = anyio.run(find)
    if os.environ.get("UPDATE_SNAPSHOTS"):
        CATALOGUE.write_text(found, encoding="utf-8")

    assert CATALOGUE.read_text(encoding="utf-8") == found
    assert differences == []


def test_the_committed_tables_can_be_made_and_are_then_the_same(postgres: Databases) -> None:
    with postgres.create() as name:
        dsn = postgres.cluster.dsn(SUPERUSER, name)
        with psycopg.connect(dsn, autocommit=True) as superuser:
            superuser.execute("create extension vector")
            superuser.execute(SCHEMA.read_bytes())
            assert dump_tables(superuser) == SCHEMA.read_text(encoding="utf-8")
