"""Graphs, and calls of the corpus tools."""

from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.support.tool_calls import read, read_error

Ask = Callable[..., Awaitable[Any]]
Refuse = Callable[..., Awaitable[tuple[str, str]]]


@pytest.fixture
def graphs(owner: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """The graphs `work` (public), `book-notes` (personal) and `diary` (sensitive)."""
    for name, tier in (("work", "public"), ("book-notes", "personal"), ("diary", "sensitive")):
        owner.execute("select create_space(%s, tier => %s)", (name, tier))
        owner.execute("select grant_access('ada', %s, array['read', 'write', 'forget'])", (name,))
    return owner


@pytest.fixture
def ask(client: Client, graphs: psycopg.Connection[Any]) -> Ask:
    """Calls a tool and returns its structured content."""
    del graphs

    async def call(tool: str, **arguments: Any) -> Any:
        result = await client.call_tool(tool, arguments)
        read(result)
        return result.structured_content

    return call


@pytest.fixture
def refuse(client: Client, graphs: psycopg.Connection[Any]) -> Refuse:
    """Calls a tool and returns the title and the fix of its error."""
    del graphs

    async def call(tool: str, **arguments: Any) -> tuple[str, str]:
        return read_error(await client.call_tool(tool, arguments))

    return call
