"""`textrawl settings`: the settings in force, or all of them as a .env file."""

import re
import sys
from typing import Annotated

import typer
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict
from pydantic import SecretStr
from rich.table import Table

from textrawl.commands.console import open_console, write_cell, write_json, write_row
from textrawl.settings import describe_settings, find_sources, read_settings, write_value

_HIDDEN = "(set, not shown)"
_PASSWORD = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_PLACE = ("user", "host", "hostaddr", "port", "dbname")


def settings(
    example: Annotated[
        bool,
        typer.Option("--example", help="Write a .env file with every setting, explained."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Show the settings in force and where each comes from.

    A variable of the environment comes first, then .env in the working directory, then the default.
    Passwords, tokens and keys are not shown.
    """
    if example:
        sys.stdout.write(describe_settings())
        return
    values, sources = read_settings(), find_sources()
    rows = [(name.upper(), _show_value(name, value), sources[name]) for name, value in values]
    if as_json:
        write_json([{"name": name, "value": value, "source": at} for name, value, at in rows])
        return
    console = open_console()
    if not console.is_terminal:
        for row in rows:
            write_row(row)
        return
    table = Table.grid(padding=(0, 2))
    for name, value, source in rows:
        style = "dim" if source == "default" else "bold"
        table.add_row(name, write_cell(value, style), source, style=style)
    console.print(table)


def _show_value(name: str, value: object) -> str:
    if name == "database_url" and isinstance(value, SecretStr):
        return _show_place(value.get_secret_value())
    if isinstance(value, SecretStr):
        return _HIDDEN
    return _PASSWORD.sub("***", write_value(name, value))


def _show_place(conninfo: str) -> str:
    """Return where a connection string leads: only the parts that hold no secret."""
    try:
        known = conninfo_to_dict(conninfo)
    except ProgrammingError:
        return _HIDDEN
    return " ".join(f"{part}={known[part]}" for part in _PLACE if known.get(part)) or _HIDDEN
