"""An embedding provider for tests: real HTTP on loopback, with faults that can be switched.

    with EmbeddingServer(dimensions=256) as server:
        settings = read_settings(embedding_provider="openai", openai_base_url=server.openai_url)
        server.fail(Fault.HANG)
        server.heal()

One server speaks OpenAI's /v1/embeddings and Ollama's /api/embed. Vectors are sums of vectors
of a text's words, so texts that share words are similar, here and on every machine.
"""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.support.provider_server import AnyFault, Clock, Fault, ProviderServer

__all__ = ["Clock", "EmbeddingServer", "Fault", "Request", "embed_words"]

Rows = list[list[Any]]


_ROWS: dict[AnyFault, Callable[[Rows], Rows]] = {
    Fault.WRONG_DIMENSIONS: lambda rows: [row[: len(row) // 2] for row in rows],
    Fault.MIXED_DIMENSIONS: lambda rows: [*rows[:-1], rows[-1][:-1]],
    Fault.NO_DIMENSIONS: lambda rows: [[] for _ in rows],
    Fault.FEWER: lambda rows: rows[:-1],
    Fault.NAN: lambda rows: [*rows[:-1], [float("nan"), *rows[-1][1:]]],
    Fault.TEXTS: lambda rows: [*rows[:-1], [str(number) for number in rows[-1]]],
    Fault.TRUTHS: lambda rows: [*rows[:-1], [True, *rows[-1][1:]]],
    Fault.ZERO: lambda rows: [*rows[:-1], [0.0] * len(rows[-1])],
}


@dataclass(frozen=True)
class Request:
    """One request as the provider received it."""

    path: str
    model: str
    texts: tuple[str, ...]
    authorization: str | None


def embed_words(text: str, dimensions: int) -> list[float]:
    """The vector that the server gives a text: not of unit length, equal on every machine."""
    words = re.findall(r"\w+", text.lower()) or [text]
    total = np.sum([_embed_word(word, dimensions) for word in words], axis=0)
    return [float(number) for number in total]


@lru_cache(maxsize=50_000)
def _embed_word(word: str, dimensions: int) -> NDArray[np.float64]:
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
    return np.random.default_rng(seed).standard_normal(dimensions)


class EmbeddingServer(ProviderServer[Request]):
    """An embedding provider on 127.0.0.1.

    `poison`: a batch with this word in one of its texts is answered with 400. `index_of`: what
    OpenAI's answer says of the vector at a position. `embed` makes a vector of a text.
    """

    def __init__(
        self, *, dimensions: int = 256, embed: Callable[[str, int], list[float]] = embed_words
    ) -> None:
        self.dimensions = dimensions
        self._embed = embed
        self.poison: str | None = None
        self.index_of: Callable[[int], int] = lambda position: position
        super().__init__()

    @property
    def texts(self) -> list[str]:
        """Every text received, in order."""
        return [text for request in self.requests for text in request.texts]

    def read_request(self, path: str, body: Any, key: str | None) -> Request | None:
        """A request for vectors."""
        if path not in ("/v1/embeddings", "/api/embed"):
            return None
        return Request(path, body["model"], tuple(body["input"]), key)

    def choose_fault(self, request: Request, fault: AnyFault | None) -> AnyFault | None:
        """A refusal of a text with the poison."""
        poisoned = self.poison and any(self.poison in text for text in request.texts)
        return Fault.TEXT_REFUSED if poisoned else fault

    def write_body(self, request: Request, fault: AnyFault | None) -> bytes:
        """Vectors of all texts."""
        rows = [self._embed(text, self.dimensions) for text in request.texts]
        if fault and fault in _ROWS:
            rows = _ROWS[fault](rows)
        if request.path == "/api/embed":
            return json.dumps({"model": request.model, "embeddings": rows}).encode()
        return json.dumps(self._write_openai(request.model, rows)).encode()

    def _write_openai(self, model: str, rows: Rows) -> dict[str, Any]:
        data = [
            {"object": "embedding", "index": self.index_of(position), "embedding": row}
            for position, row in enumerate(rows)
        ]
        return {"object": "list", "data": data, "model": model, "usage": {"total_tokens": 1}}
