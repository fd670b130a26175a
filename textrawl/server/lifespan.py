"""The objects of a running server: a memory, the identity of callers, upkeep."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from textrawl import errors
from textrawl.access.bearer import BearerAuthenticator
from textrawl.access.directory import Directory
from textrawl.server.upkeep import Upkeep
from textrawl.settings import Settings
from textrawl.store.opening import open_memory
from textrawl.store.store import Store
from textrawl.toolsets.app import App, Identity
from textrawl.wire.rendering import build_recall_log, build_renderer

if TYPE_CHECKING:
    from textrawl.access.oauth.issuer import Issuer
    from textrawl.server.llm_upkeep import ExtractionUpkeep, JournalUpkeep

_REVOKED_WITHIN = 1.0  # seconds for which a principal is cached, even if its token is revoked
_OWN_LIFETIME = 60.0  # the same for the server's own token, which the database checks anyway
_LAST_FLUSH = 1.0  # time limit in seconds for recording the last recalls


@asynccontextmanager
async def open_app(
    settings: Settings, *, memory: Store | None = None, tokens_needed: bool = False
) -> AsyncGenerator[App]:
    """Open everything that tools need, and run the upkeep in the background. Raises StartRefused.

    With `tokens_needed`, each caller needs an access token. Otherwise all callers use the server's
    token. If `memory` is given, it is used and not closed.
    """
    async with AsyncExitStack() as stack:
        if memory is None:
            memory = await stack.enter_async_context(open_memory(settings, serving=True))
        recall_log = build_recall_log(settings)
        upkeep = Upkeep(memory, recall_log, days=settings.snapshot_retention_days)
        lifetime = _REVOKED_WITHIN if tokens_needed else _OWN_LIFETIME
        directory = Directory(memory.database, lifetime=lifetime)
        identity = Identity(directory, memory.credential, settings.space, tokens_needed)
        llm_work = _choose_llm_work(settings, memory, directory)
        try:
            async with anyio.create_task_group() as beside:
                if not settings.read_only:
                    beside.start_soon(upkeep.run)
                    for work in llm_work:
                        beside.start_soon(work.run)
                app = App(memory, build_renderer(settings), identity, recall_log)
                beside.start_soon(app.watches.run)
                yield app
                beside.cancel_scope.cancel()
        finally:
            with anyio.move_on_after(_LAST_FLUSH, shield=True):
                await upkeep.record_recalls()


def _choose_llm_work(
    settings: Settings, memory: Store, directory: Directory
) -> "list[ExtractionUpkeep | JournalUpkeep]":
    if not (memory.extracts or settings.consolidate_journal):
        return []
    from textrawl.server.llm_upkeep import (  # noqa: PLC0415 - few use it
        ExtractionUpkeep,
        JournalUpkeep,
    )

    if memory.llm is None:
        raise errors.StartRefused(
            "TEXTRAWL_CONSOLIDATE_JOURNAL needs an LLM: set TEXTRAWL_LLM_PROVIDER"
        )
    work: list[ExtractionUpkeep | JournalUpkeep] = []
    if memory.extracts:
        work.append(ExtractionUpkeep(memory))
    if settings.consolidate_journal:
        work.append(JournalUpkeep(memory, directory, settings.space))
    return work


def build_authenticator(settings: Settings, app: App) -> BearerAuthenticator:
    """Return the authenticator for textrawl's tokens and for the identity provider's tokens."""
    issuer = _choose_issuer(settings)
    return BearerAuthenticator(app.identity.directory, issuer, app.store.credential)


def _choose_issuer(settings: Settings) -> "Issuer | None":
    if settings.oauth_issuer is None:
        return None
    from textrawl.access.oauth.issuer import Issuer  # noqa: PLC0415 - slow to import, and few use it

    if settings.public_url is None:
        raise errors.StartRefused(
            "TEXTRAWL_OAUTH_ISSUER needs TEXTRAWL_PUBLIC_URL: the provider issues its tokens for "
            "this address with /mcp at the end"
        )
    audience = f"{settings.public_url}/mcp"
    return Issuer(settings.oauth_issuer, audience=audience, actor_claim=settings.oauth_actor_claim)
