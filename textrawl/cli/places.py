"""The place where each command finds the memory if TEXTRAWL_SERVER_URL names a server."""

from collections.abc import Mapping
from typing import Literal

from textrawl.environment import find_value, read_sources
from textrawl.errors import StartRefused

Place = Literal["server", "none", "database"]

_COMMANDS: Mapping[Place, tuple[str, ...]] = {
    "server": (
        *("search", "recall", "digest", "explain", "show", "remember", "revise", "entity", "me"),
        *("forget", "stats", "resident", "hook", "doctor", "review", "tidy", "share", "log"),
        "undo",
    ),
    # `serve` is a server itself, and `demo` has a memory of its own.
    "none": (
        *("connect", "disconnect", "serve", "demo", "settings", "trust", "distrust", "toolsets"),
    ),
    "database": (
        *("ingest", "journal", "explore", "cost", "space", "grant", "token", "analyst"),
        *("migrate", "cluster", "backup", "restore", "export", "mirror", "import"),
        *("embed", "psql", "webhook"),
    ),
}
PLACES: Mapping[str, Place] = {name: place for place, names in _COMMANDS.items() for name in names}
"""The place of each command: the server, none because it needs no memory, or only a database."""

_OTHERWISE = {
    "explore": "Open the pages of the server instead: its address with /explore, if it has them on",
    "ingest": "Let a client of the server add files with the toolset corpus",
}


def refuse_beside_server(command: str) -> None:
    """Raise StartRefused for a command that needs a database if SERVER_URL names a server.

    Nothing of a memory on this machine was read then.
    """
    if PLACES[command] != "database":
        return
    url = find_value("server_url", read_sources())
    if url is None:
        return
    raise StartRefused(
        f"`textrawl {command}` needs a database, and TEXTRAWL_SERVER_URL ({url.source}) names the "
        f"server {url.text}. {_OTHERWISE.get(command, 'Run it on the machine of the server')}, or "
        "unset TEXTRAWL_SERVER_URL to use the memory of this machine"
    )
