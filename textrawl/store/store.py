"""An open memory: its database and its embedding model, which may be unavailable."""

import logging
from collections.abc import Sequence
from typing import NamedTuple

from textrawl import errors
from textrawl.embeddings import Vector
from textrawl.embeddings.active_model import Models
from textrawl.postgres.database import Database
from textrawl.store.rows import SpaceRow

logger = logging.getLogger("textrawl")


class QueryVector(NamedTuple):
    """The vector of a query and the id of its model. `missing` is the reason if there is none."""

    model: int | None
    vector: Vector | None
    missing: str | None


class Store:
    """The memory of one database, with the credential of this process."""

    def __init__(
        self,
        database: Database,
        models: Models,
        *,
        credential: bytes | None = None,
    ) -> None:
        self.database = database
        self.credential = credential
        self.models = models
        self.without_vector = 0  # searches answered and facts stored while the provider was down
        self.pending = 0  # facts that waited for a vector at the end of the last round of upkeep

    async def ping(self) -> None:
        """Run a short query. Raises DatabaseUnavailable."""
        await self.database.call("default_space", SpaceRow)

    async def embed_query(self, text: str) -> QueryVector:
        """Return the vector of a query.

        Raises EmbeddingNotConfigured, EmbeddingUnavailable.
        """
        active = await self.models.find_active()
        return QueryVector(active.model_id, await active.embedder.embed_query(text), None)

    async def try_to_embed_query(self, text: str) -> QueryVector:
        """Return the vector of a query, or the reason why there is none."""
        try:
            return await self.embed_query(text)
        except (errors.EmbeddingNotConfigured, errors.EmbeddingUnavailable) as error:
            self.without_vector += 1
            return QueryVector(None, None, error.title.lower())

    async def embed_documents(self, texts: Sequence[str]) -> tuple[int | None, list[Vector] | None]:
        """Return the active model and a vector for each text, from one request.

        Both are None without texts, without a model, and while the provider is down. A write never
        waits for the provider. The upkeep later embeds facts that were stored without a vector.
        """
        if not texts or not self.models.has_vectors:
            return None, None
        try:
            active = await self.models.find_active()
            return active.model_id, await active.embedder.embed_documents(texts)
        except errors.EmbeddingUnavailable as error:
            logger.warning("Stored without vectors, which will follow: %s", error.fix)
            self.without_vector += len(texts)
            return None, None
