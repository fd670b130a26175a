"""What goes on beside the calls: missing vectors, statistics that grew old, the log of recalls."""

import logging
import time
from dataclasses import dataclass

import anyio

from textrawl import errors
from textrawl.embeddings.active_model import Model
from textrawl.store.backlog import count_backlog, fill_batch, queue_facts
from textrawl.store.store import Store
from textrawl.wire.recall_log import Recalls

logger = logging.getLogger("textrawl")


_PRUNING = 3600.0  # seconds between looks for recalls that are too old to be kept


@dataclass(frozen=True)
class _Refreshed:
    refresh_search_statistics: bool


@dataclass(frozen=True)
class _Pruned:
    prune_recalls: int


class Upkeep:
    """Work that every server does in turn with the others, in rounds `pause` seconds apart."""

    def __init__(
        self, memory: Store, recalls: Recalls | None = None, *, pause: float = 5.0
    ) -> None:
        self._memory = memory
        self._recalls = recalls
        self._pause = pause
        self._pruning = 0.0  # when recalls are looked through next, on the monotonic clock

    async def run(self) -> None:
        """Rounds until cancelled; a round that fails is tried again at the next."""
        while True:
            try:
                await self.do_round()
            except errors.TextrawlError as error:
                logger.info("Upkeep waits: %s", error)
            await anyio.sleep(self._pause)

    async def do_round(self) -> None:
        """Everything that is due now. Raises DatabaseUnavailable, EmbeddingUnavailable."""
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
        """Records what was recalled, or leaves it for later."""
        if self._recalls is not None:
            await self._recalls.flush(self._memory.database)

    async def _prune_recalls(self) -> None:
        if time.monotonic() >= self._pruning:
            self._pruning = time.monotonic() + _PRUNING
            await self._memory.database.call("prune_recalls", _Pruned)

    async def _fill(self, model: Model) -> None:
        while await queue_facts(self._memory.database, model):
            pass
        while await fill_batch(self._memory.database, model):
            pass
