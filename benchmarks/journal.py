"""The time of memory_search, memory_list and memory_create of the journal toolset.

    python -m benchmarks.journal [--entries 10000] [--calls 200] [--keep FOLDER]

The benchmark uses an embedded Postgres, local embeddings, and the client of the MCP SDK over stdio.
Each entry is a day of one of several instances. Its ten parts have bullets about the topics of
benchmarks.support.synthetic.

Each call of a tool alternates with a call of only its SQL function. The benchmark prints Markdown.
"""

import argparse
import random
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import date, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from benchmarks.support.place import enrol, open_folder, tell_machine
from benchmarks.support.synthetic import World
from benchmarks.support.ways import open_both_ways, print_times
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import APP, OWNER
from textrawl.models.embeddings import compose_document
from textrawl.models.local import LocalEmbedder

LENGTH = 18_500  # characters of an entry: ten parts
DAYS = 2_000  # days with entries; the entries of a day belong to different instances
CALLS = ("a search with four words", "a page of the list", "a bullet for a new day")
_EMBED = 2_000  # number of parts to embed in one step
_PENDING = """
    select o.space_id, o.id, e.name, o.content
    from textrawl.observation o
    join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
    join textrawl.embedding_pending p on p.space_id = o.space_id and p.observation_id = o.id
    limit %s
"""


def write_entries(entries: int) -> Iterator[tuple[str, str, str]]:
    """Yield the date, the instance and the text of each entry."""
    facts = World().make_facts()
    for number in range(entries):
        day = (date(2026, 11, 1) - timedelta(number % DAYS)).isoformat()
        text = f"# {day}\n"
        while len(text) < LENGTH:
            text += f"\n- {next(facts).content} [chat:{number}]"
        yield day, f"instance-{number // DAYS}", text


def fill(owner: str, entries: int) -> None:
    """Store the entries that are missing, embed their parts in this process, and count words."""
    with psycopg.connect(owner, autocommit=True) as connection:
        kept = connection.execute("select count(*) from textrawl.journal_entry").fetchall()[0][0]
        connection.execute(
            "select textrawl.register_embedding_model(%s, 256, 0, 0.9, 0.5)",
            (LocalEmbedder().name,),
        )
        for day, instance, text in islice(write_entries(entries), kept, None):
            connection.execute(
                "select textrawl.write_entry('daily', %s, content => %s, instance => %s)",
                (day, text, instance),
            )
        register_vector(connection)
        anyio.run(_embed, connection)
        if kept < entries:
            connection.execute("select textrawl.refresh_search_statistics()")
            connection.execute("vacuum analyze")


async def _embed(connection: psycopg.Connection[Any]) -> None:
    """Make the vectors of all parts."""
    embedder = LocalEmbedder()
    while rows := connection.execute(_PENDING, (_EMBED,)).fetchall():
        texts = [compose_document(name, content) for _, _, name, content in rows]
        vectors = [HalfVector(vector) for vector in await embedder.embed_documents(texts)]
        connection.execute(
            "select textrawl.fill_pending_embeddings(1, %s, %s, %s)",
            ([row[0] for row in rows], [row[1] for row in rows], vectors),
        )


def choose_texts(owner: str) -> list[str]:
    """Print the size of the journal, and return bullets of it."""
    with psycopg.connect(owner, autocommit=True) as connection:
        [(entries, parts)] = connection.execute(
            "select (select count(*) from textrawl.journal_entry),"
            " (select count(*) from textrawl.observation where part is not null)"
        ).fetchall()
        rows = connection.execute(
            "select content from textrawl.observation order by md5(id::text) limit 500"
        ).fetchall()
    print(f"{entries:,} entries with {parts:,} parts.\n", flush=True)
    return [line for (text,) in rows for line in text.splitlines()[2:-1] if len(line) > 40]


class Calls:
    """The calls that are measured, by their names."""

    def __init__(self, texts: list[str]) -> None:
        self._dice = random.Random(1)  # noqa: S311 - the same in every run
        self._texts = texts
        self._bullets = (fact.content for fact in islice(World(8).make_facts(), 10_000))

    def make(self, kind: str) -> tuple[str, dict[str, Any]]:
        """Return a tool and its arguments."""
        if kind == "a page of the list":
            return "memory_list", {"offset": self._dice.randrange(1_000)}
        if kind == "a bullet for a new day":
            day = date(1990, 1, 1) + timedelta(self._dice.randrange(9_000))
            content = f"- {next(self._bullets)}"
            return "memory_create", {
                "granularity": "daily", "date": day.isoformat(), "content": content,
                "instanceId": "bench",
            }  # fmt: skip
        words = self._dice.choice(self._texts).removeprefix("- ").split("[")[0].split()
        query = " ".join(self._dice.sample(words, min(4, len(words))))
        return "memory_search", {"query": query, "instanceId": "instance-1"}


async def measure(folder: Path, entries: int, calls: int) -> None:
    """Fill the memory if it is new, and print the table."""
    async with run_embedded(folder) as cluster:
        owner, server = cluster.dsn(OWNER), cluster.dsn(APP)
        await migrate(owner)
        await anyio.to_thread.run_sync(fill, owner, entries)
        texts = await anyio.to_thread.run_sync(choose_texts, owner)
        token = enrol(owner)
        async with open_both_ways(server, token, "journal") as (bare, clients):
            await print_times(clients, bare, CALLS, Calls(texts).make, calls)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="The journal tools among many entries.")
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="Keep the memory there.")
    given = parser.parse_args()
    print(f"{tell_machine()}; {given.calls} calls each.\n")
    with nullcontext(given.keep) if given.keep else open_folder("journal") as folder:
        folder.mkdir(parents=True, exist_ok=True)
        anyio.run(measure, folder, given.entries, given.calls)


if __name__ == "__main__":
    main()
