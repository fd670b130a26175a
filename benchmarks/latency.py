"""How long each tool takes over stdio and over HTTP, beside the bare call of its SQL function.

    python -m benchmarks.latency [--facts 1000 10000] [--calls 200]

An embedded Postgres in a temporary folder, local embeddings, the MCP SDK's own client. The bare
call is the statement alone, sent by the same code with the same kind of arguments on a connection
with the server's settings. The three take turns, call by call, so that what else the machine does
meets all of them. Prints Markdown.
"""

import argparse
import itertools
import os
import random
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import psycopg
from mcp import Client, StdioServerParameters
from pgvector.psycopg import register_vector_async
from psycopg.rows import class_row
from pydantic import SecretStr

from benchmarks.place import SERVE, enrol, listen, open_folder, tell_machine
from textrawl import Settings, create_server, migrate
from textrawl.credentials import hash_token
from textrawl.database import Database, Row
from textrawl.directory import Directory
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.configuration import APP, OWNER
from textrawl.embeddings.local import LocalEmbedder
from textrawl.memory import Memory
from textrawl.models import Models
from textrawl.runtime import build_renderer
from textrawl.settings import read_foreign_environment
from textrawl.toolsets import App, Identity
from textrawl.upkeep import Upkeep

WAYS = ("SQL", "stdio", "HTTP")
BATCH = 50  # facts that build_knowledge takes at once
TOLD, RELATED = 10, 5  # facts and relations of a measured build_knowledge
WARM = 20  # calls before those that count
LIMIT = 10  # seconds for a statement, as by default

FIRST = ["Ada", "Bela", "Chidi", "Dana", "Emre", "Fatima", "Goran", "Hana", "Ines", "Juan"]
LAST = ["Abe", "Berg", "Cohen", "Diaz", "Egger", "Fischer", "Garcia", "Huang", "Ito", "Jansen"]
PEOPLE = [f"{first} {last}" for first in FIRST for last in LAST]
PLACES = ["Lisbon", "Oslo", "Kyoto", "Quito", "Tallinn", "Lagos", "Hobart", "Graz", "Porto", "Riga"]
THINGS = ["Postgres", "climbing", "jazz", "chess", "orchids", "sailing", "Rust", "opera", "pottery"]
SENTENCES = [
    "prefers {thing} to {other} since meeting {number}",
    "moved to {place} in {year} because of job offer {number}",
    "spent {number} hours of {year} learning {thing} with a friend from {place}",
    "leads project {number}, which replaces {thing} with {other} by {year}",
    "said that {thing} is the best thing that happened to team {number} since {year}",
]


@dataclass(frozen=True)
class Size:
    """Part of memory_statistics."""

    facts: int


Call = tuple[str, dict[str, Any]]
"""A tool and its arguments."""


class Work:
    """Calls of every kind, each different from those before."""

    def __init__(self) -> None:
        self._dice = random.Random(7)  # noqa: S311 - the same facts in every run
        self._numbers = itertools.count(1_000)
        self.kinds: dict[str, Callable[[], Call]] = {
            "query_memory search": self._search,
            "query_memory entity": self._look_up,
            "query_memory list": lambda: ("query_memory", {"mode": "list"}),
            "remember_fact": lambda: ("remember_fact", self.make_fact()),
            f"build_knowledge, {TOLD} facts and {RELATED} relations": self._build,
            "relate_entities": lambda: ("relate_entities", self._make_relation()),
            "forget_entity, one fact": self._forget,
        }
        self.forgettable: list[dict[str, Any]] = []

    def make_fact(self) -> dict[str, Any]:
        """A new fact about one of a hundred people."""
        thing, other = self._dice.sample(THINGS, 2)
        sentence = self._dice.choice(SENTENCES).format(
            thing=thing, other=other, place=self._dice.choice(PLACES),
            year=self._dice.randint(1990, 2026), number=next(self._numbers),
        )  # fmt: skip
        person = self._dice.choice(PEOPLE)
        return {"entityName": person, "entityType": "person", "observation": sentence}

    def make_batch(self, size: int) -> Call:
        """Many facts in one call."""
        return "build_knowledge", {"facts": [self.make_fact() for _ in range(size)]}

    def _search(self) -> Call:
        thing, other = self._dice.sample(THINGS, 2)
        person, place = self._dice.choice(PEOPLE), self._dice.choice(PLACES)
        question = f"What does {person} think of {thing} or {other} in {place}?"
        return "query_memory", {"mode": "search", "query": question}

    def _look_up(self) -> Call:
        return "query_memory", {"mode": "entity", "entityName": self._dice.choice(PEOPLE)}

    def _make_relation(self) -> dict[str, Any]:
        one, other = self._dice.sample(PEOPLE, 2)
        verb = f"met_in_{self._dice.randint(1, 10_000)}"
        return {"fromEntity": one, "relation": verb, "toEntity": other}

    def _build(self) -> Call:
        tool, batch = self.make_batch(TOLD)
        return tool, {**batch, "relations": [self._make_relation() for _ in range(RELATED)]}

    def _forget(self) -> Call:
        fact = self.forgettable.pop()
        known = {"entityName": fact["entityName"], "fact": fact["observation"]}
        return "forget_entity", {**known, "confirm": True}


class Bare(Database):
    """Runs statements on one connection, and counts the seconds that they alone take."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        super().__init__("", timeout=LIMIT)
        self._connection = connection
        self.seconds = 0.0

    async def _execute(self, query: bytes, row: type[Row], given: dict[str, object]) -> list[Row]:
        cursor = self._connection.cursor(row_factory=class_row(row))
        begin = time.perf_counter()
        rows = await (await cursor.execute(query, given)).fetchall()
        self.seconds += time.perf_counter() - begin
        return rows


@dataclass(frozen=True)
class Bench:
    """A client of each way, on one database, and what the first one's statements took."""

    clients: dict[str, Client]
    bare: Bare
    work: Work

    async def fill(self, facts: int) -> None:
        """Adds facts until there are as many."""
        [row] = await self.bare.call("memory_statistics", Size)
        for start in range(row.facts, facts, BATCH):
            await self._call("SQL", self.work.make_batch(min(BATCH, facts - start)))
        await Upkeep(Memory(self.bare, Models(self.bare, None))).do_round()

    async def measure(self, kind: str, calls: int) -> dict[str, list[float]]:
        """Seconds of `calls` calls of a kind, for each way."""
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

    async def _call(self, way: str, call: Call) -> float:
        before = self.bare.seconds
        begin = time.perf_counter()
        result = await self.clients[way].call_tool(*call)
        whole = time.perf_counter() - begin
        if result.is_error:
            raise RuntimeError(f"{call} over {way}: {result.content}")
        return self.bare.seconds - before if way == "SQL" else whole


@asynccontextmanager
async def open_bench(conninfo: str, token: str) -> AsyncGenerator[Bench]:
    """Servers and clients on the database at `conninfo`."""
    settings = Settings(database_url=SecretStr(conninfo), embedding_provider="local")
    environment = read_foreign_environment() | {
        "DATABASE_URL": conninfo, "EMBEDDING_PROVIDER": "local", "ACCESS_TOKEN": token
    }  # fmt: skip
    async with AsyncExitStack() as stack:
        connection = await psycopg.AsyncConnection.connect(
            conninfo, autocommit=True, options=f"-c statement_timeout={LIMIT * 1000}"
        )
        await stack.enter_async_context(connection)
        await register_vector_async(connection)
        bare = Bare(connection)
        identity = Identity(Directory(bare), hash_token(token))
        app = App(Memory(bare, Models(bare, LocalEmbedder())), build_renderer(settings), identity)
        targets: dict[str, Any] = {
            "SQL": create_server(settings, app=app),
            "stdio": StdioServerParameters(command=sys.executable, args=SERVE, env=environment),
            "HTTP": await stack.enter_async_context(listen(environment, "--insecure")),
        }
        clients = {
            way: await stack.enter_async_context(Client(target)) for way, target in targets.items()
        }
        yield Bench(clients, bare, Work())


async def time_embedding(calls: int) -> list[float]:
    """Seconds that the vector of a question takes."""
    work, embedder, taken = Work(), LocalEmbedder(), list[float]()
    for _ in range(calls + WARM):
        _, arguments = work.kinds["query_memory search"]()
        begin = time.perf_counter()
        await embedder.embed_query(arguments["query"])
        taken.append(time.perf_counter() - begin)
    return taken[WARM:]


def write_row(name: str, columns: Iterable[list[float]]) -> str:
    """A line of the table: median and 95th percentile of each column, in milliseconds."""
    cells: list[str] = []
    for seconds in columns:
        ranks = statistics.quantiles(seconds, n=100)
        cells += [f"{1000 * ranks[49]:.1f}", f"{1000 * ranks[94]:.1f}"]
    return f"| {' | '.join([name, *cells])} |"


async def run(sizes: list[int], calls: int, folder: Path) -> None:
    """Prints a table for each size of the memory."""
    async with run_embedded(folder) as cluster:
        await migrate(cluster.dsn(OWNER))
        async with open_bench(cluster.dsn(APP), enrol(cluster.dsn(OWNER))) as bench:
            print(f"{tell_machine()}; {calls} calls each.\n")
            for size in sizes:
                await bench.fill(size)
                titles = [f"{way} {rank}" for way in WAYS for rank in ("p50", "p95")]
                print(f"| {size:,} facts, ms | {' | '.join(titles)} |")
                print("|---|" + "---:|" * len(titles), flush=True)
                for kind in bench.work.kinds:
                    taken = await bench.measure(kind, calls)
                    print(write_row(kind, [taken[way] for way in WAYS]), flush=True)
                print()
    ranks = statistics.quantiles(await time_embedding(calls), n=100)
    print(f"The vector of a question: p50 {1000 * ranks[49]:.2f}, p95 {1000 * ranks[94]:.2f}.")
    print(f"Load at the end: {', '.join(f'{load:.1f}' for load in os.getloadavg())}.")


def main() -> None:
    """Measures in a temporary folder."""
    parser = argparse.ArgumentParser(description="Latency of each tool beside its SQL.")
    parser.add_argument("--facts", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--calls", type=int, default=200)
    given = parser.parse_args()
    with open_folder("latency") as folder:
        anyio.run(run, sorted(given.facts), given.calls, folder)


if __name__ == "__main__":
    main()
