"""Share of contradicting facts that are named, in English, German, French and Spanish.

    python -m benchmarks.disagreement [--misses]

The pairs of benchmarks/support/disagreements.txt were written by hand. `one <> other` disagree, and
`one | other` can be true side by side. A pair with `*` was not looked at while the rules of the SQL
function `disagreement` were written. Half of the pairs are English. Each pair is one entity: the
first fact is stored with remember_fact, and the answer to the second fact shows whether the pair is
named.

The files of benchmarks/support/endings have pairs in six languages. In `changes`, the second fact
says in other words that the first one is over; in `compatible`, both are true, in each order. The
half `held` was written by somebody else, and first read after the rules.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, cast

import anyio
from mcp import Client
from pydantic import SecretStr

from benchmarks.support.filled_memory import open_database
from benchmarks.support.place import enrol, open_folder
from textrawl import Settings, create_server
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import APP, OWNER

FILE = Path(__file__).parent / "support" / "disagreements.txt"
ENDINGS = Path(__file__).parent / "support" / "endings"


@dataclass(frozen=True)
class Pair:
    """Two facts about one entity."""

    language: str
    kind: str
    one: str
    other: str
    disagree: bool
    held: bool  # not looked at while the rules were written


def read_pairs(path: Path = FILE) -> list[Pair]:
    """Return the pairs of a file."""
    pairs = list[Pair]()
    language = kind = ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("== "):
            language, kind = line.removeprefix("== ").split(": ")
            continue
        disagree = " <> " in line
        one, other = line.removeprefix("* ").split(" <> " if disagree else " | ")
        pairs.append(Pair(language, kind, one, other, disagree, line.startswith("* ")))
    return pairs


def read_endings(half: str, kind: str) -> list[tuple[str, str, str]]:
    """Return pairs of a half: entity, older fact, newer fact; compatible ones in both orders."""
    lines = (ENDINGS / f"{half}_{kind}.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    if kind == "changes":
        return [(row["entity"], row["old"], row["new"]) for row in rows]
    pairs = [(row["entity"], row["one"], row["other"]) for row in rows]
    return pairs + [(entity, other, one) for entity, one, other in pairs]


@asynccontextmanager
async def open_client(folder: Path) -> AsyncGenerator[Client]:
    """Yield a client of a server on a new database."""
    async with run_embedded(folder) as cluster, open_database(cluster, "pairs"):
        settings = Settings(
            database_url=SecretStr(cluster.dsn(APP, "pairs")),
            access_token=SecretStr(enrol(cluster.dsn(OWNER, "pairs"))),
            embedding_provider="local",
        )
        async with Client(create_server(settings)) as client:
            yield client


async def store_pair(client: Client, entity: str, one: str, other: str) -> tuple[bool, str | None]:
    """Store a pair; return whether the second fact ended the first, and why it names it."""
    for day, text in (("2025-01-10", one), ("2025-06-10", other)):
        fact = {"entityName": entity, "entityType": "concept", "observation": text, "saidAt": day}
        reply = await client.call_tool("remember_fact", fact)
        if reply.is_error:
            raise RuntimeError(reply.content)
    content = cast("dict[str, Any]", reply.structured_content)
    closed = cast("list[dict[str, str]]", content.get("closed") or [])
    close = cast("dict[str, str]", content.get("similar") or {})
    return bool(closed), (closed or [close])[0].get("why")


async def name_pairs(pairs: list[Pair], folder: Path) -> list[str | None]:
    """Store each pair, and return why the second fact disagrees with the first."""
    async with open_client(folder) as client:
        return [
            (await store_pair(client, f"Entity {number}", pair.one, pair.other))[1]
            for number, pair in enumerate(pairs)
        ]


async def print_endings(folder: Path) -> None:
    """Print how many facts ended or were named in the pairs of each half."""
    print("| half | pairs | number | ended | named in like |\n| --- | --- | --- | --- | --- |")
    async with open_client(folder) as client:
        for half, kind in product(("seen", "held"), ("changes", "compatible")):
            pairs = read_endings(half, kind)
            found = [
                await store_pair(client, f"{entity} {half} {kind} {number}", one, other)
                for number, (entity, one, other) in enumerate(pairs)
            ]
            ended = sum(closed for closed, _ in found)
            named = sum(why is not None for closed, why in found if not closed)
            print(f"| {half} | {kind} | {len(pairs):,} | {ended} | {named} |")


def print_shares(pairs: list[Pair], reasons: list[str | None]) -> None:
    """Print the share of the named pairs, of each kind and each language."""
    named, all_pairs = (
        defaultdict[str, Counter[bool]](Counter),
        defaultdict[str, Counter[bool]](Counter),
    )
    for pair, reason in zip(pairs, reasons, strict=True):
        for group in (pair.kind, pair.language, "held apart" if pair.held else "seen", "all"):
            all_pairs[group][pair.disagree] += 1
            named[group][pair.disagree] += reason is not None
    print("| pairs | disagreeing, named | compatible, named |\n| --- | --- | --- |")
    for group, counts in all_pairs.items():
        shares = [f"{named[group][kind]} of {counts[kind]}" for kind in (True, False)]
        print(f"| {group} | {shares[0]} | {shares[1]} |")


def main() -> None:
    """Store all pairs and print the shares."""
    parser = argparse.ArgumentParser(description="Shares of pairs of facts that are named.")
    parser.add_argument("--misses", action="store_true", help="also print the pairs that fail")
    given = parser.parse_args()
    pairs = read_pairs()
    with open_folder("disagreement") as folder:
        reasons = anyio.run(name_pairs, pairs, folder)
    with open_folder("endings") as folder:
        anyio.run(print_endings, folder)
    print_shares(pairs, reasons)
    for pair, reason in zip(pairs, reasons, strict=True):
        if given.misses and pair.disagree != (reason is not None):
            print(f"{pair.language}: {pair.one} {'<>' if pair.disagree else '|'} {pair.other}")


if __name__ == "__main__":
    main()
