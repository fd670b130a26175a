"""The processor time of Postgres for one search, by part.

    python -m benchmarks.search_parts [--facts 10000 100000] [--calls 500]

It uses memories of benchmarks.support.synthetic in an embedded Postgres, and a session that reads
all 52 spaces. A query has six words of one fact. Each row of the table is a separate statement with
the same queries. So the difference of two rows is the cost of one part of a search. It prints
Markdown.
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, LiteralString

import anyio
import anyio.to_thread
import psutil
import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from benchmarks.latency import SEARCH, sample_work
from benchmarks.support.place import open_folder, tell_machine
from benchmarks.support.synthetic import fill_once
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import OWNER
from textrawl.models.local import LocalEmbedder

WARM = 30  # calls before the measured calls
_MATCHING = """
    select m.* from search_terms(%(query)s, %(spaces)s) t, matching_facts(
        t.terms, subset_sums(t.weights), t.selecting, null, false, %(spaces)s, null, null, 40) m
"""
_NEAREST = """
    select n.* from assess_spaces(%(spaces)s, null, %(model)s) plan, nearest_facts(
        %(model)s, %(vector)s, %(spaces)s, null, null, 40, plan.large, plan.rare, plan.breadth) n
"""
_SEARCH = "select * from search_memory(%(query)s, %(spaces)s"
_MEANING = ", model => %(model)s, vector => %(vector)s"
PARTS: dict[str, LiteralString] = {
    "choosing how to search": "select * from assess_spaces(%(spaces)s, null, %(model)s)",
    "words of the query and their weights": "select * from search_terms(%(query)s, %(spaces)s)",
    "the same, and the facts with these words": _MATCHING,
    "facts with the nearest vectors": _NEAREST,
    "whole search by words": f"{_SEARCH})",
    "whole search by meaning": f"{_SEARCH}{_MEANING}, semantic => true)",
    "whole search by both, without neighbours": f"{_SEARCH}{_MEANING}, neighbours => false)",
    "**whole search by both**": f"{_SEARCH}{_MEANING})",
}
"""The statement of each part."""


def read_cpu(process: psutil.Process) -> float:
    """Return the processor time of a process in milliseconds."""
    times = process.cpu_times()
    return 1000 * (times.user + times.system)


def make_queries(owner: str, calls: int, model: int, spaces: list[int]) -> list[dict[str, Any]]:
    """Return the arguments of each call."""
    work, embedder = sample_work(owner), LocalEmbedder()

    async def embed(query: str) -> dict[str, Any]:
        vector = HalfVector(await embedder.embed_query(query))
        return {"query": query, "vector": vector, "model": model, "spaces": spaces}

    async def embed_all() -> list[dict[str, Any]]:
        return [await embed(work.kinds[SEARCH]()[1]["query"]) for _ in range(calls + WARM)]

    return anyio.run(embed_all)


def measure(owner: str, calls: int) -> dict[str, float]:
    """Return the milliseconds of processor time for each part."""
    with psycopg.connect(owner, autocommit=True) as session:
        register_vector(session)
        session.execute("set search_path = textrawl, public")
        backend = psutil.Process(session.info.backend_pid)
        # The synthetic facts have a random order, so searches would ignore neighbours.
        session.execute("update space_statistics set coherence = null")
        spaces = [space for (space,) in session.execute("select id from space").fetchall()]
        [(model,)] = session.execute(
            "select id from embedding_model where status = 'active'"
        ).fetchall()
        queries = make_queries(owner, calls, model, spaces)
        return {part: run(session, backend, PARTS[part], queries) for part in PARTS}


def run(
    session: psycopg.Connection[Any],
    backend: psutil.Process,
    statement: LiteralString,
    queries: Sequence[dict[str, Any]],
) -> float:
    """Return the milliseconds of processor time for one call of a statement."""
    before = read_cpu(backend)
    for number, query in enumerate(queries):
        if number == WARM:
            before = read_cpu(backend)
        session.execute(statement, query).fetchall()
    return (read_cpu(backend) - before) / (len(queries) - WARM)


async def print_table(folder: Path, size: int, calls: int) -> None:
    """Fill a memory and print its table."""
    async with run_embedded(folder) as cluster:
        owner = cluster.dsn(OWNER)
        await migrate(owner)
        await anyio.to_thread.run_sync(fill_once, folder, owner, size)
        rows = await anyio.to_thread.run_sync(measure, owner, calls)
    print(f"| {size:,} facts | CPU ms |\n|---|---:|")
    for part, milliseconds in rows.items():
        print(f"| {part} | {milliseconds:.2f} |")
    print(flush=True)


def main() -> None:
    """Measure each size in turn."""
    parser = argparse.ArgumentParser(description="Processor time of a search, by part.")
    parser.add_argument("--facts", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--calls", type=int, default=500)
    given = parser.parse_args()
    print(f"{tell_machine()}; {given.calls} calls each.\n")
    with open_folder("search-parts") as folder:
        for size in given.facts:
            place = folder / str(size)
            place.mkdir()
            place.chmod(0o755)
            anyio.run(print_table, place, size, given.calls)
    print(f"Load at the end: {', '.join(f'{load:.1f}' for load in os.getloadavg())}.")


if __name__ == "__main__":
    main()
