"""Numbers for texts, by which a storage of CrewAI finds a text again."""

import hashlib
import struct
from collections import OrderedDict
from collections.abc import Sequence

_MOST_TEXTS = 10_000


class TextVectors:
    """The last texts for which CrewAI asked for a vector."""

    def __init__(self) -> None:
        self._texts = OrderedDict[tuple[float, ...], str]()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector for each text. Only the same text has the same vector."""
        vectors = [_hash(text) for text in texts]
        for text, vector in zip(texts, vectors, strict=True):
            self._texts[tuple(vector)] = text
            if len(self._texts) > _MOST_TEXTS:
                self._texts.popitem(last=False)
        return vectors

    def find(self, vector: Sequence[float]) -> str:
        """Return the text of a vector. Raises LookupError if `embed` did not make it."""
        text = self._texts.get(tuple(vector))
        if text is None:
            raise LookupError("Create Memory(storage=storage, embedder=storage.embed)")
        return text


def _hash(text: str) -> list[float]:
    numbers = struct.unpack("<32i", hashlib.shake_256(text.encode()).digest(128))
    return [number / 2**31 for number in numbers]
