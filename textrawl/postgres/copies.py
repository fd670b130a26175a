"""The progress of programs of Postgres that copy rows and build indexes: pg_dump, pg_restore."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio

from textrawl.postgres.connection import Connection, OwnerLogin, connect

Report = Callable[[str, int, int | None], object]
"""A function that gets a stage of the work, and how much of it is done of how much."""

_PAUSE = 0.5  # seconds between two looks
_COPIES = """
    select relid, tuples_processed from pg_stat_progress_copy where datname = current_database()
"""
_BUILDS = """
    select blocks_done, blocks_total from pg_stat_progress_create_index
    where datname = current_database() and blocks_total > 0
"""


def ignore(stage: str, done: int, total: int | None) -> None:
    """Show no progress."""


@asynccontextmanager
async def watch_copies(
    login: OwnerLogin, stage: str, total: int, report: Report
) -> AsyncGenerator[None]:
    """Report the progress of all copies in the database of `login` during the block.

    A table counts as far as it was seen, so the last rows of a table can be missing. Indexes are a
    stage of their own.
    """
    async with (
        await connect(login.conninfo, login.timeout) as connection,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(_look, connection, stage, total, report)
        yield
        tasks.cancel_scope.cancel()


async def _look(connection: Connection, stage: str, total: int, report: Report) -> None:
    seen = dict[int, int]()
    while True:
        copies = await connection.execute(_COPIES)
        if found := dict(await copies.fetchall()):
            seen |= found
            report(stage, min(sum(seen.values()), total), total)
        builds = await connection.execute(_BUILDS)
        for done, blocks in await builds.fetchall():
            report("Building indexes", done, blocks)
        await anyio.sleep(_PAUSE)
