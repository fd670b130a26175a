"""The text to embed for a fact, and the scale of its cosines, chosen for one model by measurement.

    python -m benchmarks.embedded_text [--provider NAME --model NAME] [--sample 2] [--json FILE]

The memories are those of benchmarks/recall.py: facts and turns of LoCoMo conversations. Each is
filled once. Then its vectors are replaced by those of other texts: with another separator between
the name and the text of a fact, with the type of the entity, and without the name. `joined` is a
space before a small letter, and a colon otherwise. For each text, every second question
(`--sample`) is searched in SQL by words and vectors. R@10 is the share of the relevant facts among
the first ten.

With the best separator, `trust`, `floor` and `ceiling` are then changed one at a time, and the best
value of each is kept before the next is changed. It prints Markdown. The last line is the choice.
A type or a missing name is measured only to tell what they are worth.
"""

import argparse
import json
import statistics
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import psycopg

from benchmarks.recall import ADVERSARIAL, DATA, ROWS, collect_documents
from benchmarks.support.filled_memory import Document, open_filled_memory
from benchmarks.support.place import open_folder, tell_machine
from textrawl.embedded.cluster import run_embedded
from textrawl.models.active_model import PROVIDERS
from textrawl.models.embeddings import Embedder, Scale

TASKS = ("facts", "turns")
FORMS: dict[str, Callable[[str, str], str]] = {
    "`: `": lambda name, text: f"{name}: {text}",
    "space": lambda name, text: f"{name} {text}",
    "joined": lambda name, text: f"{name}{' ' if text[:1].islower() else ': '}{text}",
    "type": lambda name, text: f"{name} (person): {text}",
    "no name": lambda _, text: text,
}
CHOICES = 3  # the other forms only tell what a type and a name are worth
SCALES: dict[str, Sequence[float]] = {
    "trust": (0.4, 0.5, 0.6, 0.7, 0.8),
    "floor": (0.0, 0.07, 0.15, 0.25),
    "ceiling": (0.65, 0.75, 0.85, 1.0),
}
_SEARCH = (
    "select entity_name, content from search_memory(%s, max_rows => %s, model => %s, vector => %s)"
)
_FILL = """
    update embedding_1 e set vector = %s from observation o join entity n on n.id = o.entity_id
    where o.id = e.observation_id and (n.name, o.content) = (%s, %s)"""


@dataclass(frozen=True)
class Memory:
    """An open memory with its facts, each with its evidence, and questions with their vectors."""

    task: str
    sql: psycopg.Connection[Any]
    embedder: Embedder
    documents: dict[Document, set[str]]
    questions: list[tuple[str, set[str], str]]

    async def embed(self, form: Callable[[str, str], str]) -> None:
        """Replace all vectors by those of the texts of this form."""
        facts = list(self.documents)
        self.embedder.model = replace(self.embedder.model, joins=False)  # the form does it
        texts = [form(name, text) for name, text in facts]
        vectors = [write(vector) for vector in await self.embedder.embed_documents(texts)]
        rows = [(vector, *fact) for vector, fact in zip(vectors, facts, strict=True)]
        with self.sql.cursor() as cursor:
            cursor.executemany(_FILL, rows)

    def measure(self, scale: Scale) -> list[float]:
        """Return the recall of each question with this scale."""
        values = (self.embedder.name, scale.floor, scale.ceiling, scale.trust)
        self.sql.execute("select calibrate_embedding_model(%s, %s, %s, %s)", values)
        return [self._ask(*question) for question in self.questions]

    def _ask(self, text: str, evidence: set[str], vector: str) -> float:
        relevant = sum(bool(turns & evidence) for turns in self.documents.values())
        rows = self.sql.execute(_SEARCH, (text, ROWS, 1, vector)).fetchall()
        return sum(bool(self.documents[name, fact] & evidence) for name, fact in rows) / relevant


def write(vector: Any) -> str:
    """Return a vector as pgvector reads it."""
    return str([float(x) for x in vector])


async def open_memories(
    stack: AsyncExitStack,
    folder: Path,
    chosen: dict[str, Any],
    conversations: Sequence[dict[str, Any]],
    sample: int,
) -> list[Memory]:
    """Fill a memory for each task and conversation."""
    cluster = await stack.enter_async_context(run_embedded(folder))
    memories = list[Memory]()
    for conversation in conversations:
        for task in TASKS:
            documents = collect_documents(conversation, task)
            opening = open_filled_memory(cluster, f"{conversation['id']}-{task}", documents, chosen)
            sql, embedder = await stack.enter_async_context(opening)
            known = set[str]().union(*documents.values())
            asked = [
                (q["question"], set[str](q["evidence"]))
                for q in conversation["questions"][::sample]
                if q["category"] != ADVERSARIAL and known & set(q["evidence"])
            ]
            questions = [(q, e, write(await embedder.embed_query(q))) for q, e in asked]
            memories.append(Memory(task, sql, embedder, documents, questions))
    return memories


def measure(memories: Sequence[Memory], label: str, scale: Scale) -> dict[str, Any]:
    """Print the R@10 of each task and their mean, and return the row."""
    row: dict[str, Any] = {"tried": label}
    for task in TASKS:
        found = [recall for m in memories if m.task == task for recall in m.measure(scale)]
        row[task] = 100 * statistics.fmean(found)
    row["mean"] = statistics.fmean(row[task] for task in TASKS)
    print(f"| {label} | {row['facts']:.1f} | {row['turns']:.1f} | {row['mean']:.1f} |", flush=True)
    return row


async def choose(memories: Sequence[Memory]) -> list[dict[str, Any]]:
    """Try all texts and scales, print the choice, and return the rows."""
    rows = list[dict[str, Any]]()
    scale = memories[0].embedder.model.scale
    print("| | facts | turns | mean |\n|---|---|---|---|")
    for label, form in FORMS.items():
        for memory in memories:
            await memory.embed(form)
        rows.append(measure(memories, label, scale))
    best = max(rows[:CHOICES], key=lambda row: row["mean"])
    for memory in memories:
        await memory.embed(FORMS[best["tried"]])
    for name, values in SCALES.items():
        tried = [replace(scale, **{name: value}) for value in values]
        found = [measure(memories, f"{name} {getattr(one, name):g}", one) for one in tried]
        scale = max(zip(found, tried, strict=True), key=lambda pair: pair[0]["mean"])[1]
        rows += found
    print(f"\n{memories[0].embedder.name}: text {best['tried']}, {scale}")
    return rows


def main() -> None:
    """Measure with the chosen model."""
    parser = argparse.ArgumentParser(description="The text to embed, and the scale of cosines.")
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--provider", choices=PROVIDERS, default="encoder")
    parser.add_argument("--model", help="model of the provider; default: the provider's default")
    parser.add_argument("--sample", type=int, default=2, metavar="N", help="every Nth question")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    given = parser.parse_args()
    chosen = {"embedding_provider": given.provider, "embedding_model": given.model}
    conversations = json.loads(given.data.read_text("utf-8"))

    async def run() -> list[dict[str, Any]]:
        async with AsyncExitStack() as stack:
            memories = await open_memories(stack, folder, chosen, conversations, given.sample)
            return await choose(memories)

    with open_folder("embedded-text") as folder:
        rows = anyio.run(run)
    if given.json:
        content = {"machine": tell_machine(), **chosen, "rows": rows}
        given.json.write_text(json.dumps(content, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
