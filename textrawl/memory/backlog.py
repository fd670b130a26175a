"""The embedding of pending facts and documents.

Several processes can embed facts for one model. The database assigns each fact to one process. If
this process dies, the database assigns the fact to another process.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

from textrawl import errors
from textrawl.errors import EmbeddingUnavailable, TextrawlError
from textrawl.memory.store import Store
from textrawl.models.active_model import PendingRow, StoredModel
from textrawl.models.embeddings import TextRefused, Vector, compose_document
from textrawl.postgres.database import Database

logger = logging.getLogger("textrawl")

_BATCH = 64


async def queue_facts(database: Database, model: StoredModel) -> bool:
    """Queue some of the facts that are older than the model. Return False if all are queued."""
    return await database.value("queue_embeddings", bool, model=model.model_id)


async def count_backlog(database: Database, model: StoredModel) -> int:
    """Return the number of pending facts."""
    return await database.value("pending_embeddings", int, model=model.model_id)


async def fill_batch(database: Database, model: StoredModel) -> int:
    """Embed a batch of pending facts and store their vectors. Return the number of facts.

    Raises EmbeddingUnavailable. In this case the facts stay pending.
    """
    rows = await database.call(
        "claim_pending_embeddings", PendingRow, model=model.model_id, max_rows=_BATCH
    )
    await _fill(database, model, rows)
    return len(rows)


async def fill_graph(
    store: Store, graph: str, credential: bytes | None, step: Callable[[int], object]
) -> str | None:
    """Embed the pending chunks of a graph, and what else is pending.

    `step` gets the number of finished chunks. Return the reason if the provider is down. The upkeep
    of a server embeds them then.
    """
    database = store.database
    try:
        await store.models.warm()
        model = await store.models.find_active()
        while await queue_facts(database, model):
            pass
        # A command that was killed may have claimed chunks.
        await database.call(
            "hasten_embeddings",
            int,
            graph=graph,
            model=model.model_id,
            credential=credential,
        )
        done = 0
        while filled := await fill_batch(database, model):
            done += filled
            step(done)
    except (errors.EmbeddingNotConfigured, EmbeddingUnavailable) as error:
        return str(error)
    return None


async def _fill(database: Database, model: StoredModel, rows: Sequence[PendingRow]) -> None:
    """Embed claimed facts. If the provider is down, the facts become due again."""
    try:
        await _embed(database, model, rows)
    except errors.EmbeddingUnavailable:
        await database.call(
            "release_pending_embeddings",
            int,
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
    facts = {row.observation_id: row.space_id for row in rows}
    await _store(database, model, facts, vectors)


async def _store(
    database: Database, model: StoredModel, facts: Mapping[UUID, int], vectors: list[Vector]
) -> None:
    """Store vectors of facts or items, which are named with their spaces."""
    await database.call(
        "fill_pending_embeddings",
        int,
        model=model.model_id,
        observations=[*facts],
        spaces=[*facts.values()],
        embeddings=vectors,
    )


async def find_document_model(store: Store, texts: Sequence[str]) -> StoredModel | None:
    """Return the model that embeds `texts` in time for a write, or None.

    Ask before the write, because facts that are older than the first model wait for the upkeep.
    """
    if not store.models.has_vectors:
        return None
    try:
        return await store.models.find_quick(texts)
    except EmbeddingUnavailable as error:
        _defer(store, error)
        return None


async def embed_document(
    store: Store, model: StoredModel | None, space: int, document: UUID
) -> bool:
    """Embed the new parts of a document. Return False if the upkeep has to do it later."""
    if model is None:
        return False
    try:
        rows = await store.database.call(
            "claim_document_embeddings",
            PendingRow,
            model=model.model_id,
            space=space,
            document=document,
        )
        await _fill(store.database, model, rows)
    except TextrawlError as error:
        # The document is stored already, so the call did what it was asked for.
        _defer(store, error)
        return False
    return True


async def embed_items(
    store: Store, model: StoredModel | None, space: int, texts: Mapping[UUID, str]
) -> None:
    """Embed the texts of items that are stored, by their ids, or leave them to the upkeep."""
    if model is None:
        return
    try:
        vectors = await model.embedder.embed_documents([*texts.values()])
        await _store(store.database, model, dict.fromkeys(texts, space), vectors)
    except TextrawlError as error:
        _defer(store, error)


def _defer(store: Store, error: TextrawlError) -> None:
    logger.warning("A document or item gets its vectors later: %s", error.fix)
    store.without_vector += 1
