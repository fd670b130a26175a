"""A server on a standby alone: it reads what others write on the primary."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import psycopg
import pytest
from mcp import Client
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

from tests.support.replicas import run_pair
from tests.support.tool_calls import read, read_error, text_of

pytestmark = pytest.mark.anyio

Connect = Callable[..., Awaitable[Client]]

FACT = {"entityName": "Ada", "entityType": "person", "observation": "plays the theremin"}


@pytest.mark.slow
async def test_a_server_reads_from_a_standby_what_others_wrote_on_the_primary(
    home: Path, connect: Connect
) -> None:
    async with run_pair(home) as pair:
        url = pair.standby.dsn()
        writer = await connect(database_url=pair.primary.dsn())
        read(await writer.call_tool("remember_fact", FACT))
        reader = await connect(database_url=url, read_only=True)
        later = {**FACT, "observation": "collects stamps"}
        read(await writer.call_tool("remember_fact", later))
        # Who wrote reads it at once where it was written, others as soon as it has come over.
        assert "stamps" in text_of(await writer.call_tool("query_memory", {"query": "stamps"}))
        async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.05)):
            with attempt:
                answer = await reader.call_tool("query_memory", {"query": "stamps"})
                assert "collects stamps" in text_of(answer)
        found = text_of(await reader.call_tool("query_memory", {"query": "theremin"}))
        assert "plays the theremin" in found
        assert "keyword only" not in found

        with psycopg.connect(url) as analyst:
            assert analyst.execute("select pg_is_in_recovery()").fetchone() == (True,)
        wrong = await connect(database_url=url)
        title, fix = read_error(await wrong.call_tool("remember_fact", FACT))
        assert title == "Database unavailable"
        assert "primary" in fix
