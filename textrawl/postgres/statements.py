"""Statements of people, which the role of analysts runs with the rights of a person.

Three walls stand one behind the other: a transaction that only reads and is rolled back, a function
that accepts one query without words such as `set_config`, and row-level security.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import anyio
import psycopg
from psycopg import sql
from psycopg.rows import class_row

from textrawl.errors import ArgumentInvalid
from textrawl.postgres.connection import Connection, compose_settings
from textrawl.postgres.database import Database, translate
from textrawl.postgres.sqlstates import DataRefused

SECONDS = 5
MOST_ROWS = 1000
_PATIENCE = 2 * SECONDS  # also for statements before this one
_SETTINGS = {
    "role": "textrawl_analyst",
    "search_path": "textrawl, pg_temp",
    "statement_timeout": f"{SECONDS}s",
    "lock_timeout": "1s",
    "work_mem": "32MB",
    "max_parallel_workers_per_gather": "0",
}
_READ = "select * from textrawl.read_rows(%s, %s)"
# Errors in what somebody wrote: their texts name parts of the statement, and rows of this person.
_EXPLAINED = ("0A", "21", "22", "3F", "42", "54")
_TOO_LARGE = ("53", "XX000")  # of memory, also more than Postgres gives to one text
_LESS = "Ask for less, for example with `limit`"
_FIX = "Write one SELECT, WITH, VALUES or TABLE"


class StatementRefused(ArgumentInvalid):
    """A statement that Postgres does not accept, or that takes too long."""


@dataclass(frozen=True)
class StatementRow:
    """A row with its columns as texts, and as JSON. If there are `more`, the last row is empty."""

    names: list[str]
    cells: list[str | None]
    line: str
    more: bool


async def read_rows(
    database: Database, statement: str, credential: bytes, spaces: Sequence[int]
) -> list[StatementRow]:
    """Return the rows of a statement that only reads, in `spaces` that the credential can read.

    Raises StatementRefused, and DatabaseUnavailable or ServerBusy as other calls.
    """
    if database.divided:
        title = "Statements cannot be run on a memory of several cells"
        raise StatementRefused("Use `textrawl psql` on a cell", title=title)
    reader = f"{credential.hex()} {{{','.join(map(str, spaces))}}}"
    settings = compose_settings(_SETTINGS | {"textrawl.reader": reader}, local=True)
    try:
        with translate("read_rows"), anyio.fail_after(_PATIENCE):
            async with (
                database.take_turns("read_rows"),
                database.lend() as connection,
                connection.transaction(force_rollback=True),
            ):
                await connection.execute("set transaction read only")
                await _become_analyst(connection, settings)
                return await _run(connection, statement)
    except DataRefused as refusal:
        raise refusal.explain() from None


async def _become_analyst(connection: Connection, settings: sql.Composed) -> None:
    try:
        await connection.execute(sql.SQL("select {}").format(settings))
    except psycopg.errors.InsufficientPrivilege:
        title = "The login of this server cannot read as an analyst"
        fix = "As administrator, run `grant textrawl_analyst to textrawl_app with inherit false`"
        raise StatementRefused(fix, title=title) from None


async def _run(connection: Connection, statement: str) -> list[StatementRow]:
    cursor = connection.cursor(row_factory=class_row(StatementRow))
    try:
        await cursor.execute(_READ, (statement, MOST_ROWS))
        return await cursor.fetchall()
    except psycopg.Error as error:
        raise _explain(error) from None


def _explain(error: psycopg.Error) -> Exception:
    state = error.sqlstate or ""
    if isinstance(error, psycopg.errors.QueryCanceled):
        return StatementRefused(_LESS, title=f"The statement took longer than {SECONDS} seconds")
    if state.startswith(_TOO_LARGE):
        return StatementRefused(_LESS, title="The statement needs too much memory")
    if state in ("25006", "42P11", "55000"):
        return StatementRefused(_FIX, title="This is not one statement that only reads")
    if state.startswith(_EXPLAINED):
        text = error.diag.message_primary or ""
        fix = _FIX if state == "42601" else "Look at the names beside the field"
        return StatementRefused(fix, title=text[:1].upper() + text[1:])
    return error
