"""A team's server that listens, and a client that speaks HTTP to it."""

from collections.abc import AsyncIterator

import httpx2
import pytest

from tests.support.http_team import ACCEPT, Team, gather


@pytest.fixture
async def team() -> AsyncIterator[Team]:
    async with gather() as team:
        yield team


@pytest.fixture
async def http() -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(headers=ACCEPT, timeout=30) as http:
        yield http
