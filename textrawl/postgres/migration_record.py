"""What a database says about its schema: the record of its migrations, and its catalogue.

The record has the names of the migrations that a database ran, and hashes of their texts. A
migration that was edited after a database ran it has another hash. So the database is refused
before anything is changed. If the record has names of other files, the tables are compared.

The catalogue has the tables, types and functions of a database, which are compared with those that
this version expects. An administrator can have changed them by hand.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection

from textrawl.errors import SchemaOutdated, StartRefused
from textrawl.postgres.connection import change, find_vector_schema
from textrawl.postgres.sql_files import (
    find_missing,
    list_folders,
    list_views,
    read_catalogue,
    read_catalogue_query,
    read_fingerprint,
    read_folder,
)

_FUNCTION = re.compile(r"^create (?:or replace )?function (?:textrawl\.)?(\w+)", re.MULTILINE)
_LINE = re.compile(r"(\w+) (.+?): ?(.*)")
_BODY = re.compile(r"\bas \$(\w*)\$(.*?)\$\1\$|^as '([^']*)';", re.DOTALL | re.MULTILINE)
# An administrator can add these. Another column, constraint, policy or trigger changes writes.
_HARMLESS = {"table", "type", "index", "view", "function"}

REBUILT = ("function", "view")
"""The kinds of objects that each migration creates again."""

Catalogue = dict[tuple[str, str], str]
"""The definition of each object, by kind and name. A part of a table has the name TABLE.PART."""


@dataclass(frozen=True)
class Difference:
    """An object that differs. A definition is None if the object is not there or not expected."""

    kind: str
    name: str
    found: str | None
    expected: str | None

    def __str__(self) -> str:
        if self.expected is None:
            return f"the {self.kind} {self.name} is not of this version"
        return f"the {self.kind} {self.name} {'is missing' if self.found is None else 'differs'}"


async def compare_catalogue(
    connection: AsyncConnection[Any], *, code: bool = True
) -> list[Difference]:
    """Return what differs from the catalogue that this version expects.

    Without `code`, functions and views are not compared. The database must have the schema
    textrawl. Nothing is changed.
    """
    parts = [_LINE.fullmatch(line) for line in read_catalogue().splitlines()]
    expected: Catalogue = {(part[1], part[2]): part[3] for part in parts if part}
    expected |= _expect_code() if code else {}
    found = await read_found(connection)
    tables = {name for kind, name in expected if kind == "table"}
    differences = [
        Difference(kind, name, found.get((kind, name)), definition)
        for (kind, name), definition in expected.items()
        if found.get((kind, name)) != definition
    ]
    return differences + [
        Difference(kind, name, definition, None)
        for (kind, name), definition in found.items()
        if (kind, name) not in expected
        and kind not in _HARMLESS
        and name.partition(".")[0] in tables
    ]


def describe_differences(differences: list[Difference], *, most: int = 20) -> str:
    """Return the differences as a part of a message, which names at most `most` of them."""
    more = len(differences) - most
    named = ", ".join(str(difference) for difference in differences[:most])
    return named + (f" and {more} others" if more > 0 else "")


async def read_found(connection: AsyncConnection[Any]) -> Catalogue:
    """Return the catalogue of the schema textrawl in the database."""
    async with connection.transaction():
        path = "set local search_path = textrawl, {}, pg_temp"
        await change(connection, path, await find_vector_schema(connection))
        rows = await (await connection.execute(read_catalogue_query())).fetchall()
    return {(kind, name): " ".join(definition.split()) for kind, name, definition in rows}


def write_catalogue(catalogue: Catalogue) -> str:
    """Return the text of sql/catalogue.txt: one object a line, without functions and views."""
    lines = (
        f"{kind} {name}: {definition}".rstrip()
        for (kind, name), definition in catalogue.items()
        if kind not in REBUILT
    )
    return "".join(f"{line}\n" for line in lines)


def _expect_code() -> Catalogue:
    """Return functions with the hash of their text, and views, as the files of sql/ create them."""
    expected: Catalogue = {("view", name): "" for name in list_views()}
    # Policies and triggers call functions that migrations create.
    for text in (*read_folder("migrations").values(), *read_folder(*list_folders()).values()):
        starts = [*_FUNCTION.finditer(text)]
        for place, start in enumerate(starts):
            end = starts[place + 1].start() if place + 1 < len(starts) else len(text)
            hashed = ""  # Postgres stores no text of a body with `begin atomic`
            if body := _BODY.search(text[start.start() : end]):
                stored = (body[2] or body[3]).encode()
                hashed = hashlib.md5(stored, usedforsecurity=False).hexdigest()
            expected["function", start[1]] = hashed
    return expected


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
    """The migrations to run. `adopts` is true if the record has names of files that were squashed.

    Then the tables are those of this version, but the record has to be written again.
    """

    missing: list[str]
    adopts: bool = False


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
    cursor = await connection.execute(
        "select name, to_jsonb(m) ->> 'hash' from textrawl.migration m"
    )
    # Older databases have no hashes.
    record: dict[str, str | None] = {str(name): found for name, found in await cursor.fetchall()}
    files = read_folder("migrations")
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
        if not differences:
            return Plan([], adopts=True)
        if _FIRST_FILE in record and max(record) <= max(files):
            raise _refuse_draft(max(record), describe_differences(differences, most=5))
    return Plan(find_missing(set(record), "database"))


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


def describe_unfit(differences: list[Difference]) -> str:
    """Return the message about tables that were changed by hand."""
    return (
        "The schema of this database is not the one that its migrations make: "
        f"{describe_differences(differences)}. Undo these changes by hand, or run `textrawl "
        "export memory.jsonl`, then `textrawl import memory.jsonl` with a new database or "
        "TEXTRAWL_DATA_DIR"
    )


def _refuse_draft(newest: str, reason: str) -> StartRefused:
    """Return the error for tables that earlier texts of the migrations made."""
    # The numbers are those of the files before the squash.
    fitting = [row for row in _EXPORTERS if newest[:4] <= row[0]]
    _, commit, patch, renamed = [*fitting, _EXPORTERS[-1]][0]
    move = _MOVE.format(commit=commit, patch=patch, names=renamed)
    return StartRefused(
        "An unreleased textrawl made the tables of this database, and this version cannot use them "
        f"({reason}). Nothing was changed. To bring the memory over, {move}"
    )


async def write_record(connection: AsyncConnection[Any]) -> None:
    """Record all migrations of this version with their hashes."""
    files = read_folder("migrations")
    await connection.execute("delete from migration where name <> all(%s)", (list(files),))
    for name, text in files.items():
        await connection.execute(
            """insert into migration as m (name, hash) values (%s, %s)
               on conflict (name) do update set hash = excluded.hash""",
            (name, hash_migration(text)),
        )
