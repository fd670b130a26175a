"""The opening of the embedded Postgres, which runs while the memory is open."""

import getpass
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from pathlib import Path

import anyio

from textrawl import errors
from textrawl.embedded.cluster import Cluster, restart, run_embedded
from textrawl.embedded.postmaster import APP, OWNER, find_postmaster
from textrawl.postgres.connection import PostgresError, is_broken
from textrawl.postgres.migrations import migrate, open_local_access
from textrawl.postgres.owner_session import BatchRefused
from textrawl.postgres.vector_indexes import build_missing_indexes
from textrawl.scheduling import run_beside

logger = logging.getLogger("textrawl")

_WATCH_INTERVAL = 1.0  # seconds between checks that Postgres runs
_INDEX_INTERVAL = 30.0  # seconds between checks for missing indexes
_MOST_STARTS = 5  # starts of Postgres while a memory is being opened


@asynccontextmanager
async def open_embedded(data_dir: Path) -> AsyncGenerator[tuple[str, bytes]]:
    """Yield the conninfo of the embedded Postgres and the credential of the OS user.

    Postgres is started and migrated, and started again if it dies. Raises StartRefused.
    """
    async with run_embedded(data_dir) as cluster:
        credential = await _prepare(cluster)
        upkeep = partial(_keep_alive, cluster), partial(_keep_indexed, cluster.dsn(OWNER))
        async with run_beside(*upkeep):
            yield cluster.dsn(APP), credential


async def _prepare(cluster: Cluster) -> bytes:
    """Migrate the database and return the credential of the OS user.

    If Postgres dies during the migration, start Postgres again and repeat the migration. Postgres
    rolls back the interrupted transaction of the migration.
    """
    owner = cluster.dsn(OWNER)
    for attempt in count(1):
        try:
            await migrate(owner)
            return await open_local_access(owner, getpass.getuser())
        except (PostgresError, errors.DatabaseUnavailable) as error:
            if not is_broken(error):
                raise
            if attempt == _MOST_STARTS:
                raise errors.StartRefused(
                    f"Postgres died {attempt} times during the start; see its log "
                    f"beside {cluster.data}"
                ) from error
        logger.warning("Postgres died during the start and is started again")
        await restart(cluster)
    raise AssertionError  # not reached: the loop does not end


async def _keep_alive(cluster: Cluster) -> None:
    """Start Postgres again whenever it dies."""
    last_message = ""
    while True:
        await anyio.sleep(_WATCH_INTERVAL)
        if find_postmaster(cluster.data) is not None:
            continue
        if not last_message:
            logger.warning("Postgres died and is started again")
        try:
            await restart(cluster)
            last_message = ""
        except errors.StartRefused as refused:
            if str(refused) != last_message:  # log a full disk once, not every second
                last_message = str(refused)
                logger.error("%s", last_message)  # noqa: TRY400 - the message says what to do


async def _keep_indexed(conninfo: str) -> None:
    """Build vector indexes that are missing after an import or a crash."""
    while True:
        await anyio.sleep(_INDEX_INTERVAL)
        try:
            for name in await build_missing_indexes(conninfo):
                logger.warning("The missing index for the vectors of %s was built", name)
        except (errors.StartRefused, errors.TextrawlError) as error:
            logger.info("Vector indexes will be built later: %s", error)
        except (PostgresError, BatchRefused) as error:
            # Only log the error, because searches work without the index.
            state = error.sqlstate if isinstance(error, PostgresError) else error
            logger.warning("Vector indexes will be built later: %s %s", type(error).__name__, state)
