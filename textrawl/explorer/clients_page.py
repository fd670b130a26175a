"""Clients: how each program is connected to this memory. No token is ever shown."""

import shlex
from pathlib import Path
from typing import Any

from starlette.responses import Response

from textrawl.connect.clients import (
    CLIENTS,
    ClientProgram,
    LocalServer,
    Server,
    ServerAddress,
    ServerToken,
    describe_other,
    find_command,
)
from textrawl.connect.connection import write_entry
from textrawl.errors import StartRefused
from textrawl.explorer.requests import PageRequest

_TOKEN_FILE = "/path/to/token"  # noqa: S105 - where a person may keep it


async def show(visit: PageRequest) -> Response:
    """Show the commands and the entries of all clients, and of a program that is not listed."""
    site = visit.site
    base = site.settings.public_url or str(visit.request.base_url.replace(path="")).rstrip("/")
    server: Server = (
        LocalServer(find_command())
        if site.own_machine
        else ServerAddress(f"{base}/mcp", ServerToken("file", _TOKEN_FILE))
    )
    clients = [_describe(client, server) for client in (*CLIENTS.values(), describe_other())]
    return visit.show("clients.html", {"clients": clients, "own_machine": site.own_machine})


def _describe(client: ClientProgram, server: Server) -> dict[str, Any]:
    """Return the command that connects a client, and what it writes into the client's file.

    If the client takes no address of a server, both are empty, and `hint` says what to do.
    """
    words = ["textrawl", "connect", client.name if client.name in CLIENTS else "--print"]
    if isinstance(server, ServerAddress):
        words += ["--url", server.url, "--token-file", _TOKEN_FILE]
    try:
        additions = client.list_additions(server, Path(client.files[0]), hidden=True)
    except StartRefused:
        words, additions = [], ()
    entries = [write_entry(each) for each in additions]
    shown = {"title": client.title, "hint": client.hint}
    return {**shown, "command": shlex.join(words), "entries": entries}
