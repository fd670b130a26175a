"""Questions about a day: the fact of this day comes first.

    python -m benchmarks.days [--provider NAME --model NAME] [--held]

A line of benchmarks/support/days/dev.jsonl has the facts of an entity with the days on which they
were said, a question that is asked `today`, and a part of the right fact. held.jsonl was written by
the same person, who had not read the rules: look at its figures, never at its misses.

All days are moved back by 28 years, after which each date has its weekday again. So no fact lies in
the future, and the clock of the questions is moved back, too.
"""

import argparse
import json
from collections import defaultdict
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from benchmarks.support.filled_memory import open_asked_memory
from benchmarks.support.place import open_folder
from benchmarks.truth import HistoryQuestion, ask, has_right
from textrawl.embedded.cluster import Cluster, run_embedded
from textrawl.memory import questions

FILES = Path(__file__).parent / "support" / "days"
LANGUAGES = {"en": "english", "de": "german", "fr": "french", "es": "spanish", "pt": "portuguese",
             "it": "italian"}  # fmt: skip
_BACK = 28


class Clock(datetime):
    """A clock that stands still, at noon of the day `asked`."""

    asked = "1998-01-01"

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # pyright: ignore
        """Return noon of the day."""
        return datetime.fromisoformat(f"{cls.asked}T12:00:00").replace(tzinfo=tz)


def move(text: str) -> str:
    """Return a text with the years 2024 to 2027 moved back."""
    for year in range(2024, 2028):
        text = text.replace(str(year), str(year - _BACK))
    return text


def read_rows(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the moved questions of a file by language."""
    rows = defaultdict[str, list[dict[str, Any]]](list)
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(move(line))
        rows[row["lang"]].append(row)
    return rows


async def measure(
    cluster: Cluster,
    language: str,
    rows: list[dict[str, Any]],
    chosen: dict[str, Any],
    *,
    told: bool,
) -> list[tuple[bool, bool]]:
    """Return whether the right fact of each question was first and among three."""
    marks = list[tuple[bool, bool]]()

    async def store_all(client: Client) -> None:
        for row in rows:
            await store(client, row)

    opened = open_asked_memory(cluster, language, store_all, chosen, language=language)
    async with opened as (client, _):
        for row in rows:
            Clock.asked = row["today"]
            question = HistoryQuestion("day", row["question"], [(row["right"], "")])
            found = await ask(client, question, 3)
            marks.append((has_right(question, found[:1]), has_right(question, found)))
            if told and not marks[-1][0]:
                print(row["today"], row["question"], "=", row["right"])
                for fact in found:
                    print("    ", json.dumps(fact, ensure_ascii=False))
    return marks


async def store(client: Client, row: dict[str, Any]) -> None:
    """Store the facts of a question."""
    subject = {"entityName": row["entity"], "entityType": row["type"]}
    for fact in row["facts"]:
        given = {**subject, "observation": fact["text"], "saidAt": fact["said"]}
        if (reply := await client.call_tool("remember_fact", given)).is_error:
            raise RuntimeError(given, reply.content)


async def run(chosen: dict[str, Any], name: str, folder: Path) -> None:
    """Print the shares of a file. Postgres keeps its data in `folder`."""
    questions.datetime = Clock
    answers = list[tuple[bool, bool]]()
    async with run_embedded(folder) as cluster:
        print("| language | questions | first | in 3 |\n|---|---|---|---|")
        for lang, rows in read_rows(FILES / f"{name}.jsonl").items():
            marks = await measure(cluster, LANGUAGES[lang], rows, chosen, told=name == "dev")
            answers += marks
            print_row(lang, marks)
        print_row("all", answers)


def print_row(name: str, marks: list[tuple[bool, bool]]) -> None:
    """Print a line of the table."""
    first, three = (sum(mark[place] for mark in marks) for place in (0, 1))
    print(f"| {name} | {len(marks)} | {first} | {three} |", flush=True)


def main() -> None:
    """Measure with the chosen embedder."""
    parser = argparse.ArgumentParser(description="Questions about a day.")
    parser.add_argument("--provider", default="local")
    parser.add_argument("--model", help="model of the provider; default: the provider's default")
    parser.add_argument("--held", action="store_true", help="ask the questions of the held file")
    given = parser.parse_args()
    chosen = {"embedding_provider": given.provider, "embedding_model": given.model}
    name = "held" if given.held else "dev"
    with open_folder("days") as folder:
        anyio.run(lambda: run(chosen, name, folder))


if __name__ == "__main__":
    main()
