"""Backups as the page about running it makes them: whole, or an error."""

import io
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.conftest import Connect, Databases
from tests.support.commands import Run
from tests.support.composition import (
    APP_PASSWORD,
    OPERATIONS,
    OWNER_PASSWORD,
    read_composition,
    read_programs,
)
from tests.support.pages import read_commands
from textrawl.embedded.postmaster import APP, OWNER, SUPERUSER
from textrawl.postgres.migrations import MigrationReport, migrate

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
        env={**os.environ, **place},
        text=True,
        stderr=subprocess.PIPE,
        check=False,
        **files,
    )


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
    assert report == MigrationReport([], rebuilt=False)
    assert FACT["observation"] in str(found.content)


def test_a_plain_backup_as_the_owner_fails_rather_than_leaving_rows_out(
    postgres: Databases, database: str
) -> None:
    page = " ".join(OPERATIONS.read_text(encoding="utf-8").split())
    [message] = re.findall(r'stops with "([^"]+)"', page)
    words = ["pg_dump", "-U", OWNER, "-d", SERVED]

    done = run_program(postgres, database, words, stdout=subprocess.DEVNULL)

    assert done.returncode == 1
    assert message in done.stderr


def find_words(command: str) -> list[str]:
    """What the page tells the service admin to do with files."""
    [found] = [line for line in read_commands(OPERATIONS) if f" admin {command} " in f"{line} "]
    words = shlex.split(re.split(r" [<>] ", found)[0])
    return words[words.index("admin") + 1 :]


def owned(postgres: Databases, database: str) -> dict[str, str]:
    return {"DATABASE_URL": postgres.cluster.dsn(OWNER, database)}


@pytest.mark.slow
@pytest.mark.parametrize("dump", ["", SUPERUSER, OWNER], ids=["ours", SUPERUSER, OWNER])
def test_a_backup_by_command_or_by_hand_is_restored_by_command(
    run: Run, postgres: Databases, database: str, tmp_path: Path, dump: str
) -> None:
    with psycopg.connect(postgres.cluster.dsn(OWNER, database)) as owner:
        owner.execute("select textrawl.remember_fact('Atlas', 'project', 'ships on Fridays')")
    before = read_all(postgres, database)
    backup, restore = ([word.replace("/backup", str(tmp_path)) for word in find_words(command)]
                       for command in ("backup", "restore"))  # fmt: skip
    if dump:
        with Path(backup[-1]).open("wb") as out:
            assert run_program(postgres, database, find_dump(dump), stdout=out).returncode == 0
    else:
        assert run(*backup, **owned(postgres, database)).code == 0
    with postgres.create() as empty:
        with psycopg.connect(postgres.cluster.dsn(SUPERUSER, empty), autocommit=True) as own:
            own.execute("create extension vector")
        restored = run(*restore, **owned(postgres, empty))
        assert (restored.code, read_all(postgres, empty)) == (0, before), restored.err


def test_an_export_by_the_pages_command_is_imported_by_it(
    run: Run, postgres: Databases, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(postgres.cluster.dsn(OWNER, database)) as owner:
        owner.execute("select textrawl.remember_fact('Atlas', 'project', 'ships on Fridays')")
    exported = run(*find_words("export"), **owned(postgres, database))
    with postgres.create("migrated") as other:
        lines = io.BufferedReader(io.BytesIO(exported.out.encode()))
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(lines))
        imported = run(*find_words("import"), **owned(postgres, other))
        again = run(*find_words("export"), **owned(postgres, other))

    assert imported.code == 0, imported.err
    assert again.out == exported.out
    assert "ships on Fridays" in again.out
