"""What goes on beside the calls: missing vectors, statistics that grew old, costs of recalls."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import anyio

from textrawl import errors
from textrawl.embeddings import TextRefused, Vector
from textrawl.memory import Memory, compose_document
from textrawl.recalls import Recalls
from textrawl.rows import BacklogRow, PendingRow

logger = logging.getLogger("textrawl")

_BATCH = 64


@dataclass(frozen=True)
class _Count:
    fill_pending_embeddings: int


@dataclass(frozen=True)
class _Released:
    release_pending_embeddings: int


@dataclass(frozen=True)
class _Refreshed:
    refresh_search_statistics: bool


class Upkeep:
    """Work that every server does in turn with the others, in rounds `pause` seconds apart."""

    def __init__(
        self, memory: Memory, recalls: Recalls | None = None, *, pause: float = 5.0
    ) -> None:
        self._memory = memory
        self._recalls = recalls
        self._pause = pause

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
        await self._memory.database.call("refresh_search_statistics", _Refreshed)
        if self._memory.embedder is not None:
            await self._memory.embedder.warm()
            try:
                while await self._fill_batch():
                    pass
            finally:
                self._memory.pending = await self.count_backlog()

    async def record_recalls(self) -> None:
        """Records what recalls cost, or leaves it for later."""
        if self._recalls is not None:
            await self._recalls.flush(self._memory.database)

    async def count_backlog(self) -> int:
        """How many facts wait for a vector; 0 without an embedder."""
        if self._memory.embedder is None:
            return 0
        model = await self._memory.find_model()
        [row] = await self._memory.database.call("pending_embeddings", BacklogRow, model=model)
        return row.facts

    async def _fill_batch(self) -> bool:
        """Embeds and stores one batch; False when none was due."""
        model = await self._memory.find_model()
        rows = await self._memory.database.call(
            "claim_pending_embeddings", PendingRow, model=model, max_rows=_BATCH
        )
        if rows:
            try:
                await self._embed(rows, model)
            except errors.EmbeddingUnavailable:
                await self._memory.database.call(
                    "release_pending_embeddings", _Released, model=model,
                    spaces=[row.space_id for row in rows],
                    observations=[row.observation_id for row in rows],
                )  # fmt: skip
                raise
        return bool(rows)

    async def _embed(self, rows: Sequence[PendingRow], model: int) -> None:
        """Stores the vectors of `rows`; a text that the provider refuses is left for much later."""
        assert self._memory.embedder is not None  # noqa: S101 - rounds without one never get here
        texts = [compose_document(row.entity_name, row.content) for row in rows]
        try:
            vectors = await self._memory.embedder.embed_documents(texts)
        except TextRefused as refusal:
            if len(rows) == 1:
                logger.warning("A fact stays without a vector for now: %s", refusal.fix)
                return
            for half in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
                await self._embed(half, model)
            return
        await self._store(rows, vectors, model)

    async def _store(self, rows: Sequence[PendingRow], vectors: list[Vector], model: int) -> None:
        observations: list[UUID] = [row.observation_id for row in rows]
        await self._memory.database.call(
            "fill_pending_embeddings", _Count, model=model, observations=observations,
            spaces=[row.space_id for row in rows], embeddings=vectors,
        )  # fmt: skip
