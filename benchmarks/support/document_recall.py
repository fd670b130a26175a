"""The task `documents` of benchmarks.recall: Python's library, ingested by the command.

It prints how fast `textrawl ingest` stores texts, makes vectors, and finds that nothing is new.
Then it prints the share of questions whose right document is the first answer, among the first five
chunks, and among the first five documents. All chunks of an answer fit the limit of a public graph.
"""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.support.library import read_questions, write_corpus
from textrawl import Settings, migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import OWNER
from textrawl.models.choice import choose_embedder
from textrawl.models.embeddings import Embedder
from textrawl.settings import read_foreign_environment

MODES = ("keywords", "vectors", "hybrid")
SHOWN, ROWS = 5, 20
LEAST_SCORE = 0.3  # the default of the tool recall
_SEARCH = """
    select entity_name from search_memory(%s, sources => array['documents'], max_rows => %s,
        model => %s, vector => %s, semantic => %s, least_score => %s)
    where content is not null order by score desc"""
_OURS = Path(__file__).parents[2]


async def measure_documents(
    folder: Path, chosen: dict[str, Any], most: int | None
) -> list[dict[str, Any]]:
    """Ingest the corpus with the command, ask all questions, and print a line for each figure.

    The corpus has at most `most` documents of each kind. Postgres keeps its data in `folder`.
    """
    corpus, data = folder / "corpus", folder / "data"
    documents = write_corpus(corpus, most)
    async with run_embedded(data) as cluster:
        await migrate(cluster.dsn(OWNER))
        with psycopg.connect(cluster.dsn(OWNER), autocommit=True) as sql:
            sql.execute("set search_path = textrawl, public")
            sql.execute("select create_space('library', tier => 'public')")
            rows = ingest(corpus, data, chosen, documents)
            sql.execute("select refresh_search_statistics(force => true)")
            embedder = choose_embedder(Settings(**chosen))
            assert embedder is not None
            heads = ("first", "5 chunks", "5 documents", "p50 ms")
            print(f"{'':10}" + "".join(f"{head:>14}" for head in heads))
            try:
                rows += [await ask(sql, embedder, mode) for mode in MODES]
            finally:
                await embedder.aclose()
    return rows


def ingest(
    corpus: Path, data: Path, chosen: dict[str, Any], documents: int
) -> list[dict[str, Any]]:
    """Run the command three times: without vectors, for the vectors, and without changes."""
    environment = read_foreign_environment() | {"TEXTRAWL_DATA_DIR": str(data)}
    given = {f"TEXTRAWL_{name.upper()}": str(value) for name, value in chosen.items() if value}
    rows = list[dict[str, Any]]()
    chunks = 0
    for step, provider in (
        ("texts", {"TEXTRAWL_EMBEDDING_PROVIDER": "none"}),
        ("vectors", given),
        ("nothing new", given),
    ):
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "textrawl", "ingest", str(corpus), "--json"],
            env=environment | {"PYTHONPATH": str(_OURS)} | provider,
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.perf_counter() - began
        report = json.loads(done.stdout)
        chunks = chunks or report["chunks"]
        rows.append({"task": "documents", "arm": step, "seconds": seconds, "chunks": chunks})
        rate = f"{chunks / seconds:,.0f} chunks a second"
        print(f"ingest, {step}: {documents} files, {chunks:,} chunks, {seconds:.1f} s, {rate}")
        for refusal in report["refused"]:
            print(f"  refused: {refusal['file']}: {refusal['reason']}")
    return rows


async def ask(sql: psycopg.Connection[Any], embedder: Embedder, mode: str) -> dict[str, Any]:
    """Ask every question in one mode, and print how often the right document came first."""
    [model] = sql.execute("select id from embedding_model").fetchone() or [None]
    chunks, documents = list[int | None](), list[int | None]()
    latencies, missed = list[float](), list[str]()
    for question in read_questions():
        vector = str([float(x) for x in await embedder.embed_query(question.text)])
        known = (None, None) if mode == "keywords" else (model, vector)
        begin = time.perf_counter()
        arguments = (question.text, ROWS, *known, mode == "vectors", LEAST_SCORE)
        found = sql.execute(_SEARCH, arguments).fetchall()
        latencies.append(time.perf_counter() - begin)
        labels = [label.removeprefix("corpus/") for (label,) in found]
        chunks.append(question.find(labels[:SHOWN]))
        documents.append(question.find(list(dict.fromkeys(labels))[:SHOWN]))
        if documents[-1] is None:
            missed.append(question.text)
    figures = {
        "first": 100 * statistics.fmean(place == 1 for place in chunks),
        "chunks@5": 100 * statistics.fmean(place is not None for place in chunks),
        "documents@5": 100 * statistics.fmean(place is not None for place in documents),
        "p50_ms": 1000 * statistics.median(latencies),
    }
    line = "".join(f"{figure:14.1f}" for figure in figures.values())
    print(f"{mode:10}{line}", flush=True)
    return {"task": "documents", "arm": mode, **figures, "missed": missed}
