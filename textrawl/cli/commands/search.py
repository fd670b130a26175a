"""`textrawl search`: facts, or chunks of documents, that answer a question."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import Annotated
from uuid import UUID

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from textrawl.cli.console import (
    count,
    open_console,
    write_cell,
    write_json,
    write_message,
    write_row,
)
from textrawl.cli.inputs import AsJson, AsOf, FactLimit, Query, SpaceName, Types, read_query
from textrawl.cli.memory_session import MemorySession, read_memory
from textrawl.toolsets.memory.operations import Question, Sources, Times
from textrawl.toolsets.memory.rows import HitRow

_Documents = Annotated[
    bool,
    typer.Option("--documents", help="Search the documents of graphs instead of facts."),
]


def search(  # noqa: PLR0913, PLR0917 - each argument is an option
    query: Query,
    types: Types = None,
    limit: FactLimit = 10,
    as_of: AsOf = None,
    documents: _Documents = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Search the memory by words and by meaning.

    Each fact has a score from 0 to 100: 90 is highly relevant, 70 good, 50 moderate. In piped
    output each fact is one line with tabs between its cells: score, entity, type, space, id, time,
    author, fact. `textrawl stats` does not count this search.
    """
    if documents and types:
        raise typer.BadParameter("--documents cannot have --type: documents have no type")
    question = Question(read_query(" ".join(query)), types or None, Times(as_of), limit)

    async def work(session: MemorySession) -> tuple[list[HitRow], str | None, MemorySession]:
        asked = replace(question, sources=_choose_documents(session) if documents else None)
        return *await session.memory.search(asked, session.caller), session

    found, missing, session = read_memory("textrawl search", space, work)
    if missing and session.store.models.has_vectors:
        write_message(f"Keywords only: {missing}.")
    rows = [row for row in found if row.content is not None]
    if len(rows) < len(found):
        write_message(
            f"Left out by the limits of graphs: {count(len(found) - len(rows), 'chunk')}."
        )
    if as_json:
        write_json([asdict(row) for row in rows])
    else:
        _show(rows, several=session.several_spaces)


def _choose_documents(session: MemorySession) -> Sources:
    settings = session.settings
    graphs = session.caller.principal.find_graphs(settings.graphs)
    return Sources(facts=False, graphs=graphs, ceiling=settings.max_recall_tokens)


def _show(rows: Sequence[HitRow], *, several: bool) -> None:
    console = open_console()
    if not rows:
        write_message("Nothing found.")
    elif console.is_terminal:
        _draw(console, rows, several=several)
    else:
        for row in rows:
            write_row(
                [
                    f"{100 * row.score:.0f}",
                    row.entity_name,
                    _name_type(row),
                    row.space,
                    row.chunk_id or str(row.observation_id),
                    f"{row.created_at:%Y-%m-%dT%H:%M:%SZ}",
                    row.author,
                    row.text,
                ]
            )


def _draw(console: Console, rows: Sequence[HitRow], *, several: bool) -> None:
    """Draw entities in the order of their best fact, each with its facts below it."""
    order = {_find_owner(row): rank for rank, row in reversed(list(enumerate(rows)))}
    grouped = sorted(rows, key=lambda row: order[_find_owner(row)])
    for _, group in groupby(grouped, _find_owner):
        facts = list(group)
        entity = facts[0]
        space = f" @{entity.space}" if several or entity.document_id else ""
        name = write_cell(entity.entity_name, "bold")
        console.print(Text.assemble(name, f" ({_name_type(entity)}){space}"))
        table = Table.grid(padding=(0, 2), expand=True)
        table.add_column(justify="right", width=4, style="green")
        table.add_column(ratio=1)
        table.add_column(style="dim", no_wrap=True)
        for row in facts:
            source = f"{row.created_at:%Y-%m-%d} {str(row.observation_id)[:8]}"
            if row.document_id:
                source = f"line {row.line}"
            table.add_row(f"{100 * row.score:.0f}", write_cell(row.text), source)
        console.print(table)


def _find_owner(row: HitRow) -> UUID:
    """Return the id of the document of a chunk, or of the entity of a fact."""
    return row.document_id or row.entity_id


def _name_type(row: HitRow) -> str:
    return "document" if row.document_id else row.entity_type
