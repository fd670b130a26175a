"""A client of the five tools, and callers who must not read its memory."""

from typing import NamedTuple

import psycopg
import pytest
from mcp import Client

from tests.attacks.site import issue
from tests.conftest import Connect, Era
from tests.support.tool_calls import remember


class Outsiders(NamedTuple):
    """Two callers: one of another space, and one who can only write."""

    stranger: Client
    writer: Client


@pytest.fixture
async def client(connect: Connect, era: Era) -> Client:
    """A client of a server with default settings, once in each era."""
    return await connect(era)


@pytest.fixture
async def outsiders(
    connect: Connect, owner: psycopg.Connection, era: Era, client: Client
) -> Outsiders:
    """Callers who cannot read what the memory knows about Jeff. There is also the space other."""
    await remember(client, "Jeff", "prefers dark mode")
    owner.execute("select create_space('other')")
    return Outsiders(
        await connect(era, access_token=issue(owner, "sam", "other", "read", "write")),
        await connect(era, access_token=issue(owner, "bo", "default", "write")),
    )
