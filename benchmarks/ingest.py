"""The speed of writes: one by one, in batches, from a file, with and without a vector index.

    python -m benchmarks.ingest [--rows 10000 100000] [--calls 100] [--json FILE]

A call is the statement that a server sends, on one connection of an embedded Postgres in a
temporary folder. Its time includes the time to make the vectors. The memory already has facts of
benchmarks.support.synthetic. `--keep FOLDER` keeps the memories, as in benchmarks.scale, and each
run adds facts to them. In the tables, `no index` means: without the index of vectors.

The import is `textrawl import` of the largest number of facts, with vectors, into an empty memory.
It is measured in two ways: with the index built at the end, which is the default, and with an index
that is kept during the import.
"""

import argparse
import base64
import json
import statistics
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg.types.json import Jsonb

from benchmarks.support.place import open_folder, tell_machine
from benchmarks.support.synthetic import Fact, World, fill_once
from textrawl import migrate
from textrawl.archive.imports import Import
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import OWNER
from textrawl.models.active_model import describe_model
from textrawl.models.embeddings import compose_document
from textrawl.models.local import LocalEmbedder
from textrawl.postgres.connection import OwnerLogin
from textrawl.postgres.owner_session import open_writing
from textrawl.postgres.vector_indexes import build_indexes, build_missing_indexes

BATCH = 50  # facts that build_knowledge takes at once
WARM = 5  # calls before the measured calls
INTO = "into the index"
SEED = 11  # makes other facts than the stored facts

Figures = dict[str, float]


class Writer:
    """Writes new facts on one connection."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        register_vector(connection)
        self._embedder = LocalEmbedder()
        self._facts = World(SEED).make_facts()
        self.kinds: dict[str, Callable[[], None]] = {
            "remember_fact": self._remember, f"build_knowledge of {BATCH}": self._build,
        }  # fmt: skip

    def measure(self, kind: str, calls: int) -> Figures:
        """Return the milliseconds of each call."""
        taken = list[float]()
        for _ in range(calls + WARM):
            begin = time.perf_counter()
            self.kinds[kind]()
            taken.append(1000 * (time.perf_counter() - begin))
        ranks = statistics.quantiles(taken[WARM:], n=100)
        return {"p50": ranks[49], "p95": ranks[94]}

    def _embed(self, facts: list[Fact]) -> list[HalfVector]:
        texts = [compose_document(fact.entity, fact.content) for fact in facts]
        return [HalfVector(vector) for vector in anyio.run(self._embedder.embed_documents, texts)]

    def _remember(self) -> None:
        fact = next(self._facts)
        [vector] = self._embed([fact])
        self._connection.execute(
            "select textrawl.remember_fact(%s, %s, %s, model => 1, embedding => %s)",
            (fact.entity, fact.type, fact.content, vector),
        )

    def _build(self) -> None:
        facts = list(islice(self._facts, BATCH))
        entries = [
            {"entity": fact.entity, "type": fact.type, "observation": fact.content}
            for fact in facts
        ]
        self._connection.execute(
            "select * from textrawl.build_knowledge(facts => %s, model => 1, embeddings => %s)",
            (Jsonb(entries), self._embed(facts)),
        )


def measure_writes(conninfo: str, calls: int) -> dict[str, Figures]:
    """Return the figures of single calls, with and without the index of vectors."""
    found = dict[str, Figures]()
    with psycopg.connect(conninfo, autocommit=True) as connection:
        writer = Writer(connection)
        for kind in writer.kinds:
            found[kind] = writer.measure(kind, calls)
        connection.execute("drop index textrawl.embedding_1_vector_idx")
        for kind in writer.kinds:
            found[f"{kind}, no index"] = writer.measure(kind, calls)
    anyio.run(build_missing_indexes, conninfo)
    return found


async def make_lines(facts: int) -> list[dict[str, Any]]:
    """Return the lines of an export with vectors."""
    embedder, drawn = LocalEmbedder(), list(islice(World(SEED).make_facts(), facts))
    vectors = await embedder.embed_documents([compose_document(f.entity, f.content) for f in drawn])
    known = dict(describe_model(embedder))
    now = "2026-01-01T00:00:00+00:00"
    shared = {"space": "default", "created_at": now}
    entities = {fact.entity_id: fact for fact in drawn}.values()
    entity_lines = [
        shared | {"kind": "entity", "id": str(fact.entity_id), "updated_at": now,
                  "name": f"{fact.entity} {place}", "entity_type": fact.type}
        for place, fact in enumerate(entities)
    ]  # fmt: skip
    fact_lines = [
        shared | {"kind": "fact", "id": str(fact.id), "entity": str(fact.entity_id),
                  "text": fact.content, "source": "note", "confidence": 1, "valid_from": now,
                  "author": "bench", "tool": "bench",
                  "vector": base64.b64encode(vector.astype(np.float16).tobytes()).decode()}
        for fact, vector in zip(drawn, vectors, strict=True)
    ]  # fmt: skip
    counts = {"space": 1, "entity": len(entity_lines), "fact": facts, "relation": 0}
    first: dict[str, Any] = {"textrawl": "export", "version": 1, "model": known}
    space = {"kind": "space", "name": "default", "created_at": now}
    return [first, space, *entity_lines, *fact_lines, {"textrawl": "end", **counts}]


async def measure_import(folder: Path, facts: int, kept: str) -> Figures:
    """Return the seconds of an import into a new memory. If `kept` is INTO, keep the index."""
    raw = [json.dumps(line).encode() for line in await make_lines(facts)]
    size = sum(map(len, raw))

    async def read() -> AsyncGenerator[tuple[int, bytes | None]]:
        for number, line in enumerate(raw, 1):
            yield number, line

    async with run_embedded(folder) as cluster:
        place = OwnerLogin(cluster.dsn(OWNER), None, 10)
        await migrate(place.conninfo)
        async with open_writing(place) as session:
            session.lasting = kept != INTO
            begin = time.perf_counter()
            tally = await Import(session, print, size).run(read())
            stored = time.perf_counter() - begin
            await build_indexes(place, session, lambda _done, _total: None)
            seconds = time.perf_counter() - begin
    assert tally.added["fact"] == facts
    return {"seconds": seconds, "index": seconds - stored, "a second": facts / seconds}


async def measure(folder: Path, rows: int, calls: int) -> dict[str, Figures]:
    """Return the figures of calls on a memory of this size. Fill the memory first if it is new."""
    async with run_embedded(folder) as cluster:
        owner = cluster.dsn(OWNER)
        await migrate(owner)
        await anyio.to_thread.run_sync(fill_once, folder, owner, rows)
        return await anyio.to_thread.run_sync(measure_writes, owner, calls)


def write_writes(rows: int, found: dict[str, Figures]) -> Iterator[str]:
    """Yield the lines of a table of calls."""
    yield f"\n| beside {rows:,} facts, ms | p50 | p95 |\n|---|---:|---:|"
    yield from (f"| {kind} | {row['p50']:.1f} | {row['p95']:.1f} |" for kind, row in found.items())


def open_place(stack: ExitStack, kept: Path | None, name: str) -> Path:
    """Return a folder for a memory."""
    if kept is None:
        return stack.enter_context(open_folder(f"ingest-{name}"))
    (kept / name).mkdir(parents=True, exist_ok=True)
    (kept / name).chmod(0o755)
    return kept / name


def run(sizes: list[int], calls: int, kept: Path | None) -> dict[str, Any]:
    """Print the tables, and return all figures."""
    figures = dict[str, Any]()
    with ExitStack() as stack:
        for rows in sizes:
            place = open_place(stack, kept, str(rows))
            figures[str(rows)] = anyio.run(measure, place, rows, calls)
            print("\n".join(write_writes(rows, figures[str(rows)])), flush=True)
        facts = max(sizes)
        print(f"\n| import of {facts:,} facts with vectors | seconds | of these, index | facts/s |")
        print("|---|---:|---:|---:|")
        for name in ("index built at the end", INTO):
            place = open_place(stack, None, "import")
            row = figures[name] = anyio.run(measure_import, place, facts, name)
            text = f"{row['seconds']:.1f} | {row['index']:.1f} | {row['a second']:,.0f}"
            print(f"| {name} | {text} |", flush=True)
    return figures


def main() -> None:
    """Measure calls on a memory of each size, and an import of the largest size."""
    parser = argparse.ArgumentParser(description="The speed of writes.")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--json", type=Path, metavar="FILE", help="Write the figures there too.")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="Keep the memories there.")
    given = parser.parse_args()
    print(tell_machine())
    figures = run(given.rows, given.calls, given.keep)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
