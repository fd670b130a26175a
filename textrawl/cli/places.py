"""The places of everything that textrawl keeps for a user, and what removes each of them."""

import os
import pwd
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from textrawl.cli.commands.connect import list_connections
from textrawl.cli.commands.demo import find_demo_folder
from textrawl.connect.clients import CLIENTS, find_checkout
from textrawl.connect.connection import find_records_folder, list_project_records
from textrawl.embedded.paths import SERVICE
from textrawl.environment import (
    ValueSource,
    find_data_dir,
    find_user_file,
    find_value,
    read_sources,
)
from textrawl.memory.key_files import KeyFiles
from textrawl.postgres.connection import show_target

_TELEMETRY = Path("~/.cache/Microsoft/DeveloperTools/.onnxruntime")
_HISTORY = Path("~/.psql_history")
_DROP = "in it, drop the schema textrawl, and the roles that begin with textrawl_"


class Place(NamedTuple):
    """Something that textrawl keeps. `exists` is None for what is not on this machine.

    `removal` is the command, or the deed in words.
    """

    kind: str
    place: str
    exists: bool | None
    removal: str


def list_places() -> list[Place]:
    """Return every place for this OS user and these settings, in the order of an uninstallation.

    Wrong settings of other kinds do not matter. Raises StartRefused, EditRefused.
    """
    sources, checkout = read_sources(), find_checkout()
    # Other programs, or former versions, left these in the home folder.
    traces = {"cache of onnxruntime": _TELEMETRY, "history of psql": _HISTORY}
    left = [_describe(kind, path.expanduser()) for kind, path in traces.items()]
    package = Place("program", sys.prefix, True, "uninstall the package textrawl there")
    return [
        *_list_clients(),
        *_list_memories(sources),
        *_list_keys(sources),
        _describe("settings and trust", find_user_file().parent),
        _describe("records of connect", find_records_folder()),
        *(place for place in left if place.exists),
        _describe("program", checkout) if checkout else package,
    ]


def _describe(kind: str, path: Path) -> Place:
    return Place(kind, str(path), os.path.lexists(path), f"rm -r {quote(str(path))}")


def _list_clients() -> Iterator[Place]:
    """Yield the entries and hooks that `disconnect` removes, of the user and of projects."""
    for row in list_connections(None):
        if "yes" in (row.connected, row.hooks):
            yield Place("client", row.file, True, f"textrawl disconnect {row.client}")
    for name, file in list_project_records():
        ends = [Path(end).parts for end in CLIENTS[name].project_files]
        depth = next((len(end) for end in ends if file.parts[-len(end) :] == end), 1)
        folder = quote(str(file.parents[depth - 1]))
        deed = f"cd {folder} && textrawl disconnect {name} --project"
        yield Place("client", str(file), file.exists(), deed)


def _list_memories(sources: Sequence[ValueSource]) -> Iterator[Place]:
    if server := find_value("server_url", sources):
        yield Place("memory", server.text, None, "ask whoever runs the server")
    if database := find_value("database_url", sources):
        yield Place("memory", show_target(database.text), None, _DROP)
    yield _describe("data folder" if database else "memory", find_data_dir(sources))
    yield _describe("demo", find_demo_folder())
    if os.geteuid() == 0:
        with suppress(KeyError):
            found = pwd.getpwnam(SERVICE)
            yield Place("OS user", found.pw_name, True, f"userdel {SERVICE}")


def _list_keys(sources: Sequence[ValueSource]) -> Iterator[Place]:
    setting = find_value("encryption_key", sources)
    keys = KeyFiles(setting.text if setting else None)
    yield _describe("keys of graphs", keys.folder)
    if setting:
        yield Place("your key", keys.place, None, "delete it there")
