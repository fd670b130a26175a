"""Resources of a running server: a memory, the identity of callers, upkeep."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
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
from textrawl.wire.recall_log import RecallLog
from textrawl.wire.replies import Renderer
from textrawl.wire.token_counter import choose_counter

if TYPE_CHECKING:
    from textrawl.access.oauth.issuer import Issuer

_REVOKED_WITHIN = 1.0  # seconds for which a principal is cached: a revocation shows after them
_OWN_LIFETIME = 60.0  # the same for the server's own token: the database checks each call anyway
_NO_BUDGET = 1_000_000
_LAST_FLUSH = 1.0  # seconds that recording the last recalls may take


@asynccontextmanager
async def open_app(
    settings: Settings, *, memory: Store | None = None, tokens_needed: bool = False
) -> AsyncGenerator[App]:
    """Open everything that tools need, and run the upkeep meanwhile. Raises StartRefused.

    With `tokens_needed`, callers need a token of their own; otherwise the server's token is used.
    A `memory` that is passed stays open.
    """
    async with AsyncExitStack() as stack:
        if memory is None:
            memory = await stack.enter_async_context(open_memory(settings, serving=True))
        recall_log = build_recall_log(settings)
        upkeep = Upkeep(memory, recall_log)
        lifetime = _REVOKED_WITHIN if tokens_needed else _OWN_LIFETIME
        directory = Directory(memory.database, lifetime=lifetime)
        identity = Identity(directory, memory.credential, settings.space, tokens_needed)
        try:
            async with anyio.create_task_group() as beside:
                if not settings.read_only:
                    beside.start_soon(upkeep.run)
                yield App(memory, build_renderer(settings), identity, recall_log)
                beside.cancel_scope.cancel()
        finally:
            with anyio.move_on_after(_LAST_FLUSH, shield=True):
                await upkeep.record_recalls()


def build_renderer(settings: Settings) -> Renderer:
    """Return the renderer that `settings` describe."""
    return Renderer(
        format=settings.compact_responses,
        structured=settings.structured_content == "full",
        counter=choose_counter(),
        budget=settings.max_response_tokens,
        graph_budget=settings.max_graph_tokens,
    )


def build_recall_log(settings: Settings) -> RecallLog | None:
    """Return the recall log, or None if `settings` turn it off."""
    if settings.record_recalls == "off" or settings.read_only:
        return None
    verbose = replace(
        build_renderer(settings), format="verbose", budget=_NO_BUDGET, graph_budget=_NO_BUDGET
    )
    return RecallLog(
        settings.record_recalls, count_verbose=lambda reply: verbose.write(reply).tokens
    )


def build_authenticator(settings: Settings, app: App) -> BearerAuthenticator:
    """Return the authenticator of textrawl's tokens and of the identity provider's."""
    issuer = _choose_issuer(settings)
    return BearerAuthenticator(app.identity.directory, issuer, app.store.credential)


def _choose_issuer(settings: Settings) -> "Issuer | None":
    if settings.oauth_issuer is None:
        return None
    from textrawl.access.oauth.issuer import Issuer  # noqa: PLC0415 - slow to import, and few use it

    if settings.public_url is None:
        raise errors.StartRefused(
            "TEXTRAWL_OAUTH_ISSUER needs TEXTRAWL_PUBLIC_URL: the provider issues tokens for "
            "TEXTRAWL_PUBLIC_URL with /mcp"
        )
    audience = f"{settings.public_url}/mcp"
    return Issuer(settings.oauth_issuer, audience=audience, actor_claim=settings.oauth_actor_claim)
