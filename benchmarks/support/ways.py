"""Ways to reach one database: the statements alone, and a server over stdio."""

import statistics
import sys
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import psycopg
from mcp import Client, StdioServerParameters
from pgvector.psycopg import register_vector_async
from pydantic import SecretStr

from benchmarks.support.place import SERVE
from textrawl import Settings, create_server
from textrawl.access.access_token import hash_token
from textrawl.access.principal import Directory
from textrawl.memory.store import Store
from textrawl.models.active_model import Models
from textrawl.models.local import LocalEmbedder
from textrawl.postgres.database import Database, Row
from textrawl.postgres.pool import Statement
from textrawl.server.server import MemoryServer
from textrawl.settings import read_foreign_environment
from textrawl.tools.call import App, Identity

WARM = 20  # calls before the measured calls
LIMIT = 10  # time limit of a statement in seconds, equal to the default of a server


class Bare(Database):
    """Runs statements on one connection, and adds up the seconds of the statements alone."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        super().__init__("", timeout=LIMIT)
        self._connection = connection
        self.seconds = 0.0

    async def _execute(self, function: str, statement: Statement[Row]) -> list[Row]:
        cursor = self._connection.cursor(row_factory=statement.factory)
        begin = time.perf_counter()
        rows = await (await cursor.execute(statement.query, statement.values)).fetchall()
        self.seconds += time.perf_counter() - begin
        return rows


@asynccontextmanager
async def open_bare(
    conninfo: str, token: str, toolset: str = "memory"
) -> AsyncGenerator[tuple[Bare, MemoryServer]]:
    """Yield the statements of a database, and a server that runs its calls with them."""
    settings = Settings(
        database_url=SecretStr(conninfo), embedding_provider="local", toolsets=[toolset]
    )
    connecting = psycopg.AsyncConnection.connect(
        conninfo, autocommit=True, options=f"-c statement_timeout={LIMIT * 1000}"
    )
    async with await connecting as connection:
        await register_vector_async(connection)
        bare = Bare(connection)
        identity = Identity(Directory(bare), hash_token(token))
        app = App(settings, Store(bare, Models(bare, LocalEmbedder())), identity)
        yield bare, create_server(settings, app=app)


@asynccontextmanager
async def open_both_ways(
    conninfo: str, token: str, toolset: str
) -> AsyncGenerator[tuple[Bare, dict[str, Client]]]:
    """Yield the statements of a database, and a client for each way: `SQL` and `stdio`."""
    environment = name_server(conninfo, token) | {"TOOLSETS": toolset}
    stdio = StdioServerParameters(command=sys.executable, args=SERVE, env=environment)
    async with AsyncExitStack() as stack:
        bare, server = await stack.enter_async_context(open_bare(conninfo, token, toolset))
        yield (
            bare,
            {
                "SQL": await stack.enter_async_context(Client(server)),
                "stdio": await stack.enter_async_context(Client(stdio)),
            },
        )


def name_server(conninfo: str, token: str) -> dict[str, str]:
    """Return the environment of a server of the database at `conninfo`."""
    return read_foreign_environment() | {
        "DATABASE_URL": conninfo,
        "EMBEDDING_PROVIDER": "local",
        "ACCESS_TOKEN": token,
        "RATE_LIMIT": "0",
    }


Make = Callable[[str], tuple[str, dict[str, Any]]]
"""A function of the kind of a call. It returns the tool and its arguments."""


async def print_times(
    clients: dict[str, Client], bare: Bare, kinds: Sequence[str], make: Make, calls: int
) -> None:
    """Print the times of each kind of call, by SQL alone and over stdio."""
    print("| call, ms | SQL p50 | SQL p95 | stdio p50 | stdio p95 |")
    print("|---|---:|---:|---:|---:|")
    for kind in kinds:
        taken: dict[str, list[float]] = {way: [] for way in clients}
        for number in range(calls + WARM):
            tool, arguments = make(kind)
            # The first way reads the data from disk for the second, so the ways take turns.
            for way in sorted(clients, reverse=number % 2 == 0):
                before, begin = bare.seconds, time.perf_counter()
                result = await clients[way].call_tool(tool, arguments)
                whole = time.perf_counter() - begin
                assert not result.is_error, result
                if number >= WARM:
                    taken[way].append(bare.seconds - before if way == "SQL" else whole)
        cells = [f"{number:.1f}" for seconds in taken.values() for number in rank(seconds)]
        print(f"| {kind} | {' | '.join(cells)} |", flush=True)


def rank(seconds: list[float]) -> tuple[float, float]:
    """Return the median and the 95th percentile in milliseconds."""
    ranks = statistics.quantiles(seconds, n=100)
    return 1000 * ranks[49], 1000 * ranks[94]
