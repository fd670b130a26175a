"""A search beside the simplest statement that could do its work.

    python -m benchmarks.floor [--facts 1000 10000 100000] [--keep FOLDER] [--statement FILE]

The plain statement is in `../shared/spec/floor.sql`: candidates by vectors, candidates by words,
one sum, ten rows. `:v` is the vector of the question, `:q` are its words, and embedding_1 is the
table of the vectors. It is prepared once, with a generic plan. `search_memory` with a query, a
model and a vector runs in the same session, with the same questions, in turn. Questions are six
words of one fact of benchmarks.support.synthetic.

The table has the median milliseconds of both, and the median of their ratio in ten rounds, with its
95 % interval. It prints Markdown.
"""

import argparse
import re
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import anyio.to_thread
import numpy as np
import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import sql

from benchmarks.latency import SEARCH, sample_work
from benchmarks.support.place import open_folder, tell_machine
from benchmarks.support.synthetic import fill_once
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import OWNER
from textrawl.models.local import LocalEmbedder

STATEMENT = Path(__file__).parents[1] / "../shared/spec/floor.sql"
ROUNDS, QUESTIONS, WARM = 10, 30, 30

_SEARCH = "select * from textrawl.search_memory(%s, model => %s, vector => %s)"


class Figures(NamedTuple):
    """Milliseconds of the plain statement and of the search, one value a round."""

    plain: list[float]
    search: list[float]

    @property
    def ratios(self) -> list[float]:
        """The times of the search, divided by those of the plain statement, a round each."""
        return [search / plain for plain, search in zip(self.plain, self.search, strict=True)]


def read_statement(path: Path, model: int) -> sql.SQL:
    """Return the plain statement, with the table of the vectors of `model`."""
    text = re.sub(r"--.*", "", path.read_text("utf-8")).strip().rstrip(";").replace("%", "%%")
    text = text.replace("embedding_1", f"embedding_{model}")
    return sql.SQL(re.sub(r"(?<!:):([vq])\b", r"%(\1)s", text))  # pyright: ignore[reportArgumentType]


async def make_questions(owner: str, count: int) -> list[tuple[str, HalfVector]]:
    """Return questions of six words with their vectors."""
    work, embedder = sample_work(owner), LocalEmbedder()
    texts = [work.kinds[SEARCH]()[1]["query"] for _ in range(count)]
    return [(text, HalfVector(await embedder.embed_query(text))) for text in texts]


def measure(owner: str, path: Path) -> Figures:
    """Ask the questions of each round in both ways, in turn."""
    questions = anyio.run(make_questions, owner, QUESTIONS * ROUNDS + WARM)
    figures = Figures([], [])
    with psycopg.connect(owner, autocommit=True, prepare_threshold=0) as session:
        register_vector(session)
        session.execute("set search_path = textrawl, public")
        row = session.execute("select id from embedding_model where status = 'active'").fetchone()
        assert row is not None
        [model] = row
        plainly = read_statement(path, model)
        session.execute("set plan_cache_mode = force_generic_plan")
        ask_both(session, plainly, model, questions[:WARM])
        for start in range(WARM, len(questions), QUESTIONS):
            plain, search = ask_both(session, plainly, model, questions[start : start + QUESTIONS])
            figures.plain.append(plain)
            figures.search.append(search)
    return figures


def ask_both(
    session: psycopg.Connection[Any],
    plainly: sql.SQL,
    model: int,
    questions: Sequence[tuple[str, HalfVector]],
) -> tuple[float, float]:
    """Return the median milliseconds of the plain statement and of the search."""
    plain, search = list[float](), list[float]()
    for query, vector in questions:
        begin = time.perf_counter()
        session.execute(plainly, {"v": vector, "q": query}).fetchall()
        middle = time.perf_counter()
        session.execute(_SEARCH, (query, model, vector)).fetchall()
        plain.append(1000 * (middle - begin))
        search.append(1000 * (time.perf_counter() - middle))
    return statistics.median(plain), statistics.median(search)


async def print_row(folder: Path, size: int, statement: Path) -> None:
    """Fill a memory and print its row."""
    async with run_embedded(folder) as cluster:
        owner = cluster.dsn(OWNER)
        await migrate(owner)
        await anyio.to_thread.run_sync(fill_once, folder, owner, size)
        plain, search = figures = await anyio.to_thread.run_sync(measure, owner, statement)
    ratio = np.array(figures.ratios)
    drawn = np.random.default_rng(1).choice(ratio, (2_000, len(ratio)))
    low, high = np.percentile(np.median(drawn, axis=1), (2.5, 97.5))
    print(
        f"| {size:,} | {statistics.median(plain):.2f} | {statistics.median(search):.2f} "
        f"| {np.median(ratio):.2f} [{low:.2f}, {high:.2f}] |",
        flush=True,
    )


def main() -> None:
    """Measure each size in turn."""
    parser = argparse.ArgumentParser(description="A search beside a plain statement.")
    parser.add_argument("--facts", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--keep", type=Path, help="a folder for the memories of the next run")
    parser.add_argument("--statement", type=Path, default=STATEMENT)
    given = parser.parse_args()
    print(f"{tell_machine()}; {ROUNDS} rounds of {QUESTIONS} questions.\n")
    print("| facts | plain ms | search_memory ms | ratio |\n|---:|---:|---:|---:|")
    with open_folder("floor") as temporary:
        for size in given.facts:
            place = (given.keep or temporary) / str(size)
            place.mkdir(parents=True, exist_ok=True)
            place.chmod(0o755)
            anyio.run(print_row, place, size, given.statement)


if __name__ == "__main__":
    main()
