"""A cache of the vectors of queries."""

from collections.abc import Awaitable, Callable

import anyio
from cachetools import LRUCache

from textrawl.errors import EmbeddingUnavailable
from textrawl.models.embeddings import Vector

_SIZE = 1_000


class _Request:
    def __init__(self) -> None:
        self.ended = anyio.Event()
        self.error: EmbeddingUnavailable | None = None


class QueryCache:
    """The vectors of the last thousand queries, read-only. Concurrent calls also share errors."""

    def __init__(self) -> None:
        self._vectors: LRUCache[str, Vector] = LRUCache(_SIZE)
        self._requests: dict[str, _Request] = {}

    async def fetch(self, text: str, ask: Callable[[], Awaitable[Vector]]) -> Vector:
        """Return the vector of `text` from the cache, from an open request, or from `ask`.

        Raises the errors of `ask`. If the call that runs `ask` is cancelled, a waiting call runs
        its own `ask`.
        """
        while text not in self._vectors:
            request = self._requests.get(text)
            if request is None:
                return await self._request(text, ask)
            await request.ended.wait()
            if request.error is not None:
                raise request.error
        return self._vectors[text]

    async def _request(self, text: str, ask: Callable[[], Awaitable[Vector]]) -> Vector:
        request = self._requests[text] = _Request()
        try:
            vector = await ask()
        except EmbeddingUnavailable as error:
            request.error = error
            raise
        finally:
            del self._requests[text]
            request.ended.set()
        vector.flags.writeable = False
        self._vectors[text] = vector
        return vector
