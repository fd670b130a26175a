"""`textrawl revise`: a fact that was wrong, the reason, and what is right."""

from typing import Annotated

import typer

from textrawl.cli.console import open_console, write_json, write_texts
from textrawl.cli.inputs import (
    AsJson,
    EntityName,
    WrittenSpace,
    read_fact,
    read_reason,
    read_reference,
)
from textrawl.cli.memory_session import ask
from textrawl.memory import commands
from textrawl.memory.curation import RevisedRow

_Fact = Annotated[
    str,
    typer.Argument(
        metavar="FACT",
        parser=read_reference,
        help="The wrong fact: its id, the first 8 characters of its id, or its text.",
    ),
]
_Reason = Annotated[
    str,
    typer.Option("--reason", metavar="TEXT", parser=read_reason, help="Why the fact was wrong."),
]
_Instead = Annotated[
    str | None,
    typer.Option("--instead", metavar="FACT", parser=read_fact, help="The fact that is right."),
]


def revise(
    name: EntityName,
    fact: _Fact,
    reason: _Reason,
    instead: _Instead = None,
    space: WrittenSpace = None,
    as_json: AsJson = False,
) -> None:
    """Mark a fact as wrong, say why, and store what is right.

    The wrong fact is then valid at no time, and the fact that is right gets its times. If a fact
    was right and is no longer so, use `textrawl remember --replaces`.
    """
    row = ask(commands.revise, space, name, fact, reason, instead)
    if as_json:
        write_json(row)
    else:
        _show(row, instead)


def _show(row: RevisedRow, instead: str | None) -> None:
    verb = "Already revised" if row.repeated else "Revised"
    fact = row.content or str(row.observation_id)
    lines = [f"{verb} {row.entity_name}: {fact}"]
    if row.successor_id:
        lines.append(f"Instead: {str(row.successor_id)[:8]} {instead}")
    write_texts(open_console(), *lines)
