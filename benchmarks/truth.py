"""Right answers to questions about histories: what is true now, what was true then.

    python -m benchmarks.truth [--provider NAME --model NAME] [--misses] [--json FILE]

The files of benchmarks/support/histories were written by hand, one for each language and half. Each
file has a database of its own, whose space has its language. A history has an entity, its facts in
the order in which a client stores them, and questions:

    # Rosa (person): employer
    2021-03-01 works at Initech                 the day is `saidAt`
    2024-05-01 >1 works at Globex               it replaces the first fact of the history
    2019-01-01..2019-06-30 works at Hooli       `validFrom`, and `validUntil` if the fact has ended
    2025-02-10 2018-01-01.. is a pilot          `saidAt` and `validFrom`
    ? then Where did Rosa work in 2022? = Initech

`-30` is the day 30 days ago, and `Y-1-04-20` is a day of last year. A right answer is a part of a
fact, with `@` the beginning of its day, which the answer then has to show. Several facts are joined
by `&`: all are right, and no other fact.

The questions are asked with query_memory, without any times. `first` is the share of questions for
which the first facts of the answer are the right facts, and `in 3` the share for which these facts
are among the first three. People who had not seen the rules wrote the half `held`: nobody looks at
its single misses.
"""

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from benchmarks.support.filled_memory import open_asked_memory
from benchmarks.support.place import open_folder, tell_machine
from textrawl.embedded.cluster import Cluster, run_embedded

FILES = Path(__file__).parent / "support" / "histories"
HALVES = ("development", "held")
KINDS = ("now", "then", "before", "since", "often", "first", "last")

_HEAD = re.compile(r"# (?P<entity>.+) \((?P<type>\w+)\): .+")
_TIME = r"-?[\dY][\d-]*"
_FACT = re.compile(
    rf"(?:(?P<said>{_TIME}) )?(?:(?P<start>{_TIME})\.\.(?P<end>{_TIME})? )?(?:>(?P<old>\d+) )?"
    r"(?P<text>.+)"
)
_QUESTION = re.compile(r"\? (?P<kind>\w+) (?P<text>.+) = (?P<right>.+)")


@dataclass(frozen=True)
class HistoryQuestion:
    """A question, its kind, and the right facts: parts of their texts, and of their days or ""."""

    kind: str
    text: str
    right: list[tuple[str, str]]


@dataclass(frozen=True)
class History:
    """Arguments of remember_fact in the order of storing, and questions."""

    facts: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    questions: list[HistoryQuestion] = field(default_factory=list[HistoryQuestion])


Marks = dict[tuple[str, str, str], list[tuple[bool, bool]]]
"""Whether the right facts were first and among three, by language, kind, and half."""


def read_histories(path: Path, today: datetime) -> list[History]:
    """Return the histories of a file. Relative days count from `today`."""
    histories = list[History]()
    subject = dict[str, str]()
    for line in path.read_text("utf-8").splitlines():
        if head := _HEAD.fullmatch(line):
            subject = {"entityName": head["entity"], "entityType": head["type"]}
            histories.append(History())
        elif asked := _QUESTION.fullmatch(line):
            sides = (side.partition(" @") for side in asked["right"].split(" & "))
            right = [(text, day) for text, _, day in sides]
            histories[-1].questions.append(HistoryQuestion(asked["kind"], asked["text"], right))
        elif line:
            fact = _read_fact(line, histories[-1].facts, today)
            histories[-1].facts.append({**subject, **fact})
    return histories


def _read_fact(line: str, earlier: Sequence[dict[str, str]], today: datetime) -> dict[str, str]:
    found = _FACT.fullmatch(line)
    if not found:
        raise ValueError(line)
    times = {"saidAt": found["said"], "validFrom": found["start"], "validUntil": found["end"]}
    fact = {name: _read_day(day, today) for name, day in times.items() if day}
    if found["old"]:
        fact["replaces"] = earlier[int(found["old"]) - 1]["observation"]
    return {"observation": found["text"], **fact}


def _read_day(day: str, today: datetime) -> str:
    if day.startswith("-"):
        return (today + timedelta(days=int(day))).date().isoformat()
    years, _, rest = day.removeprefix("Y-").partition("-")
    return f"{today.year - int(years)}-{rest}" if day.startswith("Y") else day


async def store(client: Client, history: History) -> None:
    """Store the facts. A server without `validFrom` gets the beginning as the day of saying."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    known = tools["remember_fact"].input_schema["properties"]
    for fact in history.facts:
        arguments = dict(fact)
        if "validFrom" not in known and (start := arguments.pop("validFrom", "")):
            arguments["saidAt"] = start
            arguments.pop("validUntil", None)
        if (reply := await client.call_tool("remember_fact", arguments)).is_error:
            raise RuntimeError(arguments, reply.content)


async def ask(client: Client, question: HistoryQuestion, limit: int) -> list[dict[str, Any]]:
    """Return the facts of an answer, in the form in which a model reads them."""
    arguments = {"mode": "search", "query": question.text, "limit": limit}
    reply = await client.call_tool("query_memory", arguments)
    if reply.is_error:
        raise RuntimeError(reply.content)
    entities = json.loads(reply.content[0].text).get("e", [])  # pyright: ignore
    return [{**fact, "n": entity["n"]} for entity in entities for fact in entity["m"]]


def has_right(question: HistoryQuestion, found: Sequence[dict[str, Any]]) -> bool:
    """Return whether each right fact is one of the facts found."""
    left = list(found)
    for text, day in question.right:
        hit = next((f for f in left if text in f["c"] and _shows_day(f, day)), None)
        if hit is None:
            return False
        left.remove(hit)
    return True


def _shows_day(fact: dict[str, Any], day: str) -> bool:
    """Return whether the fact begins on `day`: its period, or else the day of saying."""
    return str(fact.get("p", fact.get("on", ""))).startswith(day)


async def measure(
    cluster: Cluster, path: Path, chosen: dict[str, Any], marks: Marks, *, misses: bool
) -> None:
    """Store the histories of a file, and ask their questions."""
    language, half = path.stem, path.parent.name
    histories = read_histories(path, datetime.now(UTC))

    async def store_all(client: Client) -> None:
        for history in histories:
            await store(client, history)

    opened = open_asked_memory(cluster, language, store_all, chosen, language=language)
    async with opened as (client, _):
        for history in histories:
            for question in history.questions:
                mark = await answer(client, question, misses=misses and half != "held")
                marks[language, question.kind, half].append(mark)


async def answer(client: Client, question: HistoryQuestion, *, misses: bool) -> tuple[bool, bool]:
    """Ask a question. With `misses`, print the answer if it is not right."""
    first = await ask(client, question, len(question.right))
    three = await ask(client, question, 3)
    mark = (has_right(question, first), has_right(question, three))
    if misses and not all(mark):
        print(f"{question.kind} {question.text} = {question.right}")
        for fact in three:
            print("    ", json.dumps(fact, ensure_ascii=False))
    return mark


def print_shares(marks: Marks) -> list[dict[str, Any]]:
    """Print a line for each kind and language, and return the figures."""
    rows = list[dict[str, Any]]()
    print("| questions | development | first | in 3 | held | first | in 3 |")
    print("|---|---|---|---|---|---|---|")
    for name in (*KINDS, *sorted({language for language, _, _ in marks}), "all"):
        cells = [name]
        for half in HALVES:
            keys = [key for key in marks if name in (*key[:2], "all") and key[2] == half]
            answers = [mark for key in keys for mark in marks[key]]
            first, three = (100 * sum(m[i] for m in answers) / len(answers) for i in (0, 1))
            cells += [str(len(answers)), f"{first:.1f}", f"{three:.1f}"]
            rows.append({"questions": name, "half": half, "first": first, "in 3": three})
        print(f"| {' | '.join(cells)} |")
    return rows


async def run(chosen: dict[str, Any], folder: Path, *, misses: bool) -> list[dict[str, Any]]:
    """Measure both halves. Postgres keeps its data in `folder`."""
    marks: Marks = defaultdict(list)
    async with run_embedded(folder) as cluster:
        for path in sorted(FILES.glob("*/*.txt")):
            await measure(cluster, path, chosen, marks, misses=misses)
    return print_shares(marks)


def main() -> None:
    """Measure with the chosen embedder."""
    parser = argparse.ArgumentParser(description="Right answers to questions about histories.")
    parser.add_argument("--provider", default="local")
    parser.add_argument("--model", help="model of the provider; default: the provider's default")
    parser.add_argument("--misses", action="store_true", help="print the misses that are not held")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    given = parser.parse_args()
    chosen = {"embedding_provider": given.provider, "embedding_model": given.model}
    with open_folder("truth") as folder:
        rows = anyio.run(lambda: run(chosen, folder, misses=given.misses))
    if given.json:
        content = {"machine": tell_machine(), **chosen, "rows": rows}
        given.json.write_text(json.dumps(content, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
