"""The local embedder: wordllama's static vectors of 256 dimensions. It needs no network and no key.

The vector of a text is the mean of the vectors of its tokens. The vocabulary also has
a token for each byte. So every text that is not blank has a vector, in any script and with emoji.
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

from textrawl.errors import EmbeddingUnavailable, StartRefused
from textrawl.models.embeddings import (
    LOCAL_MODEL,
    Embedder,
    Model,
    Vector,
    check_texts,
    check_vectors,
    find_model,
)
from textrawl.settings import Settings

_WEIGHTS = "l2_supercat_256.safetensors"
_VOCABULARY = "llama2"  # splintr's name for the vocabulary of the weights
_OWN_VOCABULARY = "l2_supercat_tokenizer_config.json"  # wordllama's file of the same vocabulary

_INLINE_CHARACTERS = 8_000
"""If a batch has more characters, a thread embeds it.

Without the thread, the batch would block the event loop for more than 4 ms.
"""


@dataclass(frozen=True)
class StaticModel:
    """The local model: `encode` returns the tokens of a text, `rows` has one vector per token."""

    encode: Callable[[str], list[int]]
    rows: NDArray[np.float16]

    def average(self, text: str) -> NDArray[np.float32]:
        """Return the mean of the vectors of the tokens of `text`."""
        return self.rows[self.encode(text)].astype(np.float32).mean(0)


class LocalEmbedder(Embedder):
    """An Embedder in this process. `warm` or the first call loads the model."""

    def __init__(self) -> None:
        self.model: Model = find_model(LOCAL_MODEL)
        self.name = f"local:{LOCAL_MODEL}"
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
        """Return the unit vector of a query. A cache would not be faster than computing it."""
        texts = check_texts([text])
        if self._loaded is None:
            await self.warm()
        [vector] = self._embed(texts)
        return vector

    async def aclose(self) -> None:
        """Release the model."""
        self._loaded = None

    def _embed(self, texts: list[str]) -> list[Vector]:
        loaded = cast("StaticModel", self._loaded)
        # Encode one text at a time. A batch would be padded to its longest text. It would also
        # start threads, and a later fork would write a warning about threads to stderr.
        return check_vectors(np.stack([loaded.average(text) for text in texts]), self.dimensions)


def build_embedder(settings: Settings) -> LocalEmbedder:
    """Return the local embedder. Raises StartRefused for any model but wordllama."""
    if settings.embedding_model not in (None, "wordllama", LOCAL_MODEL):
        raise StartRefused(
            "TEXTRAWL_EMBEDDING_MODEL: the provider local has only the model wordllama; unset this "
            "variable, or set TEXTRAWL_EMBEDDING_PROVIDER to openai or ollama"
        )
    return LocalEmbedder()


@functools.cache
def load_model() -> StaticModel:
    """Load the model once per process. Raises EmbeddingUnavailable if a file is missing."""
    # Do not import the package wordllama. It would import unused modules, copy the weights to
    # twice their size, and change the configuration of logging.
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
    """Return the function that encodes a text as tokens.

    If the text contains the name of a control token, such as `</s>`, the function encodes this name
    as plain text.
    """
    if find_spec("splintr") is not None:
        from splintr import Tokenizer  # noqa: PLC0415 - some platforms have no wheel of it

        return Tokenizer.from_pretrained(_VOCABULARY).encode_ordinary
    # Reading wordllama's vocabulary, a JSON file, takes five times as long as reading splintr's.
    from tokenizers import Tokenizer as FileTokenizer  # noqa: PLC0415 - slow to import

    tokenizer: Any = FileTokenizer.from_file(str(folder / "tokenizers" / _OWN_VOCABULARY))
    tokenizer.encode_special_tokens = True
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def map_rows(file: Path) -> NDArray[np.float16]:
    """Map the only matrix of a safetensors file into memory. All processes share this memory.

    Raises OSError, also for a truncated file.
    """
    with file.open("rb") as opened:
        size = int.from_bytes(opened.read(8), "little")
        header = json.loads(opened.read(size))
    [tensor] = [value for name, value in header.items() if name != "__metadata__"]
    begin, end = tensor["data_offsets"]
    if file.stat().st_size < 8 + size + end:
        raise OSError(f"{file} is truncated")
    mapped = np.memmap(file, np.float16, "r", 8 + size + begin, tuple(tensor["shape"]))
    return np.asarray(mapped)  # a plain array, because reading rows from a memmap is slower
