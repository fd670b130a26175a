"""The opening of a memory: its database, a pool of connections and an embedder.

This module does not import the MCP SDK. A server opens its memory while the SDK is loading, and
commands do not need the SDK.
"""

import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio

from textrawl import errors
from textrawl.access.access_token import hash_token
from textrawl.cluster.opening import load_cluster_database, open_connection
from textrawl.memory.store import Extracted, Store
from textrawl.models.active_model import Models, choose_named
from textrawl.models.choice import asks_for_model, choose_embedder, choose_llm
from textrawl.postgres.connection import show_target
from textrawl.postgres.database import Database
from textrawl.postgres.migrations import check
from textrawl.scheduling import run_beside
from textrawl.settings import Settings
from textrawl_client.unix_socket import GOING_ON, build_address

logger = logging.getLogger("textrawl")

_CLEANUP = 5.0  # time limit for closing connections, in seconds
_ANALYSIS_INTERVAL = 5.0  # seconds between checks for tables that have grown


@dataclass(frozen=True)
class OpenDatabase:
    """The conninfo of a memory's database, and the credential of this process.

    `credential` is None if the login of the conninfo identifies the actor, and `of_login` is the
    credential without a token. `checked` is false if the schema was not checked, because the
    database could not be reached. `distributed` is true if its content is in the cells of a
    cluster.
    """

    conninfo: str
    credential: bytes | None
    of_login: bytes | None = None
    checked: bool = True
    distributed: bool = False


def name_memory(settings: Settings) -> str:
    """Return the folder of the embedded Postgres, or the target of DATABASE_URL."""
    if settings.database_url is None:
        return str(settings.data_dir)
    return show_target(settings.database_url.get_secret_value())


@asynccontextmanager
async def open_database(
    settings: Settings, *, serving: bool = False, walled: bool = True
) -> AsyncGenerator[OpenDatabase]:
    """Open a database with the schema of this version.

    Without DATABASE_URL, open the embedded Postgres: start and migrate it, and start it again if it
    dies. With DATABASE_URL, only check the database. If its schema has another version, raise
    StartRefused with the command to run. If it cannot be reached, raise DatabaseUnavailable.

    With `serving`, a database that cannot be reached is not an error. It is checked before the
    first call instead. Logins that row-level security does not restrict are refused then, unless
    `walled` is false, because all who ask are the OS user who has the login.
    """
    token = settings.access_token
    credential = hash_token(token.get_secret_value()) if token is not None else None
    if settings.database_url is None:
        # Loading the parts of the embedded Postgres takes 30 ms.
        from textrawl.memory.embedded_opening import open_embedded  # noqa: PLC0415 - see above

        async with open_embedded(settings.data_dir) as (conninfo, of_user):
            yield OpenDatabase(conninfo, credential or of_user, of_user)
        return
    conninfo, checked, distributed = settings.database_url.get_secret_value(), True, False
    try:
        distributed = await _check(settings, conninfo, serving=serving and walled)
    except errors.DatabaseUnavailable:
        if not serving:
            raise
        checked = False
        logger.warning("The database cannot be reached yet: calls fail until it can be reached")
    yield OpenDatabase(conninfo, credential, None, checked, distributed)


@asynccontextmanager
async def open_patiently(store: Store, timeout: float) -> AsyncGenerator[Store]:
    """Open the memory of `store` once more, without a model, for calls of `timeout` seconds.

    Raises DatabaseUnavailable.
    """
    async with open_connection(store.conninfo, timeout=timeout) as database:
        yield Store(database, Models(database, None, read_only=True), credential=store.credential)


@asynccontextmanager
async def open_memory(
    settings: Settings, *, serving: bool = False, walled: bool = True
) -> AsyncGenerator[Store]:
    """Open the memory of `settings`, as `open_database` does. Raises StartRefused."""
    embedder, llm = choose_embedder(settings), choose_llm(settings)
    try:
        async with open_database(settings, serving=serving, walled=walled) as target:
            database = _build_database(settings, target, serving=serving and walled)
            models = Models(
                database,
                embedder,
                partial(choose_named, settings),
                chosen=asks_for_model(settings),
                read_only=settings.read_only,
            )
            models.serving = serving
            try:
                async with _open(database, read_only=settings.read_only):
                    extracts = _choose_extraction(settings)
                    store = Store(
                        database,
                        models,
                        credential=target.credential,
                        llm=llm,
                        extracts=extracts,
                    )
                    store.names_close_facts = settings.close_facts
                    store.going_on = build_address(settings.data_dir, {}).folder / GOING_ON
                    store.conninfo, store.of_login = target.conninfo, target.of_login
                    yield store
            finally:
                with anyio.move_on_after(_CLEANUP, shield=True):
                    await models.aclose()
                    await database.close()
    finally:
        for client in filter(None, (embedder, llm)):
            with anyio.move_on_after(_CLEANUP, shield=True):
                await client.aclose()


def _choose_extraction(settings: Settings) -> set[Extracted]:
    """Return what an LLM takes from journal entries."""
    kinds: set[Extracted] = set()
    if settings.enable_memory_extraction:
        kinds.add("graph")
    if settings.propose_facts:
        kinds.add("facts")
    return kinds


@asynccontextmanager
async def _open(database: Database, *, read_only: bool) -> AsyncGenerator[None]:
    """Open the connections. Watch the servers if another one can answer, and the growth of tables.

    A program that uses the library has no other upkeep.
    """
    await database.open()
    works: list[Callable[[], Coroutine[Any, Any, None]]] = []
    if database.probe is not None:
        works.append(database.watch)
    if not read_only:
        works.append(partial(_keep_analyzed, database))
    async with run_beside(*works):
        yield


async def _keep_analyzed(database: Database) -> None:
    """Analyze new tables as they grow, because autovacuum looks only once a minute."""
    while True:
        await anyio.sleep(_ANALYSIS_INTERVAL)
        try:
            await database.call("refresh_planner_statistics", int)
        except errors.TextrawlError as error:
            logger.info("Tables will be analyzed later: %s", error)


def _build_database(settings: Settings, target: OpenDatabase, *, serving: bool) -> Database:
    conninfo, timeout = target.conninfo, settings.database_timeout
    check = None if target.checked else partial(_check, settings, conninfo, serving=serving)
    read_url = None
    if settings.database_url and settings.database_read_url:  # the embedded Postgres has no standby
        read_url = settings.database_read_url.get_secret_value()
    if target.checked and not target.distributed:
        return Database(conninfo, timeout=timeout, check=check, read_url=read_url)
    return load_cluster_database()(
        conninfo,
        timeout=timeout,
        check=check,
        read_url=read_url,
        distributed=target.distributed,
    )


async def _check(settings: Settings, conninfo: str, *, serving: bool) -> bool:
    """Check the database, and return whether the memory is distributed. Raises StartRefused."""
    timeout = settings.database_timeout
    distributed = await check(conninfo, connect_timeout=timeout, serving=serving)
    if distributed and settings.database_read_url is not None:
        raise errors.StartRefused(
            "The memory is distributed: its workers answer searches, and a standby of the "
            "coordinator has no facts. Unset TEXTRAWL_DATABASE_READ_URL, and name the standby as "
            "the second host of TEXTRAWL_DATABASE_URL"
        )
    return distributed
