"""Embeddings of a sentence encoder in this process, through fastembed.

Loading a model takes seconds, and its first download takes minutes. A thread does both. Writes
never wait for this thread. Queries wait for it for a few seconds.
"""

import functools
import logging
import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import numpy as np
from numpy.typing import NDArray

from textrawl.embeddings.cache import QueryCache
from textrawl.embeddings.encoders import (
    Encoder,
    encode,
    is_folder,
    open_folder,
    open_named,
    read_folder,
)
from textrawl.embeddings.faults import ProviderFailed
from textrawl.embeddings.models import Model, find_model
from textrawl.embeddings.vectors import Vector, check_texts, check_vectors
from textrawl.errors import EmbeddingUnavailable, StartRefused
from textrawl.settings import Settings

logger = logging.getLogger("textrawl")

_DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"

_PATIENCE = 5.0  # seconds after the start of loading in which calls wait for the model
_RETRY = 30.0  # seconds until a model that could not be loaded is tried again
_POLL = 0.02  # seconds between checks whether the model is loaded

_SLICE = 8  # texts that a thread embeds in one job; other calls can run between two jobs
_WEIGHT = 0.2  # weight of the newest slice in the measured pace

_SAMPLE = "Ada: prefers a quiet table by the window when she meets the others for lunch on Fridays"


@dataclass(frozen=True)
class _Loaded:
    """A model that is ready, with its dimensions and its seconds for each character."""

    encoder: Encoder
    dimensions: int
    pace: float


class _Loading:
    """One attempt to load a model. Its daemon thread does not keep the process from ending."""

    def __init__(self, open_encoder: Callable[[], Encoder], began: float) -> None:
        self.began = began
        self.loaded: _Loaded | None = None
        self.error: BaseException | None = None
        from multiprocessing.pool import ThreadPool  # noqa: PLC0415 - slow to import

        pool = ThreadPool(1)
        pool.apply_async(_load, [open_encoder], callback=self._end, error_callback=self._fail)
        pool.close()

    @property
    def running(self) -> bool:
        """True until the attempt has ended."""
        return self.loaded is None and self.error is None

    def _end(self, loaded: _Loaded) -> None:
        self.loaded = loaded

    def _fail(self, error: BaseException) -> None:
        self.error = error


class FastEmbedder:
    """An Embedder in this process. `warm` or the first vector loads its model.

    A thread computes the vectors. Documents are embedded one after another, so that queries find
    a free core.
    """

    def __init__(
        self,
        name: str,
        model: Model,
        open_encoder: Callable[[], Encoder],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.model = model
        self.dimensions = model.dimensions
        self._open = open_encoder
        self._clock = clock
        self._loading: _Loading | None = None
        self._loaded: _Loaded | None = None
        self._queries = QueryCache()
        self._documents = anyio.Lock()
        self._pace = 0.0
        self._logged = ""
        self._waiting = 0  # characters of documents that wait for their vectors

    async def warm(self) -> None:
        """Load the model, and download it if needed, however long that takes."""
        await self._load(patience=math.inf)

    def estimate(self, texts: Sequence[str]) -> float:
        """Return the seconds until `texts` have vectors; infinity while the model is not loaded."""
        if self._loaded is None:
            return math.inf
        return self._pace * (self._waiting + sum(map(len, texts)))

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return one unit vector per text, in order."""
        if not texts:
            return []
        texts = [self.model.document_prefix + text for text in check_texts(texts)]
        loaded = await self._load(patience=_PATIENCE)
        size = sum(map(len, texts))
        self._waiting += size
        try:
            return await self._embed_slices(loaded.encoder, texts)
        finally:
            self._waiting -= size

    async def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a query, read-only."""
        [text] = check_texts([text])

        async def ask() -> Vector:
            loaded = await self._load(patience=_PATIENCE)
            query = [self.model.query_prefix + text]
            rows, _ = await anyio.to_thread.run_sync(_time, loaded.encoder.query_embed, query)
            [vector] = check_vectors(rows, self.dimensions)
            return vector

        return await self._queries.fetch(text, ask)

    async def aclose(self) -> None:
        """Release the model."""
        self._loaded = self._loading = None

    async def _embed_slices(self, encoder: Encoder, texts: list[str]) -> list[Vector]:
        vectors: list[Vector] = []
        for start in range(0, len(texts), _SLICE):
            part = texts[start : start + _SLICE]
            async with self._documents:
                rows, pace = await anyio.to_thread.run_sync(_time, encoder.passage_embed, part)
            self._pace += _WEIGHT * (pace - self._pace)
            vectors += check_vectors(rows, self.dimensions)
        return vectors

    async def _load(self, *, patience: float) -> _Loaded:
        """Return the loaded model. Raises ProviderFailed if it takes longer than `patience`."""
        if self._loaded is not None:
            return self._loaded
        now = self._clock()
        loading = self._loading
        if loading is None or (loading.error is not None and now >= loading.began + _RETRY):
            loading = self._loading = _Loading(self._open, now)
        while loading.running:
            if self._clock() - loading.began > patience:
                raise ProviderFailed(f"The model {self.model.name} is still being loaded")
            await anyio.sleep(_POLL)
        if loading.loaded is None:
            failed = self._explain(loading.error)
            if failed.fix != self._logged:  # log a failure once, not at each attempt
                self._logged = failed.fix
                logger.warning("%s. Meanwhile, search uses only keywords", failed.fix)
            raise failed
        self.dimensions = self.dimensions or loading.loaded.dimensions
        self._loaded, self._pace = loading.loaded, loading.loaded.pace
        return self._loaded

    def _explain(self, error: BaseException | None) -> EmbeddingUnavailable:
        if isinstance(error, EmbeddingUnavailable):
            return error.with_traceback(None)
        failed = ProviderFailed(
            f"The model {self.model.name} cannot be loaded ({type(error).__name__}): check its "
            "files, or install textrawl[encoders] again"
        )
        failed.__cause__ = error
        return failed


def _load(open_encoder: Callable[[], Encoder]) -> _Loaded:
    """Load a model and measure its pace with the second text, because the first takes longer."""
    encoder = open_encoder()
    _time(encoder.passage_embed, [_SAMPLE])
    [row], pace = _time(encoder.passage_embed, [_SAMPLE])
    return _Loaded(encoder, len(row), pace)


def _time(
    method: Callable[..., Iterable[NDArray[Any]]], texts: list[str]
) -> tuple[NDArray[np.float32], float]:
    """Return the rows of `texts` and the seconds for each character."""
    begin = time.perf_counter()
    rows = encode(method, texts)
    return rows, (time.perf_counter() - begin) / max(1, sum(map(len, texts)))


def build_embedder(
    settings: Settings, *, clock: Callable[[], float] = time.monotonic
) -> FastEmbedder:
    """Return the embedder of the model that `settings` name. Raises StartRefused."""
    if find_spec("fastembed") is None:
        raise StartRefused(
            "TEXTRAWL_EMBEDDING_PROVIDER: fastembed is not installed: run "
            "`pip install 'textrawl[encoders]'`, or choose another provider"
        )
    name = settings.embedding_model or _DEFAULT_MODEL
    if not is_folder(name):
        model = find_model(name)
        open_model = functools.partial(open_named, model.name)
        return FastEmbedder(f"fastembed:{model.name}", model, open_model, clock=clock)
    path = Path(os.path.expanduser(name)).absolute()  # noqa: PTH111 - Path raises for ~nobody
    folder = read_folder(path)
    known = find_model(path.name)  # a folder with the name of a known model gets its scale
    model = replace(
        known,
        dimensions=None,
        query_prefix=folder.query_prompt or known.query_prefix,
        document_prefix=folder.document_prompt or known.document_prefix,
    )
    open_model = functools.partial(open_folder, folder)
    return FastEmbedder(f"fastembed:{path}", model, open_model, clock=clock)
