"""The configuration that makes a client run hooks, for `textrawl connect --with-hooks`.

Each client has its own file and its own form of an entry. The plugins contain the same entries.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from textrawl.clients.addition import Addition, FileFormat
from textrawl.hooks.events import CLIENTS, Client, Event

_FILES: Mapping[str, tuple[str, FileFormat]] = {
    "claude-code": ("~/.claude/settings.json", "json"),
    "codex": ("~/.codex/hooks.json", "json"),
    "cursor": ("~/.cursor/hooks.json", "json"),
    "gemini-cli": ("~/.gemini/settings.json", "jsonc"),
    "copilot-cli": ("~/.copilot/hooks/textrawl.json", "json"),
}
_VERSIONED = ("cursor", "copilot-cli")  # their files of hooks begin with "version": 1
_MILLISECONDS = 1000


def find_additions(
    client: str, program: Sequence[str], environment: Mapping[str, str] | None = None
) -> list[Addition]:
    """Return what makes `client` run the hooks, or nothing if textrawl has no hooks for it.

    `program` is the command of the installed textrawl, with options that come before the name of a
    command. `environment` has the settings of the server, which hooks need too: no secrets.
    """
    found = CLIENTS.get(client)
    if found is None:
        return []
    path, form = _FILES[client]
    additions = [Addition(Path(path), form, ("version",), 1)] if client in _VERSIONED else []
    for event in found.events:
        command = write_command(found, event, program, environment or {})
        entry = write_entry(found, event, command)
        additions.append(Addition(Path(path), form, ("hooks", event.name), entry, append=True))
    return additions


def write_command(
    client: Client, event: Event, program: Sequence[str], environment: Mapping[str, str]
) -> str:
    """Return the line of a shell that runs the hook."""
    settings = [f"{name}={value}" for name, value in environment.items()]
    prefix = ["env", *settings] if settings else []
    return shlex.join([*prefix, *program, "hook", client.name, event.name])


def write_entry(client: Client, event: Event, command: str) -> dict[str, Any]:
    """Return the entry of an event in the configuration of a client."""
    match client.name:
        case "cursor":
            return {"command": command, "timeout": event.seconds}
        case "copilot-cli":
            return {"type": "command", "bash": command, "timeoutSec": event.seconds}
        case "gemini-cli":
            timeout = event.seconds * _MILLISECONDS
            hook = {"type": "command", "name": "textrawl", "command": command, "timeout": timeout}
        case _:
            hook = {"type": "command", "command": command, "timeout": event.seconds}
    return {"hooks": [hook]}
