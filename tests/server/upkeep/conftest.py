"""A server with a provider on loopback, whose upkeep is done by hand."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from tests.support.providers import EmbeddingServer
from tests.support.upkeep import Desk, open_desk
from textrawl import Settings
from textrawl.models import remote as embeddings_remote


@pytest.fixture
def provider() -> Iterator[EmbeddingServer]:
    with EmbeddingServer(dimensions=1536) as server:
        yield server


@pytest.fixture
def remote(
    settings: Callable[..., Settings], provider: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Settings]:
    """Settings with an OpenAI that can fail."""
    monkeypatch.setattr(embeddings_remote, "TIMEOUT", 1.0)

    def make(**changes: Any) -> Settings:
        return settings(
            embedding_provider="openai",
            openai_api_key="key",
            openai_base_url=provider.openai_url,
            **changes,
        )

    return make


@pytest.fixture
async def desk(remote: Callable[..., Settings]) -> AsyncIterator[Desk]:
    async with open_desk(remote()) as desk:
        yield desk
