"""The command `me`."""

from dataclasses import asdict
from typing import Annotated

import typer

from textrawl.cli.console import open_console, write_json, write_message, write_texts
from textrawl.cli.inputs import AsJson, SpaceName, read_name
from textrawl.cli.memory_session import ask
from textrawl.memory import commands

_Name = Annotated[
    str | None,
    typer.Argument(metavar="[NAME]", parser=read_name, help="The entity that you are."),
]
_Clear = Annotated[bool, typer.Option("--clear", help="Forget which entity you are.")]


def me(
    name: _Name = None, clear: _Clear = False, space: SpaceName = None, as_json: AsJson = False
) -> None:
    """Say which entity you are, so that `I` and `my` in your questions mean it.

    The memory keeps this for your actor, in each space that has the entity. All searches
    with your tokens, hooks and commands use it. Without NAME, show who you are.
    """
    if clear and name is not None:
        raise typer.BadParameter("give a NAME or --clear, not both")
    if clear:
        rows = ask(commands.clear_own, space)
    elif name is not None:
        rows = ask(commands.set_own, space, name)
    else:
        rows = ask(commands.list_own, space)
    if as_json:
        write_json([asdict(row) for row in rows])
    elif not rows:
        write_message("The memory does not know who you are: name your entity, `textrawl me NAME`.")
    else:
        when = "no longer" if clear else "now" if name is not None else ""
        lead = " ".join(filter(None, ("You are", when)))
        write_texts(
            open_console(),
            *[f"{lead} {row.entity_name} ({row.entity_type}) in {row.space}" for row in rows],
        )
