"""The vectors of a document that was just stored. If they cannot be made now, the upkeep does."""

import logging
from collections.abc import Sequence
from uuid import UUID

from textrawl.embeddings.active_model import StoredModel
from textrawl.errors import EmbeddingUnavailable, TextrawlError
from textrawl.store.backlog import fill_document
from textrawl.store.store import Store

logger = logging.getLogger("textrawl")


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
