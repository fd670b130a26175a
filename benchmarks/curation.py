"""The time of curation in a large memory: merge and split, share and move, accept, and their undo.

    python -m benchmarks.curation [--facts 10000] [--proposals 1000]

It uses an embedded Postgres, and calls the SQL functions as the owner. Two entities have the given
number of facts each, and each fact has a vector of 256 dimensions. The vectors are random. While a
step runs, another session reads one of the entities again and again. The table shows how long a
step took, and the longest time that a read took meanwhile. It prints Markdown.
"""

import argparse
import json
import threading
import time
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path

import anyio
import anyio.to_thread
import numpy as np
import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from benchmarks.support.place import open_folder, tell_machine
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import OWNER

DIMENSIONS = 256
BATCH = 500
NAMES = ("Jeff Miller", "jmiller")
_AGENT = sha256(b"agent").digest()

_STORE = """
    select textrawl.build_knowledge(%s, model => 1, embeddings => %s::halfvec[], credential => %s)
"""
_READ = "select total_observations from textrawl.describe_entity(%s, spaces => array[1])"
_ACCEPT = """
    select count(*) from textrawl.decide_proposals(
        array(select id::text from textrawl.list_proposals(max_rows => %s, space => 1)), 'accept',
        space => 1)
"""


class Curation:
    """A memory with two large entities, and the steps that are measured."""

    def __init__(self, conninfo: str, facts: int, proposals: int) -> None:
        self._connection = psycopg.connect(conninfo, autocommit=True)
        register_vector(self._connection)
        self._conninfo = conninfo
        self._facts, self._proposals = facts, proposals
        self._dice = np.random.default_rng(1)

    def fill(self) -> None:
        """Store the facts of both entities, and a second space."""
        self._connection.execute("select textrawl.register_embedding_model('bench', 256)")
        self._connection.execute("select textrawl.create_space('team')")
        self._connection.execute(
            "select textrawl.create_token(hash => %s, prefix => 'agent', actor => 'agent',"
            " space => 'default', scopes => array['read', 'propose'])",
            (_AGENT,),
        )
        for name in NAMES:
            self._store(f"{name} wrote note {number}" for number in range(self._facts))
        self._connection.execute("analyze")

    def measure(self) -> Iterable[tuple[str, float, float]]:
        """Yield each step with its seconds, and the seconds of the slowest read meanwhile."""
        facts, proposals = f"{self._facts:,}", f"{self._proposals:,}"
        yield (
            f"merge 2 x {facts} facts",
            *self._time(self._run("select textrawl.merge_entities(%s, %s)", *NAMES)),
        )
        yield "split them", *self._time(self._run("select textrawl.split_entity(%s)", NAMES[1]))
        share = "select textrawl.share_memories(%s, 2, move => %s, space => 1)"
        begin = self._read_clock()
        yield f"copy {facts} facts", *self._time(self._run(share, NAMES[1], False))
        undo = "select textrawl.undo_author(current_user, %s)"
        yield "undo the copy", *self._time(self._run(undo, begin))
        yield f"move {facts} facts", *self._time(self._run(share, NAMES[0], True))
        self._store((f"agent saw {number}" for number in range(self._proposals)), _AGENT)
        yield f"accept {proposals} proposals", *self._time(self._run(_ACCEPT, self._proposals))

    def _store(self, texts: Iterable[str], credential: bytes | None = None) -> None:
        pending = list(texts)
        for start in range(0, len(pending), BATCH):
            batch = pending[start : start + BATCH]
            items = [
                {"entity": text.split(" wrote ")[0], "type": "person", "observation": text}
                for text in batch
            ]
            vectors = [HalfVector(row) for row in self._dice.normal(size=(len(batch), DIMENSIONS))]
            self._connection.execute(_STORE, (json.dumps(items), vectors, credential))

    def _run(self, statement: str, *values: object) -> Callable[[], None]:
        return lambda: self._connection.execute(statement.encode(), values) and None

    def _read_clock(self) -> object:
        row = self._connection.execute("select clock_timestamp()").fetchone()
        return row and row[0]

    def _time(self, work: Callable[[], None]) -> tuple[float, float]:
        reads, done = [0.0], threading.Event()

        def read() -> None:
            with psycopg.connect(self._conninfo, autocommit=True) as other:
                while not done.is_set():
                    begin = time.perf_counter()
                    other.execute(_READ, (NAMES[0],)).fetchall()
                    reads.append(time.perf_counter() - begin)

        reader = threading.Thread(target=read)
        reader.start()
        begin = time.perf_counter()
        try:
            work()
            seconds = time.perf_counter() - begin
        finally:
            done.set()
            reader.join()
        return seconds, max(reads)


async def measure(folder: Path, facts: int, proposals: int) -> None:
    """Fill a memory, and print the table."""
    async with run_embedded(folder) as cluster:
        owner = cluster.dsn(OWNER)
        await migrate(owner)
        await anyio.to_thread.run_sync(print_table, Curation(owner, facts, proposals))


def print_table(curation: Curation) -> None:
    """Print a row for each step."""
    curation.fill()
    print("| step | seconds | slowest read, ms |\n|---|---|---|")
    for step, seconds, read in curation.measure():
        print(f"| {step} | {seconds:.1f} | {1000 * read:.0f} |", flush=True)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="Merge, share, move and accept.")
    parser.add_argument("--facts", type=int, default=10_000, help="facts of each entity")
    parser.add_argument("--proposals", type=int, default=1000)
    given = parser.parse_args()
    print(f"{tell_machine()}.\n")
    with open_folder("curation") as folder:
        anyio.run(measure, folder, given.facts, given.proposals)


if __name__ == "__main__":
    main()
