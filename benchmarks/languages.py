"""Recall of search on facts and questions in German, French, Spanish and Japanese.

    python -m benchmarks.languages [--provider NAME --model NAME] [--json FILE]

The files of benchmarks/support/questions were written by hand: `entity | fact`, and below a fact a
question that it answers. Each language has 82 facts about five subjects and 50 questions. Most
questions inflect the words of the fact in another way, and some share none of them. Each file is
stored twice through an MCP client: in a space whose language is `english`, which is the default,
and in a space with the language of the file (`simple` for Japanese). The questions are searched in
SQL in two ways (arms): by words alone, and by words and vectors.

R@5 is the share of questions whose fact is among the first five.
"""

import argparse
import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import psycopg

from benchmarks.support.filled_memory import Document, open_filled_memory
from benchmarks.support.place import open_folder, tell_machine
from textrawl.embedded.cluster import Cluster, run_embedded
from textrawl.models.embeddings import Embedder

FILES = Path(__file__).parent / "support" / "questions"
LANGUAGES = {"german": "german", "french": "french", "spanish": "spanish", "japanese": "simple"}
ARMS = ("words", "hybrid")
ROWS = 5

_SEARCH = """
    select entity_name, content from search_memory(
        %s, max_rows => %s, model => %s, vector => %s)"""


@dataclass(frozen=True)
class Case:
    """Facts in one language, and questions with the fact that answers each."""

    name: str
    facts: list[Document]
    questions: list[tuple[str, Document]]


def read_case(path: Path) -> Case:
    """Read a file of facts, each with the questions below it."""
    case = Case(path.stem, [], [])
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("? "):
            case.questions.append((line.removeprefix("? "), case.facts[-1]))
        else:
            entity, fact = line.split(" | ")
            case.facts.append((entity, fact))
    return case


async def ask(sql: psycopg.Connection[Any], embedder: Embedder, case: Case) -> dict[str, float]:
    """Return the recall of each arm as a percentage."""
    [model] = sql.execute("select id from embedding_model").fetchone() or [None]
    hits: dict[str, list[bool]] = {arm: [] for arm in ARMS}
    for question, answer in case.questions:
        vector = str([float(x) for x in await embedder.embed_query(question)])
        for arm in ARMS:
            known = (None, None) if arm == "words" else (model, vector)
            rows = sql.execute(_SEARCH, (question, ROWS, *known)).fetchall()
            hits[arm].append(answer in rows)
    return {arm: 100 * statistics.fmean(found) for arm, found in hits.items()}


async def measure(
    cluster: Cluster, chosen: dict[str, Any], case: Case, language: str
) -> dict[str, float]:
    """Store the facts of a case in a space with this language, and ask its questions."""
    name = f"{case.name}-{language}"
    async with open_filled_memory(cluster, name, case.facts, chosen, language=language) as opened:
        return await ask(*opened, case)


async def run(cases: Sequence[Case], chosen: dict[str, Any], folder: Path) -> list[dict[str, Any]]:
    """Print a line for every language and arm. Postgres keeps its data in `folder`."""
    rows = list[dict[str, Any]]()
    async with run_embedded(folder) as cluster:
        print(f"{'R@5':20}{'english':>10}{'its own':>10}{'gain':>8}")
        for case in cases:
            default = await measure(cluster, chosen, case, "english")
            own = await measure(cluster, chosen, case, LANGUAGES[case.name])
            for arm in ARMS:
                rows.append(
                    {"language": case.name, "arm": arm, "english": default[arm], "own": own[arm]}
                )
                _print(rows[-1])
    for arm in ARMS:
        means = {
            key: statistics.fmean(row[key] for row in rows if row["arm"] == arm)
            for key in ("english", "own")
        }
        _print({"language": "mean", "arm": arm, **means})
    return rows


def _print(row: dict[str, Any]) -> None:
    line = f"{row['english']:10.1f}{row['own']:10.1f}{row['own'] - row['english']:+8.1f}"
    print(f"{row['language']:12}{row['arm']:8}{line}", flush=True)


def main() -> None:
    """Measure all languages."""
    parser = argparse.ArgumentParser(description="Recall of search in four languages.")
    parser.add_argument("--provider", default="local", help="embedding provider; default: local")
    parser.add_argument("--model", help="model of the provider; default: the provider's")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    given = parser.parse_args()
    chosen = {"embedding_provider": given.provider, "embedding_model": given.model}
    cases = [read_case(FILES / f"{name}.txt") for name in LANGUAGES]
    with open_folder("languages") as folder:
        rows = anyio.run(run, cases, chosen, folder)
    if given.json:
        content = {"machine": tell_machine(), **chosen, "rows": rows}
        given.json.write_text(json.dumps(content, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
