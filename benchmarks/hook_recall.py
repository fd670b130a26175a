"""The least score of hooks: which prompts get facts, and whether these facts help.

    python -m benchmarks.hook_recall [path of the LoCoMo conversations] [--json FILE] [--long 200]

First, prompts in which the question stands before, after or among pasted logs, stack traces, diffs
and code (benchmarks.support.long_prompts): the share that finds the fact that the question alone
finds, with the default least score. The memory also has the facts of the first conversation.

Each conversation has a new database, which is filled through an MCP client: once with facts about
the speakers (`facts`), once with the turns of the dialog (`turns`). The task `together` stores the
facts of all conversations in one database. Three kinds of prompts are then searched as a hook
searches them:

- related: the questions of the same conversation that have an answer,
- foreign: questions about people of another conversation; not in the task `together`,
- coding: what programmers write to an agent, which has nothing to do with the memory.

For each least score, a line shows the share of prompts of each kind that get any fact. `evidence`
is the share of related prompts that get at least one fact that answers them. `tokens` are the mean
cost of an answer that has facts. All answers keep to the default budget of a hook.
"""

import argparse
import json
import statistics
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import psycopg

from benchmarks.recall import ADVERSARIAL, DATA, collect_documents
from benchmarks.support.coding_prompts import CODING_PROMPTS
from benchmarks.support.filled_memory import Document, open_filled_memory
from benchmarks.support.long_prompts import KNOWN, Known, list_long_prompts
from benchmarks.support.place import open_folder, tell_machine
from textrawl.embedded.cluster import Cluster, run_embedded
from textrawl.hooks.response import write_query
from textrawl.hooks.transcripts import FRAME_TOKENS
from textrawl.models.embeddings import Embedder
from textrawl.values.condensation import SHORT_PROMPT, read_prose
from textrawl.values.word_lists import LEAST_SCORE, RECALL_TOKENS
from textrawl.wire.token_counter import choose_counter

TASKS = ("facts", "turns", "together")
BARS = (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)
ROWS = 10
FOREIGN = 100  # questions of another conversation

_SEARCH = """
    select entity_name, content, score from search_memory(
        %s, max_rows => %s, model => %s, vector => %s, least_score => 0)"""


class Prompt(NamedTuple):
    """A prompt of one kind. `evidence` are the turns that answer it."""

    kind: str
    text: str
    evidence: frozenset[str] = frozenset()


class Row(NamedTuple):
    """A fact that was found: its score, its tokens, and whether it answers the prompt."""

    score: float
    tokens: int
    helps: bool


class Found(NamedTuple):
    """What a prompt found, best first."""

    kind: str
    rows: tuple[Row, ...]

    def cut(self, bar: float) -> list[Row]:
        """Return the rows that a hook with this least score gives, within its budget."""
        shown, left = list[Row](), RECALL_TOKENS - FRAME_TOKENS
        for row in self.rows:
            left -= row.tokens
            if row.score < bar or left < 0:
                break
            shown.append(row)
        return shown


def join(conversations: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return all conversations as one. The names of turns then begin with the conversation's."""
    joined: dict[str, Any] = {"id": "together", "facts": [], "questions": []}
    for conversation in conversations:
        for part in ("facts", "questions"):
            for item in conversation[part]:
                evidence = [f"{conversation['id']} {turn}" for turn in item["evidence"]]
                joined[part].append({**item, "evidence": evidence})
    return joined


def list_prompts(conversations: Sequence[dict[str, Any]], place: int) -> list[Prompt]:
    """Return the prompts of all kinds for the conversation at `place`."""
    other = conversations[(place + 1) % len(conversations)]
    foreign = [q["question"] for q in other["questions"] if q["category"] != ADVERSARIAL]
    return [
        *(
            Prompt("related", question["question"], frozenset(question["evidence"]))
            for question in conversations[place]["questions"]
            if question["category"] != ADVERSARIAL
        ),
        *(Prompt("foreign", text) for text in foreign[:FOREIGN] if len(conversations) > 1),
        *(Prompt("coding", text) for text in CODING_PROMPTS),
    ]


async def search(
    sql: psycopg.Connection[Any],
    embedder: Embedder,
    prompts: Sequence[Prompt],
    documents: dict[Document, set[str]],
) -> list[Found]:
    """Search for every prompt, without a least score."""
    [model] = sql.execute("select id from embedding_model").fetchone() or [None]
    counter = choose_counter()
    found = list[Found]()
    for prompt in prompts:
        query = write_query(prompt.text)
        vector = str([float(x) for x in await embedder.embed_query(query)])
        rows = sql.execute(_SEARCH, (query, ROWS, model, vector)).fetchall()
        facts = [
            Row(
                float(score),
                counter.count(f"{name} (person)\n57 {content}\n"),
                bool(documents[name, content] & prompt.evidence),
            )
            for name, content, score in rows
        ]
        found.append(Found(prompt.kind, tuple(facts)))
    return found


async def measure(
    cluster: Cluster, conversations: Sequence[dict[str, Any]], place: int, task: str
) -> list[Found]:
    """Fill a database with the conversation at `place`, and search it for all prompts."""
    documents = collect_documents(conversations[place], "turns" if task == "turns" else "facts")
    name = f"hooks-{conversations[place]['id']}-{task}"
    chosen = {"embedding_provider": "local"}
    async with open_filled_memory(cluster, name, documents, chosen) as (sql, embedder):
        return await search(sql, embedder, list_prompts(conversations, place), documents)


def summarize(found: Sequence[Found], bar: float) -> dict[str, float]:
    """Return shares in per cent, and the mean tokens of an answer, for one least score."""
    groups = defaultdict[str, list[list[Row]]](list)
    for prompt in found:
        groups[prompt.kind].append(prompt.cut(bar))
    spoken = [sum(row.tokens for row in rows) for rows in groups["related"] if rows]
    helped = [any(row.helps for row in rows) for rows in groups["related"]]
    shares = {kind: 100 * statistics.fmean(map(bool, rows)) for kind, rows in groups.items()}
    return {
        "least score": bar,
        **shares,
        "evidence": 100 * statistics.fmean(helped),
        "tokens": FRAME_TOKENS + statistics.fmean(spoken) if spoken else 0.0,
    }


async def measure_long(
    cluster: Cluster, conversations: Sequence[dict[str, Any]], count: int
) -> dict[str, list[bool]]:
    """Return by kind and place of pasted texts which prompts find their fact, as hooks search.

    Prompts whose question alone does not find the fact are left out.
    """
    others = collect_documents(conversations[0], "facts") if conversations else {}
    documents: dict[Document, set[str]] = {(one.entity, one.fact): set() for one in KNOWN}
    found = defaultdict[str, list[bool]](list)
    chosen = {"embedding_provider": "local"}
    async with open_filled_memory(cluster, "long", {**documents, **others}, chosen) as (sql, model):
        able = {one for one in KNOWN if await finds(sql, model, one.question, one)}
        print(f"{len(able)} of {len(KNOWN)} questions alone find their facts")
        for prompt in list_long_prompts(count):
            if prompt.known in able:
                good = await finds(sql, model, prompt.text, prompt.known)
                for key in (prompt.kind, prompt.place, "all"):
                    found[key].append(good)
    return found


async def finds(sql: psycopg.Connection[Any], embedder: Embedder, text: str, known: Known) -> bool:
    """Return whether a hook with the default least score gives the fact for this prompt."""
    query = write_query(text)
    if len(query) > SHORT_PROMPT:
        prose = read_prose(query)
        keys = sql.execute("select known_names(%s)", ([*prose.keys],)).fetchall()
        query = prose.write_query([key for [key] in keys])
    [model] = sql.execute("select id from embedding_model").fetchone() or [None]
    vector = str([float(x) for x in await embedder.embed_query(query)])
    rows = sql.execute(_SEARCH, (query, ROWS, model, vector)).fetchall()
    return any(content == known.fact and score >= LEAST_SCORE for _, content, score in rows)


async def run(
    conversations: Sequence[dict[str, Any]], folder: Path, count: int
) -> list[dict[str, Any]]:
    """Print a table for each task. Postgres keeps its data in `folder`."""
    lines = list[dict[str, Any]]()
    columns = ("least score", "related", "evidence", "foreign", "coding", "tokens")
    async with run_embedded(folder) as cluster:
        print("\n| pasted | prompts | find the fact |\n| --- | --- | --- |")
        for kind, good in (await measure_long(cluster, conversations, count)).items():
            share = 100 * statistics.fmean(good)
            print(f"| {kind} | {len(good)} | {share:.1f} |", flush=True)
            lines.append({"task": "long", "pasted": kind, "prompts": len(good), "found": share})
        for task in TASKS if conversations else ():
            group = [join(conversations)] if task == "together" else conversations
            found = [
                prompt
                for place in range(len(group))
                for prompt in await measure(cluster, group, place, task)
            ]
            print(f"\n{task}\n| {' | '.join(columns)} |\n{'| --- ' * len(columns)}|")
            for bar in BARS:
                line = summarize(found, bar)
                cells = " | ".join(f"{line.get(name, 0):.0f}" for name in columns[1:])
                print(f"| {bar:.2f} | {cells} |", flush=True)
                lines.append({"task": task, **line})
    return lines


def main() -> None:
    """Read the conversations and measure, or print that the conversations are missing."""
    parser = argparse.ArgumentParser(description="The least score of hooks.")
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--long", type=int, default=200, help="prompts with pasted texts")
    given = parser.parse_args()
    if not given.data.is_file():
        print(f"{given.data} does not exist. Name a file of LoCoMo conversations.")
    text = given.data.read_text("utf-8") if given.data.is_file() else "[]"
    conversations: list[dict[str, Any]] = json.loads(text)
    with open_folder("hook-recall") as folder:
        lines = anyio.run(run, conversations, folder, given.long)
    if given.json:
        content = {"machine": tell_machine(), "rows": lines}
        given.json.write_text(json.dumps(content, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
