"""What the rest of textrawl knows of embeddings."""

from collections.abc import Sequence
from typing import Protocol

from textrawl.embeddings.models import Model
from textrawl.embeddings.vectors import Vector


class Embedder(Protocol):
    """Makes unit vectors of texts. Every method may raise EmbeddingUnavailable.

    `name` is the key in the database: it changes when vectors stop being comparable.
    `dimensions` is None until an unknown model has answered once, then it never changes.
    """

    name: str
    model: Model
    dimensions: int | None

    async def warm(self) -> None:
        """Do what the first call would wait for: load the model, learn unknown dimensions."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, in order; one request as far as the provider's limits allow."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """The vector to search with; asked for once while it is among the recent ones."""
        ...

    async def aclose(self) -> None:
        """Close connections; the embedder is not to be used afterwards."""
        ...
