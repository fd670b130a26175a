"""The time of a search in an encrypted graph: fetch, decrypt, index and rank all chunks.

    python -m benchmarks.encryption [--chunks 10000] [--searches 9]

The benchmark uses an embedded Postgres and one sensitive graph. The chunks have 280 words of a
vocabulary of 30,000, whose frequencies follow Zipf's law, which is about the longest chunk that
`ingest` makes. A document has 20 of them. It prints the medians of the wall clock and of the
processor time of this process as Markdown.
"""

import argparse
import random
import statistics
import time
from functools import partial
from pathlib import Path

import anyio

from benchmarks.support.place import open_folder, tell_machine
from textrawl import migrate
from textrawl.cluster.opening import open_connection
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import OWNER
from textrawl.memory.chunking import Chunk
from textrawl.memory.documents import FileText, FoundFile
from textrawl.memory.encrypted_documents import EncryptedGraph
from textrawl.memory.key_files import KeyFiles

VOCABULARY, WORDS, CHUNKS = 30_000, 280, 20
SIGNING = {"credential": None, "client": None, "tool": "bench", "request": None}


def make_document(dice: random.Random, words: list[str], weights: list[float]) -> FileText:
    """Return a text of 20 chunks."""
    chunks = [" ".join(dice.choices(words, weights, k=WORDS)) for _ in range(CHUNKS)]
    starts = [sum(map(len, chunks[:part])) + 2 * part for part in range(CHUNKS)]
    places = [
        Chunk(part, start, len(chunk), 512)
        for part, (start, chunk) in enumerate(zip(starts, chunks, strict=True), 1)
    ]
    digest = f"{dice.getrandbits(256):064x}"
    return FileText("\n\n".join(chunks), places, digest, 0.0)


async def measure(folder: Path, chunks: int, searches: int) -> None:
    """Fill a graph, search it, and print the table."""
    dice = random.Random(1)  # noqa: S311 - the same in every run
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(dice.choices(letters, k=dice.randint(2, 10))) for _ in range(VOCABULARY)]
    weights = [1 / rank for rank in range(1, VOCABULARY + 1)]
    async with run_embedded(folder / "data") as cluster:
        await migrate(cluster.dsn(OWNER))
        async with open_connection(cluster.dsn(OWNER), timeout=60) as database:
            await database.call("create_space", object, name="diary", tier="sensitive")
            keys = KeyFiles(f"file:{folder}/encryption.key")
            graph = EncryptedGraph(database, SIGNING, "diary", keys)
            for number in range(chunks // CHUNKS):
                text = make_document(dice, words, weights)
                await graph.add(FoundFile(folder, f"{number}.md"), text)
            times = list[tuple[float, float]]()
            for _ in range(searches):
                query = " ".join(dice.choices(words, weights, k=4))
                began, used = time.perf_counter(), time.process_time()
                await graph.search(query, 10)
                times.append((time.perf_counter() - began, time.process_time() - used))
    wall, processor = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"| {chunks:,} chunks | seconds | of the processor |\n| --- | ---: | ---: |")
    print(f"| search | {wall:.2f} | {processor:.2f} |")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="A search in an encrypted graph.")
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--searches", type=int, default=9)
    given = parser.parse_args()
    print(f"{tell_machine()}\n")
    with open_folder("encryption") as folder:
        anyio.run(partial(measure, folder, given.chunks, given.searches))


if __name__ == "__main__":
    main()
