"""`textrawl settings`: the current settings, or all settings as a .env file."""

import sys
from typing import Annotated

import typer
from rich.table import Table

from textrawl.cli.console import open_console, write_cell, write_json, write_row
from textrawl.examination.configuration import DEFAULT, describe_settings, list_settings
from textrawl.settings import read_settings


def settings(
    example: Annotated[
        bool,
        typer.Option("--example", help="Write a .env file with every setting and its description."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Show the current settings and where each value comes from.

    A setting is taken from the first of these places that has it: the environment, the file of
    --env-file, .env in the working directory, .env in the user's configuration folder. In the
    working directory only names that begin with TEXTRAWL_ are read, and only formats and sizes of
    answers if the folder is not trusted. Passwords, tokens and keys are not shown.
    """
    if example:
        sys.stdout.write(describe_settings())
        return
    rows = list_settings(read_settings())
    if as_json:
        write_json([row._asdict() for row in rows])
        return
    console = open_console()
    if not console.is_terminal:
        for row in rows:
            write_row(row)
        return
    table = Table.grid(padding=(0, 2))
    for name, value, source in rows:
        style = "dim" if source == DEFAULT else "bold"
        table.add_row(name, write_cell(value, style), source, style=style)
    console.print(table)
