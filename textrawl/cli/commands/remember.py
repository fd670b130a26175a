"""`textrawl remember`: a new fact about an entity."""

from datetime import datetime
from typing import Annotated, Any

import typer

from textrawl import __version__
from textrawl.cli.answering import find_answer
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
from textrawl.cli.quick import STDIN, read_stdin
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

_FactText = Annotated[
    str | None,
    typer.Argument(
        metavar="[FACT]", help="Text of the fact. - or nothing means the text on stdin."
    ),
]
_SHOWN = (
    "duplicate",
    "entity_id",
    "entity_name",
    "entity_type",
    "observation_id",
    "proposal_id",
    "updated",
    "closest",
)


def remember(  # noqa: PLR0913, PLR0917 - each argument is an option
    name: EntityName,
    fact: Annotated[
        str | None,
        typer.Argument(
            metavar="[FACT]", help="Text of the fact. - or nothing means the text on stdin."
        ),
    ] = None,
    entity_type: _EntityType = "concept",
    until: _Until = None,
    replaces: _Replaces = None,
    space: WrittenSpace = None,
    as_json: AsJson = False,
) -> None:
    """Store a fact about an entity.

    An entity that does not exist yet is created. An entity that exists keeps its type.
    """
    request = {
        "op": "remember",
        "client": f"textrawl {__version__}",
        "entity": name,
        "fact": _read_text(fact),
        "type": entity_type,
        **({"until": until.isoformat()} if until else {}),
        **({"replaces": replaces} if replaces else {}),
        **({"space": space} if space else {}),
    }
    stored = find_answer(request, create=True)
    if as_json:
        write_json({name: stored[name] for name in _SHOWN})
    else:
        _show(stored)


def _show(stored: dict[str, Any]) -> None:
    verb = _choose_verb(stored)
    console = open_console()
    line = f"{verb} {stored['entity_name']} ({stored['entity_type']}): {stored['ids'][0]}"
    console.print(write_cell(line), soft_wrap=True)
    if closest := stored["closest"]:
        line = f"Close fact: {closest['id'][:8]} {closest['content']}"
        console.print(write_cell(line), soft_wrap=True)


def _choose_verb(stored: dict[str, Any]) -> str:
    if stored["proposal_id"]:
        return "Proposed before about" if stored["duplicate"] else "Proposed to a reviewer about"
    if stored["duplicate"]:
        return "Updated what is known about" if stored["updated"] else "Already known about"
    return "Remembered about"


def _read_text(argument: str | None) -> str:
    """Return the fact as it is stored. Raises BadParameter."""
    text = read_stdin() if argument in (None, STDIN) else argument
    if text is None:
        raise typer.BadParameter("give a fact, or pipe one to stdin", param_hint="FACT")
    try:
        return read_fact(text)
    except typer.BadParameter as error:  # typer adds the name only while it parses arguments
        raise typer.BadParameter(error.message, param_hint="FACT") from None
