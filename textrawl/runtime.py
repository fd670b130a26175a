"""What a server needs while it runs: a database that is up to date, an embedder, upkeep."""

import getpass
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import anyio

from textrawl import errors
from textrawl.database import Database
from textrawl.embeddings import choose_embedder
from textrawl.memory import Memory
from textrawl.migrations import check, migrate
from textrawl.recalls import Recalls
from textrawl.replies import Renderer
from textrawl.settings import Settings
from textrawl.tokens import choose_counter
from textrawl.toolsets import App
from textrawl.upkeep import Upkeep

if TYPE_CHECKING:
    from textrawl.embedded.cluster import Cluster

logger = logging.getLogger("textrawl")

_WATCH = 1.0  # seconds between looks at the embedded Postgres
_CLEANUP = 5.0  # seconds that closing connections may take
_LAST_WORD = 1.0  # seconds that recording the last recalls may take


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncGenerator[str]:
    """Connection string of a database whose schema fits.

    Without DATABASE_URL the embedded Postgres, started and migrated, and started again if it dies.
    With it that one, which is never changed unasked: raises StartRefused, saying what to run, when
    its schema does not fit. One that cannot be reached is let pass: it may be back before the
    first call.
    """
    if settings.database_url is None:
        async with _run_embedded(settings) as conninfo:
            yield conninfo
        return
    conninfo = settings.database_url.get_secret_value()
    try:
        await check(conninfo, connect_timeout=settings.database_timeout)
    except errors.DatabaseUnavailable:
        logger.warning("The database cannot be reached yet: calls will fail until it is back")
    yield conninfo


@asynccontextmanager
async def _run_embedded(settings: Settings) -> AsyncGenerator[str]:
    from textrawl.embedded.cluster import run_embedded  # noqa: PLC0415 - not needed with a URL
    from textrawl.embedded.configuration import APP, OWNER  # noqa: PLC0415

    async with run_embedded(settings.data_dir) as cluster, anyio.create_task_group() as beside:
        await migrate(cluster.dsn(OWNER))
        beside.start_soon(_keep_alive, cluster)
        yield cluster.dsn(APP)
        beside.cancel_scope.cancel()


async def _keep_alive(cluster: "Cluster") -> None:
    from textrawl.embedded.cluster import revive  # noqa: PLC0415
    from textrawl.embedded.postmaster import find_postmaster  # noqa: PLC0415

    while True:
        await anyio.sleep(_WATCH)
        if find_postmaster(cluster.data) is None:
            logger.warning("Postgres died and is started again")
            try:
                await revive(cluster)
            except errors.StartRefused as refused:
                logger.error("%s", refused)  # noqa: TRY400 - it is the message that helps


@asynccontextmanager
async def open_memory(settings: Settings) -> AsyncGenerator[Memory]:
    """The memory that `settings` name, connected. Raises StartRefused."""
    embedder = choose_embedder(settings)
    try:
        async with open_database(settings) as conninfo:
            database = Database(
                conninfo, timeout=settings.database_timeout, check=_build_check(settings)
            )
            await database.open()
            try:
                yield Memory(database, embedder, read_only=settings.read_only)
            finally:
                with anyio.move_on_after(_CLEANUP, shield=True):
                    await database.close()
    finally:
        if embedder is not None:
            with anyio.move_on_after(_CLEANUP, shield=True):
                await embedder.aclose()


def _build_check(settings: Settings) -> Callable[[], Awaitable[None]] | None:
    """What finds out, before the first call, about a database that was away at the start."""
    if settings.database_url is None:
        return None
    conninfo = settings.database_url.get_secret_value()
    return partial(check, conninfo, connect_timeout=settings.database_timeout)


@asynccontextmanager
async def open_app(settings: Settings) -> AsyncGenerator[App]:
    """Everything that tools need, with upkeep going on beside. Raises StartRefused."""
    async with open_memory(settings) as memory:
        recalls = Recalls() if settings.record_recalls and not settings.read_only else None
        upkeep = Upkeep(memory, recalls)
        try:
            async with anyio.create_task_group() as beside:
                if not settings.read_only:
                    beside.start_soon(upkeep.run)
                yield App(memory, build_renderer(settings), getpass.getuser(), recalls)
                beside.cancel_scope.cancel()
        finally:
            with anyio.move_on_after(_LAST_WORD, shield=True):
                await upkeep.record_recalls()


def build_renderer(settings: Settings) -> Renderer:
    """The way in which `settings` want answers written."""
    return Renderer(
        format=settings.compact_responses,
        structured=settings.structured_content == "full",
        counter=choose_counter(settings.tokenizer),
        budget=settings.max_response_tokens,
    )
