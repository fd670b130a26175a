"""The list of clients: which are installed and connected."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from rich.table import Table

from textrawl.cli.client_choice import find_recorded_hooks, list_hooks
from textrawl.cli.console import open_console, write_json, write_row
from textrawl.clients.catalogue import CLIENTS
from textrawl.clients.client import NAME, Client
from textrawl.clients.document_values import MISSING, find
from textrawl.clients.edits import FORMATS, is_made
from textrawl.clients.files import read_snapshot
from textrawl.clients.refusals import FileRefused, NotUnderstood

Answer = Literal["yes", "no", "unknown"]
"""Whether something is in a file. It is unknown for a file that is not understood."""


class Connection(NamedTuple):
    """A client, and what its configuration has of textrawl."""

    client: str
    title: str
    installed: bool
    connected: Answer
    hooks: Answer
    file: str


def list_connections(project: Path | None) -> list[Connection]:
    """Return all clients, with the configuration of the user or of a project."""
    return [
        _describe(client, project)
        for client in CLIENTS.values()
        if project is None or client.project_files
    ]


def show_connections(rows: Sequence[Connection], *, as_json: bool) -> None:
    """Write the list as a table, as lines for other programs, or as JSON."""
    if as_json:
        write_json([row._asdict() for row in rows])
        return
    console = open_console()
    if not console.is_terminal:
        for row in rows:
            write_row([row.client, _answer(row.installed), row.connected, row.hooks, row.file])
        return
    table = Table()
    for title in ("client", "installed", "connected", "hooks", "file"):
        table.add_column(title, overflow="fold")
    for row in rows:
        style = "" if row.installed else "dim"
        table.add_row(
            row.client, _answer(row.installed), row.connected, row.hooks, row.file, style=style
        )
    console.print(table)


def _describe(client: Client, project: Path | None) -> Connection:
    path = client.find_file(project)
    connected = _find_entry(client, path)
    hooks = _find_hooks(client) if project is None else "no"
    return Connection(client.name, client.title, client.is_installed(), connected, hooks, str(path))


def _find_entry(client: Client, path: Path) -> Answer:
    try:
        document = FORMATS[client.format].read(read_snapshot(path).text)
    except (NotUnderstood, FileRefused):
        return "unknown"
    return _answer(find(document, (*client.keys, NAME)) is not MISSING)


def _find_hooks(client: Client) -> Answer:
    """Return whether the hooks of the record are there, or those without any settings."""
    try:
        hooks = find_recorded_hooks(client) or [hook for hook in list_hooks(client) if hook.append]
        made = [is_made(read_snapshot(hook.path).text, hook) for hook in hooks]
    except (NotUnderstood, FileRefused):
        return "unknown"
    return _answer(bool(made) and all(made))


def _answer(holds: bool) -> Answer:
    return "yes" if holds else "no"
