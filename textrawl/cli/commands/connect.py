"""`textrawl connect`: textrawl in the configuration of a client program."""

from pathlib import Path
from typing import Annotated

import typer

from textrawl.cli.client_choice import choose_client, find_recorded_hooks, list_hooks, require_hooks
from textrawl.cli.connection_list import list_connections, show_connections
from textrawl.cli.connection_output import confirm_plan, list_notes
from textrawl.cli.console import write_json, write_line, write_message
from textrawl.cli.server_choice import Assignments, TokenFile, TokenKeyring, Url, choose_server
from textrawl.clients.addition import Addition
from textrawl.clients.catalogue import CLIENTS, describe_other
from textrawl.clients.client import Client
from textrawl.clients.connection import Plan, plan_connection
from textrawl.clients.entry_text import write_entry
from textrawl.clients.servers import Server

_ClientName = Annotated[
    str | None,
    typer.Argument(metavar="CLIENT", help=f"The client: {', '.join(CLIENTS)}."),
]
_List = Annotated[
    bool,
    typer.Option("--list", help="List which clients are connected."),
]
_Print = Annotated[
    bool, typer.Option("--print", help="Write the entry to stdout, and change nothing.")
]
_Project = Annotated[
    bool, typer.Option("--project", help="Use the file of the project in the working directory.")
]
_Hooks = Annotated[
    bool, typer.Option("--with-hooks", help="Add the hooks as well: see docs/hooks.md.")
]
_Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def connect(  # noqa: PLR0913, PLR0917 - each argument is an option
    client: _ClientName = None,
    listing: _List = False,
    printing: _Print = False,
    project: _Project = False,
    url: Url = None,
    token_file: TokenFile = None,
    token_keyring: TokenKeyring = None,
    assignments: Assignments = None,
    with_hooks: _Hooks = False,
    yes: _Yes = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Add textrawl to the configuration of a client.

    The command shows the difference and asks before it changes a file. Comments and everything else
    in the file stay. A copy of the file is kept beside it. `textrawl disconnect CLIENT` takes back
    exactly what was added.
    """
    place = Path.cwd() if project else None
    if listing:
        show_connections(list_connections(place), as_json=as_json)
        return
    server = choose_server(url, token_file, token_keyring, assignments)
    if printing:
        if with_hooks:
            raise typer.BadParameter("--print shows only the server: leave --with-hooks out")
        _print(client, server, place)
        return
    chosen = choose_client(client)
    plan = _plan(chosen, server, place, with_hooks=with_hooks)
    backups = confirm_plan(plan, yes=yes, as_json=as_json)
    if as_json:
        write_json(_describe(chosen, plan, backups))
    _report(chosen, server, plan, backups)


def _print(name: str | None, server: Server, project: Path | None) -> None:
    client = CLIENTS.get(name or "") or describe_other()
    for addition in client.list_additions(server, client.find_file(project), hidden=True):
        write_line(write_entry(addition))


def _plan(client: Client, server: Server, project: Path | None, *, with_hooks: bool) -> Plan:
    additions = client.list_additions(server, client.find_file(project))
    hooks = list[Addition]()
    if with_hooks:
        hooks = require_hooks(client, server, project)
    elif project is None and find_recorded_hooks(client):
        hooks = list_hooks(client, server)  # they stay, and ask the same server
    secret = client.has_secret(server)
    return plan_connection(client.name, project, [*additions, *hooks], private=secret)


def _report(client: Client, server: Server, plan: Plan, backups: list[Path]) -> None:
    files = ", ".join(str(change.snapshot.path) for change in plan.changes)
    if not plan.needed:
        write_message(f"{client.title} is already connected: {files}.")
        return
    write_message(f"{client.title} is connected: {files}.")
    for backup in backups:
        write_message(f"The file as it was before is {backup}.")
    for note in list_notes(client, server):
        write_message(note)


def _describe(client: Client, plan: Plan, backups: list[Path]) -> dict[str, object]:
    return {
        "client": client.name,
        "changed": bool(plan.needed),
        "files": [str(change.snapshot.path) for change in plan.changes],
        "backups": [str(backup) for backup in backups],
    }
