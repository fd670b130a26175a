"""Search on memories of many facts, by scope, and the size of such a memory.

    python -m benchmarks.scale [--rows 10000 100000 1000000] [--questions 100] [--json FILE]

It uses memories of benchmarks.support.synthetic, in a temporary folder or in `--keep FOLDER` for
the next run. A question is six words of a fact in the scope. An `adverse` question is made from a
fact outside the scope.

Recall measures only the search by vectors. A comparison with all vectors finds the ten facts that
are nearest to a question. Recall is the share of these facts that the search finds among its first
ten. Hits measure the whole search: the fact from which the question is made is first, or among the
first ten. CPU is the time that Postgres used. It prints Markdown.
"""

import argparse
import contextlib
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import anyio
import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import sql

from benchmarks.support.place import open_folder, tell_machine
from benchmarks.support.synthetic import COMMON, Filled, fill_once, read_vocabulary, show_progress
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import OWNER
from textrawl.models.embeddings import compose_document
from textrawl.models.local import LocalEmbedder

SCOPES: dict[str, tuple[str | None, str | None]] = {
    "everything": (None, None),
    "space 50 %": ("default", None), "space 5 %": ("twentieth", None),
    "space 0.5 %": ("half-percent", None),
    "type 50 %": (None, "fact"), "type 5 %": (None, "person"), "type 0.5 %": (None, "location"),
    "space 50 %, type 5 %": ("default", "person"),
}  # fmt: skip
"""The space and the entity type of each scope."""
WORDS = 6  # words of a question
TOP = 10
WARM = 10  # questions before the measured questions
CLOSE = 1e-5  # cosines with a smaller difference are taken as equal

_VECTORS = """
    select v.observation_id, v.space_id, o.entity_type, halfvec_send(v.vector)
    from textrawl.{} v
    join textrawl.observation o on o.space_id = v.space_id and o.id = v.observation_id
"""
_NEAREST = """
    with asked as materialized (
        select coalesce(%s::integer[], textrawl.readable_spaces()) as spaces, %s::text[] as types,
            %s::integer as model, %s::halfvec as vector
    )
    select n.id from asked a, textrawl.assess_spaces(a.spaces, a.types, a.model) way,
        textrawl.nearest_facts(a.model, a.vector, a.spaces, a.types, clock_timestamp(), 50,
            way.large, way.rare, way.breadth, way.own) n
    order by n.cosine desc nulls last limit 10
"""
_SIZES = """
    select relname::text,
        case relkind when 'r' then pg_table_size(oid) else pg_relation_size(oid) end
    from pg_class where relnamespace = 'textrawl'::regnamespace and relkind in ('r', 'i')
"""
_PARTS = {
    "facts": "observation", "vectors": "embedding_1",
    "vector index (HNSW)": "embedding_1_vector_idx", "text index (GIN)": "observation_fts_idx",
}  # fmt: skip
"""Names of tables and indexes that have their own row in the table of sizes."""


@dataclass(frozen=True)
class Question:
    """A question: its text, its vector, and the fact that it is made from."""

    text: str
    vector: NDArray[np.float32]
    target: UUID


@dataclass(frozen=True)
class Found:
    """The figures of a scope: milliseconds, and shares from 0 to 1."""

    rows: int
    p50: float
    p95: float
    cpu: float
    meaning_cpu: float
    recall: float
    adverse_recall: float
    adverse_cpu: float
    first: float
    among_ten: float


class Store:
    """All vectors of a memory, which are compared with all questions in one step."""

    def __init__(self, connection: psycopg.Connection[Any], model: int) -> None:
        ids, spaces, types, vectors = list[UUID](), list[int](), list[str](), list[bytes]()
        query = sql.SQL(_VECTORS).format(sql.Identifier(f"embedding_{model}"))
        with connection.transaction(), connection.cursor("vectors", binary=True) as cursor:
            cursor.itersize = 20_000
            for known, space, entity_type, vector in cursor.execute(query):
                ids.append(known)
                spaces.append(space)
                types.append(entity_type)
                vectors.append(vector[4:])
        self.ids, self.spaces, self.types = np.array(ids), np.array(spaces), np.array(types)
        self._vectors = np.frombuffer(b"".join(vectors), ">f2").reshape(len(ids), -1)

    def choose(self, space: int | None, entity_type: str | None) -> NDArray[np.bool_]:
        """Return for each fact whether it is in a scope."""
        chosen = np.ones(len(self.ids), dtype=bool)
        if space is not None:
            chosen &= self.spaces == space
        if entity_type is not None:
            chosen &= self.types == entity_type
        return chosen

    def rank(
        self, questions: list[Question], chosen: NDArray[np.bool_]
    ) -> list[tuple[dict[UUID, float], float]]:
        """Return the cosines of the nearest facts, and the tenth cosine, for each question."""
        asked = np.array([question.vector.astype(np.float16) for question in questions], np.float32)
        asked /= np.linalg.norm(asked, axis=1, keepdims=True)
        places, best = np.flatnonzero(chosen), list[tuple[NDArray[Any], NDArray[Any]]]()
        for start in range(0, len(places), 50_000):
            part = places[start : start + 50_000]
            matrix = self._vectors[part].astype(np.float32)
            matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
            cosines = matrix @ asked.T
            top = np.argsort(-cosines, axis=0)[: 2 * TOP]
            best.append((part[top], np.take_along_axis(cosines, top, axis=0)))
        ids, cosines = (np.concatenate(parts) for parts in zip(*best, strict=True))
        ranked = list[tuple[dict[UUID, float], float]]()
        for column in range(len(questions)):
            known = dict(zip(self.ids[ids[:, column]], cosines[:, column].tolist(), strict=True))
            ranked.append((known, sorted(known.values(), reverse=True)[:TOP][-1]))
        return ranked


class Bench:
    """One memory and a connection to it."""

    def __init__(self, connection: psycopg.Connection[Any], questions: int) -> None:
        self._connection, self._questions = connection, questions
        register_vector(connection)
        self._embedder = LocalEmbedder()
        self._common = set(read_vocabulary()[:COMMON])
        [(self._model,)] = self._fetch(
            "select id from textrawl.embedding_model where status = 'active'"
        )
        self._store = Store(connection, self._model)
        self._schedule = Path(f"/proc/{connection.info.backend_pid}/schedstat")

    def measure(self, scope: str) -> Found | None:
        """Return the figures of a scope, or None if the scope has too few facts."""
        name, entity_type = SCOPES[scope]
        space = None
        if name is not None:
            [(space,)] = self._fetch("select id from textrawl.space where name = %s", (name,))
        chosen = self._store.choose(space, entity_type)
        if chosen.sum() < TOP:
            return None
        inside = self._ask(chosen)
        adverse = inside if chosen.all() else self._ask(~chosen)
        taken, cpu, ranks = self._time(partial(self._search, space, entity_type), inside)
        look = partial(self._find_nearest, space, entity_type)
        recall, meaning_cpu = self._compare(inside, chosen, look)
        adverse_recall, adverse_cpu = self._compare(adverse, chosen, look)
        percentiles = statistics.quantiles(taken, n=100)
        return Found(
            int(chosen.sum()),
            percentiles[49],
            percentiles[94],
            cpu,
            meaning_cpu,
            recall,
            adverse_recall,
            adverse_cpu,
            ranks.count(0) / len(ranks),
            1 - ranks.count(None) / len(ranks),
        )

    def _time(
        self, search: Callable[[Question], list[UUID]], questions: list[Question]
    ) -> tuple[list[float], float, list[int | None]]:
        """Return the milliseconds of each search, the CPU per search, and the rank of each fact."""
        for question in questions[:WARM]:
            search(question)
        taken, cpu, ranks = list[float](), self._read_cpu(), list[int | None]()
        for question in questions[WARM:]:
            begin = time.perf_counter()
            found = search(question)
            taken.append(1000 * (time.perf_counter() - begin))
            ranks.append(found.index(question.target) if question.target in found else None)
        return taken, (self._read_cpu() - cpu) / len(taken), ranks

    def measure_sizes(self) -> dict[str, int]:
        """Return the bytes of each table without its indexes, and of each index."""
        return dict(self._fetch(_SIZES))

    def _ask(self, chosen: NDArray[np.bool_]) -> list[Question]:
        """Return questions made from random facts, which are the same in every run."""
        ids = sorted(self._store.ids[chosen])
        dice = random.Random(len(ids))  # noqa: S311 - the same in every run
        targets = dice.choices(ids, k=self._questions + WARM)
        contents = {
            known: (name, content)
            for known, name, content in self._fetch(
                "select o.id, e.name, o.content from textrawl.observation o join textrawl.entity e"
                " on e.space_id = o.space_id and e.id = o.entity_id where o.id = any(%s)",
                (targets,),
            )
        }
        texts = [self._write(dice, *contents[target]) for target in targets]
        vectors = anyio.run(self._embedder.embed_documents, texts)
        return [Question(*parts) for parts in zip(texts, vectors, targets, strict=True)]

    def _write(self, dice: random.Random, name: str, content: str) -> str:
        words = compose_document(name, content).lower().replace(":", "").replace(".", "").split()
        telling = sorted({word for word in words if word not in self._common}) or words
        return " ".join(dice.sample(telling, min(WORDS, len(telling))))

    def _search(self, space: int | None, entity_type: str | None, question: Question) -> list[UUID]:
        rows = self._fetch(
            "select observation_id from textrawl.search_memory(%s, spaces => %s,"
            " entity_types => %s, model => %s, vector => %s)",
            (question.text, space and [space], entity_type and [entity_type], self._model,
             HalfVector(question.vector)),
        )  # fmt: skip
        return [known for (known,) in rows]

    def _find_nearest(
        self, space: int | None, entity_type: str | None, question: Question
    ) -> list[UUID]:
        given = (
            space and [space],
            entity_type and [entity_type],
            self._model,
            HalfVector(question.vector),
        )
        return [known for (known,) in self._fetch(_NEAREST, given)]

    def _compare(
        self,
        questions: list[Question],
        chosen: NDArray[np.bool_],
        look: Callable[[Question], list[UUID]],
    ) -> tuple[float, float]:
        """Return the recall of the search by vectors, and its CPU milliseconds."""
        shares, cpu = list[float](), self._read_cpu()
        found = [look(question) for question in questions]
        cpu = (self._read_cpu() - cpu) / len(questions)
        for (near, least), ids in zip(self._store.rank(questions, chosen), found, strict=True):
            right = sum(near.get(known, -1) >= least - CLOSE for known in ids)
            shares.append(right / min(TOP, len(near)))
        return statistics.mean(shares), cpu

    def _read_cpu(self) -> float:
        """Return the CPU milliseconds of the connection's process in Postgres."""
        if not self._schedule.exists():
            return 0.0
        return int(self._schedule.read_text().split()[0]) / 1e6

    def _fetch(self, statement: str, given: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement.encode(), given, binary=True).fetchall()


def write_found(rows: int, found: dict[str, Found]) -> Iterator[str]:
    """Yield the lines of the table for one size."""
    titles = ["facts in it", "p50 ms", "p95 ms", "CPU ms", "hit@1", "hit@10", "recall@10",
              "CPU ms, by meaning", "adverse recall@10", "CPU ms, adverse"]  # fmt: skip
    yield f"\n| {rows:,} facts | {' | '.join(titles)} |"
    yield "|---|" + "---:|" * len(titles)
    for scope, row in found.items():
        yield (
            f"| {scope} | {row.rows:,} | {row.p50:.1f} | {row.p95:.1f} | {row.cpu:.1f} "
            f"| {row.first:.2f} | {row.among_ten:.2f} | {row.recall:.3f} | {row.meaning_cpu:.1f} "
            f"| {row.adverse_recall:.3f} | {row.adverse_cpu:.1f} |"
        )


def write_capacity(filled: Filled, sizes: dict[str, int]) -> Iterator[str]:
    """Yield the lines about the size of a memory and the time to fill it."""
    megabytes = {part: sizes[name] / 1e6 for part, name in _PARTS.items()}
    megabytes["everything else"] = sum(sizes.values()) / 1e6 - sum(megabytes.values())
    megabytes["all"] = sum(sizes.values()) / 1e6
    yield f"\n| {filled.facts:,} facts | MB |\n|---|---:|"
    yield from (f"| {kind} | {size:,.1f} |" for kind, size in megabytes.items())
    yield f"\n| {filled.facts:,} facts | seconds |\n|---|---:|"
    yield from (f"| {step} | {seconds:,.1f} |" for step, seconds in filled.seconds.items())


def measure_scopes(
    conninfo: str, filled: Filled, questions: int
) -> tuple[dict[str, Found], dict[str, int]]:
    """Return the figures of each scope, and the bytes of each table and index."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        bench, found = Bench(connection, questions), dict[str, Found]()
        with show_progress(f"{filled.facts:,} facts", len(SCOPES)) as report:
            for scope in SCOPES:
                if figures := bench.measure(scope):
                    found[scope] = figures
                report(1)
        return found, bench.measure_sizes()


async def measure(folder: Path, rows: int, questions: int) -> dict[str, Any]:
    """Measure the memory in `folder` and print its tables. Fill it first if it is new."""
    async with run_embedded(folder) as cluster:
        owner = cluster.dsn(OWNER)
        await migrate(owner)
        filled = await anyio.to_thread.run_sync(fill_once, folder, owner, rows)
        found, sizes = await anyio.to_thread.run_sync(measure_scopes, owner, filled, questions)
    for line in [*write_found(rows, found), *write_capacity(filled, sizes)]:
        print(line, flush=True)
    scopes = {scope: asdict(row) for scope, row in found.items()}
    return {"facts": rows, "scopes": scopes, "bytes": sizes, "seconds": filled.seconds}


def main() -> None:
    """Measure each size in turn."""
    parser = argparse.ArgumentParser(description="Search among many facts.")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--json", type=Path, metavar="FILE", help="Write the figures there too.")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="Keep the memories there.")
    given = parser.parse_args()
    print(f"{tell_machine()}; {given.questions} questions a scope.")
    with contextlib.ExitStack() as stack:
        folder = given.keep or stack.enter_context(open_folder("scale"))
        figures = list[dict[str, Any]]()
        for rows in given.rows:
            place = folder / str(rows)
            place.mkdir(parents=True, exist_ok=True)
            place.chmod(0o755)
            figures.append(anyio.run(measure, place, rows, given.questions))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2), encoding="utf-8")
    print(f"measured on: {tell_machine()}", file=sys.stderr)


if __name__ == "__main__":
    main()
