"""An embedder behind HTTP: batches, one retry, one time limit, breaker, checks, query cache.

The clients only implement their protocol. Their own retries and time limits are off. Retries would
wait for a Retry-After beyond our limit, and the breaker would not count them. A time limit per read
does not end a response that arrives byte by byte.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import anyio
from tenacity import (
    AsyncRetrying,
    retry_if_exception,
    stop_after_attempt,
    stop_before_delay,
    wait_exception,
)

from textrawl.embeddings.breaker import Breaker
from textrawl.embeddings.cache import QueryCache
from textrawl.embeddings.faults import Endpoint, ProviderFailed
from textrawl.embeddings.models import MAX_DIMENSIONS, Model
from textrawl.embeddings.vectors import (
    Vector,
    check_count,
    check_texts,
    check_vectors,
    describe_excess,
)
from textrawl.errors import StartRefused

_MAX_TEXTS = 2_048
_MAX_BYTES = 300_000
"""OpenAI takes 2,048 texts and 300,000 tokens a request; no token is shorter than a byte."""

_PAUSE = 0.2
"""Seconds before the only retry, without a Retry-After."""

TIMEOUT = 5.0
"""Seconds that a call may take, with its retry; loading a model takes some of them."""

_TIMEOUT_PER_TEXT = 0.1
"""Additional seconds for each further text of a call: a batch of the backlog has 64 texts."""


class Source(Protocol):
    """A provider's protocol and nothing else."""

    endpoint: Endpoint

    async def ask(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """Send one request. Raises ProviderFailed or TextRefused, never a client's own error."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


class RemoteEmbedder:
    """An Embedder that requests vectors from `source`.

    Raises StartRefused for a model with more dimensions than can be indexed.
    """

    def __init__(
        self,
        name: str,
        model: Model,
        source: Source,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if (model.dimensions or 0) > MAX_DIMENSIONS:
            raise StartRefused(describe_excess(model.dimensions or 0))
        self.name = name
        self.model = model
        self.dimensions = model.dimensions
        self._source = source
        self._breaker = Breaker(clock)
        self._queries = QueryCache()
        self._retrying = AsyncRetrying(
            retry=retry_if_exception(_is_transient),
            wait=wait_exception(_pause_before_retry),
            stop=stop_after_attempt(2) | stop_before_delay(TIMEOUT),
            reraise=True,
        )

    async def warm(self) -> None:
        """Find the dimensions of a model that is not in the table."""
        if self.dimensions is None:
            await self.embed_query("textrawl")

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return one unit vector per text, in order."""
        if not texts:
            return []
        return await self._embed([self.model.document_prefix + text for text in check_texts(texts)])

    async def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a query, read-only."""
        [text] = check_texts([text])

        async def ask() -> Vector:
            [vector] = await self._embed([self.model.query_prefix + text])
            return vector

        return await self._queries.fetch(text, ask)

    async def aclose(self) -> None:
        """Close the connections to the provider."""
        await self._source.aclose()

    async def _embed(self, texts: list[str]) -> list[Vector]:
        return await self._breaker.call(lambda: self._embed_in_time(texts))

    async def _embed_in_time(self, texts: list[str]) -> list[Vector]:
        rows: list[Sequence[float]] = []
        limit = TIMEOUT + _TIMEOUT_PER_TEXT * (len(texts) - 1)
        try:
            with anyio.fail_after(limit):
                for batch in split_batches(texts):
                    rows += await self._ask_with_retry(batch)
        except TimeoutError:
            raise self._source.endpoint.late(limit) from None
        vectors = check_vectors(rows, self.dimensions)
        self.dimensions = vectors[0].size
        return vectors

    async def _ask_with_retry(self, batch: list[str]) -> Sequence[Sequence[float]]:
        # Copy it, because concurrent calls would share its counters.
        rows: Sequence[Sequence[float]] = await self._retrying.copy()(self._ask, batch)
        return rows

    async def _ask(self, batch: list[str]) -> Sequence[Sequence[float]]:
        rows = await self._source.ask(batch)
        check_count(rows, len(batch))
        return rows


def split_batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Split `texts`, at least one, in order, into as few batches as the limits allow."""
    batch: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode())
        if batch and (len(batch) == _MAX_TEXTS or size + length > _MAX_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += length
    yield batch


def _is_transient(error: BaseException) -> bool:
    return isinstance(error, ProviderFailed) and error.transient


def _pause_before_retry(error: BaseException) -> float:
    return getattr(error, "retry_after", None) or _PAUSE
