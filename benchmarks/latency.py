"""The time of each tool over stdio and HTTP, compared with the call of its SQL function.

    python -m benchmarks.latency [--facts 1000 10000] [--calls 200] [--clients 1 8 32]
        [--keep FOLDER]

It uses memories of benchmarks.support.synthetic in an embedded Postgres, local embeddings, a token
that reads all 52 spaces, and the client of the MCP SDK. The memories are in a temporary folder, or
in `--keep FOLDER` for the next run.

The SQL call is the statement alone. The same code sends it with the same kind of arguments, on a
connection with the server's settings. The call that does nothing goes to a server of
benchmarks.support.noop. The calls of all ways alternate, so other load on the machine affects all
of them. It prints Markdown.
"""

import argparse
import os
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

from benchmarks.support.place import SERVE, enrol, listen, open_folder, tell_machine
from benchmarks.support.synthetic import fill_once
from benchmarks.support.ways import WARM, Bare, name_server, open_bare, rank
from benchmarks.support.work import Call, Work
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import APP, OWNER
from textrawl.models.local import LocalEmbedder

WAYS = ("SQL", "stdio", "HTTP")
NOOP = ["-m", "benchmarks.support.noop"]
MOST_SERVERS = 8  # servers at the same time, one for each client over stdio
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


@dataclass(frozen=True)
class Bench:
    """A client for each way, on one database, with the times of the SQL statements."""

    targets: dict[str, Any]
    clients: dict[str, Client]
    idle: dict[str, Client]
    bare: Bare
    work: Work

    async def measure(self, kind: str, calls: int) -> dict[str, list[float]]:
        """Return the seconds of `calls` calls of one kind, for each way."""
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
        """Return the seconds of `calls` calls that do nothing."""
        taken: dict[str, list[float]] = {way: [] for way in self.idle}
        for number in range(calls + WARM):
            for way, client in self.idle.items():
                begin = time.perf_counter()
                await client.call_tool("do_nothing", {})
                if number >= WARM:
                    taken[way].append(time.perf_counter() - begin)
        return taken

    async def measure_crowd(self, way: str, crowd: int, calls: int) -> tuple[list[float], float]:
        """Return the seconds of each search by concurrent clients, and of all together."""
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
    """Return a token that can write in the default space and read all spaces."""
    token = enrol(owner)
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(_READ_ALL)
    return token


def sample_work(owner: str) -> Work:
    """Return calls about stored data: entities of the default space, texts of all spaces."""
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
    environment = name_server(conninfo, token)
    async with AsyncExitStack() as stack:
        bare, server = await stack.enter_async_context(open_bare(conninfo, token))

        async def join(target: Any) -> Client:
            return await stack.enter_async_context(Client(target))

        def start(command: list[str]) -> StdioServerParameters:
            return StdioServerParameters(command=sys.executable, args=command, env=environment)

        url = await stack.enter_async_context(listen(environment, "--insecure"))
        idle = await stack.enter_async_context(listen(environment, serve=NOOP))
        targets = {
            "SQL": server, "stdio": start(SERVE), "HTTP": url
        }  # fmt: skip
        clients = {way: await join(target) for way, target in targets.items()}
        nothing = {"stdio": await join(start(NOOP)), "HTTP": await join(idle)}
        yield Bench(targets, clients, nothing, bare, work)


async def time_embedding(work: Work, calls: int) -> list[float]:
    """Return the seconds for making the vector of a question."""
    embedder, taken = LocalEmbedder(), list[float]()
    for _ in range(calls + WARM):
        _, arguments = work.kinds[SEARCH]()
        begin = time.perf_counter()
        await embedder.embed_query(arguments["query"])
        taken.append(time.perf_counter() - begin)
    return taken[WARM:]


def write_row(name: str, columns: Iterable[list[float]], ratio: float | None = None) -> str:
    """Return a line of the table. Columns without a measurement stay empty."""
    cells = [
        f"{number:.1f}" for seconds in columns for number in (rank(seconds) if seconds else ())
    ]
    cells = ["", ""] * (len(WAYS) - len(cells) // 2) + cells
    return f"| {' | '.join([name, *cells, '' if ratio is None else f'{ratio:.2f}'])} |"


async def measure_crowds(bench: Bench, crowds: list[int], calls: int) -> None:
    """Print the times of searches by concurrent clients."""
    print("| clients searching at once, ms | p50 | p95 | calls/s |\n|---|---:|---:|---:|")
    for way in ("stdio", "HTTP"):
        for crowd in crowds:
            if way == "HTTP" or crowd <= MOST_SERVERS:
                taken, whole = await bench.measure_crowd(way, crowd, max(calls, 10 * crowd))
                middle, late = rank(taken)
                rate = len(taken) / whole
                print(f"| {way}, {crowd} | {middle:.1f} | {late:.1f} | {rate:.0f} |", flush=True)


async def measure(folder: Path, size: int, calls: int, crowds: list[int]) -> None:
    """Print the table of one memory. Fill the memory first if it is new."""
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
