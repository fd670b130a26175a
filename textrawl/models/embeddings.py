"""Embedders: their protocol, models, vectors, faults, and the files of models on this machine.

The prefixes are copied from the card of each model. textrawl does not truncate texts. A fact has at
most 2,000 characters and a name at most 200, and every model here accepts both together. Ollama
truncates texts at the context length of its model.
"""

import functools
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import platformdirs
from numpy.typing import NDArray

from textrawl.environment import read_foreign
from textrawl.errors import EmbeddingUnavailable
from textrawl.models.provider import TEXT_AT_FAULT, Endpoint, Outage

MAX_DIMENSIONS = 4_000
"""The largest number of dimensions that pgvector's HNSW index on halfvec accepts."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of a model's cosines: `floor` for unrelated texts, `ceiling` for equal texts.

    `trust` is the largest score that a fact can reach by likeness alone, from 0 to 1. It is used in
    `search_score.sql`.
    """

    floor: float = 0.0
    ceiling: float = 1.0
    trust: float = 0.8


# The scales of wordllama and MiniLM are measured (benchmarks/recall.py). The others are estimates.
_WORDLLAMA = Scale(0.0, 0.9, 0.5)
_OPENAI_3 = Scale(0.1, 0.7)
_NOMIC = Scale(0.45, 0.85)
_MINILM = Scale(0.07, 0.85, 0.6)


LOCAL_MODEL = "wordllama-l2-supercat-256"
"""The model that is installed with textrawl."""


@dataclass(frozen=True, slots=True)
class Model:
    """One embedding model.

    `dimensions` is None for an unknown model. If a prefix changes, the model needs a new name,
    because vectors with the old and the new prefix are not comparable.
    """

    name: str
    dimensions: int | None = None
    query_prefix: str = ""
    document_prefix: str = ""
    scale: Scale = Scale()


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
        Model("bge-m3", 1024),
        Model("bge-small-en-v1.5", 384, _PASSAGES),
        Model("bge-base-en-v1.5", 768, _PASSAGES),
        Model("bge-large-en-v1.5", 1024, _PASSAGES),
        Model("e5-small-v2", 384, "query: ", "passage: "),
        Model("e5-base-v2", 768, "query: ", "passage: "),
        Model("e5-large-v2", 1024, "query: ", "passage: "),
        Model("multilingual-e5-small", 384, "query: ", "passage: "),
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


class ModelMissing(ProviderFailed):
    """A model cannot be loaded: it is being downloaded, or its files cannot be had or used."""


class TextRefused(EmbeddingUnavailable):
    """The provider cannot embed a text of a batch, so a retry would fail as well.

    `positions` are the indexes of such texts in the batch. They are empty if the indexes are
    unknown. Then the caller splits the batch in halves to find the texts.
    """

    def __init__(self, fix: str, *, positions: Sequence[int] = ()) -> None:
        super().__init__(fix)
        self.positions = tuple(positions)


@dataclass(frozen=True, slots=True)
class EmbeddingEndpoint(Endpoint):
    """The address and the model of an embedding provider."""

    def outage(
        self, fix: str, *, transient: bool = False, retry_after: float | None = None
    ) -> ProviderFailed:
        """Return the error for a provider that made no vectors."""
        return ProviderFailed(fix, transient=transient, retry_after=retry_after)

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


DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"

_SIZES = "files_metadata.json"
_TOKENIZER = ("tokenizer.json", "tokenizer_config.json")
_LONGEST_REASON = 200  # characters
_HUB_TIMEOUT = 5.0  # seconds for one question to the hub


@dataclass(frozen=True)
class Weights:
    """Where the files of a model come from. `files` are needed besides the tokenizer's."""

    model: str
    repository: str
    files: tuple[str, ...]
    size: int
    """Approximate size of the download in bytes."""

    def is_whole(self) -> bool:
        """Return whether every file of the model is on this machine, and has its size."""
        try:
            revision = (self._folder / "refs" / "main").read_text("utf-8").strip()
            snapshot = self._folder / "snapshots" / revision
            return all((snapshot / name).is_file() for name in (*self.files, *_TOKENIZER)) and all(
                (self._folder / name).stat().st_size == size for name, size in self._read_sizes()
            )
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return False

    def count_bytes(self) -> int:
        """Return the number of bytes that were downloaded so far."""
        total = 0
        with suppress(OSError):
            for blob in (self._folder / "blobs").iterdir():
                with suppress(OSError):  # a file was renamed meanwhile
                    total += blob.stat().st_size
        return min(total, self.size)

    def download(self) -> None:
        """Download the files that are missing. Raises ProviderFailed with the reason."""
        from textrawl.models import hub  # noqa: PLC0415 - takes a second

        try:
            hub.TextEmbedding.download_files_from_huggingface(
                self.repository,
                cache_dir=str(find_cache()),
                extra_patterns=list(self.files),
                **({"force_download": True} if (self._folder / _SIZES).is_file() else {}),
            )
        except hub.ERRORS as error:
            raise self._explain(error) from error
        if not self.is_whole():
            raise self._explain(ValueError("the hub does not have all files of the model"))

    def ask_hub(self) -> None:
        """Ask the hub for the model, and download nothing. Raises ProviderFailed."""
        from textrawl.models import hub  # noqa: PLC0415 - takes a second

        try:
            hub.model_info(self.repository, timeout=_HUB_TIMEOUT)
        except hub.ERRORS as error:
            raise self._explain(error) from error

    @property
    def _folder(self) -> Path:
        return find_cache() / f"models--{self.repository.replace('/', '--')}"

    def _read_sizes(self) -> list[tuple[str, int]]:
        """Return the recorded sizes, or nothing if another program made the download."""
        recorded = self._folder / _SIZES
        if not recorded.is_file():
            return []
        return [(name, file["size"]) for name, file in json.loads(recorded.read_bytes()).items()]

    def _explain(self, error: Exception) -> ProviderFailed:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        reason = lines[0][:_LONGEST_REASON].rstrip(".: ")
        if read_foreign("HF_HUB_OFFLINE") not in (None, "0"):
            reason = "HF_HUB_OFFLINE is set"
        return ProviderFailed(
            f"The model {self.model} could not be downloaded ({reason}): check the network, or "
            "name a folder with its files"
        )


_DEFAULT = Weights(DEFAULT_MODEL, "Qdrant/all-MiniLM-L6-v2-onnx", ("model.onnx",), 90_000_000)


def find_cache() -> Path:
    """Return the folder of downloaded models. fastembed's own default is a temporary folder."""
    chosen = read_foreign("FASTEMBED_CACHE_PATH")
    return Path(chosen) if chosen else platformdirs.user_cache_path("textrawl") / "models"


def find_known_weights(name: str) -> Weights | None:
    """Return the weights of the default model without loading fastembed, or None for another."""
    return _DEFAULT if name.lower() == DEFAULT_MODEL.lower() else None


@functools.cache
def find_weights(name: str) -> Weights:
    """Return the weights of a model that fastembed knows. Raises ProviderFailed for another."""
    from textrawl.models import hub  # noqa: PLC0415 - takes a second

    known: dict[str, dict[str, Any]] = {
        model["model"].lower(): model for model in hub.TextEmbedding.list_supported_models()
    }
    model = known.get(name.lower())
    if model is None:
        alike = [known[key]["model"] for key in get_close_matches(name.lower(), known, cutoff=0.3)]
        raise ProviderFailed(
            f"fastembed has no model {name}: choose a model that fastembed has"
            f"{', such as ' * bool(alike)}{' or '.join(alike)}, or a folder with a model"
        )
    files = (model["model_file"], *model["additional_files"])
    size = round(model["size_in_GB"] * 1_000_000_000)
    return Weights(model["model"], model["sources"]["hf"], files, size)


Vector = NDArray[np.float32]
"""One embedding: shape (dimensions,), unit length."""


def check_texts(texts: Sequence[str]) -> list[str]:
    """Return `texts` with `?` for lone surrogates, which UTF-8 cannot encode.

    Raises TextRefused with the positions of blank texts. Some providers refuse a whole batch that
    contains a blank text, and a static model makes a zero vector from it.
    """
    blank = [position for position, text in enumerate(texts) if not text.strip()]
    if blank:
        raise TextRefused("A text is blank: give it some words", positions=blank)
    return [text.encode("utf-8", "replace").decode() for text in texts]


def check_count(rows: Sequence[Sequence[float]], texts: int) -> None:
    """Raise ProviderFailed unless there is one row per text."""
    if len(rows) != texts:
        raise ProviderFailed(
            f"The embedding provider sent {len(rows)} vectors for {texts} texts: retry later"
        )


def check_vectors(
    rows: Sequence[Sequence[float]] | NDArray[np.float32], dimensions: int | None
) -> list[Vector]:
    """Return rows of raw numbers as unit vectors of float32, in the same order.

    `dimensions` is the required size of a row, or None for a new model. Raises ProviderFailed for
    another size. Raises TextRefused with the positions of rows with NaN, infinity or only zeros.
    """
    _check_sizes({len(row) for row in rows}, dimensions)
    matrix = np.asarray(rows, dtype=np.float64)
    _refuse(~np.isfinite(matrix), "a vector with NaN or infinity")
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    _refuse(largest == 0, "a vector of zeros")
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


def _refuse(invalid: NDArray[np.bool_], description: str) -> None:
    positions = [int(row) for row in np.flatnonzero(invalid.any(axis=1))]
    if positions:
        raise TextRefused(
            f"The embedding model made {description} from a text: change the text or "
            "TEXTRAWL_EMBEDDING_MODEL",
            positions=positions,
        )


def compose_document(entity: str, observation: str) -> str:
    """Return the text to embed for a fact. The entity's name is part of the fact's meaning."""
    return f"{entity}: {observation}"


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
