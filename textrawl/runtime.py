"""What a server needs while it runs: a database that is up to date, an embedder, upkeep."""

import getpass
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from textrawl import errors
from textrawl.database import Database
from textrawl.embeddings import choose_embedder
from textrawl.memory import Memory
from textrawl.migrations import check, migrate
from textrawl.replies import Renderer
from textrawl.settings import Settings
from textrawl.tokens import choose_counter
from textrawl.toolsets import App
from textrawl.upkeep import Upkeep

logger = logging.getLogger("textrawl")


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[str]:
    """Connection string of a database whose schema fits.

    Without DATABASE_URL the embedded Postgres, started and migrated. With it that one, which is
    never changed unasked: raises StartRefused, saying what to run, when its schema does not fit.
    One that cannot be reached is let pass: it may be back before the first call.
    """
    if settings.database_url is None:
        from textrawl.embedded.cluster import APP, OWNER, run_embedded  # noqa: PLC0415 - seldom both

        async with run_embedded(settings.data_dir) as cluster:
            await migrate(cluster.dsn(OWNER))
            yield cluster.dsn(APP)
        return
    conninfo = settings.database_url.get_secret_value()
    try:
        await check(conninfo, connect_timeout=settings.database_timeout)
    except errors.DatabaseUnavailable:
        logger.warning("The database cannot be reached yet: calls will fail until it is back")
    yield conninfo


@asynccontextmanager
async def open_memory(settings: Settings) -> AsyncIterator[Memory]:
    """The memory that `settings` name, connected. Raises StartRefused."""
    embedder = choose_embedder(settings)
    try:
        async with open_database(settings) as conninfo:
            database = Database(conninfo, timeout=settings.database_timeout)
            await database.open()
            try:
                yield Memory(database, embedder, read_only=settings.read_only)
            finally:
                with anyio.move_on_after(5, shield=True):
                    await database.close()
    finally:
        if embedder is not None:
            with anyio.move_on_after(5, shield=True):
                await embedder.aclose()


@asynccontextmanager
async def open_app(settings: Settings) -> AsyncIterator[App]:
    """Everything that tools need, with upkeep going on beside. Raises StartRefused."""
    async with open_memory(settings) as memory:
        app = App(memory, build_renderer(settings), getpass.getuser())
        async with anyio.create_task_group() as beside:
            if not settings.read_only:
                beside.start_soon(Upkeep(memory).run)
            yield app
            beside.cancel_scope.cancel()


def build_renderer(settings: Settings) -> Renderer:
    """The way in which `settings` want answers written."""
    return Renderer(
        format=settings.compact_responses,
        structured=settings.structured_content == "full",
        counter=choose_counter(settings.tokenizer),
        budget=settings.max_response_tokens,
    )
