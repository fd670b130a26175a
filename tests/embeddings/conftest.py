from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from tests.support.providers import Clock, EmbeddingServer
from textrawl.models import remote
from textrawl.models.choice import choose_embedder
from textrawl.models.embeddings import Embedder
from textrawl.settings import read_settings

Connect = Callable[..., Embedder]


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer(dimensions=64) as server:
        yield server


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["openai", "ollama"])
def provider(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def connect(
    server: EmbeddingServer, clock: Clock, provider: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Connect]:
    """Embedders of the loopback server, closed after the test; `limit` is their time limit."""
    opened: list[Embedder] = []

    def open_embedder(*, limit: float | None = None, **overrides: Any) -> Embedder:
        if limit is not None:
            monkeypatch.setattr(remote, "TIMEOUT", limit)
        settings = read_settings(
            **{
                "embedding_provider": provider,
                "embedding_model": "test-model",
                "openai_api_key": "canary-key",
                "openai_base_url": server.openai_url.replace("//", "//user:canary-word@"),
                "ollama_base_url": server.url.replace("//", "//user:canary-word@"),
                **overrides,
            }
        )
        embedder = choose_embedder(settings, clock=clock)
        assert embedder is not None
        opened.append(embedder)
        return embedder

    yield open_embedder
    for embedder in opened:
        await embedder.aclose()
