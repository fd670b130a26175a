"""The embedding of pending facts, in batches.

Several processes can embed facts for one model. The database assigns each fact to one process. If
this process dies, the database assigns the fact to another process.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from textrawl import errors
from textrawl.embeddings import TextRefused, Vector
from textrawl.embeddings.active_model import StoredModel
from textrawl.embeddings.rows import BacklogRow, PendingRow
from textrawl.embeddings.vectors import compose_document
from textrawl.postgres.database import Database

logger = logging.getLogger("textrawl")

_BATCH = 64


@dataclass(frozen=True)
class _Queued:
    queue_embeddings: bool


@dataclass(frozen=True)
class _Count:
    fill_pending_embeddings: int


@dataclass(frozen=True)
class _Released:
    release_pending_embeddings: int


@dataclass(frozen=True)
class _AllReleased:
    release_all_embeddings: int


async def queue_facts(database: Database, model: StoredModel) -> bool:
    """Queue some of the facts that are older than the model. Return False if all are queued."""
    [row] = await database.call("queue_embeddings", _Queued, model=model.model_id)
    return row.queue_embeddings


async def count_backlog(database: Database, model: StoredModel) -> int:
    """Return the number of pending facts."""
    [row] = await database.call("pending_embeddings", BacklogRow, model=model.model_id)
    return row.facts


async def fill_batch(database: Database, model: StoredModel) -> int:
    """Embed a batch of pending facts and store their vectors. Return the number of facts.

    Raises EmbeddingUnavailable. In this case the facts stay pending.
    """
    rows = await database.call(
        "claim_pending_embeddings", PendingRow, model=model.model_id, max_rows=_BATCH
    )
    await _fill(database, model, rows)
    return len(rows)


async def release_claims(database: Database, model: StoredModel) -> None:
    """Make all claimed facts due again, for the owner of the memory, who builds a model alone."""
    await database.call("release_all_embeddings", _AllReleased, model=model.model_id)


async def fill_document(database: Database, model: StoredModel, space: int, document: UUID) -> None:
    """Embed the pending facts of one document. Raises EmbeddingUnavailable like `fill_batch`."""
    rows = await database.call(
        "claim_document_embeddings",
        PendingRow,
        model=model.model_id,
        space=space,
        document=document,
    )
    await _fill(database, model, rows)


async def _fill(database: Database, model: StoredModel, rows: Sequence[PendingRow]) -> None:
    """Embed claimed facts. If the provider is down, the facts become due again."""
    try:
        await _embed(database, model, rows)
    except errors.EmbeddingUnavailable:
        await database.call(
            "release_pending_embeddings",
            _Released,
            model=model.model_id,
            spaces=[row.space_id for row in rows],
            observations=[row.observation_id for row in rows],
        )
        raise


async def _embed(database: Database, model: StoredModel, rows: Sequence[PendingRow]) -> None:
    """Store the vectors of `rows`. A text that the provider refuses is retried much later."""
    if not rows:
        return
    texts = [compose_document(row.entity_name, row.content) for row in rows]
    try:
        vectors = await model.embedder.embed_documents(texts)
    except TextRefused as refusal:
        if len(rows) == 1:
            logger.warning("A fact cannot get a vector for now: %s", refusal.fix)
            return
        for half in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
            await _embed(database, model, half)
        return
    await _store(database, model, rows, vectors)


async def _store(
    database: Database, model: StoredModel, rows: Sequence[PendingRow], vectors: list[Vector]
) -> None:
    observations: list[UUID] = [row.observation_id for row in rows]
    await database.call(
        "fill_pending_embeddings",
        _Count,
        model=model.model_id,
        observations=observations,
        spaces=[row.space_id for row in rows],
        embeddings=vectors,
    )
