"""The progress of programs of Postgres that copy rows, such as pg_dump and pg_restore."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio

from textrawl.postgres.connection import Connection, OwnerLogin, connect

Report = Callable[[int, int], object]
"""A function that gets the number of copied rows and of all rows."""

_PAUSE = 0.5  # seconds between two looks
_COPIES = """
    select relid, tuples_processed from pg_stat_progress_copy where datname = current_database()
"""


def ignore(done: int, total: int) -> None:
    """Show no progress."""


@asynccontextmanager
async def watch_copies(login: OwnerLogin, total: int, report: Report) -> AsyncGenerator[None]:
    """Report the progress of all copies in the database of `login` during the block.

    A table counts as far as it was seen, so the last rows of a table can be missing.
    """
    if report is ignore:
        yield
        return
    async with (
        await connect(login.conninfo, login.timeout) as connection,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(_look, connection, total, report)
        yield
        tasks.cancel_scope.cancel()


async def _look(connection: Connection, total: int, report: Report) -> None:
    seen = dict[int, int]()
    while True:
        cursor = await connection.execute(_COPIES)
        seen |= dict(await cursor.fetchall())
        if seen:
            report(min(sum(seen.values()), total), total)
        await anyio.sleep(_PAUSE)
