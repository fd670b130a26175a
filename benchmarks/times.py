"""Recall of questions that name a time, with and without the days on which facts were said.

    python -m benchmarks.times FILE

FILE has LoCoMo conversations. Each conversation is stored twice: without days, and with the day of
the session as `saidAt`. The memory with days is searched with the time that the question is about,
and without it. The server's own code reads this time. A relative time, such as "last week", counts
from the day after the last session.
"""

import argparse
import json
import statistics
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import psycopg
from mcp import Client
from pydantic import SecretStr

from benchmarks.recall import ADVERSARIAL, DATA, ROWS, collect_documents
from benchmarks.support.filled_memory import BATCH, Document, open_database
from benchmarks.support.place import enrol, open_folder
from textrawl import Settings, create_server
from textrawl.embedded.cluster import Cluster, run_embedded
from textrawl.embedded.postmaster import APP, OWNER
from textrawl.memory.questions import NamedTime, describe_time
from textrawl.models.choice import choose_embedder
from textrawl.values.times import regularise

_SEARCH = """
    select entity_name, content from search_memory(
        %s, max_rows => %s, model => 1, vector => %s, around => %s::tstzrange,
        tense => %s, during => %s::tstzrange, clause => %s)"""

Recalls = dict[tuple[str, bool], list[float]]
"""R@10 of the questions, by the kind of search and by whether the question names a time."""


def read_sessions(conversation: dict[str, Any]) -> dict[str, datetime]:
    """Return the day of each turn. A session has a date such as "1:56 pm on 8 May, 2023"."""
    days = {
        session: datetime.strptime(date.rpartition(" on ")[2], "%d %B, %Y").replace(tzinfo=UTC)
        for session, date in conversation["session_dates"].items()
    }
    turns = conversation["turns"]
    return {
        turn["id"]: days[str(turn["session"])] for turn in turns if str(turn["session"]) in days
    }


async def store(
    settings: Settings, documents: dict[Document, set[str]], days: dict[str, datetime]
) -> None:
    """Store the documents, each with the first of the `days` of its turns."""
    facts = list[dict[str, Any]]()
    for (entity, text), turns in documents.items():
        said = min((days[turn] for turn in turns if turn in days), default=None)
        moment = {"saidAt": said.isoformat()} if said else {}
        facts.append({"entityName": entity, "entityType": "person", "observation": text, **moment})
    async with Client(create_server(settings)) as client:
        for start in range(0, len(facts), BATCH):
            batch = {"facts": facts[start : start + BATCH]}
            if (reply := await client.call_tool("build_knowledge", batch)).is_error:
                raise RuntimeError(reply.content)


def read_arguments(
    sql: psycopg.Connection[Any], question: str, now: datetime
) -> tuple[str, tuple[object, ...]]:
    """Return the text without its time, and around, tense, during and clause for a search."""
    query = regularise(question)
    [row] = sql.execute("select * from question_time(%s, %s)", (query, now))
    named = NamedTime(*row)
    time = describe_time(named, query, now)
    names = ("around", "tense", "during", "clause")
    return named.rest if named.relative else query, tuple(time.get(name) for name in names)


async def ask(
    sql: psycopg.Connection[Any],
    conversation: dict[str, Any],
    documents: dict[Document, set[str]],
    now: datetime | None,
    recalls: Recalls,
) -> None:
    """Search for every question. If `now` is None, the documents have no days."""
    embedder = choose_embedder(Settings(embedding_provider="local"))
    assert embedder is not None
    for question in conversation["questions"]:
        text, evidence = question["question"], set(question["evidence"])
        relevant = sum(bool(turns & evidence) for turns in documents.values())
        if question["category"] == ADVERSARIAL or not relevant:
            continue
        rest, about = read_arguments(sql, text, now or datetime.now(UTC))
        never = (None,) * len(about)
        arms = {"days": (text, never), "lifted": (rest, about)}
        for arm, (asked, arguments) in (arms if now else {"no days": arms["days"]}).items():
            vector = str([float(x) for x in await embedder.embed_query(asked)])
            rows = sql.execute(_SEARCH, (asked, ROWS, vector, *arguments)).fetchall()
            hits = sum(bool(documents[name, content] & evidence) for name, content in rows)
            recalls[arm, about != never].append(hits / relevant)


async def measure(
    cluster: Cluster, conversation: dict[str, Any], task: str, recalls: Recalls
) -> None:
    """Add the recall of each question of a conversation."""
    documents, days = collect_documents(conversation, task), read_sessions(conversation)
    given: tuple[tuple[dict[str, datetime], datetime | None], ...]
    given = (({}, None), (days, max(days.values()) + timedelta(days=1)))
    for dates, now in given:
        name = f"{conversation['id']}-{task}-{len(dates)}"
        async with open_database(cluster, name):
            settings = Settings(
                database_url=SecretStr(cluster.dsn(APP, name)),
                access_token=SecretStr(enrol(cluster.dsn(OWNER, name))),
                embedding_provider="local",
            )
            await store(settings, documents, dates)
            with psycopg.connect(cluster.dsn(OWNER, name), autocommit=True) as sql:
                sql.execute("set search_path = textrawl, public")
                sql.execute("select refresh_search_statistics(force => true)")
                await ask(sql, conversation, documents, now, recalls)


async def run(conversations: list[dict[str, Any]], folder: Path) -> None:
    """Print R@10 of each task. Postgres keeps its data in `folder`."""
    async with run_embedded(folder) as cluster:
        print("| stored | searched | questions | R@10 | that name a time | R@10 |")
        print("|---|---|---|---|---|---|")
        for task in ("facts", "turns"):
            recalls: Recalls = defaultdict(list)
            for conversation in conversations:
                await measure(cluster, conversation, task, recalls)
            for arm in ("no days", "days", "lifted"):
                timed = recalls[arm, True]
                every = timed + recalls[arm, False]
                means = [100 * statistics.fmean(values or [0.0]) for values in (every, timed)]
                every_cell, timed_cell = (
                    f"{len(values)} | {mean:.1f}"
                    for values, mean in zip((every, timed), means, strict=True)
                )
                print(f"| {task} | {arm} | {every_cell} | {timed_cell} |", flush=True)


def main() -> None:
    """Read the conversations and measure, or print that the conversations are missing."""
    parser = argparse.ArgumentParser(description="Recall of questions that name a time.")
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    given = parser.parse_args()
    if not given.data.is_file():
        print(f"{given.data} does not exist. Name a file of LoCoMo conversations.")
        return
    with open_folder("times") as folder:
        anyio.run(run, json.loads(given.data.read_text("utf-8")), folder)


if __name__ == "__main__":
    main()
