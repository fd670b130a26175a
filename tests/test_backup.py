"""Backups as the page about running it makes them: whole, or an error."""

import os
import re
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from mcp import Client
from psycopg import sql

from tests.composition import (
    APP_PASSWORD,
    OPERATIONS,
    OWNER_PASSWORD,
    read_composition,
    read_programs,
)
from tests.conftest import Databases
from textrawl.embedded.configuration import APP, OWNER, SUPERUSER
from textrawl.migrations import Report, migrate

Connect = Callable[..., Awaitable[Client]]

SERVICES = read_composition(**{OWNER_PASSWORD: "x", APP_PASSWORD: "y"})["services"]
SERVED = SERVICES["postgres"]["environment"]["POSTGRES_DB"]
FACT = {"entityName": "Atlas", "entityType": "project", "observation": "ships on Fridays"}


def read_all(postgres: Databases, database: str) -> dict[str, list[str]]:
    """Every row of every table, as text."""
    names = "select relname from pg_class where relnamespace = 'textrawl'::regnamespace"
    with psycopg.connect(postgres.cluster.dsn(SUPERUSER, database)) as connection:
        tables = [name for (name,) in connection.execute(f"{names} and relkind = 'r'")]
        rows = sql.SQL("select t::text from textrawl.{} t order by 1")
        return {
            name: [row for (row,) in connection.execute(rows.format(sql.Identifier(name)))]
            for name in tables
        }


def run_program(
    postgres: Databases, database: str, words: list[str], **files: Any
) -> subprocess.CompletedProcess[str]:
    """One of Postgres' programs as the page has it, on this database."""
    place = {"PGHOST": str(postgres.cluster.socket_dir), "PGPORT": str(postgres.cluster.port)}
    ours = [database if word == SERVED else word for word in words[1:]]
    return subprocess.run(
        [postgres.cluster.bin_path / words[0], *ours],
        env={**os.environ, **place}, text=True, stderr=subprocess.PIPE, check=False, **files,
    )  # fmt: skip


def find_dump(user: str) -> list[str]:
    [words] = [words for words in read_programs("pg_dump") if user in words]
    return ["pg_dump", *words]


@pytest.mark.anyio
@pytest.mark.parametrize("user", [SUPERUSER, OWNER])
async def test_a_backup_holds_every_row_and_comes_back_with_its_walls(
    postgres: Databases, database: str, connect: Connect, tmp_path: Path, user: str
) -> None:
    await (await connect()).call_tool("remember_fact", FACT)
    before, dump = read_all(postgres, database), tmp_path / "textrawl.dump"
    [words] = read_programs("pg_restore")
    restore = ["pg_restore", *(user if word == SUPERUSER else word for word in words)]
    with dump.open("wb") as out:
        dumped = run_program(postgres, database, find_dump(user), stdout=out)
    with postgres.create() as empty:
        with psycopg.connect(postgres.cluster.dsn(SUPERUSER, empty), autocommit=True) as own:
            own.execute("create extension vector")
        with dump.open("rb") as back:
            restored = run_program(postgres, empty, restore, stdin=back)
        after = read_all(postgres, empty)
        report = await migrate(postgres.cluster.dsn(OWNER, empty))
        restored_client = await connect(database_url=postgres.cluster.dsn(APP, empty))
        found = await restored_client.call_tool("query_memory", {"query": "when does it ship?"})

    assert (dumped.returncode, restored.returncode) == (0, 0), dumped.stderr + restored.stderr
    assert after == before
    assert any(FACT["observation"] in row for row in before["observation"])
    assert report == Report([], rebuilt=False)
    assert FACT["observation"] in str(found.content)


def test_a_plain_backup_as_the_owner_fails_rather_than_leaving_rows_out(
    postgres: Databases, database: str
) -> None:
    page = " ".join(OPERATIONS.read_text(encoding="utf-8").split())
    [told] = re.findall(r'plain `pg_dump` stops with "([^"]+)"', page)
    words = ["pg_dump", "-U", OWNER, "-d", SERVED]

    done = run_program(postgres, database, words, stdout=subprocess.DEVNULL)

    assert done.returncode == 1
    [told] = re.findall(
        r'"([^"]+)"', OPERATIONS.read_text(encoding="utf-8").split("stops with")[1]
    )[:1]
    assert " ".join(told.split()) in done.stderr
