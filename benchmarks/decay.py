"""The time of search_memory and gc of the decay toolset in a large space.

    python -m benchmarks.decay [--memories 100000] [--calls 200] [--keep FOLDER]

It uses a memory of benchmarks.support.synthetic in an embedded Postgres, local embeddings, and the
client of the MCP SDK over stdio. Half of the facts are in the default space. Each of them is a
saved memory, used up to ten times in the last 20 days. 10,000 of them were last used years ago.

The SQL call is the statement of the same search alone. Both ways alternate. During gc, another
session uses one memory again and again. It prints Markdown.
"""

import argparse
import random
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import psycopg
from mcp import Client

from benchmarks.support.place import enrol, open_folder, tell_machine
from benchmarks.support.synthetic import fill_once
from benchmarks.support.ways import open_both_ways, print_times
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import APP, OWNER

SEARCHES = ("words", "words and a tag", "no query")
FADED = 10_000
QUERIES = 500

_TRACK = """
    insert into textrawl.retention (space_id, observation_id, saved, tags, use_count, last_used)
    select o.space_id, o.id, true, array['topic-' || o.ordinal %% 50], o.ordinal %% 11,
        now() - case when o.ordinal %% greatest(1, total / %(faded)s) = 0 then interval '10 years'
                     else interval '20 days' * random() end
    from (select *, count(*) over () as total from textrawl.observation
          where space_id = textrawl.default_space()) o
    on conflict do nothing
"""
_SAMPLE = """
    select content from textrawl.observation
    where space_id = textrawl.default_space() order by md5(id::text) limit %s
"""
_USED = """
    select array(select observation_id from textrawl.retention
                 where last_used > now() - interval '1 day' limit 1)
"""


def prepare(owner: str) -> list[str]:
    """Make every fact of the default space a memory, and return texts for queries."""
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(_TRACK, {"faded": FADED})
        connection.execute("analyze textrawl.retention")
        rows = connection.execute(_SAMPLE, (QUERIES,)).fetchall()
        kept = connection.execute("select count(*) from textrawl.retention").fetchall()
    print(f"{kept[0][0]:,} memories.\n", flush=True)
    return [text for (text,) in rows]


class Searches:
    """Searches with a few words of a memory, and with a tag."""

    def __init__(self, texts: list[str]) -> None:
        self._dice = random.Random(1)  # noqa: S311 - the same in every run
        self._texts = texts

    def make(self, kind: str) -> tuple[str, dict[str, Any]]:
        """Return a tool and its arguments."""
        words = self._dice.choice(self._texts).split()
        query = {"query": " ".join(self._dice.sample(words, min(4, len(words))))}
        tag = {"tags": [f"topic-{self._dice.randrange(50)}"]} if "tag" in kind else {}
        return "search_memory", {**({} if kind == "no query" else query), **tag}


async def measure_gc(client: Client, conninfo: str) -> None:
    """Print the time of one gc, and the longest time that a session waited meanwhile."""
    waits, seconds = list[float](), 0.0
    content: dict[str, Any] = {}
    async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as other:
        cursor = await other.execute(_USED)
        [(memories,)] = await cursor.fetchall()
        async with anyio.create_task_group() as group:

            async def use() -> None:
                while True:
                    begin = time.perf_counter()
                    await other.execute(
                        "select from textrawl.reinforce_memories(%s::uuid[])", (memories,)
                    )
                    waits.append(time.perf_counter() - begin)
                    await anyio.sleep(0.01)

            group.start_soon(use)
            begin = time.perf_counter()
            result = await client.call_tool("gc", {"dry_run": False, "limit": FADED})
            content = result.structured_content or {}
            seconds = time.perf_counter() - begin
            group.cancel_scope.cancel()
    print(
        f"\ngc of {content.get('total_affected', 0):,} memories took {seconds:.1f} s. Meanwhile "
        f"another session used a memory {len(waits)} times, in at most {1000 * max(waits):.0f} ms."
    )


async def measure(folder: Path, memories: int, calls: int) -> None:
    """Fill the memory if it is new, and print all tables."""
    async with run_embedded(folder) as cluster:
        owner, server = cluster.dsn(OWNER), cluster.dsn(APP)
        await migrate(owner)
        await anyio.to_thread.run_sync(fill_once, folder, owner, 2 * memories)
        texts = await anyio.to_thread.run_sync(prepare, owner)
        token = enrol(owner)
        async with open_both_ways(server, token, "decay") as (bare, clients):
            await print_times(clients, bare, SEARCHES, Searches(texts).make, calls)
            await measure_gc(clients["stdio"], owner)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="search_memory and gc in a large space.")
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="Keep the memory there.")
    given = parser.parse_args()
    print(f"{tell_machine()}; {given.calls} calls each.\n")
    with nullcontext(given.keep) if given.keep else open_folder("decay") as folder:
        folder.mkdir(parents=True, exist_ok=True)
        anyio.run(measure, folder, given.memories, given.calls)


if __name__ == "__main__":
    main()
