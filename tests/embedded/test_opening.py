"""A memory is opened although Postgres dies, and a server on a standby alone reads."""

import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import anyio
import psycopg
import pytest
from mcp import Client
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

from tests.support.replicas import run_pair
from tests.support.tool_calls import read, read_error, text_of
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import OWNER, find_postmaster
from textrawl.errors import StartRefused
from textrawl.memory import embedded_opening
from textrawl.memory.opening import open_memory
from textrawl.settings import read_settings

pytestmark = pytest.mark.anyio

_WAITING = "select count(*) from pg_locks where not granted"


async def test_a_start_survives_postgres_dying_under_it(
    data_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = read_settings(data_dir=data_dir, embedding_provider="none")
    async with run_embedded(data_dir) as cluster:
        with closing(psycopg.connect(cluster.dsn(OWNER))) as locker:
            locker.execute("create schema textrawl")  # the migration waits for its end
            async with anyio.create_task_group() as group:

                async def kill() -> None:
                    while locker.execute(_WAITING).fetchone() != (1,):  # noqa: ASYNC110 - another process wakes nobody
                        await anyio.sleep(0.01)
                    postmaster = find_postmaster(cluster.data)
                    assert postmaster
                    os.kill(postmaster, signal.SIGKILL)

                group.start_soon(kill)
                with anyio.fail_after(120):
                    async with open_memory(settings, serving=True) as memory:
                        await memory.ping()
    assert "died during the start" in caplog.text


async def test_a_memory_from_before_the_first_release_says_how_to_take_its_content_along(
    data_dir: Path,
) -> None:
    settings = read_settings(data_dir=data_dir, embedding_provider="none")
    async with run_embedded(data_dir) as cluster:
        with psycopg.connect(cluster.dsn(OWNER)) as owner:
            owner.execute("create schema textrawl; create table textrawl.migration (name text)")
            owner.execute("insert into textrawl.migration values ('0001_memory')")
    commands = "`textrawl export .*`textrawl migrate`.*`textrawl import .* or TEXTRAWL_DATA_DIR"
    with pytest.raises(StartRefused, match=commands):
        async with open_memory(settings, serving=True):
            pytest.fail("it was opened")


async def test_a_server_goes_on_though_its_missing_indexes_cannot_be_made(
    data_dir: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_opening, "_INDEX_INTERVAL", 0.05)
    settings = read_settings(data_dir=data_dir, embedding_provider="none")
    async with run_embedded(data_dir) as cluster, open_memory(settings, serving=True) as memory:
        with psycopg.connect(cluster.dsn(OWNER)) as owner:
            owner.execute("alter function textrawl.missing_vector_indexes rename to gone")
        with anyio.fail_after(60):
            while "Vector indexes will be built later: UndefinedFunction 42883" not in caplog.text:
                await memory.ping()
        await memory.ping()


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
