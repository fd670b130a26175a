"""Local embeddings: wordllama's static vectors, 256 dimensions, no network and no key.

A vector is the mean of the vectors of a text's tokens; bytes are tokens as well, so every text
that is not blank has one (emoji, any script).
"""

import functools
import logging
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, cast

import anyio
import anyio.to_thread
import numpy as np
from numpy.typing import NDArray

from textrawl.embeddings.models import Model, find_model
from textrawl.embeddings.vectors import Vector, check_texts, check_vectors
from textrawl.errors import EmbeddingUnavailable, StartRefused
from textrawl.settings import Settings

_MODEL = "wordllama-l2-supercat-256"

_INLINE_CHARACTERS = 8_000
"""Texts longer than this together go to a thread: they would hold the event loop for > 4 ms."""


class _Encoding(Protocol):
    ids: list[int]


class _Tokenizer(Protocol):
    def encode(self, sequence: str, *, add_special_tokens: bool) -> _Encoding: ...


class StaticModel(Protocol):
    """What is used of wordllama, which has no types."""

    tokenizer: _Tokenizer
    embedding: NDArray[np.float32]  # one row per token


class LocalEmbedder:
    """An Embedder in this process. The model is loaded once, at `warm` or the first call."""

    def __init__(self) -> None:
        self.model: Model = find_model(_MODEL)
        self.name = f"local:{_MODEL}"
        self.dimensions: int | None = self.model.dimensions
        self._loaded: StaticModel | None = None
        self._loading = anyio.Lock()

    async def warm(self) -> None:
        """Load the model in a worker thread; EmbeddingUnavailable if its files are missing."""
        async with self._loading:
            if self._loaded is None:
                self._loaded = await anyio.to_thread.run_sync(load_model)

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """One unit vector per text, in order."""
        if not texts:
            return []
        texts = check_texts(texts)
        if self._loaded is None:
            await self.warm()
        if sum(map(len, texts)) <= _INLINE_CHARACTERS:
            return self._embed(texts)
        return await anyio.to_thread.run_sync(self._embed, texts)

    async def embed_query(self, text: str) -> Vector:
        """The unit vector to search with; making it anew costs less than a cache is worth."""
        [vector] = await self.embed_documents([text])
        return vector

    async def aclose(self) -> None:
        """Let go of the model."""
        self._loaded = None

    def _embed(self, texts: list[str]) -> list[Vector]:
        loaded = cast("StaticModel", self._loaded)
        # One by one: a batch is padded to its longest text, and starts threads of its own,
        # which a later fork would complain about on stderr.
        rows = [
            loaded.embedding[loaded.tokenizer.encode(text, add_special_tokens=False).ids].mean(0)
            for text in texts
        ]
        return check_vectors(rows, self.dimensions)


def build_embedder(settings: Settings) -> LocalEmbedder:
    """The local embedder; StartRefused for any model but wordllama."""
    if settings.embedding_model not in (None, "wordllama", _MODEL):
        raise StartRefused(
            "EMBEDDING_MODEL: the local provider has only wordllama; unset it, or set "
            "EMBEDDING_PROVIDER to openai or ollama"
        )
    return LocalEmbedder()


@functools.cache
def load_model() -> StaticModel:
    """The model, once per process; EmbeddingUnavailable if its files are missing."""
    try:
        # Half a second and 60 MB that other providers need not pay.
        with _untouched_root_logger():
            import wordllama  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]
        # The folder of the package: without it 0.4.0 looks in the home folder, then online.
        folder = Path(wordllama.__file__).parent
        return cast(
            "StaticModel", wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
        )
    except (ImportError, OSError):
        raise EmbeddingUnavailable(
            "The local model cannot be loaded: install the package wordllama again"
        ) from None


@contextmanager
def _untouched_root_logger() -> Generator[None]:
    # Importing wordllama calls logging.basicConfig(INFO), which leaves alone a root logger that
    # has a handler; lastResort is what handles messages while there is none.
    root = logging.getLogger()
    stand_in = None if root.handlers else (logging.lastResort or logging.NullHandler())
    if stand_in is not None:
        root.addHandler(stand_in)
    try:
        yield
    finally:
        if stand_in is not None:
            root.removeHandler(stand_in)
