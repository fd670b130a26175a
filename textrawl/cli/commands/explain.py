"""`textrawl explain`: why a search finds some facts and leaves out others."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from textrawl.cli.console import open_console, write_cell, write_json, write_message, write_row
from textrawl.cli.inputs import AsJson, AsOf, FactLimit, Query, SpaceName, Types, read_query
from textrawl.cli.memory_session import MemorySession, read_memory
from textrawl.toolsets.memory.operations import Question, Times
from textrawl.toolsets.memory.rows import ExplainedRow

_More = Annotated[
    int, typer.Option("--more", min=0, max=50, help="Facts to show that were left out.")
]
_LeastScore = Annotated[
    float | None,
    typer.Option(
        "--least-score", metavar="SCORE", min=0, max=100, help="Leave out facts below this score."
    ),
]


def explain(  # noqa: PLR0913, PLR0917 - each argument is an option
    query: Query,
    types: Types = None,
    limit: FactLimit = 10,
    more: _More = 5,
    least_score: _LeastScore = None,
    as_of: AsOf = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Explain why a search finds some facts and leaves out others.

    The command shows the words of the query that each fact has, with their weights, how close its
    meaning is, and what its neighbours add: the facts that were stored just before and after it.
    Then it shows facts that were left out: over the limit, below the least score, or ended. In
    piped output each fact is one line: outcome, score, score without neighbours, coverage, cosine,
    words, found by, entity, id, fact.
    """
    least = None if least_score is None else least_score / 100
    question = Question(
        read_query(" ".join(query)), types or None, Times(as_of), limit, least_score=least
    )

    async def work(session: MemorySession) -> tuple[list[ExplainedRow], str | None, bool]:
        rows, missing = await session.memory.explain(question, session.caller, more=more)
        return rows, missing, session.store.models.has_vectors

    rows, missing, has_vectors = read_memory("textrawl explain", space, work)
    if missing and has_vectors:
        write_message(f"Keywords only: {missing}.")
    if as_json:
        write_json([asdict(row) for row in rows])
    else:
        _show(rows)


def _show(rows: Sequence[ExplainedRow]) -> None:
    console = open_console()
    if not rows:
        write_message("Nothing found.")
    elif console.is_terminal:
        _draw(console, rows)
    else:
        for row in rows:
            write_row(
                [
                    row.outcome,
                    *map(_write_hundredths, (row.score, row.own_score, row.coverage)),
                    "" if row.cosine is None else f"{row.cosine:.3f}",
                    _write_words(row),
                    " ".join(row.found_by),
                    row.entity_name,
                    str(row.observation_id),
                    row.content,
                ]
            )


def _draw(console: Console, rows: Sequence[ExplainedRow]) -> None:
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(justify="right", style="green", width=4)
    table.add_column(ratio=1)
    outcome = ""
    for row in rows:
        if row.outcome != outcome:
            outcome = row.outcome
            table.add_row("", Text(outcome.capitalize(), "bold"))
        fact = Text.assemble(write_cell(row.entity_name, "bold"), " ", write_cell(row.content))
        table.add_row(_write_hundredths(row.score), fact)
        table.add_row("", write_cell(_describe(row), "dim"))
    console.print(table)


def _describe(row: ExplainedRow) -> str:
    """Return the reasons for the score of a fact in one line."""
    if row.score is None:
        end = row.valid_until
        why = f"valid until {end:%Y-%m-%d}" if end else "not valid yet at that time"
        return f"{why}; words: {_write_words(row) or 'none'}"
    parts = [f"words: {_write_words(row) or 'none'} ({_write_hundredths(row.coverage) or 0})"]
    if row.likeness is not None:
        parts.append(f"meaning: {_write_hundredths(row.likeness)} (cosine {row.cosine:.2f})")
    if row.own_score is not None and round(100 * row.score) != round(100 * row.own_score):
        parts.append(f"without neighbours: {_write_hundredths(row.own_score)}")
    parts.append(f"found by: {' and '.join(row.found_by) or 'its neighbours'}")
    return "; ".join(parts)


def _write_words(row: ExplainedRow) -> str:
    return " ".join(
        f"{'+' if word['found'] else '-'}{word['word']}:{_write_hundredths(word['weight'])}"
        for word in row.words
    )


def _write_hundredths(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f}"
