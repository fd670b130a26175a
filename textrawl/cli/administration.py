"""The connection, arguments and tables that commands for administrators share.

These commands connect to DATABASE_URL, or else to the embedded Postgres. The login has to own the
memory, as for `textrawl migrate`. To list and change grants, a server's login is enough if
ACCESS_TOKEN has the scope `admin`.
"""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import LiteralString, TypeVar, get_args

from rich.table import Table

from textrawl.access.access_token import hash_token
from textrawl.access.principal import Scope
from textrawl.cli.console import show_wait, write_cell
from textrawl.cli.database_access import open_login
from textrawl.cli.foreground import run_foreground
from textrawl.cli.rows import OwnershipRow
from textrawl.distribution.opening import open_connection
from textrawl.embedded.configuration import OWNER
from textrawl.errors import ArgumentInvalid, StartRefused
from textrawl.postgres.database import Database
from textrawl.postgres.lock_holders import name_lock_holders
from textrawl.postgres.sqlstates import DataRefused
from textrawl.settings import Settings, read_settings

Row = TypeVar("Row")
Result = TypeVar("Result")

_SPAN = re.compile(r"([0-9]{1,5})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LONGEST = timedelta(days=36500)


@dataclass(frozen=True)
class Administration:
    """A memory that is open for an administrator.

    `credential` is None if the login owns the memory.
    """

    database: Database
    credential: bytes | None
    conninfo: str

    async def call(
        self, function: LiteralString, row: type[Row], /, **arguments: object
    ) -> list[Row]:
        """Call a SQL function. If the database refuses the call, raise an error with a fix."""
        try:
            return await self.database.call(function, row, **arguments)
        except DataRefused as refused:
            raise refused.explain() from None


@asynccontextmanager
async def open_administration(
    settings: Settings, *, owned: bool = True, role: str = OWNER
) -> AsyncGenerator[Administration]:
    """Open the memory of `settings` as its owner, or with ACCESS_TOKEN if `owned` is false.

    `role` is the login on the embedded Postgres. Raises DatabaseUnavailable, and StartRefused if
    the schema is of another version or the login has too few rights.
    """
    async with (
        open_login(settings, role=role) as login,
        open_connection(login.conninfo, timeout=login.timeout) as database,
    ):
        [row] = await database.call("owns_memory", OwnershipRow)
        credential = None if row.owns_memory else _require_token(settings, owned=owned)
        async with name_lock_holders(login.conninfo, login.timeout):
            yield Administration(database, credential, login.conninfo)


def _require_token(settings: Settings, *, owned: bool) -> bytes:
    if not owned and settings.access_token is not None:
        return hash_token(settings.access_token.get_secret_value())
    alternative = "" if owned else ", or set TEXTRAWL_ACCESS_TOKEN to a token with the scope admin"
    raise StartRefused(
        "The login of TEXTRAWL_DATABASE_URL does not own this memory: set TEXTRAWL_DATABASE_URL "
        f"to the value that you run `textrawl migrate` with{alternative}"
    )


def administer(
    work: Callable[[Administration], Awaitable[Result]],
    *,
    owned: bool = True,
    wait: str | None = "Asking the database",
    role: str = OWNER,
) -> Result:
    """Run `work` on the memory of the settings and return its result.

    `owned` and `role` are passed to `open_administration`. The message `wait` is shown meanwhile.
    If it is None, `work` shows its own progress.
    """
    settings = read_settings()

    async def run() -> Result:
        async with open_administration(settings, owned=owned, role=role) as administration:
            return await work(administration)

    with show_wait(wait) if wait else nullcontext():
        return run_foreground(run)


def read_scopes(text: str) -> list[str]:
    """Read scopes that are separated by commas, without repetitions. Raises ArgumentInvalid."""
    scopes = {word.strip().lower() for word in text.split(",")}
    if not scopes <= set(get_args(Scope)):
        raise ArgumentInvalid(
            f"use {', '.join(get_args(Scope))}, with commas between them",
            title=f"Wrong scopes: {text!r}",
        )
    return [scope for scope in get_args(Scope) if scope in scopes]


def read_span(text: str) -> timedelta:
    """Read a length of time above zero, such as 90d, 12h or 30m. Raises ArgumentInvalid."""
    found = _SPAN.fullmatch(text.strip().lower())
    span = timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else timedelta()
    if not timedelta() < span <= _LONGEST:
        raise ArgumentInvalid(
            "give a number and s, m, h, d or w, such as 30m, 12h or 90d; 100 years at most",
            title=f"Not a length of time: {text}",
        )
    return span


def find_end(text: str | None) -> datetime | None:
    """Return the current time plus a span such as 90d, or None if `text` is None."""
    return None if text is None else datetime.now(UTC) + read_span(text)


def write_instant(instant: datetime | None, otherwise: str) -> str:
    """Write an instant to the minute in UTC, or `otherwise` for None."""
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M}" if instant else otherwise


def draw_rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Draw a table that wraps long texts.

    The first column is not wrapped, because users copy it as the argument of a command.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*map(write_cell, row))
    return table
