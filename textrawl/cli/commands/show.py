"""`textrawl show`: an entity with its facts and relations."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from textrawl.cli.console import count, open_console, write_cell, write_json, write_row
from textrawl.cli.inputs import AsJson, AsOf, EntityName, SpaceName
from textrawl.cli.memory_session import MemorySession, describe_missing_entity, read_memory
from textrawl.toolsets.memory.rows import EntityRow

Item = Mapping[str, Any]


def show(
    name: EntityName,
    limit: Annotated[
        int,
        typer.Option(
            "--limit", "-n", min=1, max=100_000, help="Maximum number of facts, newest first."
        ),
    ] = 20,
    as_of: AsOf = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Show an entity with its newest facts and its relations.

    Piped, the cells of a line have tabs between them, and the first one is the kind of the line. An
    entity line has entity, name, type, space, description. A fact line has fact, id, time, author,
    space, fact. A relation line has relation, from, relation, to.
    """

    async def work(session: MemorySession) -> tuple[EntityRow, MemorySession]:
        row = await session.memory.describe(
            name, session.caller, as_of=as_of, max_observations=limit, with_relations=True
        )
        if row is None:
            raise await describe_missing_entity(session, name)
        return row, session

    row, session = read_memory("textrawl show", space, work)
    console = open_console()
    if as_json:
        write_json(asdict(row) | {"id": str(row.id)})
    elif console.is_terminal:
        _draw(console, row, several=session.several_spaces)
    else:
        _write(row)


def _write(row: EntityRow) -> None:
    write_row(["entity", row.name, row.entity_type, row.space, row.description or ""])
    for fact in row.observations:
        write_row(
            [
                "fact",
                str(fact["id"]),
                str(fact["created_at"]),
                fact["author"],
                fact["space"],
                fact["content"],
            ]
        )
    for edge in _list_edges(row):
        write_row(["relation", *edge])


def _draw(console: Console, row: EntityRow, *, several: bool) -> None:
    space = f" @{row.space}" if several else ""
    console.print(Text.assemble(write_cell(row.name, "bold"), f" ({row.entity_type}){space}"))
    if row.description:
        console.print(write_cell(row.description))
    console.print(_draw_facts(row.observations, several=several))
    if hidden := row.total_observations - len(row.observations):
        console.print(f"[dim]and {hidden:,} older: --limit {row.total_observations}[/]")
    edges = _list_edges(row)
    if edges:
        console.print("\n[bold]Relations[/]")
    for edge in edges:
        console.print(Text("  ").join([Text(), *map(write_cell, edge)]))
    if hidden := row.total_relations - len(edges):
        console.print(f"[dim]and {count(hidden, 'more relation')}[/]")


def _draw_facts(facts: Sequence[Item], *, several: bool) -> Table:
    """Draw one row for each fact, with authors and spaces if there is more than one."""
    authors = len({fact["author"] for fact in facts}) > 1
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(ratio=1)
    for fact in facts:
        origin = [fact["author"]] if authors else []
        origin += [f"@{fact['space']}"] if several else []
        lead = Text(f"{' '.join(origin)}: ", "cyan") if origin else Text()
        table.add_row(
            str(fact["created_at"])[:10],
            str(fact["id"])[:8],
            Text.assemble(write_cell(lead.plain, "cyan"), write_cell(fact["content"])),
        )
    return table


def _list_edges(row: EntityRow) -> list[tuple[str, str, str]]:
    """Return (from, relation, to) of each relation, outgoing ones first."""
    leaving = [(row.name, edge["relation_type"], edge["to_entity"]) for edge in row.outgoing]
    arriving = [(edge["from_entity"], edge["relation_type"], row.name) for edge in row.incoming]
    return leaving + arriving
