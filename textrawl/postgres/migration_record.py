"""The record of the migrations that a database ran: their names, and hashes of their texts.

A migration that was edited after a database ran it has another hash. So the database is refused
before anything is changed. A database from before the hashes is judged by its tables.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection

from textrawl.errors import SchemaOutdated, StartRefused
from textrawl.postgres.catalogue import (
    Difference,
    compare_catalogue,
    describe_differences,
    repair,
)
from textrawl.postgres.sql_files import find_missing, read_fingerprint, read_folder

# Neither changes a table, so both can be edited.
_COMMENTS = re.compile(r"^[ \t]*--[^\n]*\n|^comment on [^;]*? is\s+'.*?';[ \t]*$", re.M | re.S)
_MOVE = (
    "run `git worktree add ../textrawl-old {commit}`{patch}, then `.uv/bin/uv run --project "
    "../textrawl-old textrawl export memory.jsonl` with the same settings{names}, and finally "
    "`textrawl import memory.jsonl` with this version and a new database or TEXTRAWL_DATA_DIR. "
    "Tokens, grants and the trail are not exported"
)
_PATCH = (
    ", `git -C ../textrawl-old checkout 5923471 -- textrawl/postgres/owner_session.py` because the "
    "export of that version stops at its own policies"
)
_NAMES = " (but DATA_DIR and DATABASE_URL are the names there, without TEXTRAWL_)"
_ADD_HASH = """
    alter table migration add column if not exists hash text;
    comment on column migration.hash is 'SHA-256 of its text without comments.';
"""
# The last commit that can export the tables of a database with these migrations. Before the hashes,
# migrations were edited, so the names alone do not say whether this version can use the tables.
_EXPORTERS = (
    ("0008", "2c80c28", "", _NAMES),
    ("0016", "404fb95", "", ""),
    ("0017", "0ac4ee0", _PATCH, ""),
    ("0018", "404fb95", "", ""),
    ("0021", "14baf02", "", ""),
)
# The first migration of the files before the squash. Older memories began with another file.
_FIRST_FILE = "0001_spaces"


@dataclass(frozen=True)
class Plan:
    """The migrations to run. `adopts` is true if the tables then have to be compared.

    Tables are compared if the record has no hashes, or has the names of other files. `recorded` has
    the names of the record.
    """

    missing: list[str]
    adopts: bool
    recorded: list[str]


def hash_migration(text: str) -> str:
    """Return the SHA-256 of a migration without its comments and without blank lines."""
    lines = (line.rstrip() for line in _COMMENTS.sub("", text).splitlines())
    return hashlib.sha256("\n".join(line for line in lines if line).encode()).hexdigest()


async def ensure_record(connection: AsyncConnection[Any]) -> None:
    """Create the tables of the record in a database without a memory."""
    query = "select to_regclass('textrawl.migration') is not null"
    if await (await connection.execute(query)).fetchone() == (True,):
        return
    await connection.execute("""
        comment on schema textrawl is
            'Shared memory for AI agents. Read the memory_* views; write through the functions.';
        create table migration (
            name text primary key, applied_at timestamptz not null default now(), hash text);
        comment on table migration is 'Migrations that were applied: the numbered files of tables.';
        comment on column migration.name is 'Name of the file.';
        comment on column migration.applied_at is 'When it was applied.';
        comment on column migration.hash is 'SHA-256 of its text without comments.';
        create table code (
            singleton boolean primary key default true check (singleton),
            fingerprint text not null);
        comment on table code is 'Fingerprint of the functions and views in this database.';
        comment on column code.singleton is 'Always true, because the table has one row.';
        comment on column code.fingerprint is
            'SHA-256 of the files of functions, views and grants.';
    """)


async def plan_migrations(connection: AsyncConnection[Any]) -> Plan:
    """Return what is to be done to a database. Nothing is changed.

    Raises StartRefused if a newer version, a version from before the first release, or another text
    of a migration made the tables.
    """
    record, files = await _read_record(connection), read_folder("migrations")
    edited = [
        name
        for name, recorded in record.items()
        if name in files and recorded not in (None, hash_migration(files[name]))
    ]
    if edited:
        raise StartRefused(
            f"The tables of this database were made by another text of {', '.join(sorted(edited))} "
            "than this version has, so this version cannot use them; nothing was changed. With the "
            "version that made the database (`git log -- sql/migrations` lists candidates) run "
            "`textrawl export memory.jsonl`, then `textrawl import memory.jsonl` with this version "
            "and a new database or TEXTRAWL_DATA_DIR. Tokens, grants and the trail are not exported"
        )
    # If migrations were squashed into a file with another name, the tables are still the same.
    if record.keys() - files.keys() and files.keys() - record.keys():
        differences = await compare_catalogue(connection, code=False)
        plan = Plan([], adopts=True, recorded=[*record])
        if not differences:
            return plan
        if _FIRST_FILE in record:
            raise refuse_draft(plan, describe_differences(differences, most=5))
    missing = find_missing(set(record), "database")
    return Plan(missing, adopts=None in record.values(), recorded=[*record])


async def require_current(connection: AsyncConnection[Any]) -> None:
    """Raise SchemaOutdated if the database has to be migrated, StartRefused if it cannot be."""
    query = "select to_regclass('textrawl.migration') is not null"
    if await (await connection.execute(query)).fetchone() != (True,):
        raise StartRefused("This database has no memory yet: run `textrawl migrate`")
    plan = await plan_migrations(connection)
    if plan.missing or plan.adopts:
        raise SchemaOutdated("The database is older than this textrawl: run `textrawl migrate`")
    if not await has_current_code(connection):
        raise SchemaOutdated(
            "The functions in this database belong to another version of textrawl: run "
            "`textrawl migrate`"
        )


async def has_current_code(connection: AsyncConnection[Any]) -> bool:
    """Return whether the functions and views in the database are recorded as those of sql/."""
    cursor = await connection.execute("select fingerprint from textrawl.code")
    return await cursor.fetchone() == (read_fingerprint(),)


async def require_expected(connection: AsyncConnection[Any], plan: Plan) -> None:
    """Raise StartRefused, with what differs, unless the catalogue is that of this version."""
    if not (differences := await compare_catalogue(connection)):
        return
    if not plan.adopts:
        raise StartRefused(describe_unfit(differences))
    if not await repair(connection, differences):
        raise refuse_draft(plan, describe_differences(differences, most=5))


def describe_unfit(differences: list[Difference]) -> str:
    """Return the message about tables that were changed by hand."""
    return (
        "The schema of this database is not the one that its migrations make: "
        f"{describe_differences(differences)}. Undo these changes by hand, or run `textrawl "
        "export memory.jsonl`, then `textrawl import memory.jsonl` with a new database or "
        "TEXTRAWL_DATA_DIR"
    )


def refuse_draft(plan: Plan, reason: str) -> StartRefused:
    """Return the error for tables that earlier texts of the migrations made."""
    newest = max(plan.recorded, default="")
    # The numbers are those of the files before the squash.
    fitting = [row for row in _EXPORTERS if _FIRST_FILE in plan.recorded and newest[:4] <= row[0]]
    _, commit, patch, renamed = [*fitting, _EXPORTERS[-1]][0]
    move = _MOVE.format(commit=commit, patch=patch, names=renamed)
    return StartRefused(
        "An unreleased textrawl made the tables of this database, and this version cannot use them "
        f"({reason}). Nothing was changed. To bring the memory over, {move}"
    )


async def write_record(connection: AsyncConnection[Any]) -> None:
    """Record all migrations of this version with their hashes."""
    files = read_folder("migrations")
    if None in (await _read_record(connection)).values():
        await connection.execute(_ADD_HASH)
    await connection.execute("delete from migration where name <> all(%s)", (list(files),))
    for name, text in files.items():
        await connection.execute(
            """insert into migration as m (name, hash) values (%s, %s)
               on conflict (name) do update set hash = excluded.hash""",
            (name, hash_migration(text)),
        )


async def _read_record(connection: AsyncConnection[Any]) -> dict[str, str | None]:
    """Return the hashes of the recorded migrations by name. Older databases have no hashes."""
    cursor = await connection.execute(
        "select name, to_jsonb(m) ->> 'hash' from textrawl.migration m"
    )
    return {str(name): found for name, found in await cursor.fetchall()}
