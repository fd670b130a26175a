"""The first writes of a memory whose vectors come from a provider over HTTP."""

import anyio
import psycopg
import pytest
from mcp import Client

from tests.support.commands import serve_over_stdio
from tests.support.providers import EmbeddingServer

WRITES = 3


@pytest.mark.anyio
async def test_three_first_writes_at_once_ask_the_provider_once_which_model_it_has(
    database_url: str, owner: psycopg.Connection
) -> None:
    """No request waits for another one, which a provider may answer after its time limit only."""
    with EmbeddingServer(dimensions=64) as provider:
        server = serve_over_stdio(
            database_url,
            EMBEDDING_PROVIDER="openai",
            EMBEDDING_MODEL="m",
            OPENAI_BASE_URL=provider.openai_url,
            OPENAI_API_KEY="k",
        )
        async with Client(server) as client:

            async def remember(number: int) -> None:
                fact = {"entityName": f"Ada {number}", "entityType": "person", "observation": "tea"}
                stored = await client.call_tool("remember_fact", fact)
                assert not stored.is_error, stored.content

            async with anyio.create_task_group() as tasks:
                for number in range(WRITES):
                    tasks.start_soon(remember, number)

    asked = sorted(text for request in provider.requests for text in request.texts)
    assert asked == [*(f"Ada {number}: tea" for number in range(WRITES)), "textrawl"]
    assert owner.execute("select count(*) from textrawl.embedding_pending").fetchall() == [(0,)]
