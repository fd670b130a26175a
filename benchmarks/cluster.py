"""A distributed memory beside an ordinary one: the same rows, calls, programs and machine.

    python -m benchmarks.cluster --citus FOLDER [--facts 48000] [--spaces 50] [--workers 1 2 4]
        [--cells 32] [--calls 200]

FOLDER has the program `cluster.py`, which starts a coordinator and workers of Citus. Each number
of workers has a memory of its own, on the first workers. The ordinary memory is on the
coordinator's server. All servers share this machine, so four workers are not faster than one: what
counts is the ratio to the ordinary memory, the processor time of a call, and the size of the
indexes of one server. The calls of all memories alternate. A write enters its cell and stores its
fact in one transaction and one round trip, as a server does. A search over all spaces asks every
cell, over five connections to each worker, and merges the answers by score. It prints Markdown.
"""

import argparse
import os
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString

import anyio
import psutil
import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector_async
from psycopg import sql

from benchmarks.support.citus import Server, run_servers
from benchmarks.support.copies import LARGE, make_distributed, make_plain
from benchmarks.support.place import open_folder, tell_machine
from benchmarks.support.ways import WARM, rank
from benchmarks.support.work import Work
from textrawl.access.access_token import hash_token
from textrawl.distribution.layout import MEMORY, name_cell
from textrawl.distribution.map import find_shards, read_map
from textrawl.embedded.configuration import APP, SUPERUSER
from textrawl.embeddings.local import LocalEmbedder
from textrawl.embeddings.vectors import compose_document

PLAIN = "plain"
MOST_ROWS = 10
CONNECTIONS = 5  # to each server, as a textrawl server keeps
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

Row = tuple[Any, ...]
Connection = psycopg.AsyncConnection[Any]


@dataclass(frozen=True)
class Call:
    """A search, or a write if `entity` is not empty, in `spaces`."""

    spaces: list[int]
    text: str
    vector: HalfVector
    entity: str = ""


@dataclass(frozen=True)
class Place:
    """A schema with the functions, and the connections to its server."""

    schema: str
    shard: int | None
    connections: list[Connection]


class Memory:
    """A memory and its connections. `find` names the place of a space."""

    def __init__(self, credential: bytes, places: dict[int, Place]) -> None:
        self._credential, self._places = credential, places
        self._free = {id(place.connections): _Free(place.connections) for place in places.values()}

    async def search(self, call: Call) -> list[Row]:
        """Return the best rows of all spaces of the call."""
        wanted = defaultdict[str, list[int]](list)
        places = dict[str, Place]()
        for space in call.spaces:
            place = self._places[space]
            places[place.schema] = place
            wanted[place.schema].append(space)
        found = list[Row]()

        async def ask(place: Place, spaces: list[int]) -> None:
            statement = sql.SQL(
                "select score, observation_id, entity_name, content from {}.search_memory(%s, "
                "spaces => %s, model => 1, vector => %s, credential => %s)"
            ).format(sql.Identifier(place.schema))
            values = (call.text, spaces, call.vector, self._credential)
            async with self._free[id(place.connections)].lend() as connection:
                found.extend(await (await connection.execute(statement, values)).fetchall())

        async with anyio.create_task_group() as tasks:
            for schema, spaces in wanted.items():
                tasks.start_soon(ask, places[schema], spaces)
        return sorted(found, key=lambda row: row[0], reverse=True)[:MOST_ROWS]

    async def write(self, call: Call) -> list[Row]:
        """Store the fact of the call."""
        [space] = call.spaces
        place = self._places[space]
        statement = sql.SQL(
            "select observation_id from {}.remember_fact(%s, 'person', %s, model => 1, "
            "embedding => %s, credential => %s, space => %s)"
        ).format(sql.Identifier(place.schema))
        values = (call.entity, call.text, call.vector, self._credential, space)
        async with self._free[id(place.connections)].lend() as connection:
            if place.shard is None:
                return await (await connection.execute(statement, values)).fetchall()
            # A pipeline is one transaction.
            async with connection.pipeline():
                await connection.execute("select textrawl_content.enter_cell(%s)", (place.shard,))
                stored = await connection.execute(statement, values)
            return await stored.fetchall()

    def read_cpu(self) -> list[float]:
        """Return the seconds of processor time of the sessions, for each server."""
        return [free.read_cpu() for free in self._free.values()]

    def read_memory(self) -> float:
        """Return the megabytes that the largest session has for itself."""
        return max(free.read_memory() for free in self._free.values()) / 1e6


class _Free:
    """The connections to one server, lent to one call at a time. The last one back is next."""

    def __init__(self, connections: list[Connection]) -> None:
        self._limit = anyio.Semaphore(len(connections))
        self._idle = list(connections)
        self._sessions = [psutil.Process(one.info.backend_pid) for one in connections]

    @asynccontextmanager
    async def lend(self) -> AsyncGenerator[Connection]:
        async with self._limit:
            connection = self._idle.pop()
            try:
                yield connection
            finally:
                self._idle.append(connection)

    def read_cpu(self) -> float:
        times = [session.cpu_times() for session in self._sessions]
        return sum(one.user + one.system for one in times)

    def read_memory(self) -> int:
        return max(session.memory_full_info().uss for session in self._sessions)


@asynccontextmanager
async def connect(server: Server, name: str) -> AsyncGenerator[list[Connection]]:
    """Yield connections of the login of servers."""
    async with AsyncExitStack() as stack:
        connections = list[Connection]()
        for _ in range(CONNECTIONS):
            connecting = psycopg.AsyncConnection.connect(server.dsn(APP, name), autocommit=True)
            connections.append(await stack.enter_async_context(await connecting))
            await register_vector_async(connections[-1])
        yield connections


@asynccontextmanager
async def open_memories(
    servers: Sequence[Server], names: Sequence[str], token: str
) -> AsyncGenerator[tuple[dict[str, Memory], dict[str, int]]]:
    """Yield the memories by their names, and the spaces with their ids."""
    credential = hash_token(token)
    async with AsyncExitStack() as stack:
        memories = dict[str, Memory]()
        coordinator = await stack.enter_async_context(connect(servers[0], PLAIN))
        query = "select name, id from textrawl.space where name <> 'default'"
        async with await psycopg.AsyncConnection.connect(servers[0].dsn(SUPERUSER, PLAIN)) as one:
            spaces = dict(await (await one.execute(query)).fetchall())
        place = Place(MEMORY, None, coordinator)
        memories[PLAIN] = Memory(credential, dict.fromkeys(spaces.values(), place))
        for name in names[1:]:
            workers = {
                server.port: await stack.enter_async_context(connect(server, name))
                for server in servers[1:]
                if await _has_database(server, name)
            }
            places = await find_places(servers[0].dsn(APP, name), list(spaces.values()), workers)
            memories[name] = Memory(credential, places)
        yield memories, spaces


async def _has_database(server: Server, name: str) -> bool:
    async with await psycopg.AsyncConnection.connect(server.dsn(SUPERUSER, "postgres")) as one:
        query = "select from pg_database where datname = %s"
        return await (await one.execute(query, (name,))).fetchone() is not None


async def find_places(
    coordinator: str, spaces: list[int], workers: dict[int, list[Connection]]
) -> dict[int, Place]:
    """Return the place of each space of a distributed memory."""
    async with await psycopg.AsyncConnection.connect(coordinator) as connection:
        cells = await read_map(connection)
        shards = await find_shards(connection, spaces)
    places = dict[int, Place]()
    for space, shard in shards.items():
        cell = cells.find_cell(shard)
        assert cell is not None
        places[space] = Place(name_cell(shard), shard, workers[cell.node.port])
    return places


Make = Callable[[int], Awaitable[Call]]
Do = Callable[[Memory, Call], Awaitable[list[Row]]]


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
        vector = HalfVector(await embedder.embed_query(arguments["query"]))
        return Call(wanted, arguments["query"], vector)

    async def tell(number: int) -> Call:
        fact = writer.make_fact()
        entity, text = fact["entityName"], fact["observation"]
        [vector] = await embedder.embed_documents([compose_document(entity, text)])
        return Call([small[number % len(small)]], text, HalfVector(vector), entity)

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
    async with open_memories(servers, names, token) as (memories, spaces):
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
    program = given.citus / "cluster.py"
    with run_servers(program, folder / "servers", counts[-1]) as servers:
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
    parser.add_argument("--citus", type=Path, required=True, help="The folder of cluster.py.")
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
