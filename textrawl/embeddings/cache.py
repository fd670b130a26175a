"""Vectors of recent queries, and one request for several callers who ask the same at once."""

from collections.abc import Awaitable, Callable

import anyio
from cachetools import LRUCache

from textrawl.embeddings.vectors import Vector
from textrawl.errors import EmbeddingUnavailable

_SIZE = 1_000


class _Flight:
    def __init__(self) -> None:
        self.landed = anyio.Event()
        self.error: EmbeddingUnavailable | None = None


class QueryCache:
    """The last thousand query vectors, read-only; failures are shared but not kept."""

    def __init__(self) -> None:
        self._vectors: LRUCache[str, Vector] = LRUCache(_SIZE)
        self._flights: dict[str, _Flight] = {}

    async def fetch(self, text: str, ask: Callable[[], Awaitable[Vector]]) -> Vector:
        """The vector of `text`, from the cache, from a call under way, or from `ask`.

        Raises what `ask` raises. When the caller who asked is cancelled, one who waits asks.
        """
        while text not in self._vectors:
            flight = self._flights.get(text)
            if flight is None:
                return await self._lead(text, ask)
            await flight.landed.wait()
            if flight.error is not None:
                raise flight.error
        return self._vectors[text]

    async def _lead(self, text: str, ask: Callable[[], Awaitable[Vector]]) -> Vector:
        flight = self._flights[text] = _Flight()
        try:
            vector = await ask()
        except EmbeddingUnavailable as error:
            flight.error = error
            raise
        finally:
            del self._flights[text]
            flight.landed.set()
        vector.flags.writeable = False
        self._vectors[text] = vector
        return vector
