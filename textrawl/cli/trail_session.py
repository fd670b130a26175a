"""The trail of the memory that the settings name, for `textrawl undo` and `log`.

These commands act as the actor of ACCESS_TOKEN, or else of the login of DATABASE_URL. On the
embedded Postgres they act as the user of this machine. The trail records that actor for an undo.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from textrawl.access.access_token import hash_token
from textrawl.cli.foreground import run_foreground
from textrawl.cli.inspection import require_memory
from textrawl.postgres.database import Database
from textrawl.postgres.lock_holders import name_lock_holders
from textrawl.postgres.migrations import check
from textrawl.settings import Settings, read_settings
from textrawl.store.opening import OpenDatabase, open_database
from textrawl.store.trail import Trail, find_space

Result = TypeVar("Result")

_LONGEST = 600.0  # seconds that a large undo may take


def work_on_trail(space: str | None, work: Callable[[Trail], Awaitable[Result]]) -> Result:
    """Run `work` on the trail of a space, or of all administered spaces; return its result.

    Raises SpaceNotFound, NotAuthenticated, ScopeMissing, StartRefused, DatabaseUnavailable.
    """
    settings = read_settings()

    async def run() -> Result:
        async with _find_site(settings) as site:
            database = Database(
                site.conninfo, timeout=max(settings.database_timeout, _LONGEST), max_size=1
            )
            await database.open()
            try:
                async with name_lock_holders(site.conninfo, settings.database_timeout):
                    space_id = await find_space(database, site.credential, space)
                    return await work(Trail(database, site.credential, space_id))
            finally:
                await database.close()

    return run_foreground(run)


@asynccontextmanager
async def _find_site(settings: Settings) -> AsyncGenerator[OpenDatabase]:
    if settings.database_url is None:
        await require_memory(settings)
        async with open_database(settings) as site:
            yield site
        return
    conninfo, token = settings.database_url.get_secret_value(), settings.access_token
    await check(conninfo, connect_timeout=settings.database_timeout, serving=False)
    yield OpenDatabase(conninfo, hash_token(token.get_secret_value()) if token else None)
