"""The protocol of all embedders."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from textrawl.embeddings.models import Model
from textrawl.embeddings.vectors import Vector


class Embedder(Protocol):
    """Makes unit vectors from texts. Every method can raise EmbeddingUnavailable.

    `name` identifies the model in the database. Only vectors of the same name are comparable.
    `dimensions` is None until an unknown model has answered once. After that it never changes.
    """

    name: str
    model: Model
    dimensions: int | None

    async def warm(self) -> None:
        """Load the model and find unknown dimensions, so that the first call need not do this."""
        ...

    def estimate(self, texts: Sequence[str]) -> float:
        """Return the expected seconds for the vectors of `texts`. 0 if calls have a time limit."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector per text, in order, and send as few requests as possible."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a query. An embedder that sends requests caches it."""
        ...

    async def aclose(self) -> None:
        """Close connections. The embedder must not be used afterwards."""
        ...


@runtime_checkable
class Downloading(Protocol):
    """An embedder whose model may have to be downloaded."""

    def is_missing(self) -> bool:
        """Return whether the model is being downloaded, or is known not to load."""
        ...

    async def check_files(self) -> None:
        """Raise ModelMissing if files have to be downloaded. Download nothing."""
        ...

    def read_progress(self) -> tuple[int, int] | None:
        """Return the downloaded bytes and the bytes of the whole model during a download."""
        ...
