"""The protocol of all embedders."""

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
        """Load the model and find unknown dimensions, so that the first call need not wait."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector per text, in order, with as few requests as the provider allows."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a query, cached if a request is needed."""
        ...

    async def aclose(self) -> None:
        """Close connections; the embedder must not be used afterwards."""
        ...
