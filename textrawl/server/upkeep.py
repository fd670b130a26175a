"""Upkeep, the work beside the calls: missing vectors, search statistics, the recall log."""

import logging
import time
from dataclasses import dataclass

import anyio

from textrawl import errors
from textrawl.embeddings.active_model import StoredModel
from textrawl.store.backlog import count_backlog, fill_batch, queue_facts
from textrawl.store.store import Store
from textrawl.wire.recall_log import RecallLog

logger = logging.getLogger("textrawl")

_PRUNING = 3600.0  # seconds between deletions of old recalls


@dataclass(frozen=True)
class _Refreshed:
    refresh_search_statistics: bool


@dataclass(frozen=True)
class _Pruned:
    prune_recalls: int


class Upkeep:
    """Work in rounds `pause` seconds apart, which all servers of a memory share."""

    def __init__(
        self, memory: Store, recall_log: RecallLog | None = None, *, pause: float = 5.0
    ) -> None:
        self._memory = memory
        self._recall_log = recall_log
        self._pause = pause
        self._next_pruning = 0.0  # on the monotonic clock

    async def run(self) -> None:
        """Do rounds until cancelled; the next round repeats one that failed."""
        while True:
            try:
                await self.do_round()
            except errors.TextrawlError as error:
                logger.info("Upkeep waits: %s", error)
            await anyio.sleep(self._pause)

    async def do_round(self) -> None:
        """Do everything that is due now. Raises DatabaseUnavailable, EmbeddingUnavailable."""
        await self.record_recalls()
        await self._prune_recalls()
        await self._memory.database.call("refresh_search_statistics", _Refreshed)
        if self._memory.models.has_vectors:
            active, *kept = await self._memory.models.find_served()
            try:
                await self._fill(active)
            finally:
                self._memory.pending = await count_backlog(self._memory.database, active)
            for model in kept:
                await self._fill(model)

    async def record_recalls(self) -> None:
        """Record the recalls in the database, or keep them for the next round."""
        if self._recall_log is not None:
            await self._recall_log.flush(self._memory.database)

    async def _prune_recalls(self) -> None:
        if time.monotonic() >= self._next_pruning:
            self._next_pruning = time.monotonic() + _PRUNING
            await self._memory.database.call("prune_recalls", _Pruned)

    async def _fill(self, model: StoredModel) -> None:
        while await queue_facts(self._memory.database, model):
            pass
        while await fill_batch(self._memory.database, model):
            pass
