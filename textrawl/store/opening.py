"""The opening of a memory: its database, a pool of connections and an embedder.

Nothing here imports the MCP SDK, because a server opens its memory while the SDK is loading, and
commands do not need it.
"""

import getpass
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

import anyio

from textrawl import errors
from textrawl.access.access_token import hash_token
from textrawl.embeddings import choose_embedder
from textrawl.embeddings.active_model import Models, choose_named
from textrawl.postgres.connection import PostgresError, is_broken
from textrawl.postgres.database import Database
from textrawl.postgres.migrations import check, migrate, open_local_access
from textrawl.settings import Settings
from textrawl.store.store import Store

if TYPE_CHECKING:
    from textrawl.embedded.cluster import Cluster

logger = logging.getLogger("textrawl")

_WATCH_INTERVAL = 1.0  # seconds between checks that the embedded Postgres runs
_INDEX_INTERVAL = 30.0  # seconds between checks for missing indexes
_MOST_STARTS = 5  # of Postgres during the opening of a memory
_CLEANUP = 5.0  # time limit for closing connections, in seconds


@dataclass(frozen=True)
class OpenDatabase:
    """The conninfo of a memory's database, and the credential of this process.

    `credential` is None if the login decides. `checked` is false if the database could not be
    reached, so its schema is unchecked.
    """

    conninfo: str
    credential: bytes | None
    checked: bool = True


@asynccontextmanager
async def open_database(
    settings: Settings, *, serving: bool = False
) -> AsyncGenerator[OpenDatabase]:
    """Open a database with the schema of this version.

    Without DATABASE_URL, this is the embedded Postgres. It is started, migrated, and started again
    if it dies. The database of DATABASE_URL is only checked. Raises StartRefused with the command
    to run if its schema is of another version. With `serving`, also refuse logins that row-level
    security does not restrict.

    With `serving`, a database that cannot be reached is checked before the first call. Otherwise
    raises DatabaseUnavailable.
    """
    token = settings.access_token
    credential = hash_token(token.get_secret_value()) if token is not None else None
    if settings.database_url is None:
        async with _run_embedded(settings) as target:
            yield replace(target, credential=credential) if credential else target
        return
    conninfo, checked = settings.database_url.get_secret_value(), True
    try:
        await check(conninfo, connect_timeout=settings.database_timeout, serving=serving)
    except errors.DatabaseUnavailable:
        if not serving:
            raise
        checked = False
        logger.warning("The database cannot be reached yet: calls will fail until it is back")
    yield OpenDatabase(conninfo, credential, checked)


@asynccontextmanager
async def _run_embedded(settings: Settings) -> AsyncGenerator[OpenDatabase]:
    from textrawl.embedded.cluster import run_embedded  # noqa: PLC0415 - not needed with a URL
    from textrawl.embedded.configuration import APP, OWNER  # noqa: PLC0415

    async with run_embedded(settings.data_dir) as cluster, anyio.create_task_group() as tasks:
        credential = await _prepare(cluster)
        tasks.start_soon(_keep_alive, cluster)
        tasks.start_soon(_keep_indexed, cluster.dsn(OWNER))
        yield OpenDatabase(cluster.dsn(APP), credential)
        tasks.cancel_scope.cancel()


async def _prepare(cluster: "Cluster") -> bytes:
    """Migrate the database and return the credential of the OS user.

    If Postgres dies meanwhile, it is started again. Its transaction was rolled back, so the
    migration is repeated.
    """
    from textrawl.embedded.cluster import restart  # noqa: PLC0415 - not needed with a URL
    from textrawl.embedded.configuration import OWNER  # noqa: PLC0415 - not needed with a URL

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


async def _keep_alive(cluster: "Cluster") -> None:
    """Start Postgres again whenever it dies."""
    from textrawl.embedded.cluster import restart  # noqa: PLC0415 - not needed with a URL
    from textrawl.embedded.postmaster import find_postmaster  # noqa: PLC0415 - as before

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
        from textrawl.postgres.owner_session import BatchRefused  # noqa: PLC0415 - not loaded at the start
        from textrawl.postgres.vector_indexes import build_missing_indexes  # noqa: PLC0415 - as before

        try:
            for name in await build_missing_indexes(conninfo):
                logger.warning("The vectors of %s had no index and were indexed", name)
        except (errors.StartRefused, errors.TextrawlError) as error:
            logger.info("Vector indexes will be built later: %s", error)
        except (PostgresError, BatchRefused) as error:
            # Searches work without the index, so only log it.
            state = error.sqlstate if isinstance(error, PostgresError) else error
            logger.warning("Vector indexes will be built later: %s %s", type(error).__name__, state)


@asynccontextmanager
async def open_memory(settings: Settings, *, serving: bool = False) -> AsyncGenerator[Store]:
    """Open the memory of `settings`. Raises StartRefused."""
    embedder = choose_embedder(settings)
    try:
        async with open_database(settings, serving=serving) as target:
            database = Database(
                target.conninfo,
                timeout=settings.database_timeout,
                check=None if target.checked else _build_check(settings, target, serving=serving),
            )
            models = Models(
                database,
                embedder,
                partial(choose_named, settings),
                chosen=settings.embedding_provider != "auto",
                read_only=settings.read_only,
            )
            await database.open()
            try:
                yield Store(database, models, credential=target.credential)
            finally:
                with anyio.move_on_after(_CLEANUP, shield=True):
                    await models.aclose()
                    await database.close()
    finally:
        if embedder is not None:
            with anyio.move_on_after(_CLEANUP, shield=True):
                await embedder.aclose()


def _build_check(
    settings: Settings, target: OpenDatabase, *, serving: bool
) -> Callable[[], Awaitable[None]]:
    """Return the check, before the first call, of a database that could not be reached."""
    timeout = settings.database_timeout
    return partial(check, target.conninfo, connect_timeout=timeout, serving=serving)
