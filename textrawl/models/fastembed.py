"""Sentence encoders in this process: their files, and their vectors by ONNX Runtime.

Loading a model takes seconds, and its first download takes minutes. A thread does both. Writes
never wait for this thread. Queries wait a few seconds for files that are on this machine, but never
for a download. Only `warm` begins a download of the default model.
"""

import atexit
import functools
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any, Protocol, TypeVar

import anyio
import anyio.to_thread
import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from textrawl.errors import EmbeddingUnavailable, StartRefused
from textrawl.installation import write_install_command
from textrawl.models.embeddings import (
    DEFAULT_MODEL,
    Model,
    ModelMissing,
    ProviderFailed,
    TextRefused,
    Vector,
    Weights,
    check_texts,
    check_vectors,
    find_cache,
    find_known_weights,
    find_model,
    find_weights,
)
from textrawl.models.remote import QueryCache
from textrawl.settings import Settings

_TOKENIZER = ("tokenizer.json", "tokenizer_config.json")
_MODEL_FILES = ("model.onnx", "onnx/model.onnx")

# With more threads, a batch was slower and took twice the CPU time, because the threads wait for
# each other in busy loops.
_THREADS = 1

_POOLED_AXES = 2  # of an output with one vector per text; an output per token has 3

_numbers = count()


class Encoder(Protocol):
    """The part of fastembed's interface that makes vectors of texts."""

    def query_embed(self, query: list[str], *, batch_size: int) -> Iterable[NDArray[Any]]:
        """Yield the vector of each query."""
        ...

    def passage_embed(self, texts: list[str], *, batch_size: int) -> Iterable[NDArray[Any]]:
        """Yield the vector of each document."""
        ...


class _Pooling(BaseModel):
    """The file 1_Pooling/config.json of sentence-transformers."""

    pooling_mode_cls_token: bool = False
    pooling_mode_lasttoken: bool = False

    @property
    def name(self) -> str:
        """The name of the pooling for fastembed."""
        if self.pooling_mode_cls_token:
            return "CLS"
        return "LAST_TOKEN" if self.pooling_mode_lasttoken else "MEAN"


class _Prompts(BaseModel):
    """The file config_sentence_transformers.json."""

    prompts: dict[str, str] = Field(default_factory=dict)


Description = TypeVar("Description", _Pooling, _Prompts)


@dataclass(frozen=True)
class ModelFolder:
    """The files of a model. `pooling` is MEAN, CLS or LAST_TOKEN; the prompts are prefixes."""

    path: Path
    model_file: str
    pooling: str
    query_prompt: str
    document_prompt: str


def is_folder(model: str) -> bool:
    """Return whether a model is named by its folder, such as /models/e5, ~/e5 or ./e5.

    A folder of the working directory that has the name of a model is not meant, because a
    repository can bring such a folder.
    """
    return model.startswith(("~", ".")) or Path(model).is_absolute()


def read_folder(path: Path) -> ModelFolder:
    """Return the description of the model in a folder. Raises StartRefused if there is no model."""
    missing = [name for name in _TOKENIZER if not (path / name).is_file()]
    if missing:
        raise StartRefused(
            f"TEXTRAWL_EMBEDDING_MODEL: the folder {path} has no {' and no '.join(missing)}: name "
            "a folder with an ONNX model and its tokenizer"
        )
    prompts = _read_description(path / "config_sentence_transformers.json", _Prompts).prompts
    return ModelFolder(
        path,
        _find_model_file(path),
        _read_description(path / "1_Pooling/config.json", _Pooling).name,
        prompts.get("query", ""),
        prompts.get("document", prompts.get("passage", "")),
    )


def open_folder(folder: ModelFolder) -> Encoder:
    """Load the model of a folder. Raises errors of several libraries."""
    from textrawl.models import hub  # noqa: PLC0415 - takes a second

    def open_pooled(pooling: hub.PoolingType) -> Any:
        # fastembed keeps a list of models, and each needs a different name. For a model in a
        # folder, fastembed does not read `sources` and `dim`.
        name = f"textrawl-{next(_numbers)}"
        hub.TextEmbedding.add_custom_model(
            name,
            pooling=pooling,
            normalization=True,
            sources=hub.ModelSource(url=folder.path.as_uri()),
            dim=0,
            model_file=folder.model_file,
        )
        path = str(folder.path)
        return hub.CustomTextEmbedding(name, specific_model_path=path, threads=_THREADS)

    encoder = open_pooled(hub.PoolingType(folder.pooling))
    axes = len(encoder.model.get_outputs()[0].shape)
    if axes == _POOLED_AXES:  # the ONNX file contains the pooling
        return open_pooled(hub.PoolingType.DISABLED)
    return encoder


def open_named(weights: Weights) -> Encoder:
    """Load a model whose files are on this machine.

    Raises ProviderFailed if its files cannot be used, and errors of several libraries.
    """
    from textrawl.models import hub  # noqa: PLC0415 - takes a second

    cache = str(find_cache())
    try:
        return hub.TextEmbedding(
            weights.model, cache_dir=cache, threads=_THREADS, local_files_only=True
        )
    except ValueError as error:
        raise ProviderFailed(
            f"The files of the model {weights.model} cannot be used: delete the model in {cache}"
        ) from error


def encode(method: Callable[..., Iterable[NDArray[Any]]], texts: list[str]) -> NDArray[np.float32]:
    """Return a row for each text. Raises TextRefused if the model cannot take one of them."""
    runtime: Any = import_module("onnxruntime.capi.onnxruntime_pybind11_state")  # has no types
    try:
        # Encode one text at a time. A batch is padded to its longest text and takes two to four
        # times as long.
        return np.stack([np.asarray(row, np.float32) for row in method(texts, batch_size=1)])
    except (runtime.Fail, runtime.InvalidArgument, runtime.RuntimeException) as error:
        raise TextRefused(
            f"The encoder cannot embed a text ({type(error).__name__}): shorten the text, or "
            "set model_max_length in the model's tokenizer_config.json"
        ) from error


def _find_model_file(path: Path) -> str:
    for name in _MODEL_FILES:
        if (path / name).is_file():
            return name
    found = [*path.glob("*.onnx"), *path.glob("onnx/*.onnx")]
    if len(found) != 1:
        raise StartRefused(
            f"TEXTRAWL_EMBEDDING_MODEL: the folder {path} has {len(found)} ONNX files: keep one, "
            "or call it model.onnx"
        )
    return found[0].relative_to(path).as_posix()


def _read_description(path: Path, kind: type[Description]) -> Description:
    """Return the description in a file, or the default without the file. Raises StartRefused."""
    if not path.is_file():
        return kind()
    try:
        return kind.model_validate_json(path.read_bytes())
    except ValidationError:
        raise StartRefused(
            f"TEXTRAWL_EMBEDDING_MODEL: {path} is not a valid file of sentence-transformers"
        ) from None


logger = logging.getLogger("textrawl")

_PATIENCE = 5.0  # seconds after the start of loading in which calls wait for the model
_RETRY = 30.0  # seconds until a model that could not be loaded is tried again
_POLL = 0.02  # seconds between checks whether the model is loaded

_SLICE = 8  # texts that a thread embeds in one job; other calls can run between two jobs
_WEIGHT = 0.2  # weight of the newest slice in the measured pace

_SAMPLE = "Ada: prefers a quiet table by the window when she meets the others for lunch on Fridays"


_native = threading.Lock()
"""Held while a thread loads a model. Python aborts if a thread is in ONNX Runtime when it ends.

At the end of the process it is taken for good. So the process waits for a model that is being
loaded, but not for a download, after which nothing is loaded any more.
"""
atexit.register(_native.acquire)


@dataclass(frozen=True)
class _Loaded:
    """A model that is ready, with its dimensions and its seconds for each character."""

    encoder: Encoder
    dimensions: int
    pace: float


class _Loading:
    """One attempt to load a model. A download in its daemon thread does not keep the process alive.

    `hub_name` is the name of a model that may have to be downloaded, or None for a folder.
    """

    def __init__(
        self, open_encoder: Callable[[], Encoder], hub_name: str | None, began: float
    ) -> None:
        self.began = began
        self.download: Weights | None = None  # what is being downloaded
        self.loaded: _Loaded | None = None
        self.error: BaseException | None = None
        pool = ThreadPool(1)
        job = [open_encoder, hub_name]
        pool.apply_async(self._work, job, callback=self._end, error_callback=self._fail)
        pool.close()

    @property
    def running(self) -> bool:
        """True until the attempt has ended."""
        return self.loaded is None and self.error is None

    def _work(self, open_encoder: Callable[[], Encoder], hub_name: str | None) -> _Loaded:
        if hub_name is not None:
            weights = find_weights(hub_name)
            if not weights.is_whole():
                self.download = weights
                weights.download()
                self.download = None
        return _load(open_encoder)

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
        hub_name: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.model = model
        self.dimensions = model.dimensions
        self._open = open_encoder
        self._hub_name = hub_name
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
        """Return the seconds until `texts` have vectors; infinity while the model is not loaded.

        Without its files, the result is 0, because calls then fail immediately.
        """
        if self._loaded is None:
            return 0.0 if self.is_missing() else math.inf
        return self._pace * (self._waiting + sum(map(len, texts)))

    def is_missing(self) -> bool:
        """Return whether the model is being downloaded, or is known not to load."""
        if self._loaded is not None:
            return False
        if self._loading is not None:
            return self._loading.download is not None or self._loading.error is not None
        weights = find_known_weights(self._hub_name) if self._hub_name is not None else None
        return weights is not None and not weights.is_whole()

    async def check_files(self) -> None:
        """Raise ModelMissing if files have to be downloaded, and say whether the hub has them."""
        if self._hub_name is not None and self._loaded is None:
            await anyio.to_thread.run_sync(_check_files, self._hub_name)

    def read_progress(self) -> tuple[int, int] | None:
        """Return the downloaded bytes and the bytes of the whole model during a download."""
        weights = self._loading.download if self._loading is not None else None
        if weights is None or self._loading is None or self._loading.error is not None:
            return None
        return weights.count_bytes(), weights.size

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
        """Return the loaded model.

        Raises ProviderFailed if it takes longer than `patience`, and ModelMissing if it cannot be
        loaded or, with limited patience, if it has to be downloaded.
        """
        if self._loaded is not None:
            return self._loaded
        loading = self._begin(downloads=math.isinf(patience))
        while loading.running:
            if loading.download is not None and not math.isinf(patience):
                raise ModelMissing(self._describe_download())
            if self._clock() - loading.began > patience:
                raise ProviderFailed(f"The model {self.model.name} is still being loaded")
            await anyio.sleep(_POLL)
        if loading.loaded is None:
            failed = self._explain(loading.error)
            if failed.fix != self._logged:  # log a failure once, not at each attempt
                self._logged = failed.fix
                logger.warning("%s", failed.fix)
            raise failed
        self.dimensions = self.dimensions or loading.loaded.dimensions
        self._loaded, self._pace = loading.loaded, loading.loaded.pace
        return self._loaded

    def _begin(self, *, downloads: bool) -> _Loading:
        """Return the attempt to load the model. Begin a new one if the last one failed long ago."""
        now, loading = self._clock(), self._loading
        if loading is None:
            if not downloads and self.is_missing():
                raise ModelMissing(f"The model {self.model.name} is not on this machine yet")
        else:
            may_begin = downloads or loading.download is None
            if loading.error is None or now < loading.began + _RETRY or not may_begin:
                return loading
        self._loading = _Loading(self._open, self._hub_name, now)
        return self._loading

    def _describe_download(self) -> str:
        done, size = self.read_progress() or (0, 0)
        progress = f" ({done / 1e6:.0f} of {size / 1e6:.0f} MB)" if size else ""
        return f"The model {self.model.name} is being downloaded{progress}"

    def _explain(self, error: BaseException | None) -> ModelMissing:
        if isinstance(error, EmbeddingUnavailable):
            failed = ModelMissing(error.fix)
        else:
            failed = ModelMissing(
                f"The model {self.model.name} cannot be loaded ({type(error).__name__}): check its "
                "files, or install textrawl[encoders] again"
            )
        failed.__cause__ = error
        return failed


def _check_files(hub_name: str) -> None:
    weights = find_weights(hub_name)
    if not weights.is_whole():
        try:
            weights.ask_hub()
        except ProviderFailed as failed:
            raise ModelMissing(failed.fix) from failed
        raise ModelMissing(f"The model {hub_name} is not on this machine yet")


def _load(open_encoder: Callable[[], Encoder]) -> _Loaded:
    """Load a model and measure its pace with the second text, because the first takes longer."""
    with _native:
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
            f"`{write_install_command('encoders')}`, or choose another provider"
        )
    name = settings.embedding_model or DEFAULT_MODEL
    if not is_folder(name):
        model = find_model(name)
        return FastEmbedder(
            f"fastembed:{model.name}",
            model,
            lambda: open_named(find_weights(model.name)),
            hub_name=model.name,
            clock=clock,
        )
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
