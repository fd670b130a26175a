"""A client for the tests of one toolset."""

import pytest
from mcp import Client

from tests.conftest import Connect


@pytest.fixture
async def client(request: pytest.FixtureRequest, connect: Connect) -> Client:
    """A client of a server with the toolset that the folder of the test is named after."""
    return await connect(toolsets=[request.path.parent.name])
