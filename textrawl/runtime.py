"""What a server needs while it runs: a database that is up to date, an embedder, upkeep."""

import getpass
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import anyio

from textrawl import errors
from textrawl.bearers import Bearers
from textrawl.credentials import hash_token
from textrawl.database import Database
from textrawl.directory import Directory
from textrawl.embeddings import choose_embedder
from textrawl.memory import Memory
from textrawl.migrations import check, migrate, open_local_access
from textrawl.models import Models, choose_named
from textrawl.recalls import Recalls
from textrawl.replies import Renderer
from textrawl.settings import Settings
from textrawl.tokens import choose_counter
from textrawl.toolsets import App, Identity
from textrawl.upkeep import Upkeep

if TYPE_CHECKING:
    from textrawl.embedded.cluster import Cluster
    from textrawl.federation import Issuer

logger = logging.getLogger("textrawl")

_WATCH = 1.0  # seconds between looks at the embedded Postgres
_MEND = 30.0  # seconds between looks for indexes that are missing
_CLEANUP = 5.0  # seconds that closing connections may take
_REVOKED_WITHIN = 1.0  # seconds for which a token is believed before the database is asked again
_OWN_LIFETIME = 60.0  # the same for our own: the database checks each call anyway
_NO_BUDGET = 1_000_000
_LAST_WORD = 1.0  # seconds that recording the last recalls may take


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
    One that cannot be reached is let pass: it may be back before the first call.
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
        seen = False
        logger.warning("The database cannot be reached yet: calls will fail until it is back")
    yield Site(conninfo, token, seen)


@asynccontextmanager
async def _run_embedded(settings: Settings) -> AsyncGenerator[Site]:
    from textrawl.embedded.cluster import run_embedded  # noqa: PLC0415 - not needed with a URL
    from textrawl.embedded.configuration import APP, OWNER  # noqa: PLC0415

    async with run_embedded(settings.data_dir) as cluster, anyio.create_task_group() as beside:
        await migrate(cluster.dsn(OWNER))
        own = await open_local_access(cluster.dsn(OWNER), getpass.getuser())
        beside.start_soon(_keep_alive, cluster)
        beside.start_soon(_mend_indexes, cluster.dsn(OWNER))
        yield Site(cluster.dsn(APP), own)
        beside.cancel_scope.cancel()


async def _keep_alive(cluster: "Cluster") -> None:
    from textrawl.embedded.cluster import revive  # noqa: PLC0415
    from textrawl.embedded.postmaster import find_postmaster  # noqa: PLC0415

    told = ""
    while True:
        await anyio.sleep(_WATCH)
        if find_postmaster(cluster.data) is not None:
            continue
        if not told:
            logger.warning("Postgres died and is started again")
        try:
            await revive(cluster)
            told = ""
        except errors.StartRefused as refused:
            if str(refused) != told:  # a full disk is told once, not every second
                told = str(refused)
                logger.error("%s", told)  # noqa: TRY400 - it is the message that helps


async def _mend_indexes(conninfo: str) -> None:
    """Makes indexes of vectors that an import or a crash left out."""
    while True:
        await anyio.sleep(_MEND)
        from textrawl.archive.indexes import mend_indexes  # noqa: PLC0415 - not at the start

        try:
            for name in await mend_indexes(conninfo):
                logger.warning("The vectors of %s had no index and were indexed anew", name)
        except (errors.StartRefused, errors.TextrawlError) as error:
            logger.info("Indexes wait: %s", error)


@asynccontextmanager
async def open_memory(settings: Settings, *, serving: bool = False) -> AsyncGenerator[Memory]:
    """The memory that `settings` name, connected. Raises StartRefused."""
    embedder = choose_embedder(settings)
    try:
        async with open_database(settings, serving=serving) as site:
            database = Database(
                site.conninfo, timeout=settings.database_timeout,
                check=None if site.seen else _build_check(settings, site, serving=serving),
            )  # fmt: skip
            models = Models(
                database, embedder, partial(choose_named, settings), read_only=settings.read_only
            )
            await database.open()
            try:
                yield Memory(database, models, credential=site.credential)
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


@asynccontextmanager
async def open_app(settings: Settings, *, tokens_needed: bool = False) -> AsyncGenerator[App]:
    """Everything that tools need, with upkeep going on beside. Raises StartRefused.

    With `tokens_needed` whoever has no token of their own is nobody, else they are this process.
    """
    async with open_memory(settings, serving=True) as memory:
        recalls = build_recalls(settings)
        upkeep = Upkeep(memory, recalls)
        lifetime = _REVOKED_WITHIN if tokens_needed else _OWN_LIFETIME
        directory = Directory(memory.database, lifetime=lifetime)
        identity = Identity(directory, memory.credential, settings.space, tokens_needed)
        try:
            async with anyio.create_task_group() as beside:
                if not settings.read_only:
                    beside.start_soon(upkeep.run)
                yield App(memory, build_renderer(settings), identity, recalls)
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


def build_recalls(settings: Settings) -> Recalls | None:
    """The log of recalls, None where `settings` want none."""
    if settings.record_recalls == "off" or settings.read_only:
        return None
    verbose = replace(build_renderer(settings), format="verbose", budget=_NO_BUDGET)
    return Recalls(settings.record_recalls, price=lambda reply: verbose.write(reply).tokens)


def build_bearers(settings: Settings, app: App) -> Bearers:
    """What tells whose a bearer token is, of ours or of the identity provider of `settings`."""
    return Bearers(app.identity.directory, _choose_issuer(settings), app.memory.credential)


def _choose_issuer(settings: Settings) -> "Issuer | None":
    if settings.oauth_issuer is None:
        return None
    from textrawl.federation import Issuer  # noqa: PLC0415 - few have one, and it costs to import

    audience = settings.oauth_audience
    if audience is None and settings.public_url is not None:
        audience = f"{settings.public_url}/mcp"
    if audience is None:
        raise errors.StartRefused("OAUTH_ISSUER needs PUBLIC_URL or OAUTH_AUDIENCE: whom for?")
    return Issuer(settings.oauth_issuer, audience=audience, actor_claim=settings.oauth_actor_claim)
