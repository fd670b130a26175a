"""A memory, opened: a database that is up to date, a pool of connections, an embedder.

Nothing here needs the MCP SDK: a server opens its memory while the SDK is loaded, and commands do
without it.
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

_WATCH = 1.0  # seconds between looks at the embedded Postgres
_MEND = 30.0  # seconds between looks for indexes that are missing
_MOST_STARTS = 5  # of Postgres while a memory is opened
_CLEANUP = 5.0  # seconds that closing connections may take


@dataclass(frozen=True)
class Site:
    """Where the memory is, and the credential that this process has there (None: its login's).

    `seen` says whether its schema was looked at: not while it was away.
    """

    conninfo: str
    credential: bytes | None
    seen: bool = True


@asynccontextmanager
async def open_database(settings: Settings, *, serving: bool = False) -> AsyncGenerator[Site]:
    """A database whose schema fits.

    Without DATABASE_URL the embedded Postgres, started and migrated, and started again if it dies.
    With it that one, which is never changed unasked: raises StartRefused, saying what to run, when
    its schema does not fit, or when no wall in it would stop the login of one that is `serving`.
    A server starts without one that cannot be reached, which may be back before the first call;
    all others get DatabaseUnavailable.
    """
    given = settings.access_token
    token = hash_token(given.get_secret_value()) if given is not None else None
    if settings.database_url is None:
        async with _run_embedded(settings) as site:
            yield replace(site, credential=token) if token else site
        return
    conninfo, seen = settings.database_url.get_secret_value(), True
    try:
        await check(conninfo, connect_timeout=settings.database_timeout, serving=serving)
    except errors.DatabaseUnavailable:
        if not serving:
            raise
        seen = False
        logger.warning("The database cannot be reached yet: calls will fail until it is back")
    yield Site(conninfo, token, seen)


@asynccontextmanager
async def _run_embedded(settings: Settings) -> AsyncGenerator[Site]:
    from textrawl.embedded.cluster import run_embedded  # noqa: PLC0415 - not needed with a URL
    from textrawl.embedded.configuration import APP, OWNER  # noqa: PLC0415

    async with run_embedded(settings.data_dir) as cluster, anyio.create_task_group() as beside:
        own = await _prepare(cluster)
        beside.start_soon(_keep_alive, cluster)
        beside.start_soon(_mend_indexes, cluster.dsn(OWNER))
        yield Site(cluster.dsn(APP), own)
        beside.cancel_scope.cancel()


async def _prepare(cluster: "Cluster") -> bytes:
    """Brings the schema up to date; the credential of this user, whose memory it is.

    Postgres may die meanwhile and is then started again: what was begun is undone as a whole.
    """
    from textrawl.embedded.cluster import restart  # noqa: PLC0415
    from textrawl.embedded.configuration import OWNER  # noqa: PLC0415

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
                    f"Postgres died {attempt} times while the memory was opened; see its log "
                    f"beside {cluster.data}"
                ) from error
        logger.warning("Postgres died during the start and is started again")
        await restart(cluster)
    raise AssertionError  # it counts for ever


async def _keep_alive(cluster: "Cluster") -> None:
    from textrawl.embedded.cluster import restart  # noqa: PLC0415
    from textrawl.embedded.postmaster import find_postmaster  # noqa: PLC0415

    told = ""
    while True:
        await anyio.sleep(_WATCH)
        if find_postmaster(cluster.data) is not None:
            continue
        if not told:
            logger.warning("Postgres died and is started again")
        try:
            await restart(cluster)
            told = ""
        except errors.StartRefused as refused:
            if str(refused) != told:  # a full disk is told once, not every second
                told = str(refused)
                logger.error("%s", told)  # noqa: TRY400 - it is the message that helps


async def _mend_indexes(conninfo: str) -> None:
    """Makes indexes of vectors that an import or a crash left out."""
    while True:
        await anyio.sleep(_MEND)
        from textrawl.postgres.owner_session import BatchRefused  # noqa: PLC0415 - not at the start
        from textrawl.postgres.vector_indexes import build_missing_indexes  # noqa: PLC0415

        try:
            for name in await build_missing_indexes(conninfo):
                logger.warning("The vectors of %s had no index and were indexed anew", name)
        except (errors.StartRefused, errors.TextrawlError) as error:
            logger.info("Indexes wait: %s", error)
        except (PostgresError, BatchRefused) as error:
            # Searches do without, and so does whoever else uses this Postgres meanwhile.
            state = error.sqlstate if isinstance(error, PostgresError) else error
            logger.warning("Indexes wait: %s %s", type(error).__name__, state)


@asynccontextmanager
async def open_memory(settings: Settings, *, serving: bool = False) -> AsyncGenerator[Store]:
    """The memory that `settings` name, connected. Raises StartRefused."""
    embedder = choose_embedder(settings)
    try:
        async with open_database(settings, serving=serving) as site:
            database = Database(
                site.conninfo, timeout=settings.database_timeout,
                check=None if site.seen else _build_check(settings, site, serving=serving),
            )  # fmt: skip
            models = Models(
                database, embedder, partial(choose_named, settings),
                chosen=settings.embedding_provider != "auto", read_only=settings.read_only,
            )  # fmt: skip
            await database.open()
            try:
                yield Store(database, models, credential=site.credential)
            finally:
                with anyio.move_on_after(_CLEANUP, shield=True):
                    await models.aclose()
                    await database.close()
    finally:
        if embedder is not None:
            with anyio.move_on_after(_CLEANUP, shield=True):
                await embedder.aclose()


def _build_check(settings: Settings, site: Site, *, serving: bool) -> Callable[[], Awaitable[None]]:
    """What finds out, before the first call, about a database that was away at the start."""
    timeout = settings.database_timeout
    return partial(check, site.conninfo, connect_timeout=timeout, serving=serving)
