"""The embedding of pending facts and documents, and the model that a memory waits for.

Several processes can embed facts for one model. The database assigns each fact to one process. If
this process dies, the database assigns the fact to another process.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import anyio

from textrawl import errors
from textrawl.errors import EmbeddingUnavailable, TextrawlError
from textrawl.memory.store import Store
from textrawl.models.active_model import (
    BacklogRow,
    PendingRow,
    StoredModel,
    ask_once,
    describe_model,
)
from textrawl.models.embeddings import Embedder, TextRefused, Vector, compose_document
from textrawl.postgres.database import Database
from textrawl.postgres.sqlstates import DataRefused

logger = logging.getLogger("textrawl")

_BATCH = 64


async def queue_facts(database: Database, model: StoredModel) -> bool:
    """Queue some of the facts that are older than the model. Return False if all are queued."""
    return await database.value("queue_embeddings", bool, model=model.model_id)


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
    await database.call("release_all_embeddings", int, model=model.model_id)


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
    await _store(database, model, rows, vectors)


async def _store(
    database: Database, model: StoredModel, rows: Sequence[PendingRow], vectors: list[Vector]
) -> None:
    observations: list[UUID] = [row.observation_id for row in rows]
    await database.call(
        "fill_pending_embeddings",
        int,
        model=model.model_id,
        observations=observations,
        spaces=[row.space_id for row in rows],
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
        await fill_document(store.database, model, space, document)
    except TextrawlError as error:
        # The document is stored already, so the call did what it was asked for.
        _defer(store, error)
        return False
    return True


def _defer(store: Store, error: TextrawlError) -> None:
    logger.warning("A document gets its vectors later: %s", error.fix)
    store.without_vector += 1


_LOADING = 5.0  # seconds that a round waits for the encoder
_VECTORS_MISSING = "TR045"


@dataclass(frozen=True)
class _Started:
    start_awaited_model: int | None


@dataclass(frozen=True)
class _Switched:
    switch_awaited_model: str | None


async def follow_awaited(memory: Store) -> None:
    """Download the awaited encoder, make its vectors and switch to it, as far as is possible now.

    Raises DatabaseUnavailable.
    """
    awaited = memory.models.awaited
    if awaited is None:
        return
    try:
        with anyio.move_on_after(_LOADING):
            await awaited.warm()
        await ask_once(awaited)  # raises with the progress of the download
        await _switch(memory, awaited)
    except EmbeddingUnavailable as obstacle:
        await memory.database.call(
            "report_awaited_model", bool, name=awaited.name, obstacle=obstacle.fix
        )


async def _switch(memory: Store, awaited: Embedder) -> None:
    started = await memory.database.call("start_awaited_model", _Started, **describe_model(awaited))
    number = started[0].start_awaited_model
    if number is None:  # another server was first, or the owner changes the model
        return
    model = StoredModel(number, awaited)
    while await queue_facts(memory.database, model):
        pass
    while await fill_batch(memory.database, model):
        pass
    try:
        [row] = await memory.database.call("switch_awaited_model", _Switched)
    except DataRefused as refused:
        if refused.code != _VECTORS_MISSING:
            raise
        return  # the next round goes on
    memory.models.forget()
    if row.switch_awaited_model is not None:
        logger.warning(
            "%s is in use from now on. `textrawl embed rollback` returns to the local model",
            row.switch_awaited_model,
        )
