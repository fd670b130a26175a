"""Reads from a streaming replica of Postgres, made with Postgres' own programs."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import psycopg
import pytest
from anyio import to_thread
from mcp import Client
from psycopg import pq
from psycopg.conninfo import make_conninfo
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

from tests.conftest import enrol
from tests.support.tool_calls import read, read_error, text_of
from textrawl import migrate
from textrawl.embedded.account import find_account
from textrawl.embedded.cluster import Cluster, run_embedded
from textrawl.embedded.configuration import APP, OWNER, SUPERUSER
from textrawl.embedded.database import DATABASE
from textrawl.embedded.paths import ClusterPaths
from textrawl.embedded.postmaster import ping, read_pid_file, spawn, stop

pytestmark = pytest.mark.anyio

Connect = Callable[..., Awaitable[Client]]

FACT = {"entityName": "Ada", "entityType": "person", "observation": "plays the theremin"}


async def let_replicas_in(data_dir: Path) -> None:
    """Makes a cluster whose login rules have a line for them."""
    async with run_embedded(data_dir) as cluster:
        rules = cluster.data / "rules.conf"
    account = find_account()
    for path, text in {
        rules: "local all,replication all peer map=textrawl\n",
        cluster.data / "local.conf": f"hba_file = '{rules}'\n",
    }.items():
        path.write_text(text, encoding="utf-8")
        account.chown(path)


@asynccontextmanager
async def replicate(primary: Cluster, data_dir: Path) -> AsyncGenerator[str]:
    """A standby that follows; its connection string for servers."""
    account, site = find_account(), ClusterPaths(data_dir, 18)
    await to_thread.run_sync(data_dir.mkdir)
    account.chown(data_dir)
    copy = [
        primary.bin_path / "pg_basebackup", f"--pgdata={site.pgdata}", "--write-recovery-conf",
        "--checkpoint=fast", f"--dbname={make_conninfo(primary.dsn(SUPERUSER, 'postgres'))}",
    ]  # fmt: skip
    done = await to_thread.run_sync(lambda: account.run(copy, limit=60))
    assert done.returncode == 0, done.stderr
    await to_thread.run_sync(spawn, site, primary.bin_path, account)
    try:
        async for attempt in AsyncRetrying(stop=stop_after_delay(30), wait=wait_fixed(0.05)):
            with attempt:
                assert ping(read_pid_file(site.pgdata)) is pq.Ping.OK
        found = read_pid_file(site.pgdata)
        assert found is not None
        yield make_conninfo(host=str(found.socket_dir), port=found.port, user=APP, dbname=DATABASE)
    finally:
        with anyio.CancelScope(shield=True):
            await stop(site.pgdata)


async def test_a_server_reads_from_a_standby_what_others_wrote_on_the_primary(
    home: Path, connect: Connect
) -> None:
    await let_replicas_in(home / "primary")
    async with run_embedded(home / "primary") as primary:
        await migrate(primary.dsn(OWNER))
        enrol(primary.dsn(OWNER))
        writer = await connect(database_url=primary.dsn(APP))
        read(await writer.call_tool("remember_fact", FACT))
        async with replicate(primary, home / "replica") as url:
            reader = await connect(database_url=url, read_only=True)
            found = text_of(await reader.call_tool("query_memory", {"query": "theremin"}))
            assert "plays the theremin" in found
            assert "keyword only" not in found

            later = {**FACT, "observation": "collects stamps"}
            read(await writer.call_tool("remember_fact", later))
            # Who wrote reads it at once where it was written, others as soon as it has come over.
            assert "stamps" in text_of(await writer.call_tool("query_memory", {"query": "stamps"}))
            async for attempt in AsyncRetrying(stop=stop_after_delay(10), wait=wait_fixed(0.05)):
                with attempt:
                    answer = await reader.call_tool("query_memory", {"query": "stamps"})
                    assert "collects stamps" in text_of(answer)

            with psycopg.connect(url) as analyst:
                assert analyst.execute("select pg_is_in_recovery()").fetchone() == (True,)
            wrong = await connect(database_url=url)
            title, fix = read_error(await wrong.call_tool("remember_fact", FACT))
            assert title == "Database unavailable"
            assert "primary" in fix
