"""A memory through `Client`: of the settings, and of a server whatever its clients get."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.conftest import TOKEN
from tests.support.listening import listen
from textrawl import Client, Settings

ANSWERS: dict[str, dict[str, Any] | None] = {
    "local": None,
    "structured": {},
    "off": {"structured_content": "off"},
}


@pytest.fixture
def environment(database_url: str, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The settings of the fresh database, as environment variables."""
    monkeypatch.setenv("TEXTRAWL_DATABASE_URL", database_url)
    monkeypatch.setenv("TEXTRAWL_ACCESS_TOKEN", TOKEN)
    return monkeypatch


Reach = Callable[..., Any]


@pytest.fixture
async def reach(
    settings: Callable[..., Settings], environment: pytest.MonkeyPatch
) -> AsyncIterator[Reach]:
    """Opens clients of one memory by the names of ANSWERS."""
    async with AsyncExitStack() as stack:

        async def open_client(name: str, **changes: Any) -> Client:
            answers = ANSWERS[name]
            if answers is None:
                return await stack.enter_async_context(Client())
            address = await stack.enter_async_context(listen(settings(**answers, **changes)))
            return await stack.enter_async_context(Client(address.mcp, token=TOKEN))

        yield open_client
