"""The objects of a running server: a memory, the identity of callers, upkeep."""

import math
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from textrawl import errors
from textrawl.access.principal import BearerAuthenticator, Directory
from textrawl.memory.backlog import count_backlog, fill_batch, queue_facts
from textrawl.memory.opening import open_memory
from textrawl.memory.store import Store
from textrawl.models.active_model import StoredModel
from textrawl.scheduling import Rounds
from textrawl.settings import Settings
from textrawl.tools.call import App, Identity
from textrawl.wire.replies import RecallLog, build_recall_log

if TYPE_CHECKING:
    from textrawl.access.oauth import Issuer
    from textrawl.server.webhooks import WebhookDelivery

_PRUNING = 3600.0  # seconds between deletions of old recalls, snapshots and proposals
_REBUILDING = 5.0  # seconds of a round for search documents, so that vectors do not wait for long
_LOADING = 5.0  # seconds that a round waits for the embedding model to load


@dataclass(frozen=True)
class _PrunedDocuments:
    snapshots: int
    versions: int


class Upkeep(Rounds):
    """The background work that needs no LLM.

    All servers of a memory share this work. Snapshots are deleted after `days`.
    """

    delay = "Upkeep waits"

    def __init__(
        self,
        memory: Store,
        recall_log: RecallLog | None = None,
        *,
        pause: float = 5.0,
        days: int = 30,
    ) -> None:
        self._memory = memory
        self._recall_log = recall_log
        self.pause = pause
        self._days = days
        self._next_pruning = 0.0  # on the monotonic clock

    async def do_round(self) -> None:
        """Do all work that is due now. Raises DatabaseUnavailable, EmbeddingUnavailable."""
        await self.record_recalls()
        await self._prune()
        await self._memory.database.call("refresh_search_statistics", bool)
        if self._memory.models.has_vectors:
            active, *kept = await self._memory.models.find_served()
            if not math.isinf(active.embedder.estimate([])):  # an encoder waits for a first vector
                with anyio.move_on_after(_LOADING):
                    await active.embedder.warm()  # so that no search waits for it
            try:
                await self._fill(active)
            finally:
                self._memory.pending = await count_backlog(self._memory.database, active)
            for model in kept:
                await self._fill(model)
        end, database = time.monotonic() + _REBUILDING, self._memory.database
        while time.monotonic() < end and await database.value("rebuild_documents", bool):
            pass

    async def record_recalls(self) -> None:
        """Record the recalls in the database, or keep them for the next round."""
        if self._recall_log is not None:
            await self._recall_log.flush(self._memory.database)

    async def _prune(self) -> None:
        if time.monotonic() >= self._next_pruning:
            self._next_pruning = time.monotonic() + _PRUNING
            await self._memory.database.call("prune_recalls", int)
            await self._memory.database.call("prune_llm_use", int)
            await self._memory.database.call("expire_proposals", int)
            # Snapshots are deleted only where the server's own access token has the scope forget.
            credential = self._memory.credential
            await self._memory.database.call(
                "prune_documents", _PrunedDocuments, days=self._days, credential=credential
            )

    async def _fill(self, model: StoredModel) -> None:
        while await queue_facts(self._memory.database, model):
            pass
        self._memory.pending = await count_backlog(self._memory.database, model)
        while filled := await fill_batch(self._memory.database, model):
            self._memory.pending = max(0, self._memory.pending - filled)


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
        directory = Directory(memory.database)
        identity = Identity(directory, memory.credential, settings.space, tokens_needed)
        llm_work = _choose_llm_work(settings, memory, directory)
        try:
            async with anyio.create_task_group() as beside:
                if not settings.read_only:
                    beside.start_soon(upkeep.run)
                    for work in (*llm_work, *_choose_delivery(settings, memory, directory)):
                        beside.start_soon(work.run)
                app = App(settings, memory, identity, recall_log)
                beside.start_soon(app.watches.run)
                yield app
                beside.cancel_scope.cancel()
        finally:
            with anyio.move_on_after(_LAST_FLUSH, shield=True):
                await upkeep.record_recalls()


def _choose_llm_work(settings: Settings, memory: Store, directory: Directory) -> list[Rounds]:
    names = ("consolidate_journal", "propose_facts", "summarize_entities")
    needing = [name for name in names if getattr(settings, name)]
    if not (memory.extracts or needing):
        return []
    from textrawl.server.llm_upkeep import (  # noqa: PLC0415 - up to 22 ms, few use it
        ExtractionUpkeep,
        JournalUpkeep,
        SummaryUpkeep,
    )

    if memory.llm is None:
        raise errors.StartRefused(
            f"TEXTRAWL_{needing[0].upper()} needs an LLM: set TEXTRAWL_LLM_PROVIDER"
        )
    work: list[Rounds] = []
    if memory.extracts:
        work.append(ExtractionUpkeep(memory))
    if settings.consolidate_journal:
        work.append(JournalUpkeep(memory, directory, settings.space))
    if settings.summarize_entities:
        work.append(SummaryUpkeep(memory, directory, settings.space))
    return work


def _choose_delivery(
    settings: Settings, memory: Store, directory: Directory
) -> "list[WebhookDelivery]":
    if not settings.webhook_hosts:
        return []
    from textrawl.server.webhooks import WebhookDelivery  # noqa: PLC0415 - 28 ms, few use it

    return [WebhookDelivery(memory, settings.webhook_hosts, directory, settings.space)]


def build_authenticator(settings: Settings, app: App) -> BearerAuthenticator:
    """Return the authenticator for textrawl's tokens and for the identity provider's tokens."""
    issuer = _choose_issuer(settings)
    return BearerAuthenticator(app.identity.directory, issuer, app.store.credential)


def _choose_issuer(settings: Settings) -> "Issuer | None":
    if settings.oauth_issuer is None:
        return None
    from textrawl.access.oauth import Issuer  # noqa: PLC0415 - 45 ms, few use it

    if settings.public_url is None:
        raise errors.StartRefused(
            "TEXTRAWL_OAUTH_ISSUER needs TEXTRAWL_PUBLIC_URL: the provider issues its tokens for "
            "this address with /mcp at the end"
        )
    audience = f"{settings.public_url}/mcp"
    return Issuer(settings.oauth_issuer, audience=audience, actor_claim=settings.oauth_actor_claim)
