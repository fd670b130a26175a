"""An embedder that sends requests to a provider over HTTP, and checks of any provider's answers.

The cache of vectors, batches, the retry, the time limit and the circuit breaker are here. The
clients of providers implement only a protocol. Their own retries are off, because they would wait
for a Retry-After beyond our time limit, and the breaker would not count them. Their own time limits
are off too, because a limit per read does not end a response that arrives byte by byte.
"""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from http import HTTPStatus
from typing import Final, Protocol

import anyio
import httpx
import httpx2
from tenacity import (
    AsyncRetrying,
    retry_if_exception,
    stop_after_attempt,
    stop_before_delay,
    wait_exception,
)

from textrawl.errors import StartRefused
from textrawl.models.embeddings import (
    MAX_DIMENSIONS,
    Embedder,
    EmbeddingEndpoint,
    Model,
    ProviderFailed,
    QueryCache,
    Vector,
    check_texts,
    check_vectors,
    describe_excess,
)
from textrawl.models.llm import LlmEndpoint
from textrawl.models.provider import (
    TEXT_AT_FAULT,
    Breaker,
    ProviderEndpoint,
    expect_bytes,
    find_most_bytes,
    is_transient,
    pause_before_retry,
)
from textrawl.tracing import trace_embedding

_MAX_TEXTS = 2_048
_MAX_BYTES = 300_000
"""OpenAI accepts 2,048 texts and 300,000 tokens in a request. A token has at least one byte."""

TIMEOUT = 5.0
"""Seconds for a call with its retry. A provider may need some of them to load its model."""

_TIMEOUT_PER_TEXT = 0.1
"""Additional seconds for each text after the first. Upkeep embeds 64 texts in one call."""


class EmbeddingSource(Protocol):
    """The client of one provider, which implements only its protocol."""

    endpoint: EmbeddingEndpoint

    async def ask(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """Send one request. Raises only ProviderFailed and TextRefused."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


class RemoteEmbedder(Embedder):
    """An Embedder that requests vectors from `source`.

    Raises StartRefused for a model with more dimensions than can be indexed.
    """

    def __init__(
        self,
        name: str,
        model: Model,
        source: EmbeddingSource,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if (model.dimensions or 0) > MAX_DIMENSIONS:
            raise StartRefused(describe_excess(model.dimensions or 0))
        self.name = name
        self.model = model
        self.dimensions = model.dimensions
        self._source = source
        self._breaker = Breaker(clock, ProviderFailed)
        self._queries = QueryCache()
        self._retrying = AsyncRetrying(
            retry=retry_if_exception(is_transient),
            wait=wait_exception(pause_before_retry),
            stop=stop_after_attempt(2) | stop_before_delay(TIMEOUT),
            reraise=True,
        )

    async def warm(self) -> None:
        """Find the dimensions of a model that is not in `models.py`."""
        if self.dimensions is None:
            await self.embed_query("textrawl")

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return one unit vector per text, in order."""
        if not texts:
            return []
        return await self._embed([self.model.document_prefix + text for text in check_texts(texts)])

    async def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a query as a read-only array."""
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
                    # Copy `_retrying`, because concurrent calls would share its counters.
                    found: list[Sequence[float]] = await self._retrying.copy()(self._ask, batch)
                    rows += found
        except TimeoutError:
            raise self._source.endpoint.late(limit) from None
        vectors = check_vectors(rows, self.dimensions)
        self.dimensions = vectors[0].size
        return vectors

    async def _ask(self, batch: list[str]) -> Sequence[Sequence[float]]:
        with trace_embedding(self.name, len(batch)):
            rows = await self._source.ask(batch)
        if len(rows) != len(batch):
            raise ProviderFailed(
                f"The embedding provider sent {len(rows)} vectors for {len(batch)} texts: retry "
                "later"
            )
        return rows


def split_batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Split `texts`, which must not be empty, into as few batches as the limits allow."""
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


_NUMBER: Final = 32  # bytes for a number and its separators


def expect_vectors(count: int) -> AbstractContextManager[None]:
    """Let `check_answer` accept a body with `count` vectors in this task and `with` block."""
    return expect_bytes(count * MAX_DIMENSIONS * _NUMBER)


_EXPLAINED = (HTTPStatus.NOT_FOUND, *TEXT_AT_FAULT)


async def check_response(endpoint: LlmEndpoint, response: httpx.Response | httpx2.Response) -> None:
    """Raise LlmFailed unless the status means success and the body is not compressed.

    The body of a refusal is read, because only its text tells an unknown model from a wrong
    address, and an unknown option from a text that is too long.
    """
    if response.status_code in _EXPLAINED:
        bound_body(endpoint, response)
        await response.aread()
        explained = endpoint.explain_body(response.status_code, response.text)
        if explained is not None:
            raise explained
    check_answer(endpoint, response)


def check_answer(endpoint: ProviderEndpoint, response: httpx.Response | httpx2.Response) -> None:
    """Raise an error unless the status means success and the body is not compressed.

    Reading a body that is too long raises an error too. A redirect is an error, because it would
    send texts to an address that is not in the settings.
    """
    if not response.is_success:
        raise endpoint.refused(response.status_code, response.headers.get("retry-after"))
    bound_body(endpoint, response)


def bound_body(endpoint: ProviderEndpoint, response: httpx.Response | httpx2.Response) -> None:
    """Limit the size of a body. Raises an error if the body is compressed."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise endpoint.malformed()
    response.stream = _Bounded(response.stream, find_most_bytes(), endpoint)  # type: ignore[assignment]


class _Bounded(httpx.AsyncByteStream, httpx2.AsyncByteStream):
    def __init__(self, stream: object, max_bytes: int, endpoint: ProviderEndpoint) -> None:
        assert isinstance(stream, httpx.AsyncByteStream | httpx2.AsyncByteStream)  # noqa: S101 - the clients set no other kind
        self._stream = stream
        self._left = max_bytes
        self._endpoint = endpoint

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._read()

    async def _read(self) -> AsyncGenerator[bytes]:
        async for piece in self._stream:
            self._left -= len(piece)
            if self._left < 0:
                raise self._endpoint.malformed()
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
