"""A distributed memory beside an ordinary one: the same rows, calls, programs and machine.

    python -m benchmarks.cluster [--citus PG_CONFIG] [--facts 48000] [--spaces 50]
        [--workers 1 2 4] [--cells 32] [--calls 200]

PG_CONFIG is the pg_config of a PostgreSQL with Citus, by default the one on the PATH. Each number
of workers has a memory of its own, on the first workers. The ordinary memory is on the
coordinator's server. All servers share this machine, so four workers are not faster than one: what
counts is the ratio to the ordinary memory, the processor time of a call, and the size of the
indexes of one server. The calls go through the connections of a textrawl server, and the calls of
all memories alternate. It prints Markdown.
"""

import argparse
import os
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import LiteralString
from uuid import UUID

import anyio
import numpy as np
import psutil
import psycopg
from numpy.typing import NDArray

from benchmarks.support.citus import Server, run_servers
from benchmarks.support.copies import LARGE, make_distributed, make_plain
from benchmarks.support.place import open_folder, tell_machine
from benchmarks.support.ways import LIMIT, WARM, rank
from benchmarks.support.work import Work
from tests.support.citus_servers import MISSING, find_pg_config
from textrawl.access.access_token import hash_token
from textrawl.cluster.cluster import ClusterDatabase
from textrawl.cluster.layout import MEMORY
from textrawl.embedded.postmaster import APP, SUPERUSER
from textrawl.memory.fact_rows import HitRow
from textrawl.models.embeddings import compose_document
from textrawl.models.local import LocalEmbedder
from textrawl.postgres.database import Database

PLAIN = "plain"
MODEL = 1  # the only one
# The shards of a table have its name and a number.
_SIZES = """
    select coalesce(sum(pg_relation_size(i.indexrelid)) filter (where a.amname = 'hnsw'), 0),
           coalesce(sum(pg_relation_size(i.indexrelid)) filter (
               where a.amname = 'gin' and t.relname ~ '^observation'), 0)
    from pg_index i
    join pg_class t on t.oid = i.indrelid
    join pg_class x on x.oid = i.indexrelid
    join pg_am a on a.oid = x.relam
    where t.relnamespace = to_regnamespace(%s)"""
# The sessions of the server that is measured have this name.
_SESSIONS = "select pid from pg_stat_activity where datname = %s and application_name = 'textrawl'"


@dataclass(frozen=True)
class Call:
    """A search, or a write if `entity` is not empty, in `spaces`."""

    spaces: list[int]
    text: str
    vector: NDArray[np.float32]
    entity: str = ""


@dataclass(frozen=True)
class Stored:
    """The fact that a write stored."""

    observation_id: UUID


class Memory:
    """A memory with the connections of a server, and the Postgres servers that have it."""

    def __init__(
        self, database: Database, servers: Sequence[Server], name: str, token: str
    ) -> None:
        self._database, self._servers, self._name = database, servers, name
        self._credential = hash_token(token)

    async def search(self, call: Call) -> list[HitRow]:
        """Return the best facts of all spaces of the call."""
        return await self._database.call(
            "search_memory",
            HitRow,
            query=call.text,
            spaces=call.spaces,
            model=MODEL,
            vector=call.vector,
            credential=self._credential,
        )

    async def write(self, call: Call) -> list[Stored]:
        """Store the fact of the call."""
        return await self._database.call(
            "remember_fact",
            Stored,
            entity=call.entity,
            type="person",
            observation=call.text,
            model=MODEL,
            embedding=call.vector,
            space=call.spaces[0],
            credential=self._credential,
            tool="remember_fact",
        )

    def read_cpu(self) -> list[float]:
        """Return the seconds of processor time of the sessions, for each server."""
        return [sum(map(_read_time, sessions)) for sessions in self._find_sessions()]

    def read_memory(self) -> float:
        """Return the megabytes that the largest session has for itself."""
        sizes = [one.memory_full_info().uss for some in self._find_sessions() for one in some]
        return max(sizes) / 1e6

    def _find_sessions(self) -> list[list[psutil.Process]]:
        found = list[list[psutil.Process]]()
        for server in self._servers:
            with psycopg.connect(server.dsn(SUPERUSER, "postgres")) as connection:
                rows = connection.execute(_SESSIONS, (self._name,)).fetchall()
            found.append([psutil.Process(pid) for (pid,) in rows])
        return found


def _read_time(session: psutil.Process) -> float:
    times = session.cpu_times()
    return times.user + times.system


@asynccontextmanager
async def open_memories(
    servers: Sequence[Server], workers: dict[str, int], token: str
) -> AsyncGenerator[tuple[dict[str, Memory], dict[str, int]]]:
    """Yield the memories by their names, and the spaces with their ids."""
    async with AsyncExitStack() as stack:
        memories = dict[str, Memory]()
        for name, count in {PLAIN: 0, **workers}.items():
            kind = ClusterDatabase if count else Database
            database = kind(servers[0].dsn(APP, name), timeout=LIMIT)
            await database.open()
            stack.push_async_callback(database.close)
            memories[name] = Memory(database, servers[: count + 1], name, token)
        query = "select name, id from textrawl.space where name <> 'default'"
        async with await psycopg.AsyncConnection.connect(servers[0].dsn(SUPERUSER, PLAIN)) as one:
            spaces = dict(await (await one.execute(query)).fetchall())
        yield memories, spaces


Make = Callable[[int], Awaitable[Call]]
Do = Callable[[Memory, Call], Awaitable[Sequence[object]]]


@dataclass(frozen=True)
class Kind:
    """A kind of call: how one is made and done."""

    name: str
    make: Make
    do: Do
    bound: float | None = None  # of the ratio of the medians


def list_kinds(spaces: dict[str, int], texts: list[str]) -> list[Kind]:
    """Return the kinds of calls that are measured."""
    work, embedder = Work((), texts), LocalEmbedder()
    writer = Work()
    small = [number for name, number in spaces.items() if name != LARGE]

    async def ask(wanted: list[int]) -> Call:
        _, arguments = work.kinds["query_memory search"]()
        vector = await embedder.embed_query(arguments["query"])
        return Call(wanted, arguments["query"], vector)

    async def tell(number: int) -> Call:
        fact = writer.make_fact()
        entity, text = fact["entityName"], fact["observation"]
        [vector] = await embedder.embed_documents([compose_document(entity, text)])
        return Call([small[number % len(small)]], text, vector, entity)

    return [
        Kind("search of a large space", lambda _: ask([spaces[LARGE]]), Memory.search, 1.3),
        Kind("search of a small space", lambda n: ask([small[n % len(small)]]), Memory.search, 1.3),
        Kind("remember_fact", tell, Memory.write, 1.6),
        Kind(
            f"search of {len(spaces)} spaces", lambda _: ask(list(spaces.values())), Memory.search
        ),
    ]


@dataclass(frozen=True)
class Taken:
    """The seconds of each call, and the processor time of all calls for each server."""

    seconds: list[float]
    cpu: list[float]


async def measure(
    memories: dict[str, Memory], kind: Kind, calls: int, warm: int
) -> dict[str, Taken]:
    """Make `calls` calls of a kind in every memory. The memories take turns in being first."""
    taken = {name: list[float]() for name in memories}
    before = dict[str, list[float]]()
    names = list(memories)
    for number in range(warm + calls):
        if number == warm:
            before = {name: memory.read_cpu() for name, memory in memories.items()}
        call = await kind.make(number)
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            begin = time.perf_counter()
            rows = await kind.do(memories[name], call)
            if number >= warm:
                taken[name].append(time.perf_counter() - begin)
            assert rows, f"{kind.name} in {name} found nothing"
    return {
        name: Taken(
            taken[name],
            [end - start for start, end in zip(before[name], memory.read_cpu(), strict=True)],
        )
        for name, memory in memories.items()
    }


def write_times(kind: Kind, results: dict[str, Taken]) -> str:
    """Return a row of the table of times."""
    ranks = {name: rank(taken.seconds) for name, taken in results.items()}
    cells = [f"{middle:.1f} / {late:.1f}" for middle, late in ranks.values()]
    ratios = [f"{ranks[name][0] / ranks[PLAIN][0]:.2f}" for name in results if name != PLAIN]
    bound = "" if kind.bound is None else f"{kind.bound}"
    return f"| {' | '.join([kind.name, *cells, ' · '.join(ratios), bound])} |"


def write_cpu(kind: Kind, results: dict[str, Taken], calls: int) -> str:
    """Return a row of the table of processor time."""
    cells = [
        f"{1000 * sum(taken.cpu) / calls:.1f} / {1000 * max(taken.cpu) / calls:.1f}"
        for taken in results.values()
    ]
    return f"| {' | '.join([kind.name, *cells])} |"


def measure_sizes(servers: Sequence[Server], name: str, schema: LiteralString) -> list[float]:
    """Return the megabytes of vector and text indexes of the server that has the most."""
    largest = [0.0, 0.0]
    for server in servers:
        with psycopg.connect(server.dsn(SUPERUSER, name)) as connection:
            if schema != MEMORY:
                connection.execute("set citus.override_table_visibility = off")
            row = connection.execute(_SIZES, (schema,)).fetchone()
            assert row is not None
            largest = max(largest, [float(size) / 1e6 for size in row], key=sum)
    return largest


def print_sizes(servers: Sequence[Server], workers: dict[str, int], sessions: list[float]) -> None:
    """Print what the fullest server and the largest session of each memory have."""
    sizes = [measure_sizes(servers[:1], PLAIN, "textrawl")]
    sizes += [
        measure_sizes(servers[1 : count + 1], name, "textrawl_content")
        for name, count in workers.items()
    ]
    for place, title in enumerate(("vector indexes, MB", "text indexes, MB")):
        print(f"| {' | '.join([title, *(f'{size[place]:.1f}' for size in sizes)])} |")
    print(f"| {' | '.join(['a session, MB', *(f'{size:.0f}' for size in sessions)])} |")


def read_texts(dsn: str) -> list[str]:
    """Return texts of stored facts, from which questions are made."""
    with psycopg.connect(dsn) as connection:
        query = "select content from textrawl.observation order by md5(id::text) limit 500"
        return [text for (text,) in connection.execute(query).fetchall()]


async def compare(
    servers: Sequence[Server], workers: dict[str, int], token: str, calls: int
) -> None:
    """Print all tables."""
    texts = await anyio.to_thread.run_sync(read_texts, servers[0].dsn(SUPERUSER, PLAIN))
    names = [PLAIN, *workers]
    head = f"| {' | '.join(names)} |"
    async with open_memories(servers, workers, token) as (memories, spaces):
        print(f"| p50 / p95, ms {head} ÷ plain | bound |\n|---|{'---:|' * (len(names) + 2)}")
        results = dict[str, str]()
        for kind in list_kinds(spaces, texts):
            # Each session prepares the statements of a cell at its first calls there.
            warm = max(WARM, 2 * len(spaces))
            count = calls if kind.bound else max(2, calls // 4)
            taken = await measure(memories, kind, count, warm)
            print(write_times(kind, taken), flush=True)
            results[kind.name] = write_cpu(kind, taken, count)
        sessions = [memory.read_memory() for memory in memories.values()]
    print(f"\n| processor time of a call, ms: all servers / busiest {head}")
    print(f"|---|{'---:|' * len(names)}")
    print("\n".join(results.values()))
    print(f"\n| the fullest server {head}\n|---|{'---:|' * len(names)}")
    print_sizes(servers, workers, sessions)


def run(given: argparse.Namespace, folder: Path) -> None:
    """Make the memories, and measure them."""
    counts = sorted(given.workers)
    pg_config = find_pg_config(given.citus)
    if pg_config is None:
        sys.exit(MISSING)
    with run_servers(pg_config, folder / "servers", counts[-1]) as servers:
        token = make_plain(servers[0], PLAIN, given.facts, given.spaces)
        workers = {f"{count} worker{'s' * (count > 1)}": count for count in counts}
        for name, count in workers.items():
            make_distributed(servers[: count + 1], name, given.cells, token, given.spaces, PLAIN)
        print(f"{tell_machine()}; {given.facts:,} facts, {given.spaces} spaces, ", end="")
        print(f"{given.cells} cells, {given.calls} calls each.\n", flush=True)
        anyio.run(compare, servers, workers, token, given.calls)
    print(f"\nLoad at the end: {', '.join(f'{load:.1f}' for load in os.getloadavg())}.")


def main() -> None:
    """Measure in a temporary folder."""
    parser = argparse.ArgumentParser(description="A distributed memory beside an ordinary one.")
    parser.add_argument("--citus", help="The pg_config of a PostgreSQL with Citus.")
    parser.add_argument("--facts", type=int, default=48_000)
    parser.add_argument("--spaces", type=int, default=50)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--cells", type=int, default=32)
    parser.add_argument("--calls", type=int, default=200)
    given = parser.parse_args()
    with open_folder("cluster") as folder:
        run(given, folder)


if __name__ == "__main__":
    main()
