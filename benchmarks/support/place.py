"""The place of a benchmark: the machine, a folder for Postgres, a token, a server."""

import os
import platform
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import anyio
import psycopg
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

from textrawl.access.access_token import hash_token, make_token, shorten_token

SERVE = ["-m", "textrawl", "serve"]


@contextmanager
def open_folder(name: str) -> Generator[Path]:
    """Yield a temporary folder that Postgres can use, also if it runs as another OS user."""
    folder = Path(tempfile.mkdtemp(prefix=f"textrawl-{name}-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@asynccontextmanager
async def listen(
    environment: dict[str, str], *options: str, serve: Sequence[str] = SERVE
) -> AsyncGenerator[str]:
    """Start a server over HTTP in another process, and yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, *serve, "--http", "--port", str(port), *options]
    async with await anyio.open_process(command, env=environment, stderr=None) as server:
        async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.1)):
            with attempt:
                await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            server.terminate()


def count_deadlocks(conninfo: str) -> int:
    """Return the number of deadlocks since the start of Postgres, after all other sessions ended.

    Servers retry calls that meet a deadlock, so clients do not notice them.
    """
    query = "select deadlocks from pg_stat_database where datname = current_database()"
    with psycopg.connect(conninfo) as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


def enrol(conninfo: str, token: str | None = None) -> str:
    """Return a token with all scopes in the default space. `conninfo` is for the owner."""
    token = token or make_token()
    with psycopg.connect(conninfo, autocommit=True) as owner:
        owner.execute(
            "select textrawl.create_token(hash => %s, prefix => %s, actor => 'bench',"
            " space => 'default', scopes => array['read', 'write', 'forget', 'admin'])",
            (hash_token(token), shorten_token(token)),
        )
    return token


def tell_machine() -> str:
    """Return a description of the machine, its load, and the versions of programs."""
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.is_file():
        names = re.findall(r"^model name\s*: (.+)$", information.read_text(), re.MULTILINE)
        model = names[0] if names else model
    load = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {model}, {os.cpu_count()} cores, load {load}; "
        f"{platform.system()}, Python {platform.python_version()}, mcp {version('mcp')}"
    )
