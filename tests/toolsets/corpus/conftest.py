"""Graphs, and calls of the corpus tools."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.support import tool_calls
from tests.support.tool_calls import structured

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
    return partial(structured, client)


@pytest.fixture
def refuse(client: Client, graphs: psycopg.Connection[Any]) -> Refuse:
    """Calls a tool and returns the title and the fix of its error."""
    del graphs
    return partial(tool_calls.refuse, client)
