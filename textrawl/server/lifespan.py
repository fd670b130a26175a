"""What a server needs while it runs: a memory, whom its callers are, upkeep."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from textrawl import errors
from textrawl.access.bearer import Bearers
from textrawl.access.directory import Directory
from textrawl.server.upkeep import Upkeep
from textrawl.settings import Settings
from textrawl.store.opening import open_memory
from textrawl.store.store import Store
from textrawl.toolsets.app import App, Identity
from textrawl.wire.recall_log import Recalls
from textrawl.wire.replies import Renderer
from textrawl.wire.token_counter import choose_counter

if TYPE_CHECKING:
    from textrawl.access.oauth.issuer import Issuer

_REVOKED_WITHIN = 1.0  # seconds for which a token is believed before the database is asked again
_OWN_LIFETIME = 60.0  # the same for our own: the database checks each call anyway
_NO_BUDGET = 1_000_000
_LAST_WORD = 1.0  # seconds that recording the last recalls may take


@asynccontextmanager
async def open_app(
    settings: Settings, *, memory: Store | None = None, tokens_needed: bool = False
) -> AsyncGenerator[App]:
    """Everything that tools need, with upkeep going on beside. Raises StartRefused.

    With `tokens_needed` whoever has no token of their own is nobody, else they are this process.
    A `memory` that is open already stays so.
    """
    async with AsyncExitStack() as stack:
        if memory is None:
            memory = await stack.enter_async_context(open_memory(settings, serving=True))
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
        counter=choose_counter(),
        budget=settings.max_response_tokens,
        graph_budget=settings.max_graph_tokens,
    )


def build_recalls(settings: Settings) -> Recalls | None:
    """The log of recalls, None where `settings` want none."""
    if settings.record_recalls == "off" or settings.read_only:
        return None
    verbose = replace(
        build_renderer(settings), format="verbose", budget=_NO_BUDGET, graph_budget=_NO_BUDGET
    )
    return Recalls(settings.record_recalls, price=lambda reply: verbose.write(reply).tokens)


def build_bearers(settings: Settings, app: App) -> Bearers:
    """What tells whose a bearer token is, of ours or of the identity provider of `settings`."""
    return Bearers(app.identity.directory, _choose_issuer(settings), app.store.credential)


def _choose_issuer(settings: Settings) -> "Issuer | None":
    if settings.oauth_issuer is None:
        return None
    from textrawl.access.oauth.issuer import Issuer  # noqa: PLC0415 - few have one, and it costs to import

    if settings.public_url is None:
        raise errors.StartRefused(
            "TEXTRAWL_OAUTH_ISSUER needs TEXTRAWL_PUBLIC_URL: the provider issues tokens for "
            "TEXTRAWL_PUBLIC_URL with /mcp"
        )
    audience = f"{settings.public_url}/mcp"
    return Issuer(settings.oauth_issuer, audience=audience, actor_claim=settings.oauth_actor_claim)
