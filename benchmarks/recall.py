"""Recall of search on LoCoMo conversations: facts about speakers, and turns of dialog.

    python -m benchmarks.recall [path of the conversations]

One fresh database a conversation and task, filled through an MCP client, with the local embedder.
Each question is then searched in SQL by keywords alone, by vectors alone and by both. Recall@k is
the share of a question's relevant facts among the first k, averaged over the questions that have
any; a fact is relevant if its evidence shares a turn with the question's.
"""

import argparse
import json
import math
import statistics
import time
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import psycopg
from mcp import Client
from psycopg.sql import SQL, Identifier
from pydantic import SecretStr

from benchmarks.place import enrol, open_folder
from textrawl import Settings, create_server, migrate
from textrawl.embedded.cluster import Cluster, run_embedded
from textrawl.embedded.configuration import APP, OWNER, SUPERUSER
from textrawl.embeddings.local import LocalEmbedder

DATA = Path(__file__).parents[1] / "../shared/data/locomo_dev.json"
TASKS = ("facts", "turns")
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
        """Counts a question with `relevant` facts, given which of the rows found are among them."""
        self.recall_5.append(sum(hits[:5]) / relevant)
        self.recall_10.append(sum(hits) / relevant)
        self.hit_10.append(float(any(hits)))
        self.mrr.append(next((1 / rank for rank, hit in enumerate(hits, 1) if hit), 0.0))
        gain = sum(1 / math.log2(rank + 1) for rank, hit in enumerate(hits, 1) if hit)
        best = sum(1 / math.log2(rank + 1) for rank in range(1, min(relevant, ROWS) + 1))
        self.ndcg_10.append(gain / best)

    def describe(self) -> str:
        """A line of the table: percentages, and the median latency in milliseconds."""
        quality = (self.recall_5, self.recall_10, self.hit_10, self.mrr, self.ndcg_10)
        figures = "".join(f"{100 * statistics.fmean(values):8.1f}" for values in quality)
        return f"{figures}{1000 * statistics.median(self.latencies):8.2f}"


def collect_documents(conversation: dict[str, Any], task: str) -> dict[Document, set[str]]:
    """What to remember, with the turns that each rests on."""
    documents: dict[Document, set[str]] = defaultdict(set)
    if task == "facts":
        for fact in conversation["facts"]:
            documents[fact["entity"], fact["fact"][:LONGEST]].update(fact["evidence"])
    else:
        for turn in conversation["turns"]:
            text = " ".join((turn["text"], turn.get("caption", ""))).strip()
            documents[turn["speaker"], text[:LONGEST]].add(turn["id"])
    return documents


async def remember(client: Client, documents: dict[Document, set[str]]) -> None:
    """Stores documents through the tool."""
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
    """A fresh, migrated database; its name."""
    with psycopg.connect(cluster.dsn(SUPERUSER, "postgres"), autocommit=True) as own:
        own.execute(SQL("create database {} owner {}").format(Identifier(name), Identifier(OWNER)))
    with psycopg.connect(cluster.dsn(SUPERUSER, name), autocommit=True) as own:
        own.execute("create extension vector")
    await migrate(cluster.dsn(OWNER, name))
    yield name
    with psycopg.connect(cluster.dsn(SUPERUSER, "postgres"), autocommit=True) as own:
        own.execute(SQL("drop database {} with (force)").format(Identifier(name)))


async def ask(
    sql: psycopg.Connection[Any], questions: list[dict[str, Any]],
    documents: dict[Document, set[str]], scores: dict[str, Scores],
) -> None:  # fmt: skip
    """Searches every question in every mode."""
    embedder = LocalEmbedder()
    [model] = sql.execute("select id from embedding_model").fetchone() or [None]
    for question in questions:
        evidence = set(question["evidence"])
        relevant = sum(bool(turns & evidence) for turns in documents.values())
        if question["category"] == ADVERSARIAL or not relevant:
            continue
        vector = str([float(x) for x in await embedder.embed_query(question["question"])])
        for mode in MODES:
            known = (None, None) if mode == "keywords" else (model, vector)
            begin = time.perf_counter()
            arguments = (question["question"], ROWS, *known, mode == "vectors")
            rows = sql.execute(_SEARCH, arguments).fetchall()
            scores[mode].latencies.append(time.perf_counter() - begin)
            hits = [bool(documents[name, content] & evidence) for name, content in rows]
            scores[mode].add(hits, relevant)


async def measure(
    cluster: Cluster, conversation: dict[str, Any], task: str, scores: dict[str, Scores]
) -> None:
    """Fills a database with one conversation and searches it."""
    documents = collect_documents(conversation, task)
    async with open_database(cluster, f"{conversation['id']}-{task}") as name:
        token = SecretStr(enrol(cluster.dsn(OWNER, name)))
        url = SecretStr(cluster.dsn(APP, name))
        settings = Settings(database_url=url, access_token=token, embedding_provider="local")
        async with Client(create_server(settings)) as client:
            await remember(client, documents)
        with psycopg.connect(cluster.dsn(OWNER, name), autocommit=True) as sql:
            sql.execute("set search_path = textrawl, public")
            sql.execute("select refresh_search_statistics(force => true)")
            await ask(sql, conversation["questions"], documents, scores)


async def run(conversations: list[dict[str, Any]], folder: Path) -> None:
    """Prints a line for every task and mode; Postgres keeps its data in `folder`."""
    async with run_embedded(folder) as cluster:
        print(f"{'':16}{'R@5':>8}{'R@10':>8}{'hit@10':>8}{'MRR':>8}{'nDCG@10':>8}{'p50 ms':>8}")
        for task in TASKS:
            scores = {mode: Scores() for mode in MODES}
            for conversation in conversations:
                await measure(cluster, conversation, task, scores)
            for mode in MODES:
                print(f"{task:6}{mode:10}{scores[mode].describe()}", flush=True)


def main() -> None:
    """Reads the conversations and measures, or says that they are not there."""
    parser = argparse.ArgumentParser(description="Recall of search on LoCoMo conversations.")
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    data: Path = parser.parse_args().data
    if not data.is_file():
        print(f"{data} is not there: nothing measured. Name a file of LoCoMo conversations.")
        return
    with open_folder("recall") as folder:
        anyio.run(run, json.loads(data.read_text("utf-8")), folder)


if __name__ == "__main__":
    main()
