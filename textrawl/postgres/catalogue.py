"""The comparison of a database's tables, types and functions with those that this version expects.

A migration can have been edited after a database ran it. Then the names of the migrations are
right, and the tables are not.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Any, LiteralString, cast

from psycopg import AsyncConnection, sql

from textrawl.postgres.sql_files import (
    list_folders,
    list_views,
    read_catalogue,
    read_catalogue_query,
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
    expected = _expect_tables() | (_expect_code() if code else {})
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


async def repair(connection: AsyncConnection[Any], differences: list[Difference]) -> bool:
    """Create indexes that differ again, and drop foreign keys that are not of this version.

    Return False, and change nothing, if something else differs too. The connection is that of the
    owner, in a transaction whose search path begins with textrawl.
    """
    statements = [_compose_repair(difference) for difference in differences]
    found = [statement for statement in statements if statement is not None]
    if len(found) < len(statements):
        return False
    for statement in found:
        await connection.execute(statement)
    return True


def _compose_repair(difference: Difference) -> sql.Composed | None:
    names = [sql.Identifier(part) for part in difference.name.split(".")]
    if difference.kind == "index" and difference.expected is not None:
        create = sql.SQL(cast("LiteralString", difference.expected))
        return sql.SQL("drop index if exists {}; {}").format(*names, create)
    if difference.expected is None and str(difference.found).startswith("FOREIGN KEY"):
        return sql.SQL("alter table {} drop constraint {}").format(*names)
    return None


def describe_differences(differences: list[Difference], *, most: int = 20) -> str:
    """Return the differences as a part of a message, which names at most `most` of them."""
    more = len(differences) - most
    named = ", ".join(str(difference) for difference in differences[:most])
    return named + (f" and {more} others" if more > 0 else "")


async def read_found(connection: AsyncConnection[Any]) -> Catalogue:
    """Return the catalogue of the schema textrawl in the database."""
    query = "select extnamespace::regnamespace::text from pg_extension where extname = 'vector'"
    async with connection.transaction():
        row = await (await connection.execute(query)).fetchone()
        path = sql.SQL("set local search_path = textrawl, {}, pg_temp")
        await connection.execute(path.format(sql.SQL(cast("Any", row[0] if row else "public"))))
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


def _expect_tables() -> Catalogue:
    parts = [_LINE.fullmatch(line) for line in read_catalogue().splitlines()]
    return {(part[1], part[2]): part[3] for part in parts if part}


def _expect_code() -> Catalogue:
    """Return functions with the hash of their text, and views, as the files of sql/ create them."""
    expected: Catalogue = {("view", name): "" for name in list_views()}
    # Policies and triggers call functions that migrations create.
    for text in (*read_folder("migrations").values(), *read_folder(*list_folders()).values()):
        starts = [*_FUNCTION.finditer(text)]
        for place, start in enumerate(starts):
            end = starts[place + 1].start() if place + 1 < len(starts) else len(text)
            expected["function", start[1]] = _hash_body(text[start.start() : end])
    return expected


def _hash_body(text: str) -> str:
    """Return the hash of the text that Postgres stores, or "" for a body with `begin atomic`."""
    if (body := _BODY.search(text)) is None:
        return ""
    return hashlib.md5((body[2] or body[3]).encode(), usedforsecurity=False).hexdigest()
