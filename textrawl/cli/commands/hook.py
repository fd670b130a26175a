"""The command `textrawl hook`, for its help. `textrawl.cli.start` runs it without this module."""

from typing import Annotated

import typer

from textrawl.cli.inputs import argument
from textrawl.hooks.command import run_hook
from textrawl.hooks.events import CLIENTS


def hook(
    client: Annotated[str, argument("CLIENT", f"Client program: {', '.join(CLIENTS)}.")],
    event: Annotated[str, argument("EVENT", "Name that the client gives the event.")],
) -> None:
    """Answer an event of a client program, such as a prompt. Client programs run it.

    The command reads the client's JSON from stdin and writes JSON to stdout. If there is nothing to
    say, or if the memory cannot be reached, the command writes nothing. The exit code is always 0.
    """
    raise typer.Exit(run_hook(["hook", client, event]))
