"""The time of each tool over stdio and HTTP, beside the bare call of its SQL function.

    python -m benchmarks.latency [--facts 1000 10000] [--calls 200] [--clients 1 8 32]
        [--keep FOLDER]

Memories of benchmarks.support.synthetic, in a temporary folder or kept in `--keep FOLDER` for the
next run, with an embedded Postgres, local embeddings, a token that reads all 52 spaces, and the MCP
SDK's own client. The bare call is the statement alone, sent by the same code with the same kind of
arguments on a connection with the server's settings; the call that does nothing is one to a
server of benchmarks.support.noop. All take turns, call by call, so that what else the machine does
meets all of them. Prints Markdown.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import psycopg
from mcp import Client, StdioServerParameters
from pgvector.psycopg import register_vector_async
from psycopg.rows import args_row
from pydantic import SecretStr

from benchmarks.support.place import SERVE, enrol, listen, open_folder, tell_machine
from benchmarks.support.synthetic import fill_once
from benchmarks.support.work import Call, Work
from textrawl import Settings, create_server, migrate
from textrawl.access.access_token import hash_token
from textrawl.access.directory import Directory
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.configuration import APP, OWNER
from textrawl.embeddings.active_model import Models
from textrawl.embeddings.local import LocalEmbedder
from textrawl.postgres.database import Database, Row
from textrawl.server.lifespan import build_renderer
from textrawl.settings import read_foreign_environment
from textrawl.store.store import Store
from textrawl.toolsets.app import App, Identity

WAYS = ("SQL", "stdio", "HTTP")
NOOP = ["-m", "benchmarks.support.noop"]
WARM = 20  # calls before those that count
LIMIT = 10  # seconds for a statement, as by default
MOST_SERVERS = 8  # at once, one for each client over stdio
SEARCH = "query_memory search"

_READ_ALL = """
    select textrawl.grant_access('bench', name, array['read'])
    from textrawl.space where name <> 'default' and archived_at is null
"""
_SAMPLE = """
    select e.name, o.content
    from textrawl.observation o
    join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
    where o.tool = 'bench' and (not %s or o.space_id = 1) order by md5(o.id::text) limit 500
"""


class Bare(Database):
    """Runs statements on one connection, and counts the seconds that they alone take."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        super().__init__("", timeout=LIMIT)
        self._connection = connection
        self.seconds = 0.0

    async def _execute(self, query: bytes, row: type[Row], values: dict[str, object]) -> list[Row]:
        cursor = self._connection.cursor(row_factory=args_row(row))
        begin = time.perf_counter()
        rows = await (await cursor.execute(query, values)).fetchall()
        self.seconds += time.perf_counter() - begin
        return rows


@dataclass(frozen=True)
class Bench:
    """A client of each way, on one database, and what the first one's statements took."""

    targets: dict[str, Any]
    clients: dict[str, Client]
    idle: dict[str, Client]
    bare: Bare
    work: Work

    async def measure(self, kind: str, calls: int) -> dict[str, list[float]]:
        """Return seconds of `calls` calls of a kind, for each way."""
        taken: dict[str, list[float]] = {way: [] for way in WAYS}
        if kind.startswith("forget"):
            for _ in range((calls + WARM) * len(WAYS)):
                self.work.forgettable.append(self.work.make_fact())
                await self._call("SQL", ("remember_fact", self.work.forgettable[-1]))
        for number in range(calls + WARM):
            for way in WAYS:
                seconds = await self._call(way, self.work.kinds[kind]())
                if number >= WARM:
                    taken[way].append(seconds)
        return taken

    async def measure_nothing(self, calls: int) -> dict[str, list[float]]:
        """Return seconds of `calls` calls that do nothing."""
        taken: dict[str, list[float]] = {way: [] for way in self.idle}
        for number in range(calls + WARM):
            for way, client in self.idle.items():
                begin = time.perf_counter()
                await client.call_tool("do_nothing", {})
                if number >= WARM:
                    taken[way].append(time.perf_counter() - begin)
        return taken

    async def measure_crowd(self, way: str, crowd: int, calls: int) -> tuple[list[float], float]:
        """Return the seconds of each search by so many clients at once, and of all together."""
        taken = list[float]()

        async def ask(client: Client) -> None:
            while len(taken) < calls:
                tool, arguments = self.work.kinds[SEARCH]()
                begin = time.perf_counter()
                await client.call_tool(tool, arguments)
                taken.append(time.perf_counter() - begin)

        async with AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(Client(self.targets[way])) for _ in range(crowd)
            ]
            for client in clients:
                await client.call_tool(*self.work.kinds[SEARCH]())
            begin = time.perf_counter()
            async with anyio.create_task_group() as group:
                for client in clients:
                    group.start_soon(ask, client)
            return taken, time.perf_counter() - begin

    async def _call(self, way: str, call: Call) -> float:
        before = self.bare.seconds
        begin = time.perf_counter()
        result = await self.clients[way].call_tool(*call)
        whole = time.perf_counter() - begin
        if result.is_error:
            raise RuntimeError(f"{call} over {way}: {result.content}")
        return self.bare.seconds - before if way == "SQL" else whole


def enrol_reader(owner: str) -> str:
    """Return a token that writes in the default space and reads all."""
    token = enrol(owner)
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(_READ_ALL)
    return token


def sample_work(owner: str) -> Work:
    """Call about what is there: entities of the default space, texts of all."""
    with psycopg.connect(owner) as connection:
        names = sorted({name for name, _ in connection.execute(_SAMPLE, (True,)).fetchall()})
        texts = [text for _, text in connection.execute(_SAMPLE, (False,)).fetchall()]
        # A memory that was kept has the facts of the last run.
        [(start,)] = connection.execute(
            "select coalesce(max(id), 0) from textrawl.event"
        ).fetchall()
    return Work(names[:100], texts, start)


@asynccontextmanager
async def open_bench(conninfo: str, token: str, work: Work) -> AsyncGenerator[Bench]:
    """Servers and clients on the database at `conninfo`."""
    settings = Settings(database_url=SecretStr(conninfo), embedding_provider="local")
    environment = read_foreign_environment() | {
        "DATABASE_URL": conninfo, "EMBEDDING_PROVIDER": "local", "ACCESS_TOKEN": token,
        "RATE_LIMIT": "0",
    }  # fmt: skip
    async with AsyncExitStack() as stack:
        connection = await psycopg.AsyncConnection.connect(
            conninfo, autocommit=True, options=f"-c statement_timeout={LIMIT * 1000}"
        )
        await stack.enter_async_context(connection)
        await register_vector_async(connection)
        bare = Bare(connection)
        identity = Identity(Directory(bare), hash_token(token))
        app = App(Store(bare, Models(bare, LocalEmbedder())), build_renderer(settings), identity)

        async def join(target: Any) -> Client:
            return await stack.enter_async_context(Client(target))

        def start(command: list[str]) -> StdioServerParameters:
            return StdioServerParameters(command=sys.executable, args=command, env=environment)

        url = await stack.enter_async_context(listen(environment, "--insecure"))
        idle = await stack.enter_async_context(listen(environment, serve=NOOP))
        targets = {
            "SQL": create_server(settings, app=app), "stdio": start(SERVE), "HTTP": url
        }  # fmt: skip
        clients = {way: await join(target) for way, target in targets.items()}
        nothing = {"stdio": await join(start(NOOP)), "HTTP": await join(idle)}
        yield Bench(targets, clients, nothing, bare, work)


async def time_embedding(work: Work, calls: int) -> list[float]:
    """Return seconds that the vector of a question takes."""
    embedder, taken = LocalEmbedder(), list[float]()
    for _ in range(calls + WARM):
        _, arguments = work.kinds[SEARCH]()
        begin = time.perf_counter()
        await embedder.embed_query(arguments["query"])
        taken.append(time.perf_counter() - begin)
    return taken[WARM:]


def rank(seconds: list[float]) -> tuple[float, float]:
    """Median and 95th percentile, in milliseconds."""
    ranks = statistics.quantiles(seconds, n=100)
    return 1000 * ranks[49], 1000 * ranks[94]


def write_row(name: str, columns: Iterable[list[float]], ratio: float | None = None) -> str:
    """Return a line of the table; columns that were not measured stay empty."""
    cells = [
        f"{number:.1f}" for seconds in columns for number in (rank(seconds) if seconds else ())
    ]
    cells = ["", ""] * (len(WAYS) - len(cells) // 2) + cells
    return f"| {' | '.join([name, *cells, '' if ratio is None else f'{ratio:.2f}'])} |"


async def measure_crowds(bench: Bench, crowds: list[int], calls: int) -> None:
    """Print how searches do while so many clients ask."""
    print("| clients searching at once, ms | p50 | p95 | calls/s |\n|---|---:|---:|---:|")
    for way in ("stdio", "HTTP"):
        for crowd in crowds:
            if way == "HTTP" or crowd <= MOST_SERVERS:
                taken, whole = await bench.measure_crowd(way, crowd, max(calls, 10 * crowd))
                middle, late = rank(taken)
                rate = len(taken) / whole
                print(f"| {way}, {crowd} | {middle:.1f} | {late:.1f} | {rate:.0f} |", flush=True)


async def measure(folder: Path, size: int, calls: int, crowds: list[int]) -> None:
    """Print the table of one memory, which is filled first if it is new."""
    async with run_embedded(folder) as cluster:
        owner = cluster.dsn(OWNER)
        await migrate(owner)
        await anyio.to_thread.run_sync(fill_once, folder, owner, size)
        work = await anyio.to_thread.run_sync(sample_work, owner)
        async with open_bench(cluster.dsn(APP), enrol_reader(owner), work) as bench:
            embedding, _ = rank(await time_embedding(work, calls))
            titles = [f"{way} {place}" for way in WAYS for place in ("p50", "p95")]
            print(f"| {size:,} facts, ms | {' | '.join(titles)} | stdio ÷ (SQL + vector) |")
            print("|---|" + "---:|" * (len(titles) + 1), flush=True)
            idle = await bench.measure_nothing(calls)
            print(write_row("nothing (the SDK)", idle.values()), flush=True)
            for kind in work.kinds:
                taken = await bench.measure(kind, calls)
                bare = rank(taken["SQL"])[0] + (embedding if kind == SEARCH else 0)
                print(write_row(kind, taken.values(), rank(taken["stdio"])[0] / bare), flush=True)
            print(f"\nThe vector of a question takes {embedding:.2f} ms.\n")
            await measure_crowds(bench, crowds, calls)
            print(flush=True)


def main() -> None:
    """Measure each size in turn."""
    parser = argparse.ArgumentParser(description="Latency of each tool beside its SQL.")
    parser.add_argument("--facts", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="Keep the memories there.")
    given = parser.parse_args()
    print(f"{tell_machine()}; {given.calls} calls each.\n")
    with nullcontext(given.keep) if given.keep else open_folder("latency") as folder:
        for size in sorted(given.facts):
            place = folder / str(size)
            place.mkdir(parents=True, exist_ok=True)
            place.chmod(0o755)
            anyio.run(measure, place, size, given.calls, given.clients)
    print(f"Load at the end: {', '.join(f'{load:.1f}' for load in os.getloadavg())}.")


if __name__ == "__main__":
    main()
