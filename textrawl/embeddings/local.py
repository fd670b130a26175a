"""Local embeddings: wordllama's static vectors, 256 dimensions, no network and no key.

A vector is the mean of the vectors of a text's tokens. Bytes are tokens too, so every text that is
not blank has a vector, also emoji and any script.
"""

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread
import numpy as np
from numpy.typing import NDArray

from textrawl.embeddings.models import Model, find_model
from textrawl.embeddings.vectors import Vector, check_texts, check_vectors
from textrawl.errors import EmbeddingUnavailable, StartRefused
from textrawl.settings import Settings

_MODEL = "wordllama-l2-supercat-256"
_WEIGHTS = "l2_supercat_256.safetensors"
_VOCABULARY = "llama2"  # the vocabulary of the weights
_OWN_VOCABULARY = "l2_supercat_tokenizer_config.json"  # the same one, from wordllama

_INLINE_CHARACTERS = 8_000
"""Texts longer than this together go to a thread: they would block the event loop for > 4 ms."""


@dataclass(frozen=True)
class StaticModel:
    """The tokenizer of wordllama as a function, and its `rows`, float16, one for each token."""

    encode: Callable[[str], list[int]]
    rows: NDArray[np.float16]

    def average(self, text: str) -> NDArray[np.float32]:
        """Return the mean of the vectors of the tokens of `text`."""
        return self.rows[self.encode(text)].astype(np.float32).mean(0)


class LocalEmbedder:
    """An Embedder in this process. The model is loaded once, at `warm` or the first call."""

    def __init__(self) -> None:
        self.model: Model = find_model(_MODEL)
        self.name = f"local:{_MODEL}"
        self.dimensions: int | None = self.model.dimensions
        self._loaded: StaticModel | None = None
        self._loading = anyio.Lock()

    async def warm(self) -> None:
        """Load the model in a worker thread. Raises EmbeddingUnavailable if files are missing."""
        async with self._loading:
            if self._loaded is None:
                self._loaded = await anyio.to_thread.run_sync(load_model)

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return one unit vector per text, in order."""
        if not texts:
            return []
        texts = check_texts(texts)
        if self._loaded is None:
            await self.warm()
        if sum(map(len, texts)) <= _INLINE_CHARACTERS:
            return self._embed(texts)
        return await anyio.to_thread.run_sync(self._embed, texts)

    async def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a query; computing it is too fast for a cache to help."""
        [vector] = await self.embed_documents([text])
        return vector

    async def aclose(self) -> None:
        """Release the model."""
        self._loaded = None

    def _embed(self, texts: list[str]) -> list[Vector]:
        loaded = cast("StaticModel", self._loaded)
        # One by one: a batch would be padded to its longest text, and start threads, about which a
        # later fork would warn on stderr.
        return check_vectors(np.stack([loaded.average(text) for text in texts]), self.dimensions)


def build_embedder(settings: Settings) -> LocalEmbedder:
    """Return the local embedder. Raises StartRefused for any model but wordllama."""
    if settings.embedding_model not in (None, "wordllama", _MODEL):
        raise StartRefused(
            "TEXTRAWL_EMBEDDING_MODEL: the local provider has only wordllama; unset it, or set "
            "TEXTRAWL_EMBEDDING_PROVIDER to openai or ollama"
        )
    return LocalEmbedder()


@functools.cache
def load_model() -> StaticModel:
    """Return the model, loaded once per process. Raises EmbeddingUnavailable without its files."""
    # Do not import the package itself: it imports unused modules, copies the weights to twice
    # their size, and changes the configuration of logging.
    found = find_spec("wordllama")
    try:
        if found is None or found.origin is None:
            raise FileNotFoundError
        folder = Path(found.origin).parent
        rows = map_rows(folder / "weights" / _WEIGHTS)
    except OSError:
        raise EmbeddingUnavailable(
            "The local model cannot be loaded: install the package wordllama again"
        ) from None
    return StaticModel(_load_encoder(folder), rows)


def _load_encoder(folder: Path) -> Callable[[str], list[int]]:
    """Return the function that encodes a text as tokens; control tokens are plain text."""
    if find_spec("splintr") is not None:
        from splintr import Tokenizer  # noqa: PLC0415 - some platforms have no wheel of it

        return Tokenizer.from_pretrained(_VOCABULARY).encode_ordinary
    # wordllama's own file of the vocabulary is JSON, which takes five times as long to read.
    from tokenizers import Tokenizer as FileTokenizer  # noqa: PLC0415 - slow to import

    tokenizer: Any = FileTokenizer.from_file(str(folder / "tokenizers" / _OWN_VOCABULARY))
    tokenizer.encode_special_tokens = True
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def map_rows(file: Path) -> NDArray[np.float16]:
    """Map the only matrix of a safetensors file; it is read on demand and shared by processes.

    Raises OSError, also for a truncated file.
    """
    with file.open("rb") as opened:
        size = int.from_bytes(opened.read(8), "little")
        header = json.loads(opened.read(size))
    [tensor] = [value for name, value in header.items() if name != "__metadata__"]
    begin, end = tensor["data_offsets"]
    if file.stat().st_size < 8 + size + end:
        raise OSError(f"{file} is cut short")
    mapped = np.memmap(file, np.float16, "r", 8 + size + begin, tuple(tensor["shape"]))
    return np.asarray(mapped)  # a plain view: selecting rows of a memmap is slower
