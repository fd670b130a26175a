"""`textrawl remember`: a new fact about an entity."""

from datetime import datetime
from typing import Annotated

import typer

from textrawl.cli.console import open_console, write_cell, write_json
from textrawl.cli.inputs import (
    AsJson,
    EntityName,
    WrittenSpace,
    read_fact,
    read_future,
    read_reference,
    read_type,
)
from textrawl.cli.memory_session import MemorySession, change_memory
from textrawl.toolsets.memory.operations import Fact
from textrawl.toolsets.memory.rows import FactRow
from textrawl.values.entity_type import ENTITY_TYPES, EntityKind

_EntityType = Annotated[
    EntityKind,
    typer.Option(
        "--type",
        metavar="TYPE",
        parser=read_type,
        help=f"Type of a new entity: {', '.join(ENTITY_TYPES)}.",
    ),
]
_Until = Annotated[
    datetime | None,
    typer.Option(metavar="TIME", parser=read_future, help="When the fact stops being true."),
]
_Replaces = Annotated[
    str | None,
    typer.Option(
        metavar="FACT",
        parser=read_reference,
        help="The fact to correct: its id, the first 8 characters of its id, or its text.",
    ),
]


def remember(  # noqa: PLR0913, PLR0917 - each argument is an option
    name: EntityName,
    fact: Annotated[
        str, typer.Argument(metavar="FACT", parser=read_fact, help="Text of the fact.")
    ],
    entity_type: _EntityType = "concept",
    until: _Until = None,
    replaces: _Replaces = None,
    space: WrittenSpace = None,
    as_json: AsJson = False,
) -> None:
    """Store a fact about an entity.

    An entity that does not exist yet is created. An entity that exists keeps its type.
    """
    new_fact = Fact(name, entity_type, fact, "manual", valid_until=until, replaces=replaces)

    async def work(session: MemorySession) -> FactRow:
        session.caller.principal.require("write")
        return await session.memory.remember(new_fact, session.caller)

    row = change_memory("textrawl remember", space, work, create=True)
    if as_json:
        write_json(_write_plain(row))
        return
    repeated = "Updated what is known about" if row.updated else "Already known about"
    verb = repeated if row.duplicate else "Remembered about"
    console = open_console()
    line = f"{verb} {row.entity_name} ({row.entity_type}): {str(row.observation_id)[:8]}"
    console.print(write_cell(line), soft_wrap=True)
    if row.closest:
        line = f"Close fact: {row.closest['id'][:8]} {row.closest['content']}"
        console.print(write_cell(line), soft_wrap=True)


def _write_plain(row: FactRow) -> dict[str, object]:
    return {
        "duplicate": row.duplicate,
        "entity_id": str(row.entity_id),
        "entity_name": row.entity_name,
        "entity_type": row.entity_type,
        "observation_id": str(row.observation_id),
        "updated": row.updated,
        "closest": row.closest,
    }
