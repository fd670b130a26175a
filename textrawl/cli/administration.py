"""What `textrawl space`, `grant` and `token` share: who may run them, and how they read and write.

They work on DATABASE_URL as its login, which has to own the memory as for `textrawl migrate`, and
without one on the embedded Postgres. Grants may also be changed by a server's login with an
ACCESS_TOKEN that has the scope admin.
"""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import LiteralString, TypeVar, get_args

from rich.table import Table

from textrawl.access.access_token import hash_token
from textrawl.access.principal import Scope
from textrawl.cli.console import show_wait, write_cell
from textrawl.cli.console import tell as tell  # noqa: PLC0414 - commands import it from here
from textrawl.cli.foreground import run_foreground
from textrawl.cli.inspection import require_memory
from textrawl.cli.rows import OwnershipRow
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.configuration import OWNER
from textrawl.errors import ArgumentInvalid, StartRefused
from textrawl.postgres.database import Database
from textrawl.postgres.lock_holders import name_lock_holders
from textrawl.postgres.migrations import check, migrate
from textrawl.postgres.sqlstates import DataRefused
from textrawl.settings import Settings, read_settings

Row = TypeVar("Row")
Result = TypeVar("Result")

_SPAN = re.compile(r"([0-9]{1,5})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LONGEST = timedelta(days=36500)


@dataclass(frozen=True)
class Administration:
    """A memory, for somebody who may say who is let in; `credential` is None for its owner."""

    database: Database
    credential: bytes | None
    conninfo: str

    async def call(
        self, function: LiteralString, row: type[Row], /, **arguments: object
    ) -> list[Row]:
        """As Database.call, but for DataRefused raises ArgumentInvalid, saying what is wrong."""
        try:
            return await self.database.call(function, row, **arguments)
        except DataRefused as refused:
            raise refused.explain() from None


@asynccontextmanager
async def open_administration(
    settings: Settings, *, owned: bool = True, role: str = OWNER
) -> AsyncGenerator[Administration]:
    """The memory that `settings` name, for its owner, else where not `owned` for ACCESS_TOKEN.

    `role` is what to log in as on the embedded Postgres. Raises StartRefused when the schema does
    not fit or the login is another's, DatabaseUnavailable.
    """
    async with _find_database(settings, role) as conninfo:
        database = Database(conninfo, timeout=settings.database_timeout, max_size=1)
        await database.open()
        try:
            [found] = await database.call("owns_memory", OwnershipRow)
            credential = None if found.owns_memory else _require_token(settings, owned=owned)
            async with name_lock_holders(conninfo, settings.database_timeout):
                yield Administration(database, credential, conninfo)
        finally:
            await database.close()


@asynccontextmanager
async def _find_database(settings: Settings, role: str) -> AsyncGenerator[str]:
    if settings.database_url is not None:
        conninfo = settings.database_url.get_secret_value()
        await check(conninfo, connect_timeout=settings.database_timeout, serving=False)
        yield conninfo
        return
    await require_memory(settings)
    async with run_embedded(settings.data_dir) as cluster:
        await migrate(cluster.dsn(OWNER))
        yield cluster.dsn(role)


def _require_token(settings: Settings, *, owned: bool) -> bytes:
    if not owned and settings.access_token is not None:
        return hash_token(settings.access_token.get_secret_value())
    instead = "" if owned else ", or set TEXTRAWL_ACCESS_TOKEN to a token with the scope admin"
    raise StartRefused(
        "The login of TEXTRAWL_DATABASE_URL does not own this memory: run this with the "
        f"TEXTRAWL_DATABASE_URL that you run `textrawl migrate` with{instead}"
    )


def administer(
    work: Callable[[Administration], Awaitable[Result]],
    *,
    owned: bool = True,
    wait: str | None = "Asking the database",
    role: str = OWNER,
) -> Result:
    """What `work` returns, on the memory of the settings; open_administration says who may.

    `wait` is shown meanwhile; None: `work` shows how far it is.
    """
    settings = read_settings()

    async def run() -> Result:
        async with open_administration(settings, owned=owned, role=role) as administration:
            return await work(administration)

    with show_wait(wait) if wait else nullcontext():
        return run_foreground(run)


def read_scopes(text: str) -> list[str]:
    """Scopes between commas, each once. Raises ArgumentInvalid."""
    given = {word.strip().lower() for word in text.split(",")}
    if not given <= set(get_args(Scope)):
        raise ArgumentInvalid(
            f"use {', '.join(get_args(Scope))}, with commas between them",
            title=f"Wrong scopes: {text!r}",
        )
    return [scope for scope in get_args(Scope) if scope in given]


def read_span(text: str) -> timedelta:
    """A length of time such as 90d, 12h or 30m, above zero. Raises ArgumentInvalid."""
    found = _SPAN.fullmatch(text.strip().lower())
    span = timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else timedelta()
    if not timedelta() < span <= _LONGEST:
        raise ArgumentInvalid(
            "give a number and s, m, h, d or w, such as 30m, 12h or 90d; 100 years at most",
            title=f"Not a length of time: {text}",
        )
    return span


def find_end(text: str | None) -> datetime | None:
    """The instant that lies so far ahead as read_span reads; None for None."""
    return None if text is None else datetime.now(UTC) + read_span(text)


def write_plain(row: Mapping[str, object]) -> dict[str, object]:
    """The row as JSON can hold it."""
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in row.items()
    }


def write_instant(instant: datetime | None, otherwise: str) -> str:
    """To the minute in UTC, or `otherwise` for None."""
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M}" if instant else otherwise


def draw_rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table of plain text, none of it left out; the first column is what commands are given."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=place == 0)
    for row in rows:
        table.add_row(*map(write_cell, row))
    return table
