"""The client that `connect` and `disconnect` are about."""

from dataclasses import replace
from pathlib import Path

import typer

from textrawl.clients.addition import Addition
from textrawl.clients.catalogue import CLIENTS
from textrawl.clients.client import Client
from textrawl.clients.connection import find_recorded
from textrawl.clients.installation import find_command, find_script
from textrawl.clients.servers import Address, Program, Server
from textrawl.environment import PREFIX
from textrawl.errors import StartRefused
from textrawl.hooks.configuration import find_additions


def choose_client(name: str | None) -> Client:
    """Return the client of this name. Raises BadParameter, which lists the names."""
    known = ", ".join(CLIENTS)
    if name is None:
        raise typer.BadParameter(f"name a client: {known}. --list shows what is connected.")
    if name in CLIENTS:
        return CLIENTS[name]
    raise typer.BadParameter(
        f"{name!r} is not one of {known}. `textrawl connect --print` shows what most others read."
    )


def list_hooks(client: Client, server: Server | None = None) -> list[Addition]:
    """Return the hooks of a client, with the settings that they need to reach the server."""
    found = find_additions(client.name, find_script(), _list_settings(server))
    return [replace(addition, path=client.place(addition.path)) for addition in found]


def find_recorded_hooks(client: Client) -> list[Addition]:
    """Return the hooks that an earlier `connect` added. Raises FileRefused."""
    return [each for each in find_recorded(client.name, None) if each.keys[0] == "hooks"]


def require_hooks(client: Client, server: Server, project: Path | None) -> list[Addition]:
    """Return the hooks of a client. Raises StartRefused if there are none."""
    if project is not None:
        raise StartRefused("Hooks are for all projects: leave --project or --with-hooks out")
    hooks = list_hooks(client, server)
    if not hooks:
        raise StartRefused(f"textrawl has no hooks for {client.title}: leave --with-hooks out")
    return hooks


def list_server_additions(client: Client, path: Path) -> list[Addition]:
    """Return what a connection adds for the server, whatever its entry is."""
    return client.list_additions(Program(find_command()), path)


def _list_settings(server: Server | None) -> dict[str, str]:
    if isinstance(server, Program):
        return {**server.settings}
    if not isinstance(server, Address):
        return {}
    settings = {f"{PREFIX}SERVER_URL": server.url}
    if server.token is not None and server.token.kind == "file":
        settings[f"{PREFIX}ACCESS_TOKEN_FILE"] = server.token.place
    return settings
