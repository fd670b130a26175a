"""The tokens of answers: each format, with and without structured content, at three sizes.

    python -m benchmarks.tokens

It prints the Markdown table of docs/tokens.md, and needs no database. A test compares its output
with the page.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from typing import get_args
from uuid import UUID

from textrawl.memory.fact_rows import HitRow
from textrawl.settings import Format
from textrawl.tools.memory.search_replies import SearchReply
from textrawl.wire.replies import Renderer, write_json
from textrawl.wire.token_counter import choose_counter

SIZES = (5, 20, 50)
ENTITIES = (("Jeff", "person"), ("Acme Corp", "organization"), ("Billing service", "project"),
            ("Development setup", "preference"), ("Release process", "concept"))  # fmt: skip
FACTS = (
    "prefers TypeScript over JavaScript for every new service that the team starts",
    "moved the nightly backup to four in the morning after the outage",
    "keeps the staging database on the same version as the production one",
    "asked for a weekly summary of open incidents every Monday before noon",
    "uses feature flags to roll out risky changes to ten percent first",
    "agreed to review each migration together with somebody from the data team",
    "writes all design notes in plain Markdown beside the code they describe",
    "signed the renewal of the support contract until the end of March",
    "measures latency at the load balancer because clients time out after seconds",
    "tests every restore once a month on a machine that is thrown away",
)
COUNTER = choose_counter()


def build_rows(count: int) -> list[HitRow]:
    """Return facts of twelve words, spread over five entities, best first."""
    when = datetime(2026, 11, 21, tzinfo=UTC)
    return [
        HitRow(
            observation_id=UUID(int=number + 1), entity_id=UUID(int=number % len(ENTITIES) + 1),
            space="default", entity_name=ENTITIES[number % len(ENTITIES)][0],
            entity_type=ENTITIES[number % len(ENTITIES)][1],
            content=FACTS[number % len(FACTS)], source="conversation",
            created_at=when, said_at=when, author="ana", score=0.95 - 0.01 * number,
        )
        for number in range(count)
    ]  # fmt: skip


def count_facts(rows: list[HitRow]) -> int:
    """Return the tokens of the facts alone, one line per fact."""
    return sum(COUNTER.count(row.text) for row in rows)


def count_answer(rows: list[HitRow], format: Format, *, structured: bool) -> int:
    """Return the tokens of the whole answer with `rows`."""
    renderer = Renderer(format=format, structured=structured, counter=COUNTER, budget=25_000)
    reply = SearchReply.build(rows, None, "what should I know?")
    return renderer.measure(renderer.render(reply))


def count_pretty(rows: list[HitRow]) -> int:
    """Return the tokens of the structured content alone, indented as an SDK sends it."""
    reply = SearchReply.build(rows, None, "what should I know?")
    return COUNTER.count(write_json(reply.structured(), 2))


def write_table() -> Iterator[str]:
    """Yield the lines of the table: tokens per fact, also as a multiple of the facts alone."""
    yield "| answer | " + " | ".join(f"{size} facts" for size in SIZES) + " |"
    yield "|-|" + "-|" * len(SIZES)
    stores = [build_rows(size) for size in SIZES]
    yield _write_row("the facts alone", [(rows, count_facts(rows)) for rows in stores])
    for structured, name in product((False, True), ("lines", "compact", "verbose")):
        assert name in get_args(Format)
        label = name + (" + structured content" if structured else "")
        costs = [(rows, count_answer(rows, name, structured=structured)) for rows in stores]
        yield _write_row(label, costs)
    yield _write_row("structured content, indented", [(r, count_pretty(r)) for r in stores])


def _write_row(label: str, costs: list[tuple[list[HitRow], int]]) -> str:
    cells = [f"{cost / len(rows):.1f} ({cost / count_facts(rows):.2f}x)" for rows, cost in costs]
    return f"| {label} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    print("\n".join(write_table()))
