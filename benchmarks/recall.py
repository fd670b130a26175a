"""Recall of search on LoCoMo conversations: facts about speakers, and turns of dialog.

    python -m benchmarks.recall [path of the conversations] [--json FILE]
    python -m benchmarks.recall --provider ollama --model all-minilm

One fresh database a conversation and task, filled through an MCP client. `dated` are the turns
with the day of their session in front, as a client that stores what was said may write them (no
parameter of the tools says when). Each question is searched in SQL by keywords alone, by vectors
alone and by both, and beside it in two ways that need no server: `literal`, the question as a
part of the text, and `words`, any of its words, most of them first; the newest first in both.
Recall@k is the share of a question's relevant facts among the first k, averaged over the
questions that have any; a fact is relevant if its evidence shares a turn with the question's.
"""

import argparse
import json
import math
import re
import statistics
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import psycopg
from mcp import Client
from psycopg.sql import SQL, Identifier
from pydantic import SecretStr

from benchmarks.support.place import enrol, open_folder, tell_machine
from textrawl import Settings, create_server, migrate
from textrawl.embedded.cluster import Cluster, run_embedded
from textrawl.embedded.configuration import APP, OWNER, SUPERUSER
from textrawl.embeddings import Embedder, choose_embedder

DATA = Path(__file__).parents[1] / "../shared/data/locomo_dev.json"
TASKS = ("facts", "turns", "dated")
GREPS = ("literal", "words")
MODES = ("keywords", "vectors", "hybrid")
ADVERSARIAL = 5  # category of questions that have no answer
BATCH = 50  # facts that build_knowledge takes at once
LONGEST = 2_000  # characters of an observation
ROWS = 10

_SEARCH = """
    select entity_name, content from search_memory(
        %s, max_rows => %s, model => %s, vector => %s, semantic => %s)"""

Document = tuple[str, str]
"""Entity and observation."""


@dataclass
class Scores:
    """Figures of one task and mode, a value per question; latencies in seconds."""

    recall_5: list[float] = field(default_factory=list[float])
    recall_10: list[float] = field(default_factory=list[float])
    hit_10: list[float] = field(default_factory=list[float])
    mrr: list[float] = field(default_factory=list[float])
    ndcg_10: list[float] = field(default_factory=list[float])
    latencies: list[float] = field(default_factory=list[float])

    def add(self, hits: list[bool], relevant: int) -> None:
        """Count a question with `relevant` facts, given which of the rows found are among them."""
        self.recall_5.append(sum(hits[:5]) / relevant)
        self.recall_10.append(sum(hits) / relevant)
        self.hit_10.append(float(any(hits)))
        self.mrr.append(next((1 / rank for rank, hit in enumerate(hits, 1) if hit), 0.0))
        gain = sum(1 / math.log2(rank + 1) for rank, hit in enumerate(hits, 1) if hit)
        best = sum(1 / math.log2(rank + 1) for rank in range(1, min(relevant, ROWS) + 1))
        self.ndcg_10.append(gain / best)

    def summarize(self) -> dict[str, float]:
        """Percentages by name, and the median latency in milliseconds."""
        return {
            "recall@5": 100 * statistics.fmean(self.recall_5),
            "recall@10": 100 * statistics.fmean(self.recall_10),
            "hit@10": 100 * statistics.fmean(self.hit_10),
            "mrr": 100 * statistics.fmean(self.mrr),
            "ndcg@10": 100 * statistics.fmean(self.ndcg_10),
            "p50_ms": 1000 * statistics.median(self.latencies),
        }


def collect_documents(conversation: dict[str, Any], task: str) -> dict[Document, set[str]]:
    """Return the texts to remember, each with the turns that it rests on."""
    documents: dict[Document, set[str]] = defaultdict(set)
    if task == "facts":
        for fact in conversation["facts"]:
            documents[fact["entity"], fact["fact"][:LONGEST]].update(fact["evidence"])
    else:
        days: dict[str, str] = conversation["session_dates"] if task == "dated" else {}
        for turn in conversation["turns"]:
            # The hour goes from "1:56 pm on 8 May, 2023".
            day = days.get(str(turn.get("session")), "").rpartition(" on ")[2]
            text = " ".join((day, turn["text"], turn.get("caption", ""))).strip()
            documents[turn["speaker"], text[:LONGEST]].add(turn["id"])
    return documents


async def remember(client: Client, documents: dict[Document, set[str]]) -> None:
    """Store documents through the tool."""
    facts = [
        {"entityName": entity, "entityType": "person", "observation": text}
        for entity, text in documents
    ]
    for start in range(0, len(facts), BATCH):
        reply = await client.call_tool("build_knowledge", {"facts": facts[start : start + BATCH]})
        if reply.is_error:
            raise RuntimeError(reply.content)


@asynccontextmanager
async def open_database(cluster: Cluster, name: str) -> AsyncGenerator[str]:
    """Yield a fresh, migrated database; its name."""
    with psycopg.connect(cluster.dsn(SUPERUSER, "postgres"), autocommit=True) as own:
        own.execute(SQL("create database {} owner {}").format(Identifier(name), Identifier(OWNER)))
    with psycopg.connect(cluster.dsn(SUPERUSER, name), autocommit=True) as own:
        own.execute("create extension vector")
    await migrate(cluster.dsn(OWNER, name))
    yield name
    with psycopg.connect(cluster.dsn(SUPERUSER, "postgres"), autocommit=True) as own:
        own.execute(SQL("drop database {} with (force)").format(Identifier(name)))


def grep(mode: str, question: str, documents: Sequence[Document]) -> list[Document]:
    """Return the first rows that a search without any index gives, the newest first."""
    text = question.lower()
    words = [text] if mode == "literal" else set(re.findall(r"\w+", text))
    found = [
        (sum(word in line for word in words), place)
        for place, line in enumerate(" ".join(document).lower() for document in documents)
    ]
    return [documents[place] for count, place in sorted(found, reverse=True)[:ROWS] if count]


async def ask(
    sql: psycopg.Connection[Any],
    embedder: Embedder,
    questions: list[dict[str, Any]],
    documents: dict[Document, set[str]],
    scores: dict[str, Scores],
) -> None:
    """Search for every question in every mode."""
    lines = list(documents)
    [model] = sql.execute("select id from embedding_model").fetchone() or [None]
    for question in questions:
        evidence = set(question["evidence"])
        relevant = sum(bool(turns & evidence) for turns in documents.values())
        if question["category"] == ADVERSARIAL or not relevant:
            continue
        text = question["question"]
        vector = str([float(x) for x in await embedder.embed_query(text)])
        for mode in (*GREPS, *MODES):
            known = (None, None) if mode == "keywords" else (model, vector)
            begin = time.perf_counter()
            if mode in GREPS:
                rows = grep(mode, text, lines)
            else:
                arguments = (text, ROWS, *known, mode == "vectors")
                rows = sql.execute(_SEARCH, arguments).fetchall()
            scores[mode].latencies.append(time.perf_counter() - begin)
            hits = [bool(documents[name, content] & evidence) for name, content in rows]
            scores[mode].add(hits, relevant)


async def measure(
    cluster: Cluster,
    chosen: dict[str, Any],
    conversation: dict[str, Any],
    task: str,
    scores: dict[str, Scores],
) -> None:
    """Fill a database with one conversation and searches it with the embedder of `chosen`."""
    documents = collect_documents(conversation, task)
    async with open_database(cluster, f"{conversation['id']}-{task}") as name:
        token = SecretStr(enrol(cluster.dsn(OWNER, name)))
        url = SecretStr(cluster.dsn(APP, name))
        settings = Settings(database_url=url, access_token=token, **chosen)
        embedder = choose_embedder(settings)
        assert embedder is not None
        async with Client(create_server(settings)) as client:
            await remember(client, documents)
        with psycopg.connect(cluster.dsn(OWNER, name), autocommit=True) as sql:
            sql.execute("set search_path = textrawl, public")
            sql.execute("select refresh_search_statistics(force => true)")
            await ask(sql, embedder, conversation["questions"], documents, scores)
        await embedder.aclose()


async def run(
    conversations: list[dict[str, Any]], chosen: dict[str, Any], folder: Path
) -> list[dict[str, Any]]:
    """Print a line for every task and mode; Postgres keeps its data in `folder`."""
    rows = list[dict[str, Any]]()
    async with run_embedded(folder) as cluster:
        print(f"{'':16}{'R@5':>8}{'R@10':>8}{'hit@10':>8}{'MRR':>8}{'nDCG@10':>8}{'p50 ms':>8}")
        for task in TASKS:
            scores = {mode: Scores() for mode in (*GREPS, *MODES)}
            for conversation in conversations:
                await measure(cluster, chosen, conversation, task, scores)
            for mode, found in scores.items():
                figures = found.summarize()
                *shares, median = figures.values()
                line = "".join(f"{share:8.1f}" for share in shares)
                print(f"{task:6}{mode:10}{line}{median:8.2f}", flush=True)
                rows.append({"task": task, "arm": mode, **figures})
    return rows


def main() -> None:
    """Read the conversations and measures, or says that they are not there."""
    parser = argparse.ArgumentParser(description="Recall of search on LoCoMo conversations.")
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--provider", choices=("local", "ollama", "openai"), default="local")
    parser.add_argument("--model", help="of the provider; its own default if not named")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    given = parser.parse_args()
    if not given.data.is_file():
        print(f"{given.data} is not there: nothing measured. Name a file of LoCoMo conversations.")
        return
    chosen = {"embedding_provider": given.provider, "embedding_model": given.model}
    with open_folder("recall") as folder:
        rows = anyio.run(run, json.loads(given.data.read_text("utf-8")), chosen, folder)
    if given.json:
        content = {"machine": tell_machine(), **chosen, "rows": rows}
        given.json.write_text(json.dumps(content, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
