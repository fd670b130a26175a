"""`textrawl disconnect`: takes back what `textrawl connect` added."""

from pathlib import Path
from typing import Annotated

import typer

from textrawl.cli.client_choice import choose_client, list_hooks, list_server_additions
from textrawl.cli.connection_output import confirm_plan
from textrawl.cli.console import write_json, write_message
from textrawl.clients.catalogue import CLIENTS
from textrawl.clients.client import Client
from textrawl.clients.connection import Plan, plan_disconnection

_ClientName = Annotated[
    str, typer.Argument(metavar="CLIENT", help=f"The client: {', '.join(CLIENTS)}.")
]
_Project = Annotated[
    bool, typer.Option("--project", help="Use the file of the project in the working directory.")
]


def disconnect(
    client: _ClientName,
    project: _Project = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Take back what `textrawl connect` added to a client.

    This includes hooks. An entry that `connect` replaced is there again. What you changed elsewhere
    in the file since then stays. The memory itself is not touched.
    """
    chosen = choose_client(client)
    plan = _plan(chosen, Path.cwd() if project else None)
    confirm_plan(plan, yes=yes, as_json=as_json)
    files = [str(change.snapshot.path) for change in plan.needed or plan.changes[:1]]
    if as_json:
        write_json({"client": chosen.name, "changed": bool(plan.needed), "files": files})
    state = "is disconnected" if plan.needed else "is not connected"
    write_message(f"{chosen.title} {state}: {', '.join(files)}.")


def _plan(client: Client, project: Path | None) -> Plan:
    server = list_server_additions(client, client.find_file(project))
    hooks = [hook for hook in list_hooks(client) if hook.append] if project is None else []
    return plan_disconnection(client.name, project, [*server, *hooks])
