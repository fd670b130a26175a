"""A server with the explorer, and the people who use it."""

from collections.abc import AsyncIterator, Callable

import psycopg
import pytest

from tests.explorer.visiting import Place, open_place
from textrawl.settings import Settings


@pytest.fixture
async def place(
    settings: Callable[..., Settings], owner: psycopg.Connection
) -> AsyncIterator[Place]:
    """A server without an embedding provider, which starts faster."""
    async with open_place(settings(embedding_provider="none"), owner) as place:
        yield place
