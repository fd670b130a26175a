"""Functions that open the database of the settings, for commands."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.configuration import OWNER
from textrawl.embedded.state import read_state
from textrawl.errors import StartRefused
from textrawl.postgres.migrations import check, migrate
from textrawl.postgres.owner_login import OwnerLogin
from textrawl.settings import Settings


def require_memory(settings: Settings) -> None:
    """Require that the embedded Postgres exists, because a reading command does not create it.

    A database of DATABASE_URL is checked when it is opened. Raises StartRefused.
    """
    if settings.database_url is None and read_state(settings.data_dir).phase == "not initialised":
        raise StartRefused(
            f"There is no memory in {settings.data_dir} yet: `textrawl remember`, `textrawl "
            "ingest` and the first `textrawl serve` create it. If your memory is elsewhere, set "
            "TEXTRAWL_DATA_DIR or TEXTRAWL_DATABASE_URL"
        )


@asynccontextmanager
async def open_login(
    settings: Settings, *, role: str = OWNER, empty: bool = False, any_version: bool = False
) -> AsyncGenerator[OwnerLogin]:
    """Open the memory of `settings` as its owner, or as `role` on the embedded Postgres.

    If `empty` is true, the memory does not need to exist. If `any_version` is false, the embedded
    memory is migrated, and a memory in DATABASE_URL has to have the schema of this version. Raises
    StartRefused, DatabaseUnavailable.
    """
    timeout = settings.database_timeout
    if settings.database_url is not None:
        conninfo = settings.database_url.get_secret_value()
        if not any_version:
            await check(conninfo, connect_timeout=timeout, serving=False)
        yield OwnerLogin(conninfo, None, timeout)
        return
    if not empty:
        require_memory(settings)
    async with run_embedded(settings.data_dir) as cluster:
        if not any_version:
            await migrate(cluster.dsn(OWNER))
        yield OwnerLogin(cluster.dsn(role), cluster.bin_path, timeout)
