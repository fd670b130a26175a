"""Recall of search on LoCoMo conversations: facts about speakers, and turns of dialog.

    python -m benchmarks.recall [path of the conversations] [--json FILE]
    python -m benchmarks.recall --provider ollama --model all-minilm
    python -m benchmarks.recall --provider encoder [--calibrate]
    python -m benchmarks.recall --task documents

Each conversation and task has a new database, which is filled through an MCP client. The task
`dated` stores each turn with the day of its session at the beginning of the text. After every ten
turns, the task `recap` also stores a long text that joins these turns. This text is never relevant,
but it contains some words of many questions.

Each question is searched in SQL by keywords alone, by vectors alone, and by both. For comparison,
it is also searched in two ways that need no server. `literal` finds texts that contain the whole
question. `words` finds texts that contain words of the question, and lists the texts with the most
words first. Both list newer texts before older texts.

A fact is relevant if its evidence and the evidence of the question share a turn. Recall@k is the
share of the relevant facts that are among the first k. It is averaged over all questions that have
a relevant fact.

The last line of a task is about questions that the memory cannot answer, because they are about
people of another conversation. It shows how much shorter the default least score makes the answer.

The task `documents` needs no conversations: see benchmarks/support/document_recall.py. It ingests
the sources and help texts of Python's own library with `textrawl ingest`, and asks 100 questions.
"""

import argparse
import json
import math
import re
import statistics
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import psycopg

from benchmarks.support.document_recall import measure_documents
from benchmarks.support.filled_memory import Document, open_filled_memory
from benchmarks.support.place import open_folder, tell_machine
from textrawl.embedded.cluster import Cluster, run_embedded
from textrawl.models.active_model import PROVIDERS
from textrawl.models.calibration import SAMPLE, measure_scale
from textrawl.models.embeddings import Embedder, compose_query

DATA = Path(__file__).parents[1] / "../shared/data/locomo_dev.json"
TASKS = ("facts", "turns", "dated", "recap")
GREPS = ("literal", "words")
MODES = ("keywords", "vectors", "hybrid")
ADVERSARIAL = 5  # category of questions that have no answer
LONGEST = 2_000  # characters of an observation
ROWS = 10
RECAP = 10  # turns
STRANGERS = 40  # questions of another conversation

_SEARCH = """
    select entity_name, content from search_memory(
        %s, max_rows => %s, model => %s, vector => %s, semantic => %s)"""
_LENGTH = """
    select coalesce(sum(length(entity_name) + length(content)), 0) from search_memory(
        %s, max_rows => %s, model => %s, vector => %s, least_score => %s)"""


@dataclass
class Scores:
    """Figures of one task and mode, with one value per question. Latencies are in seconds."""

    recall_5: list[float] = field(default_factory=list[float])
    recall_10: list[float] = field(default_factory=list[float])
    hit_10: list[float] = field(default_factory=list[float])
    mrr: list[float] = field(default_factory=list[float])
    ndcg_10: list[float] = field(default_factory=list[float])
    latencies: list[float] = field(default_factory=list[float])

    def add(self, hits: list[bool], relevant: int) -> None:
        """Add a question with `relevant` facts. `hits` is true for each relevant row found."""
        self.recall_5.append(sum(hits[:5]) / relevant)
        self.recall_10.append(sum(hits) / relevant)
        self.hit_10.append(float(any(hits)))
        self.mrr.append(next((1 / rank for rank, hit in enumerate(hits, 1) if hit), 0.0))
        gain = sum(1 / math.log2(rank + 1) for rank, hit in enumerate(hits, 1) if hit)
        best = sum(1 / math.log2(rank + 1) for rank in range(1, min(relevant, ROWS) + 1))
        self.ndcg_10.append(gain / best)

    def summarize(self) -> dict[str, float]:
        """Return percentages by name, and the median latency in milliseconds."""
        return {
            "recall@5": 100 * statistics.fmean(self.recall_5),
            "recall@10": 100 * statistics.fmean(self.recall_10),
            "hit@10": 100 * statistics.fmean(self.hit_10),
            "mrr": 100 * statistics.fmean(self.mrr),
            "ndcg@10": 100 * statistics.fmean(self.ndcg_10),
            "p50_ms": 1000 * statistics.median(self.latencies),
        }


@dataclass(frozen=True)
class Plan:
    """The conversations, the settings of the embedder, and the tasks of a run."""

    conversations: list[dict[str, Any]]
    chosen: dict[str, Any]
    tasks: Sequence[str]
    calibrated: bool

    def choose_strangers(self, place: int) -> list[str]:
        """Return questions of the conversation that follows the conversation at `place`."""
        other = self.conversations[(place + 1) % len(self.conversations)]
        answered = [q["question"] for q in other["questions"] if q["category"] != ADVERSARIAL]
        return answered[:STRANGERS] if len(self.conversations) > 1 else []


def collect_documents(conversation: dict[str, Any], task: str) -> dict[Document, set[str]]:
    """Return the texts to remember, each with the turns that are its evidence."""
    documents: dict[Document, set[str]] = defaultdict(set)
    if task == "facts":
        for fact in conversation["facts"]:
            documents[fact["entity"], fact["fact"][:LONGEST]].update(fact["evidence"])
    else:
        days: dict[str, str] = conversation["session_dates"] if task == "dated" else {}
        for turn in conversation["turns"]:
            # Remove the time of day from "1:56 pm on 8 May, 2023".
            day = days.get(str(turn.get("session")), "").rpartition(" on ")[2]
            text = " ".join((day, turn["text"], turn.get("caption", ""))).strip()
            documents[turn["speaker"], text[:LONGEST]].add(turn["id"])
    return add_recaps(documents) if task == "recap" else documents


def add_recaps(turns: dict[Document, set[str]]) -> dict[Document, set[str]]:
    """Return the turns. After every ten turns, a text of the entity Assistant repeats them."""
    documents = dict[Document, set[str]]()
    for place, (document, evidence) in enumerate(turns.items(), 1):
        documents[document] = evidence
        if place % RECAP == 0:
            texts = [text for _, text in list(turns)[place - RECAP : place]]
            documents["Assistant", "\n".join(texts)[:LONGEST].strip()] = set()
    return documents


def grep(mode: str, question: str, documents: Sequence[Document]) -> list[Document]:
    """Return the first rows that a search without an index finds, newest first."""
    text = question.lower()
    words = [text] if mode == "literal" else set(re.findall(r"\w+", text))
    found = [
        (sum(word in line for word in words), place)
        for place, line in enumerate(" ".join(document).lower() for document in documents)
    ]
    return [documents[place] for count, place in sorted(found, reverse=True)[:ROWS] if count]


async def embed(sql: psycopg.Connection[Any], embedder: Embedder, question: str) -> str:
    """Return the vector of a question for SQL, made as a server makes it."""
    names = sql.execute("select mention from named_entities(%s)", [question]).fetchall()
    text = compose_query(question, [name for (name,) in names])
    return str([float(x) for x in await embedder.embed_query(text)])


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
        vector = await embed(sql, embedder, text)
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


async def ask_about_strangers(
    sql: psycopg.Connection[Any], embedder: Embedder, questions: Sequence[str]
) -> tuple[int, int]:
    """Return the characters of the answers without and with the default least score."""
    [model] = sql.execute("select id from embedding_model").fetchone() or [None]
    everything = shown = 0
    for text in questions:
        vector = await embed(sql, embedder, text)
        for least in (0, None):
            [length] = sql.execute(_LENGTH, (text, ROWS, model, vector, least)).fetchone() or [0]
            everything += 0 if least is None else length
            shown += length if least is None else 0
    return everything, shown


async def measure(
    cluster: Cluster,
    plan: Plan,
    place: int,
    task: str,
    scores: dict[str, Scores],
) -> tuple[int, int]:
    """Fill a database with the conversation at `place`, and search it with the chosen embedder.

    Returns the lengths of the answers to questions about people of the next conversation.
    """
    conversation = plan.conversations[place]
    documents = collect_documents(conversation, task)
    name = f"{conversation['id']}-{task}"
    async with open_filled_memory(cluster, name, documents, plan.chosen) as (sql, embedder):
        if plan.calibrated:
            await calibrate(sql, embedder)
        await ask(sql, embedder, conversation["questions"], documents, scores)
        return await ask_about_strangers(sql, embedder, plan.choose_strangers(place))


async def calibrate(sql: psycopg.Connection[Any], embedder: Embedder) -> None:
    """Measure the scale of the model with the facts, as `textrawl embed calibrate` does."""
    facts = sql.execute("select * from sample_facts(%s)", [SAMPLE]).fetchall()
    scale = await measure_scale(embedder, facts, lambda _: None)
    print(f"{'':16}{scale}")
    arguments = (embedder.name, scale.floor, scale.ceiling, scale.trust)
    sql.execute("select calibrate_embedding_model(%s, %s, %s, %s)", arguments)


async def run(plan: Plan, folder: Path) -> list[dict[str, Any]]:
    """Print a line for each task and mode. Postgres keeps its data in `folder`."""
    rows = list[dict[str, Any]]()
    async with run_embedded(folder) as cluster:
        print(f"{'':16}{'R@5':>8}{'R@10':>8}{'hit@10':>8}{'MRR':>8}{'nDCG@10':>8}{'p50 ms':>8}")
        for task in plan.tasks:
            scores = {mode: Scores() for mode in (*GREPS, *MODES)}
            places = range(len(plan.conversations))
            lengths = [await measure(cluster, plan, place, task, scores) for place in places]
            rows += print_scores(task, scores)
            everything, shown = (sum(column) for column in zip(*lengths, strict=True))
            saved = 100 * (1 - shown / everything) if everything else 0.0
            print(f"{task:6}strangers: answers are {saved:.0f} % shorter", flush=True)
            rows.append({"task": task, "arm": "strangers", "saved": saved})
    return rows


def print_scores(task: str, scores: dict[str, Scores]) -> list[dict[str, Any]]:
    """Print a line for each mode of a task, and return the figures."""
    rows = list[dict[str, Any]]()
    for mode, found in scores.items():
        figures = found.summarize()
        *shares, median = figures.values()
        line = "".join(f"{share:8.1f}" for share in shares)
        print(f"{task:6}{mode:10}{line}{median:8.2f}", flush=True)
        rows.append({"task": task, "arm": mode, **figures})
    return rows


def parse() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description="Recall of search on LoCoMo conversations.")
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--provider", choices=PROVIDERS, default="local")
    parser.add_argument("--model", help="model of the provider; default: the provider's default")
    parser.add_argument("--calibrate", action="store_true", help="measure the model's scale first")
    tasks = (*TASKS, "documents")
    parser.add_argument("--task", action="append", choices=tasks, help="default: the first four")
    parser.add_argument("--most", type=int, metavar="N", help="with `documents`: N of each kind")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    return parser.parse_args()


def main() -> None:
    """Read the conversations and measure, or print that the conversations are missing."""
    given = parse()
    tasks = [task for task in given.task or TASKS if task != "documents"]
    if tasks and not given.data.is_file():
        print(f"{given.data} does not exist. Name a file of LoCoMo conversations.")
        return
    chosen = {"embedding_provider": given.provider, "embedding_model": given.model}
    rows = list[dict[str, Any]]()
    if "documents" in (given.task or ()):
        with open_folder("documents") as folder:
            rows += anyio.run(measure_documents, folder, chosen, given.most)
    if tasks:
        with open_folder("recall") as folder:
            plan = Plan(json.loads(given.data.read_text("utf-8")), chosen, tasks, given.calibrate)
            rows += anyio.run(run, plan, folder)
    if given.json:
        content = {"machine": tell_machine(), **chosen, "rows": rows}
        given.json.write_text(json.dumps(content, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
