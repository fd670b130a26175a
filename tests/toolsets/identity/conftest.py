"""Calls of the identity tools."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from mcp import Client

from tests.support.tool_calls import read

Ask = Callable[..., Awaitable[Any]]


@pytest.fixture
def ask(client: Client) -> Ask:
    """Calls a tool and returns its compact answer."""

    async def call(tool: str, **arguments: Any) -> Any:
        return read(await client.call_tool(tool, arguments))

    return call


@pytest.fixture
def look(ask: Ask) -> Ask:
    """Reads the text of a file, or None if there is no such file."""

    async def find(category: str, filename: str) -> str | None:
        answer = await ask("identity_get_all", category=category, filename=filename)
        return next((file["c"] for file in answer[category]), None)

    return find
