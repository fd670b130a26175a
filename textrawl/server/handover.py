"""The handover of a client to a server of the same memory that another process runs.

A client starts a process, but the memory is open already: then this process only passes messages on
through the socket of that server, which serves a session with the settings of this process. This
takes 60 ms instead of 800, and an eighth of the memory. This module uses only the standard
library, `environment` and modules like itself.

The name of the socket depends on everything that would make another server: the memory, most
settings, the installation, the user, and the environment that libraries read. The first line of a
connection asks for a session. It has the settings that shape a session, such as the toolsets.

If no process listens, one that starts takes a lock until it listens. The others wait for it.
"""

import fcntl
import getpass
import json
import os
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, cast

from textrawl.environment import ValueSource, find_value, read_environment, read_sources
from textrawl.errors import StartRefused
from textrawl.resident.client import (
    PING,
    SESSION,
    choose_address,
    complete,
)
from textrawl.server.early_lists import describe_code
from textrawl_client.unix_socket import (
    Address,
    NotListening,
    ResidentRefused,
    Unreachable,
    connect,
    is_private,
    receive_line,
)

Members = dict[str, Any]

LEAVING_LINE = b'{"jsonrpc":"2.0","method":"notifications/textrawl/leaving"}'
"""The notification that a server ends. It still answers what it gets until the end of the input."""

SESSION_SETTINGS = (
    "compact_responses", "correction_mode", "digest_authors", "digest_tokens", "explorer",
    "graphs", "max_graph_tokens", "max_recall_tokens", "max_response_tokens", "public_url",
    "resources", "secrets", "structured_content", "toolsets",
)  # fmt: skip
"""The settings that each session of a server can have for itself."""

SHARED_SETTINGS = (
    "access_token", "access_token_file", "close_facts", "consolidate_journal", "data_dir",
    "database_read_url", "database_timeout", "database_url", "embedding_model",
    "embedding_provider", "enable_memory", "enable_memory_extraction", "encryption_key",
    "llm_api_key", "llm_base_url", "llm_model", "llm_provider", "llm_timeout", "log_format",
    "log_level", "ollama_base_url", "openai_api_key", "openai_base_url", "propose_facts",
    "read_only", "record_recalls", "server_url", "snapshot_retention_days", "space",
    "summarize_entities", "vault", "webhook_hosts",
)  # fmt: skip
"""The settings that all sessions of a server have in common."""

_PATHS = ("access_token_file", "data_dir", "vault")
# Libraries read these variables of the environment, and those that begin or end in this way.
_READ_BY_LIBRARIES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "TZ")
_PREFIXES, _SUFFIX = ("PG", "OTEL_"), "_PROXY"

_ANSWERING = 3.0  # seconds that a server has to admit a session
_STARTING = 30.0  # seconds to wait for another process that starts; a busy machine needs ten
_PAUSE = 0.02  # seconds between two attempts to reach it


class Entrance(NamedTuple):
    """The address of servers, and the lines that ask there for a session and for a sign of life."""

    address: Address
    request: bytes
    ping: bytes

    @property
    def start(self) -> Path:
        """The path of the lock, which the process that starts a server holds."""
        return self.address.folder / f"{self.address.key}.start"


class Joined(NamedTuple):
    """A connection to a server, and the names of the tools that change nothing.

    `entrance` is where to ask whether the server lives, or None for a child of this process.
    """

    connection: socket.socket
    reads: frozenset[str]
    entrance: Entrance | None = None


def find_entrance() -> Entrance | None:
    """Return where to ask for a session. None: this process has to serve its client itself."""
    try:
        return _find_entrance(read_sources())
    except (StartRefused, ResidentRefused, OSError, RuntimeError):  # `settings` says the reason
        return None


def _find_entrance(sources: Sequence[ValueSource]) -> Entrance | None:
    if find_value("server_url", sources) is not None:
        return None
    found = {name: find_value(name, sources) for name in SESSION_SETTINGS}
    settings = {name: value.text for name, value in found.items() if value}
    shared = describe_shared(sources)
    params = {"settings": settings, "shared": shared}
    lines = (complete({"method": SESSION, "params": params}), complete(PING))
    request, ping = (json.dumps(line).encode() + b"\n" for line in lines)
    return Entrance(choose_address(sources).narrow(shared), request, ping)


def describe_shared(sources: Sequence[ValueSource]) -> str:
    """Return a digest of what all sessions of a server have in common. Raises OSError."""
    chosen = {name: find_value(name, sources) for name in SHARED_SETTINGS}
    settings = {name: value.text for name, value in chosen.items() if value}
    for name in settings.keys() & {*_PATHS}:
        settings[name] = os.path.abspath(os.path.expanduser(settings[name]))  # noqa: PTH100, PTH111
    environment = {
        name: text
        for name, text in read_environment().values.items()
        if name in _READ_BY_LIBRARIES or name.startswith(_PREFIXES) or name.endswith(_SUFFIX)
    }
    place = [describe_code(), sys.version, sys.prefix, str(Path(__file__).parent)]
    user = [os.geteuid(), os.path.expanduser("~"), _name_user()]  # noqa: PTH111
    shared = json.dumps([settings, environment, place, user], sort_keys=True)
    return sha256(os.fsencode(shared)).hexdigest()


def _name_user() -> str:
    """Return the name that the memory of an embedded Postgres gives to the OS user."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def join(entrance: Entrance) -> Joined | None:
    """Return a session on a server that runs, or None if this process has to be a server.

    If another process starts a server, wait for it. If this process is the one to start a server,
    it holds the lock until `let_others_join`.
    """
    deadline = time.monotonic() + _STARTING
    while time.monotonic() < deadline:
        try:
            return _ask(entrance)
        except NotListening:
            if _take_start(entrance.start):
                return None
        except (OSError, ValueError, Unreachable):
            return None
        time.sleep(_PAUSE)
    return None


def _ask(entrance: Entrance) -> Joined:
    """Ask for a session. Raises OSError, ValueError, Unreachable."""
    deadline = time.monotonic() + _ANSWERING
    with ExitStack() as stack:
        connection = stack.enter_context(connect(entrance.address, deadline))
        connection.sendall(entrance.request)
        reads = _read_tools(json.loads(_receive(connection, deadline)))
        connection.setblocking(False)
        stack.pop_all()
        return Joined(connection, reads, entrance)


def _receive(connection: socket.socket, deadline: float) -> bytes:
    """Return the answer. A server that ends meanwhile does not listen any more."""
    try:
        return receive_line(connection, deadline)
    except TimeoutError:
        raise
    except (OSError, Unreachable) as error:
        raise NotListening(str(error)) from error


def _read_tools(answer: Any) -> frozenset[str]:
    match answer:
        case {"result": {"reads": names}}:
            return frozenset(cast("list[str]", names))
        case _:
            raise ResidentRefused("The server does not admit this session")


_start: list[tuple[int, Path]] = []


def _take_start(path: Path) -> bool:
    """Return whether this process is the one to start a server. Without a folder, each is."""
    if _start:
        return True
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        if not is_private(path.parent):
            return True
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o600)
    except OSError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        in_place = os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:  # another process has the lock, or has just deleted the file
        in_place = False
    if in_place:
        _start.append((descriptor, path))
    else:
        os.close(descriptor)
    return in_place


def let_others_join() -> None:
    """Give the lock back, because this process listens now."""
    while _start:
        descriptor, path = _start.pop()
        with suppress(OSError):
            path.unlink()
        # A new child shares the open file until it executes its program.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)
