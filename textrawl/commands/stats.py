"""`textrawl stats`: how much a memory holds."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.filesize import decimal
from rich.table import Table

from textrawl.commands.console import open_console, show_wait, write_json
from textrawl.commands.foreground import run_foreground
from textrawl.commands.inspection import require_memory
from textrawl.database import Database
from textrawl.rows import StatisticsRow
from textrawl.runtime import open_database
from textrawl.settings import Settings, read_settings


def stats(
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Show how much the memory holds."""
    settings = read_settings()
    with show_wait("Counting"):
        row = run_foreground(lambda: _count(settings))
    if as_json:
        write_json(asdict(row))
    else:
        open_console().print(_draw(row))


async def _count(settings: Settings) -> StatisticsRow:
    await require_memory(settings)
    async with open_database(settings) as site:
        database = Database(site.conninfo, timeout=settings.database_timeout, max_size=1)
        await database.open()
        try:
            [row] = await database.call(
                "memory_statistics", StatisticsRow, credential=site.credential
            )
        finally:
            await database.close()
    return row


def _draw(row: StatisticsRow) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(justify="right")
    table.add_column(style="dim")
    ended = row.facts - row.valid_facts
    table.add_row("entities", f"{row.entities:,}", _list_types(row.types))
    table.add_row(
        "facts", f"{row.valid_facts:,}", f"and {ended:,} no longer valid" if ended else ""
    )
    table.add_row("relations", f"{row.relations:,}")
    table.add_row("events", f"{row.events:,}")
    table.add_row("size", decimal(row.bytes), "the whole database")
    for model in row.models:
        wait = f"{model['pending']:,} facts wait for a vector" if model["pending"] else "complete"
        table.add_row("vectors", f"{model['dimensions']}", f"{model['name']}, {wait}")
    return table


def _list_types(types: dict[str, int]) -> str:
    most = sorted(types.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count:,} {name}" for name, count in most)
