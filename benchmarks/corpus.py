"""The time of recall among a million chunks in 20 graphs.

    python -m benchmarks.corpus [--chunks 1000000] [--calls 200] [--keep FOLDER]

The benchmark uses an embedded Postgres, local embeddings, and the client of the MCP SDK over stdio.
The chunks have 60 words about the topics of benchmarks.support.synthetic, and a source has about
four chunks. Each call of a tool alternates with a call of only its SQL function. The benchmark
prints Markdown.
"""

import argparse
import json
import random
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any, LiteralString

import anyio
import anyio.to_thread
import psycopg

from benchmarks.support.place import enrol, open_folder, tell_machine
from benchmarks.support.synthetic import FILLED, Fact, Filling, World
from benchmarks.support.ways import open_both_ways, print_times
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import APP, OWNER

GRAPHS = 20
WORDS = 60  # of a chunk
CALLS = ("recall of four words in all graphs", "recall of four words in one graph")
_STORE_CHUNKS: LiteralString = """
    with fact as (
        insert into textrawl.observation (space_id, id, entity_id, entity_type, content,
            content_hash, source, author_id, tool, fts, whole, part)
        select space_id, id, entity_id, entity_type, content,
            md5(textrawl.fact_key(content))::uuid, 'document', {author}, 'bench',
            textrawl.search_document(space_id, 'english', name, content), entity_id,
            row_number() over (partition by entity_id order by id)
        from given)
    insert into textrawl.{vectors} (space_id, observation_id, vector)
    select space_id, id, vector from given
"""
_MAKE_SOURCES = """
    update textrawl.space set tier = 'personal' where name like 'graph-%';
    insert into textrawl.document (space_id, id, kind, path, entity_id, version, changed)
    select space_id, id, 'source', 'file/' || id, id, 1, 1 from textrawl.entity;
    insert into textrawl.document_version (space_id, document_id, version, number, content,
        modified_at, author_id, tool)
    select space_id, entity_id, 1, 1, string_agg(content, E'\\n' order by part), now(),
        min(author_id), 'bench'
    from textrawl.observation group by space_id, entity_id;
    insert into textrawl.chunk (space_id, observation_id, tokens, line)
    select space_id, id, char_length(content) / 4, part from textrawl.observation;
    insert into textrawl.source (space_id, document_id, source_kind, label, content_hash, chunks,
        tokens)
    select o.space_id, o.whole, 'file', min(e.name), encode(sha256(uuid_send(o.whole)), 'hex'),
        count(*), sum(char_length(o.content) / 4)
    from textrawl.observation o
    join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
    group by o.space_id, o.whole;
    analyze;
"""


class Library(World):
    """An endless series of chunks in graphs of the same size."""

    def __init__(self) -> None:
        super().__init__()
        self._shares = {f"graph-{number}": 1 / GRAPHS for number in range(GRAPHS)}
        self.spaces = list(self._shares)

    def make_facts(self) -> Iterator[Fact]:
        """Yield chunks, source by source. Each has the words of several facts of its source."""
        words, last = list[str](), None
        for fact in super().make_facts():
            if last is not None and last.entity_id != fact.entity_id:
                words.clear()
            last = fact
            words += fact.content.split()
            if len(words) >= WORDS:
                content = " ".join(words[:WORDS])
                words = words[WORDS:]
                yield Fact(fact.space, fact.id, fact.entity_id, fact.entity, fact.type, content)


def fill(folder: Path, owner: str, chunks: int) -> None:
    """Fill the memory in `folder` if it is not filled yet."""
    if (folder / FILLED).exists():
        return
    with psycopg.connect(owner, autocommit=True) as connection:
        filled = Filling(connection, _STORE_CHUNKS).run(Library(), chunks)
        connection.execute(_MAKE_SOURCES)
    (folder / FILLED).write_text(json.dumps(asdict(filled)))


def enrol_in_graphs(owner: str) -> str:
    """Return a token with all scopes in the default space and in all graphs."""
    token = enrol(owner)
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(
            "insert into textrawl.space_grant (space_id, actor_id, scopes)"
            " select s.id, a.id, array['read', 'write'] from textrawl.space s, textrawl.actor a"
            " where s.tier is not null and a.name = 'bench' on conflict do nothing"
        )
    return token


def choose_texts(owner: str) -> list[str]:
    """Print the size of the corpus, and return texts of chunks."""
    with psycopg.connect(owner, autocommit=True) as connection:
        [(sources, chunks, graphs)] = connection.execute(
            "select count(*), sum(chunks), count(distinct space_id) from textrawl.source"
        ).fetchall()
        rows = connection.execute(
            "select content from textrawl.observation where part = 1 limit 2000"
        ).fetchall()
    print(f"{sources:,} sources with {chunks:,} chunks in {graphs} graphs.\n", flush=True)
    return [text for (text,) in rows]


class Calls:
    """The calls that are measured."""

    def __init__(self, texts: list[str]) -> None:
        self._dice = random.Random(1)  # noqa: S311 - the same in every run
        self._texts = texts

    def make(self, kind: str) -> tuple[str, dict[str, Any]]:
        """Return a tool and its arguments."""
        words = self._dice.choice(self._texts).strip(".").lower().split()
        query = " ".join(self._dice.sample(words, 4))
        graphs = {} if kind == CALLS[0] else {"graphs": [f"graph-{self._dice.randrange(GRAPHS)}"]}
        return "recall", {"query": query, **graphs}


async def measure(folder: Path, chunks: int, calls: int) -> None:
    """Fill the memory if it is new, and print the table."""
    async with run_embedded(folder) as cluster:
        owner, server = cluster.dsn(OWNER), cluster.dsn(APP)
        await migrate(owner)
        await anyio.to_thread.run_sync(fill, folder, owner, chunks)
        texts = await anyio.to_thread.run_sync(choose_texts, owner)
        token = await anyio.to_thread.run_sync(enrol_in_graphs, owner)
        async with open_both_ways(server, token, "corpus") as (bare, clients):
            await print_times(clients, bare, CALLS, Calls(texts).make, calls)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="recall among many chunks.")
    parser.add_argument("--chunks", type=int, default=1_000_000)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="Keep the memory there.")
    given = parser.parse_args()
    print(f"{tell_machine()}; {given.calls} calls each.\n")
    with nullcontext(given.keep) if given.keep else open_folder("corpus") as folder:
        folder.mkdir(parents=True, exist_ok=True)
        anyio.run(measure, folder, given.chunks, given.calls)


if __name__ == "__main__":
    main()
