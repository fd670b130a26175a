"""The question that a command asks before it changes anything."""

import sys

import typer

from textrawl.errors import StartRefused


def confirm(question: str, deed: str) -> None:
    """Ask on the terminal. Raises Abort for no, and StartRefused if there is no terminal.

    `deed` says what then was not done, such as "deleted".
    """
    if not sys.stdin.isatty():
        raise StartRefused(f"Nothing was {deed}: without a terminal, add --yes")
    typer.confirm(question, abort=True, err=True)
