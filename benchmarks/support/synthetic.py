"""A memory of any size, made from a seed. Its vectors and words are similar to a real memory.

    python -m benchmarks.support.synthetic FOLDER [--facts 1000000]

Facts are about 2,000 topics. Each topic has 40 words that wordllama knows, and facts also contain
common words. An entity has ten facts of one or two topics. The vectors are made by wordllama. So a
question made from the words of a fact is near this fact, and `query_memory` can find the fact. A
server with FOLDER as DATA_DIR can use the memory.
"""

import argparse
import json
import math
import random
import re
import sys
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, LiteralString, cast
from uuid import UUID

import anyio
import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import sql
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from splintr import Tokenizer

from benchmarks.support.place import tell_machine
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import OWNER
from textrawl.models.active_model import describe_model
from textrawl.models.embeddings import compose_document
from textrawl.models.local import LocalEmbedder

SPACES = {"default": 0.5, "fifth": 0.2, "tenth": 0.1, "twentieth": 0.05, "twin": 0.05} | {
    "fiftieth": 0.02, "gemini": 0.02, "percent": 0.01, "other": 0.01, "third": 0.01,
    "half-percent": 0.005, "moiety": 0.005,
}  # fmt: skip
"""Names of spaces and their shares of the facts. Forty small spaces share the rest."""
SMALL_SPACES = 40
TYPES = {
    "fact": 0.5, "concept": 0.25, "project": 0.1, "person": 0.05, "preference": 0.07,
    "organization": 0.025, "location": 0.005,
}  # fmt: skip
TOPICS, TOPIC_WORDS = 2_000, 40
COMMON = 300  # words that facts of all topics contain
FACTS_OF_AN_ENTITY = 10
MEDIAN_WORDS = 20
BATCH = 10_000
FILLED = "filled.json"  # a file that is in the folder after the memory was filled
MEMORY = "2GB"  # for building the HNSW graph; with too little, building takes many times longer

_MODEL_INDEX = "_vector_idx"
_PIECES = 32_000  # tokens in the vocabulary of the local model
STORE_FACTS: LiteralString = """
    with fact as (
        insert into textrawl.observation (space_id, id, entity_id, entity_type, content,
            content_hash, source, author_id, tool, fts)
        select space_id, id, entity_id, entity_type, content,
            md5(textrawl.fact_key(content))::uuid, 'note', {author}, 'bench',
            textrawl.search_document(space_id, 'english', name, content)
        from given)
    insert into textrawl.{vectors} (space_id, observation_id, vector)
    select space_id, id, vector from given
"""
_ENTITIES = """
    insert into textrawl.entity (space_id, id, name, name_key, entity_type, fts)
    select distinct on (space_id, entity_id) space_id, entity_id, name, textrawl.name_key(name),
        entity_type, to_tsvector('simple', textrawl.search_text(name))
    from given on conflict do nothing
"""


@dataclass(frozen=True)
class Fact:
    """One fact. `space` is the position of its space in the list of spaces."""

    space: int
    id: UUID
    entity_id: UUID
    entity: str
    type: str
    content: str

    def row(self, spaces: list[int], vector: NDArray[np.float32]) -> tuple[Any, ...]:
        """Return the values for COPY."""
        space = spaces[self.space]
        return (
            space,
            self.id,
            self.entity_id,
            self.entity,
            self.type,
            self.content,
            HalfVector(vector),
        )


class World:
    """An endless series of facts, which depends only on the seed and the shares of the spaces."""

    def __init__(self, seed: int = 7, shares: dict[str, float] | None = None) -> None:
        self._dice = random.Random(seed)  # noqa: S311 - the same in every run
        words = read_vocabulary()
        self.common, self._rare = words[:COMMON], words[COMMON:]
        self._topics = [self._dice.sample(self._rare, TOPIC_WORDS) for _ in range(TOPICS)]
        self._names = set[tuple[int, str]]()
        small = (1 - sum(SPACES.values())) / SMALL_SPACES
        self._shares = shares or (
            SPACES | {f"small-{number}": small for number in range(SMALL_SPACES)}
        )
        self.spaces = list(self._shares)

    def make_facts(self) -> Iterator[Fact]:
        """Yield facts, entity by entity."""
        places, shares = range(len(self.spaces)), list(self._shares.values())
        while True:
            [space] = self._dice.choices(places, shares)
            [entity_type] = self._dice.choices(list(TYPES), list(TYPES.values()))
            entity, entity_id = self._choose_name(space), self._choose_id()
            first, second, third = self._dice.sample(self._topics, 3)
            own = self._dice.sample(third, 5)
            for _ in range(self._dice.randrange(1, 2 * FACTS_OF_AN_ENTITY)):
                topic = first if self._dice.random() < 0.7 else second
                content = self._write(topic, own)
                yield Fact(space, self._choose_id(), entity_id, entity, entity_type, content)

    def _write(self, topic: list[str], own: list[str]) -> str:
        length = min(80, max(5, round(self._dice.lognormvariate(math.log(MEDIAN_WORDS), 0.4))))
        pools = self._dice.choices((self.common, topic, own, self._rare), (30, 42, 23, 5), k=length)
        words = [pool[self._choose_rank(len(pool))] for pool in pools]
        return " ".join(words).capitalize() + "."

    def _choose_rank(self, ranks: int) -> int:
        """Return a position by Zipf's law: 1 to 2 is as likely as 10 to 20."""
        return int((ranks + 1) ** self._dice.random()) - 1

    def _choose_name(self, space: int) -> str:
        while True:
            name = " ".join(word.capitalize() for word in self._dice.sample(self._rare, 2))
            if (space, name) not in self._names:
                self._names.add((space, name))
                return name

    def _choose_id(self) -> UUID:
        return UUID(int=self._dice.getrandbits(128), version=4)


def read_vocabulary() -> list[str]:
    """Return words of wordllama's vocabulary, the most frequent first."""
    tokenizer = Tokenizer.from_pretrained("llama2")
    pieces = [tokenizer.decode_token_bytes(number) for number in range(_PIECES)]
    return [piece[1:].decode() for piece in pieces if re.fullmatch(b" [a-z]{3,}", piece)]


@dataclass
class Filled:
    """The seconds of each step of filling a memory with `facts`."""

    facts: int
    seconds: dict[str, float] = field(default_factory=dict[str, float])

    @contextmanager
    def time(self, step: str) -> Generator[None]:
        """Record the time of the block."""
        begin = time.perf_counter()
        yield
        self.seconds[step] = time.perf_counter() - begin


@contextmanager
def show_progress(what: str, total: int | None) -> Generator[Callable[[int], object]]:
    """Show a progress bar with a rate on stderr, and yield the function that advances it."""
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}/s"), TimeElapsedColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), refresh_per_second=2) as bar:
        task = bar.add_task(what, total=total, rate="-")
        shown = bar.tasks[0]
        yield lambda more: bar.update(
            task, advance=more, rate=f"{(shown.completed + more) / (shown.elapsed or 1):,.0f}"
        )


class Filling:
    """Stores facts in the tables of the memory, as its owner. `store` inserts a batch of them."""

    def __init__(
        self, connection: psycopg.Connection[Any], store: LiteralString = STORE_FACTS
    ) -> None:
        self._connection = connection
        self._statement: LiteralString = store
        self._embedder = LocalEmbedder()
        register_vector(connection)
        connection.execute(sql.SQL("set maintenance_work_mem = {}").format(MEMORY))
        connection.execute("set max_parallel_maintenance_workers = 2")
        connection.execute("set client_min_messages = warning")

    def run(self, world: World, facts: int) -> Filled:
        """Fill an empty memory, and build the indexes of texts and vectors at the end."""
        filled = Filled(facts)
        model, author = self._choose_model(), self._fetch("select textrawl.register_actor('bench')")
        vectors = f"embedding_{model}"
        [hnsw] = [name for name in self._find_indexes(vectors) if name.endswith(_MODEL_INDEX)]
        made: dict[str, LiteralString] = {
            name: self._take_index(name) for name in ("observation_fts_idx", hnsw)
        }
        names = {"author": sql.Literal(author), "vectors": sql.Identifier(vectors)}
        with filled.time("load"):
            self._load(world, facts, sql.SQL(self._statement).format(**names))
        for step, definition in zip(("GIN", "HNSW"), made.values(), strict=True):
            with filled.time(step), show_progress(f"{step} index", None):
                self._connection.execute(sql.SQL(definition))
        with filled.time("statistics"):
            self._connection.execute("vacuum analyze")
            self._fetch("select textrawl.refresh_search_statistics(true)")
        return filled

    def _choose_model(self) -> int:
        known = describe_model(self._embedder)
        places = sql.SQL(", ").join(
            sql.SQL("{} => {}").format(sql.Identifier(name), sql.Literal(value))
            for name, value in known.items()
        )
        statement = sql.SQL("select textrawl.register_embedding_model({})").format(places)
        return int(self._fetch(statement))

    def _load(self, world: World, facts: int, store: sql.Composed) -> None:
        # Make the vectors of the next batch while the database stores the previous batch.
        spaces = [self._find_space(name) for name in world.spaces]
        stream, waiting = islice(world.make_facts(), facts), list[Future[None]]()
        self._connection.execute(
            "create temporary table given (space_id integer, id uuid, entity_id uuid, name text,"
            " entity_type text, content text, vector halfvec)"
        )
        with show_progress("Facts", facts) as report, ThreadPoolExecutor(1) as pool:
            while batch := list(islice(stream, BATCH)):
                rows = self._embed(batch, spaces)
                for stored in waiting:
                    stored.result()
                waiting = [pool.submit(self._store, rows, store)]
                report(len(batch))
            for stored in waiting:
                stored.result()

    def _embed(self, batch: list[Fact], spaces: list[int]) -> list[tuple[Any, ...]]:
        texts = [compose_document(fact.entity, fact.content) for fact in batch]
        vectors = anyio.run(self._embedder.embed_documents, texts)
        return [fact.row(spaces, vector) for fact, vector in zip(batch, vectors, strict=True)]

    def _store(self, rows: list[tuple[Any, ...]], store: sql.Composed) -> None:
        with self._connection.transaction():
            self._connection.execute("truncate given")
            with self._connection.cursor().copy("copy given from stdin (format binary)") as copy:
                copy.set_types(["int4", "uuid", "uuid", "text", "text", "text", "halfvec"])
                for row in rows:
                    copy.write_row(row)
            self._connection.execute(_ENTITIES)
            self._connection.execute(store)

    def _find_space(self, name: str) -> int:
        statement = sql.SQL(
            "insert into textrawl.space (name) values ({}) on conflict (name) do update"
            " set name = excluded.name returning id"
        )
        return int(self._fetch(statement.format(name)))

    def _find_indexes(self, table: str) -> list[str]:
        rows = self._connection.execute(
            "select indexname::text from pg_indexes where schemaname = 'textrawl'"
            " and tablename = %s",
            (table,),
        )
        return [name for (name,) in rows]

    def _take_index(self, name: str) -> LiteralString:
        """Drop an index, and return the statement that creates it again."""
        known = sql.SQL("select pg_get_indexdef({}::regclass)").format(f"textrawl.{name}")
        definition = self._fetch(known)
        self._connection.execute(sql.SQL("drop index textrawl.{}").format(sql.Identifier(name)))
        return cast("LiteralString", definition)

    def _fetch(self, statement: Any) -> Any:
        row = self._connection.execute(statement).fetchone()
        assert row is not None
        return row[0]


def fill(conninfo: str, facts: int, world: World | None = None) -> Filled:
    """Fill the empty memory of the owner's `conninfo`."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        return Filling(connection).run(world or World(), facts)


def fill_once(folder: Path, conninfo: str, rows: int) -> Filled:
    """Fill the memory in `folder` if it is not filled yet, and return the times of all steps."""
    if not (folder / FILLED).exists():
        (folder / FILLED).write_text(json.dumps(asdict(fill(conninfo, rows))))
    return Filled(**json.loads((folder / FILLED).read_text()))


async def run(folder: Path, facts: int) -> None:
    """Fill a memory in `folder`, and print the times of all steps."""
    async with run_embedded(folder) as cluster:
        await migrate(cluster.dsn(OWNER))
        filled = await anyio.to_thread.run_sync(fill, cluster.dsn(OWNER), facts)
    (folder / FILLED).write_text(json.dumps(asdict(filled)))
    print(f"{tell_machine()}; {facts:,} facts.")
    print(f"Load {facts / filled.seconds['load']:,.0f} facts/s.")
    for step, seconds in filled.seconds.items():
        print(f"{step}: {seconds:.1f} s", flush=True)


def main() -> None:
    """Fill a folder that has no memory yet."""
    parser = argparse.ArgumentParser(description="A synthetic memory.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--facts", type=int, default=1_000_000)
    given = parser.parse_args()
    given.folder.mkdir(exist_ok=True)
    given.folder.chmod(0o755)
    if (given.folder / FILLED).exists():
        sys.exit(f"{given.folder} holds a memory already: choose another folder")
    anyio.run(run, given.folder, given.facts)


if __name__ == "__main__":
    main()
