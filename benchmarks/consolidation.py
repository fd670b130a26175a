"""Facts that contradict one another: the newest comes first, and what it replaced is over.

    python -m benchmarks.consolidation FILE [--facts N] [--bare] [--misses]
        [--provider NAME --model NAME]

FILE is Conflict_Resolution.json of MemoryAgentBench (arXiv 2507.05257), which the repository
DSAIL-Memory/EvoMemBench has: lists of 455 to 18,332 numbered facts with a hundred questions each.
The newer fact wins. The lines are stored as they are with build_knowledge, all of one entity and
without `replaces`; with --bare, without their numbers. `first` is the share of questions for which
the first current fact has the answer. `over` is the share for which, in addition, no valid fact has
a former value. The lists `mh` have questions that need several facts.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from benchmarks.support.filled_memory import open_asked_memory
from benchmarks.support.place import open_folder
from textrawl.embedded.cluster import Cluster, run_embedded

WORLD = {"entityName": "the world", "entityType": "concept"}
BATCH = 50  # facts of one call


def read_facts(context: str, *, bare: bool) -> list[str]:
    """Return the numbered lines of a text, the oldest first."""
    lines = [line for line in context.splitlines() if line[:1].isdigit()]
    return [line.partition(". ")[2] for line in lines] if bare else lines


async def store(client: Client, facts: Sequence[str]) -> None:
    """Store the facts in their order."""
    for start in range(0, len(facts), BATCH):
        batch = [{**WORLD, "observation": fact} for fact in facts[start : start + BATCH]]
        if (reply := await client.call_tool("build_knowledge", {"facts": batch})).is_error:
            raise RuntimeError(reply.content)


async def ask(client: Client, question: str) -> list[str]:
    """Return the current facts of an answer, the best first."""
    reply = await client.call_tool("query_memory", {"mode": "search", "query": question})
    if reply.is_error:
        raise RuntimeError(reply.content)
    entities = json.loads(reply.content[0].text).get("e", [])  # pyright: ignore
    return [
        fact["c"] for entity in entities for fact in entity["m"] if "/" not in fact.get("p", "")
    ]


def find_former(facts: Sequence[str], found: str, answers: Sequence[str]) -> set[str]:
    """Return the facts that begin like the fact found, and end otherwise than with an answer."""
    bare = {fact: fact.partition(". ")[2] if fact[:1].isdigit() else fact for fact in facts}
    plain = {fact: text.rstrip(".") for fact, text in bare.items()}
    begins = [plain[found].removesuffix(one) for one in answers if plain[found].endswith(one)]
    return {one for one in facts for begin in begins if plain[one].startswith(begin)} - {found}


async def measure(
    cluster: Cluster, name: str, row: dict[str, Any], given: argparse.Namespace
) -> None:
    """Store the facts of a row in a memory of its own, ask its questions, and print the shares."""
    facts = read_facts(row["context"], bare=given.bare)
    chosen = {"embedding_provider": given.provider, "embedding_model": given.model}
    chosen["database_timeout"] = 120  # a busy machine takes longer for a call of 50 facts
    first = over = 0
    opened = open_asked_memory(cluster, name, lambda client: store(client, facts), chosen)
    async with opened as (client, sql):
        found = sql.execute("select content from memory_observations where valid_until is null")
        valid = {content for (content,) in found}
        for question, answers in zip(row["questions"], row["answers"], strict=True):
            current = await ask(client, question)
            right = any(answer in fact for fact in current[:1] for answer in answers)
            first += right
            over += right and not find_former(facts, current[0], answers) & valid
            if given.misses and not right:
                print(question, answers, current[:3], sep="\n    ")
    asked = len(row["questions"])
    shares = f"{100 * first / asked:.0f} | {100 * over / asked:.0f}"
    print(f"| {name} | {len(facts):,} | {len(valid):,} | {shares} |", flush=True)


async def run(given: argparse.Namespace, folder: Path) -> None:
    """Measure each list of at most `facts` facts."""
    print("| questions | facts | valid | first | over |\n|---|---|---|---|---|")
    async with run_embedded(folder) as cluster:
        for row in json.loads(given.file.read_text("utf-8")):
            if len(read_facts(row["context"], bare=True)) <= given.facts:
                await measure(cluster, row["metadata"]["source"].lower(), row, given)


def main() -> None:
    """Measure with the chosen embedder."""
    parser = argparse.ArgumentParser(description="Facts that contradict one another.")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--facts", type=int, default=1000, help="longest list")
    parser.add_argument("--bare", action="store_true", help="store facts without their numbers")
    parser.add_argument("--provider", default="local")
    parser.add_argument("--model", help="model of the provider; default: the provider's default")
    parser.add_argument("--misses", action="store_true")
    given = parser.parse_args()
    with open_folder("consolidation") as folder:
        anyio.run(lambda: run(given, folder))


if __name__ == "__main__":
    main()
