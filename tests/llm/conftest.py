from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from tests.support.llm_server import LlmServer
from tests.support.provider_server import Clock
from textrawl.models.choice import choose_llm
from textrawl.models.llm import LlmClient
from textrawl.settings import read_settings

Open = Callable[..., LlmClient]


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer(lambda request: "- likes tea") as server:
        yield server


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["openai", "ollama"])
def provider(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def open_llm(server: LlmServer, clock: Clock, provider: str) -> AsyncIterator[Open]:
    """Clients of the loopback server, closed after the test."""
    opened: list[LlmClient] = []

    def go(**overrides: Any) -> LlmClient:
        url = server.openai_url if provider == "openai" else server.url
        given = {
            "llm_provider": provider,
            "llm_model": "test-model",
            "llm_api_key": "canary-key",
            "llm_base_url": url.replace("//", "//user:canary-word@"),
            "llm_timeout": 5,
            **overrides,
        }
        llm = choose_llm(read_settings(**given), clock=clock, pause=0.01)
        assert llm is not None
        opened.append(llm)
        return llm

    yield go
    for llm in opened:
        await llm.aclose()
