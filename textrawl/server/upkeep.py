"""Upkeep, the background work of a server.

It makes vectors and search documents, counts words, and deletes old recalls, old snapshots
and expired proposals.
"""

import logging
import time
from dataclasses import dataclass

import anyio

from textrawl import errors
from textrawl.embeddings.active_model import StoredModel
from textrawl.store.awaited_model import follow_awaited
from textrawl.store.backlog import count_backlog, fill_batch, queue_facts
from textrawl.store.store import Store
from textrawl.wire.recall_log import RecallLog

logger = logging.getLogger("textrawl")

_PRUNING = 3600.0  # seconds between deletions of old recalls, snapshots and proposals
_REBUILDING = 5.0  # seconds of a round for search documents, so that vectors do not wait for long
_LOADING = 5.0  # seconds that a round waits for the embedding model to load


@dataclass(frozen=True)
class _Refreshed:
    refresh_search_statistics: bool


@dataclass(frozen=True)
class _Pruned:
    prune_recalls: int


@dataclass(frozen=True)
class _PrunedUse:
    prune_llm_use: int


@dataclass(frozen=True)
class _Expired:
    expire_proposals: int


@dataclass(frozen=True)
class _PrunedDocuments:
    snapshots: int
    versions: int


@dataclass(frozen=True)
class _Rebuilt:
    rebuild_documents: bool


class Upkeep:
    """Background work in rounds, with `pause` seconds between them.

    All servers of a memory share this work. Snapshots are deleted after `days`.
    """

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
        self._pause = pause
        self._days = days
        self._next_pruning = 0.0  # on the monotonic clock

    async def run(self) -> None:
        """Do rounds until cancelled. If a round fails, the next round repeats its work."""
        while True:
            try:
                await self.do_round()
            except errors.TextrawlError as error:
                logger.info("Upkeep waits: %s", error)
            await anyio.sleep(self._pause)

    async def do_round(self) -> None:
        """Do all work that is due now. Raises DatabaseUnavailable, EmbeddingUnavailable."""
        await self.record_recalls()
        await self._prune()
        await self._memory.database.call("refresh_search_statistics", _Refreshed)
        if self._memory.models.has_vectors:
            active, *kept = await self._memory.models.find_served()
            with anyio.move_on_after(_LOADING):
                await active.embedder.warm()  # so that no search waits for it
            try:
                await self._fill(active)
            finally:
                self._memory.pending = await count_backlog(self._memory.database, active)
            for model in kept:
                await self._fill(model)
            await follow_awaited(self._memory)
        await self._rebuild_documents()

    async def record_recalls(self) -> None:
        """Record the recalls in the database, or keep them for the next round."""
        if self._recall_log is not None:
            await self._recall_log.flush(self._memory.database)

    async def _prune(self) -> None:
        if time.monotonic() >= self._next_pruning:
            self._next_pruning = time.monotonic() + _PRUNING
            await self._memory.database.call("prune_recalls", _Pruned)
            await self._memory.database.call("prune_llm_use", _PrunedUse)
            await self._memory.database.call("expire_proposals", _Expired)
            # Snapshots are deleted only where the server's own access token has the scope forget.
            credential = self._memory.credential
            await self._memory.database.call(
                "prune_documents", _PrunedDocuments, days=self._days, credential=credential
            )

    async def _rebuild_documents(self) -> None:
        end = time.monotonic() + _REBUILDING
        while time.monotonic() < end:
            [row] = await self._memory.database.call("rebuild_documents", _Rebuilt)
            if not row.rebuild_documents:
                return

    async def _fill(self, model: StoredModel) -> None:
        while await queue_facts(self._memory.database, model):
            pass
        while await fill_batch(self._memory.database, model):
            pass
