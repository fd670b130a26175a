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
from textrawl.toolsets.memory.operations import Times
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

    Piped output has tabs between the cells of a line. The first cell is the kind of the line. The
    cells of an entity are: entity, name, type, space, description. The cells of a fact are: fact,
    id, time, author, space, text. The cells of a relation are: relation, from, type, to.
    """

    async def work(session: MemorySession) -> tuple[EntityRow, MemorySession]:
        row = await session.memory.describe(
            name, session.caller, max_observations=limit, with_relations=True, times=Times(as_of)
        )
        if row is None:
            raise await describe_missing_entity(session, name)
        return row, session

    row, session = read_memory("textrawl show", space, work)
    console = open_console()
    if as_json:
        write_json(asdict(row))
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
    for fact in row.revised:
        write_row(["wrong", str(fact["id"]), fact["revised_at"], fact["content"], fact["reason"]])


def _draw(console: Console, row: EntityRow, *, several: bool) -> None:
    space = f" @{row.space}" if several else ""
    console.print(Text.assemble(write_cell(row.name, "bold"), f" ({row.entity_type}){space}"))
    if row.description:
        console.print(write_cell(row.description))
    console.print(_draw_facts(row.observations, several=several))
    if hidden := row.total_observations - len(row.observations):
        older = count(hidden, "older fact")
        console.print(f"[dim]and {older}: --limit {row.total_observations} shows all[/]")
    edges = _list_edges(row)
    if edges:
        console.print("\n[bold]Relations[/]")
    for edge in edges:
        console.print(Text("  ").join([Text(), *map(write_cell, edge)]))
    if hidden := row.total_relations - len(edges):
        console.print(f"[dim]and {count(hidden, 'more relation')}[/]")
    if row.revised:
        console.print("\n[bold]Wrong[/]")
    for fact in row.revised:
        console.print(write_cell(f"  {fact['content']} ({fact['reason']})"), soft_wrap=True)


def _draw_facts(facts: Sequence[Item], *, several: bool) -> Table:
    """Draw one row for each fact. Authors and spaces are shown if there are several."""
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
    """Return (from, relation, to) of each relation. Outgoing relations come first."""
    leaving = [(row.name, edge["relation_type"], edge["to_entity"]) for edge in row.outgoing]
    arriving = [(edge["from_entity"], edge["relation_type"], row.name) for edge in row.incoming]
    return leaving + arriving
