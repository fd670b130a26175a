"""Embedders: their protocol, models, vectors and faults.

The prefixes are copied from the card of each model. textrawl does not truncate texts. A fact has at
most 2,000 characters and a name at most 200, and every model here accepts both together. Ollama
truncates texts at the context length of its model.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import ClassVar, Protocol

import anyio
import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from textrawl.errors import EmbeddingUnavailable
from textrawl.models.provider import TEXT_AT_FAULT, Outage, ProviderEndpoint

MAX_DIMENSIONS = 4_000
"""The largest number of dimensions that pgvector's HNSW index on halfvec accepts."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of a model's cosines: `floor` for unrelated texts, `ceiling` for equal texts.

    `trust` is how much the vectors of the model say about what answers a question, from 0 to 1. It
    is used in `ranking_weights.sql`.
    """

    floor: float = 0.0
    ceiling: float = 1.0
    trust: float = 0.8


# The scales of wordllama, MiniLM and E5 are measured (benchmarks/figures.md), the others estimated.
_WORDLLAMA = Scale(0.0, 0.7, 0.5)
_OPENAI_3 = Scale(0.1, 0.7)
_NOMIC = Scale(0.45, 0.85)
_MINILM = Scale(0.0, 0.85, 1.0)
_E5 = Scale(0.77, 0.89, 1.0)


LOCAL_MODEL = "wordllama-l2-supercat-256"
"""The model that is installed with textrawl."""


_COLON = ": "


@dataclass(frozen=True, slots=True)
class Model:
    """One embedding model.

    `dimensions` is None for an unknown model. With `joins`, a fact that goes on with a small letter
    is one sentence with its name: "Ada likes tea" instead of "Ada: likes tea". A fact that begins
    with its name does not get it twice. If a prefix changes, the model needs a new name, because
    vectors before and after are not comparable.
    """

    name: str
    dimensions: int | None = None
    query_prefix: str = ""
    document_prefix: str = ""
    scale: Scale = Scale()
    joins: bool = False

    def prepare(self, document: str) -> str:
        """Return the text of a document as the model gets it: with its prefix, and joined."""
        name, _, text = document.partition(_COLON)
        if self.joins and text.startswith((f"{name} ", f"{name}'s ")):
            document = text
        elif self.joins and text[:1].islower():
            document = f"{name} {text}"
        return self.document_prefix + document


_PASSAGES = "Represent this sentence for searching relevant passages: "
_QWEN = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)

_KNOWN = {
    model.name: model
    for model in (
        Model(LOCAL_MODEL, 256, scale=_WORDLLAMA),
        Model("text-embedding-3-small", 1536, scale=_OPENAI_3),
        Model("text-embedding-3-large", 3072, scale=_OPENAI_3),
        Model("text-embedding-ada-002", 1536),
        Model("nomic-embed-text", 768, "search_query: ", "search_document: ", scale=_NOMIC),
        Model("nomic-embed-text-v1", 768, "search_query: ", "search_document: ", scale=_NOMIC),
        Model("nomic-embed-text-v1.5-q", 768, "search_query: ", "search_document: ", scale=_NOMIC),
        Model("nomic-embed-text-v1.5", 768, "search_query: ", "search_document: ", scale=_NOMIC),
        Model("nomic-embed-text-v2-moe", 768, "search_query: ", "search_document: ", scale=_NOMIC),
        Model("mxbai-embed-large", 1024, _PASSAGES),
        Model("mxbai-embed-large-v1", 1024, _PASSAGES),
        Model("all-minilm", 384, scale=_MINILM),
        Model("all-minilm-l6-v2", 384, scale=_MINILM),
        Model("all-minilm-l6-v2-int8", 384, scale=_MINILM, joins=True),
        Model("bge-m3", 1024),
        Model("bge-small-en-v1.5", 384, _PASSAGES),
        Model("bge-base-en-v1.5", 768, _PASSAGES),
        Model("bge-large-en-v1.5", 1024, _PASSAGES),
        Model("e5-small-v2", 384, "query: ", "passage: "),
        Model("e5-base-v2", 768, "query: ", "passage: "),
        Model("e5-large-v2", 1024, "query: ", "passage: "),
        Model("multilingual-e5-small", 384, "query: ", "passage: "),
        Model("multilingual-e5-small-q4", 384, "query: ", "passage: ", scale=_E5),
        Model("multilingual-e5-base", 768, "query: ", "passage: "),
        Model("multilingual-e5-large", 1024, "query: ", "passage: "),
        Model("snowflake-arctic-embed", 1024, _PASSAGES),
        Model("snowflake-arctic-embed-xs", 384, _PASSAGES),
        Model("snowflake-arctic-embed-s", 384, _PASSAGES),
        Model("snowflake-arctic-embed-m", 768, _PASSAGES),
        Model("snowflake-arctic-embed-m-long", 768, _PASSAGES),
        Model("snowflake-arctic-embed-l", 1024, _PASSAGES),
        Model("snowflake-arctic-embed2", 1024, "query: "),
        Model("snowflake-arctic-embed-l-v2.0", 1024, "query: "),
        Model("embeddinggemma", 768, "task: search result | query: ", "title: none | text: "),
        Model("embeddinggemma-300m", 768, "task: search result | query: ", "title: none | text: "),
        Model("qwen3-embedding", 4096, _QWEN),
        Model("qwen3-embedding:0.6b", 1024, _QWEN),
        Model("qwen3-embedding:4b", 2560, _QWEN),
        Model("qwen3-embedding-0.6b", 1024, _QWEN),
        Model("qwen3-embedding-4b", 2560, _QWEN),
        Model("qwen3-embedding-8b", 4096, _QWEN),
        Model("granite-embedding", 384),
        Model("paraphrase-multilingual", 768),
        Model("paraphrase-multilingual-minilm-l12-v2", 384),
        Model("paraphrase-multilingual-mpnet-base-v2", 768),
    )
}


def find_model(name: str) -> Model:
    """Return the model that a user means by `name`.

    Upper case, an owner (`owner/bge-m3`) and a tag (`bge-m3:567m`) are allowed. A tag other than
    `latest` can mean another size, such as `snowflake-arctic-embed:22m`. A model with such a tag
    gets the prefixes of its family, and its dimensions are unknown. The returned model has the
    given name without `:latest`.
    """
    name = name.strip().removesuffix(":latest")
    short = name.lower().rpartition("/")[2]
    family, _, tag = short.partition(":")
    exact = _KNOWN.get(short)
    if exact is not None:
        return replace(exact, name=name)
    if tag and family in _KNOWN:
        return replace(_KNOWN[family], name=name, dimensions=None)
    return Model(name)


class ProviderFailed(Outage, EmbeddingUnavailable):
    """The provider made no vectors."""


class TextRefused(EmbeddingUnavailable):
    """The provider cannot embed a text of a batch, so a retry would fail as well.

    `positions` are the indexes of such texts in the batch. They are empty if the indexes are
    unknown. Then the caller splits the batch in halves to find the texts.
    """

    def __init__(self, fix: str, *, positions: Sequence[int] = ()) -> None:
        super().__init__(fix)
        self.positions = tuple(positions)


@dataclass(frozen=True, slots=True)
class EmbeddingEndpoint(ProviderEndpoint):
    """The address and the model of an embedding provider."""

    outage: ClassVar[type[ProviderFailed]] = ProviderFailed

    def malformed(self) -> ProviderFailed:
        """Return the error for a response that violates the protocol."""
        return ProviderFailed(
            f"{self} sent an answer without valid embeddings: check {self.url_variable}"
        )

    def explain_refusal(self, status: int) -> EmbeddingUnavailable | None:
        """Return the error for an unknown model or a text that cannot be embedded."""
        if status == HTTPStatus.NOT_FOUND:
            return ProviderFailed(
                f"{self} does not have the model {self.model} (HTTP 404): {self.missing_model}"
            )
        if status in TEXT_AT_FAULT:
            return TextRefused(
                f"{self} refused a text (HTTP {status}): shorten it, or check "
                "TEXTRAWL_EMBEDDING_MODEL"
            )
        return None


Vector = NDArray[np.float32]
"""One embedding: shape (dimensions,), unit length."""


def check_texts(texts: Sequence[str]) -> list[str]:
    """Return `texts` with `?` for lone surrogates, which UTF-8 cannot encode.

    Raises TextRefused with the positions of blank texts. Some providers refuse a whole batch that
    contains a blank text, and a static model makes a zero vector from it.
    """
    if not all(map(str.strip, texts)):
        blank = [position for position, text in enumerate(texts) if not text.strip()]
        raise TextRefused("A text is blank: give it some words", positions=blank)
    return [text.encode("utf-8", "replace").decode() for text in texts]


def check_vectors(
    rows: Sequence[Sequence[float]] | NDArray[np.float32], dimensions: int | None
) -> list[Vector]:
    """Return rows of raw numbers as unit vectors of float32, in the same order.

    `dimensions` is the required size of a row, or None for a new model. Raises ProviderFailed for
    another size. Raises TextRefused with the positions of rows with NaN, infinity or only zeros.
    """
    sizes = set(map(len, rows))
    if sizes != {dimensions}:
        _check_sizes(sizes, dimensions)
    matrix = np.asarray(rows, dtype=np.float64)
    if not (finite := np.isfinite(matrix)).all():
        raise _refuse(~finite, "a vector with NaN or infinity")
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    if not largest.all():
        raise _refuse(largest == 0, "a vector of zeros")
    # Divide by the largest number first, because the squares of very large or very small numbers
    # would overflow or become zero.
    scaled = matrix / largest
    return list((scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(np.float32))


def _check_sizes(sizes: set[int], dimensions: int | None) -> None:
    if len(sizes) != 1 or 0 in sizes:
        raise ProviderFailed("The embedding provider sent empty vectors or vectors of mixed sizes")
    [size] = sizes
    if dimensions is not None and size != dimensions:
        raise ProviderFailed(
            f"The embedding provider sent vectors of {size} dimensions instead of "
            f"{dimensions}: another model has this name now; check TEXTRAWL_EMBEDDING_MODEL"
        )
    if size > MAX_DIMENSIONS:
        raise ProviderFailed(describe_excess(size))


def describe_excess(dimensions: int) -> str:
    """Return the message for a model with more dimensions than can be indexed."""
    return (
        f"The embedding model has {dimensions} dimensions, but pgvector indexes at most "
        f"{MAX_DIMENSIONS}: set TEXTRAWL_EMBEDDING_MODEL to a smaller model"
    )


def _refuse(invalid: NDArray[np.bool_], description: str) -> TextRefused:
    return TextRefused(
        f"The embedding model made {description} from a text: change the text or "
        "TEXTRAWL_EMBEDDING_MODEL",
        positions=[int(row) for row in np.flatnonzero(invalid.any(axis=1))],
    )


def compose_document(entity: str, observation: str) -> str:
    """Return the text to embed for a fact. The entity's name is part of the fact's meaning.

    An item has no entity.
    """
    return f"{entity}{_COLON}{observation}" if entity else observation


def compose_query(query: str, mentions: Sequence[str]) -> str:
    """Return the text to embed for a question: the question without the names in it.

    All facts of an entity have its name. With the name in the question, the shortest of these facts
    would be the nearest to every question. `mentions` is the answer of named_entities().
    """
    names = "|".join(map(re.escape, mentions)) or r"(?!)"
    rest = re.sub(rf"(?<!\w)(?:{names})(?:['\u2019]s)?(?!\w)", " ", query, flags=re.IGNORECASE)
    return " ".join(rest.split()) if re.search(r"\w", rest) else query


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
        """Return the expected seconds for the vectors of `texts`.

        It is 0 for milliseconds, and if calls have a time limit.
        """
        del texts
        return 0.0

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector per text, in order, and send as few requests as possible."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a query. An embedder that sends requests caches it."""
        ...

    async def aclose(self) -> None:
        """Close connections. The embedder must not be used afterwards."""
        ...


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
