"""The trail of the memory that the settings name, for `textrawl undo` and `log`.

These commands act as the actor of ACCESS_TOKEN, or else as the actor of the login in DATABASE_URL.
On the embedded Postgres they act as the user of this machine. An undo is recorded for this actor.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from textrawl.cli.database_access import require_memory
from textrawl.cli.foreground import run_foreground
from textrawl.distribution.opening import open_connection
from textrawl.postgres.lock_holders import name_lock_holders
from textrawl.settings import read_settings
from textrawl.store.opening import open_database
from textrawl.store.trail import Trail, find_space

Result = TypeVar("Result")

_LONGEST = 600.0  # seconds that a large undo can take


def work_on_trail(space: str | None, work: Callable[[Trail], Awaitable[Result]]) -> Result:
    """Run `work` on the trail of a space, or of all administered spaces, and return its result.

    Raises SpaceNotFound, NotAuthenticated, ScopeMissing, StartRefused, DatabaseUnavailable.
    """
    settings = read_settings()

    async def run() -> Result:
        require_memory(settings)
        timeout = max(settings.database_timeout, _LONGEST)
        async with (
            open_database(settings) as site,
            open_connection(site.conninfo, timeout=timeout) as database,
            name_lock_holders(site.conninfo, settings.database_timeout),
        ):
            space_id = await find_space(database, site.credential, space)
            return await work(Trail(database, site.credential, space_id))

    return run_foreground(run)
