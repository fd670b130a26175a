"""The time of the items toolset among many items, over HTTP and of the SQL functions alone.

    python -m benchmarks.items [--items 100000] [--calls 200] [--keep FOLDER]

The benchmark uses an embedded Postgres, local embeddings, and textrawl_client, as a program does.
Ten items belong to each user, and their texts are facts of benchmarks.support.synthetic. Each call
alternates with a call of only its SQL function. The benchmark prints Markdown.
"""

import argparse
import json
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, LiteralString

import anyio
import anyio.to_thread
import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from benchmarks.support.place import enrol, listen, open_folder, tell_machine
from benchmarks.support.synthetic import World
from benchmarks.support.ways import WARM, name_server, rank
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import APP, OWNER
from textrawl.models.local import LocalEmbedder
from textrawl_client import Client

OF_A_USER = 10
_BATCH = 2_000
_PENDING = """
    select v.space_id, v.text_id, textrawl.item_text(i.fields -> 'value', 'true')
    from textrawl.item_vector v
    join textrawl.item i on i.space_id = v.space_id and i.document_id = v.document_id
    where v.vector is null limit %s
"""
Call = tuple[Callable[[], Awaitable[object]], LiteralString, *tuple[Any, ...]]
"""A call over HTTP, and the same as SQL with its values."""


def write_items(items: int) -> Iterator[tuple[list[str], str, str]]:
    """Yield the namespace, the key and the value of each item."""
    for number, fact in enumerate(islice(World().make_facts(), items)):
        value = {"text": fact.content, "kind": fact.entity, "number": number}
        yield name_user(number // OF_A_USER), f"note {number}", json.dumps(value)


def name_user(user: int) -> list[str]:
    """Return the namespace of a user."""
    return ["users", f"user {user}", "notes"]


def fill(owner: str, items: int) -> None:
    """Store the items that are missing, and embed them in this process."""
    with psycopg.connect(owner, autocommit=True) as connection:
        [(kept,)] = connection.execute("select count(*) from textrawl.item").fetchall()
        register = "select textrawl.register_embedding_model(%s, 256, 0, 0.9, 0.5)"
        connection.execute(register, (LocalEmbedder().name,))
        begin = time.perf_counter()
        for row in islice(write_items(items), kept, None):
            connection.execute("select textrawl.put_item(%s, %s, %s)", row)
        if kept < items:
            print(f"Stored within {(time.perf_counter() - begin) / (items - kept):.4f} s each.\n")
        register_vector(connection)
        anyio.run(_embed, connection)
        if kept < items:
            connection.execute("vacuum analyze")


async def _embed(connection: psycopg.Connection[Any]) -> None:
    """Make the vectors of all items. The index is built at the end."""
    embedder, index = LocalEmbedder(), "textrawl.item_vector_1_idx"
    [(definition,)] = connection.execute(
        "select pg_get_indexdef(%s::regclass)", (index,)
    ).fetchall()
    while rows := connection.execute(_PENDING, (_BATCH,)).fetchall():
        connection.execute("drop index if exists textrawl.item_vector_1_idx")
        texts = [text[:2000] for _, _, text in rows]
        vectors = [HalfVector(vector) for vector in await embedder.embed_documents(texts)]
        connection.execute(
            "select textrawl.fill_pending_embeddings(1, %s, %s, %s)",
            ([row[0] for row in rows], [row[1] for row in rows], vectors),
        )
    connection.execute(definition.replace("CREATE INDEX", "create index if not exists").encode())


class Calls:
    """The calls that are measured, by their names."""

    def __init__(self, memory: Client, items: int) -> None:
        self._items, self._memory = memory.items, memory
        self._dice = random.Random(1)  # noqa: S311 - the same in every run
        self._count = items
        self._texts = [fact.content.split() for fact in islice(World().make_facts(), 500)]

    def _make_query(self) -> str:
        words = self._dice.choice(self._texts)
        return " ".join(self._dice.sample(words, min(4, len(words))))

    def make(self) -> "dict[str, Call]":
        """Return one call of each kind."""
        number, query = self._dice.randrange(self._count), self._make_query()
        return self._make_reads(number, query) | self._make_writes(number, query)

    def _make_reads(self, number: int, query: str) -> "dict[str, Call]":
        items, user, key = self._items, name_user(number // OF_A_USER), f"note {number}"
        same = {"number": number}
        return {
            "get": (lambda: items.get(user, key), "get_item(%s, %s)", user, key),
            "search, all": (
                lambda: items.search(query), "search_items(%s, max_rows => 10)", query,
            ),
            "search, one user": (
                lambda: items.search(query, user[:2]),
                "search_items(%s, %s, max_rows => 10)", query, user[:2],
            ),
            "list, one user": (
                lambda: items.list(user[:2]), "search_items(prefix => %s)", user[:2],
            ),
            "list by a filter, all": (
                lambda: items.list(filter=same), "search_items(filter => %s)", json.dumps(same),
            ),
            "namespaces, 100": (items.namespaces, "list_namespaces()"),
            "namespaces, depth 2, from the 500th": (
                lambda: items.namespaces(["users"], depth=2, offset=500),
                "list_namespaces(array['users'], depth => 2, skip => 500)",
            ),
        }  # fmt: skip

    def _make_writes(self, number: int, query: str) -> "dict[str, Call]":
        user, key = name_user(number // OF_A_USER), f"note {number}"
        one, other = ({"text": query, "new": self._dice.random()} for _ in range(2))
        log = self._memory.log("sessions", user[1])
        return {
            "put, changed": (
                lambda: self._items.put(user, key, one),
                "put_item(%s, %s, %s)", user, key, json.dumps(other),
            ),
            "append": (
                lambda: log.append([query]),
                "append_log(%s, %s)", ["sessions", user[1]], json.dumps([query]),
            ),
        }  # fmt: skip


async def print_table(calls: Calls, connection: psycopg.Connection[Any], number: int) -> None:
    """Print the times of each kind of call."""
    print("| call, ms | SQL p50 | SQL p95 | HTTP p50 | HTTP p95 |")
    print("|---|---:|---:|---:|---:|")
    for kind in calls.make():
        http, bare = list[float](), list[float]()
        for _ in range(number + WARM):
            ask, statement, *values = calls.make()[kind]
            begin = time.perf_counter()
            await ask()
            middle = time.perf_counter()
            query = "select * from textrawl." + statement  # noqa: S608 - ours
            connection.execute(query, values).fetchall()
            http.append(middle - begin)
            bare.append(time.perf_counter() - middle)
        cells = [f"{one:.1f}" for taken in (bare, http) for one in rank(taken[WARM:])]
        print(f"| {kind} | {' | '.join(cells)} |", flush=True)


async def measure(folder: Path, items: int, calls: int) -> None:
    """Fill the memory if it is new, and print the table."""
    async with run_embedded(folder) as cluster:
        owner, server = cluster.dsn(OWNER), cluster.dsn(APP)
        await migrate(owner)
        await anyio.to_thread.run_sync(fill, owner, items)
        token = enrol(owner)
        async with (
            listen(name_server(server, token), "--insecure") as address,
            Client(address, token=token) as memory,
        ):
            with psycopg.connect(owner, autocommit=True) as connection:
                await print_table(Calls(memory, items), connection, calls)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="Items of programs, among many items.")
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="Keep the memory there.")
    given = parser.parse_args()
    print(f"{tell_machine()}; {given.items:,} items, {given.calls} calls each.\n")
    with nullcontext(given.keep) if given.keep else open_folder("items") as folder:
        anyio.run(measure, folder, given.items, given.calls)


if __name__ == "__main__":
    main()
