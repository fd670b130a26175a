"""The socket of the process on this machine that has the memory open.

One connection carries one request: a line of JSON, and the line that answers it. The address is
made from the settings that decide which memory is meant. The module imports only the standard
library, because the hooks of editors load it before anything else.
"""

import json
import os
import socket
import stat
import struct
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from select import select
from typing import NamedTuple

RESIDENT = "resident"  # the folder of sockets, in the data folder
GOING_ON = "going-on"  # in it, the folder with a file for each captured session that goes on
MOST_BYTES = 1 << 22  # of a request
_MOST_ANSWERED = 1 << 28  # bytes of an answer
_LONGEST = 103  # bytes without the NUL; sun_path has 104 on macOS and 108 on Linux
_KEY = 16  # hexadecimal digits
_UCRED = struct.Struct("3i")  # Linux: process, user, group
_XUCRED = struct.Struct("2I")  # macOS: version and user, the first members of a longer structure
_LOCAL_LEVEL, _LOCAL_PEERCRED, _XUCRED_SIZE = 0, 1, 76  # sys/un.h and sys/ucred.h of macOS
_CHUNK = 1 << 16
_SILENCE = 2.0  # seconds without an answer after which a process is asked whether it lives
_SIGN = 3.0  # seconds that it then has; a process that loads a library answers nothing meanwhile
_LEAST = 0.001  # seconds; a time limit of zero would mean a socket that does not wait


class Unreachable(Exception):
    """No process answered within the time limit."""


class NotListening(Unreachable):
    """No process has the memory open for requests."""


class ResidentRefused(Unreachable):
    """The process is of another version of textrawl or of another OS user, or memory is off."""


class FolderTaken(ResidentRefused):
    """The folder of the socket belongs to another OS user, or others can enter it."""


KEY_SETTINGS = (
    "close_facts", "database_read_url", "database_timeout", "database_url", "embedding_model",
    "embedding_provider", "ollama_base_url", "openai_api_key", "openai_base_url", "read_only",
    "server_url",
)  # fmt: skip
"""The settings that decide which process answers. The token and the space are in each request."""


class Address(NamedTuple):
    """The folder of a socket, and the key of its memory. Neither has to exist."""

    folder: Path
    key: str

    @property
    def socket(self) -> Path:
        """The path of the socket."""
        return self.folder / f"{self.key}.sock"

    @property
    def lock(self) -> Path:
        """The path of the lock, which the process that listens holds."""
        return self.folder / f"{self.key}.lock"

    def narrow(self, shared: str) -> "Address":
        """Return the address of the servers of this memory whose processes are alike."""
        return self._replace(key=_digest(self.key + shared))


def build_address(data_dir: Path, settings: Mapping[str, str]) -> Address:
    """Return the address of a memory. `data_dir` is an absolute path.

    `settings` has the values of KEY_SETTINGS that are set.
    """
    known = [settings.get(name) for name in KEY_SETTINGS]
    address = Address(data_dir / RESIDENT, _digest(json.dumps(known)))
    if len(os.fsencode(address.socket)) <= _LONGEST:
        return address
    import tempfile  # noqa: PLC0415 - a quick command seldom needs it

    parent = Path(tempfile.gettempdir()).resolve()
    return address._replace(folder=parent / f"textrawl-{_digest(str(address.folder.resolve()))}")


def _digest(text: str) -> str:
    return sha256(os.fsencode(text)).hexdigest()[:_KEY]


def find_data_dir(values: Mapping[str, str]) -> Path:
    """Return the folder of the variables of an environment, or else that of the OS user."""
    if given := values.get("TEXTRAWL_DATA_DIR"):
        return Path(given).expanduser().absolute()
    if os.geteuid() == 0:
        return Path("/var/lib/textrawl")
    own = "~/Library/Application Support" if sys.platform == "darwin" else "~/.local/share"
    return Path(values.get("XDG_DATA_HOME") or own).expanduser() / "textrawl"


def is_private(folder: Path) -> bool:
    """Return whether `folder` exists and only the current OS user can enter it."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    closed = stat.S_ISDIR(status.st_mode) and not stat.S_IMODE(status.st_mode) & 0o077
    return closed and status.st_uid == os.geteuid()


def require_private(folder: Path) -> None:
    """Raise FolderTaken if `folder` exists and is not private to the current OS user."""
    if is_private(folder) or not os.path.lexists(folder):
        return
    owner = folder.lstat().st_uid
    fault = f"belongs to the OS user {owner}" if owner != os.geteuid() else "is open to other users"
    raise FolderTaken(
        f"Hooks, quick commands and the sharing of a server are off, because {folder} {fault} and "
        "so is not private: remove it, or set TEXTRAWL_DATA_DIR to another folder"
    )


def find_peer(connection: socket.socket) -> int | None:
    """Return the user id of the process at the other end, or None if the system does not tell."""
    if hasattr(socket, "SO_PEERCRED"):
        found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
        return _UCRED.unpack(found)[1]
    try:
        found = connection.getsockopt(_LOCAL_LEVEL, _LOCAL_PEERCRED, _XUCRED_SIZE)
    except OSError:
        return None
    return _XUCRED.unpack_from(found)[1]


def find_process(connection: socket.socket) -> int:
    """Return the id of the process that listens at the other end. Raises OSError off Linux."""
    if not hasattr(socket, "SO_PEERCRED"):
        raise OSError("The system does not tell the process")
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
    return _UCRED.unpack(found)[0]


def connect(address: Address, deadline: float) -> socket.socket:
    """Return a connection to a process of this OS user. `deadline` is on the monotonic clock.

    Raises OSError, Unreachable.
    """
    require_private(address.folder)
    if not is_private(address.folder):
        raise NotListening(f"{address.folder} does not exist")
    with ExitStack() as stack:
        connection = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        _limit(connection, deadline)
        try:
            connection.connect(os.fspath(address.socket))
        except (FileNotFoundError, ConnectionRefusedError) as error:
            raise NotListening(f"No process listens at {address.socket}") from error
        if find_peer(connection) != os.geteuid():
            raise ResidentRefused(f"Another OS user listens at {address.socket}")
        stack.pop_all()
        return connection


def exchange(address: Address, line: bytes, ping: bytes, deadline: float) -> bytes:
    """Return the line that answers `line`. Raises OSError, Unreachable.

    A process that is silent is asked with `ping` again and again whether it lives: a long answer is
    waited for, but a process that is stopped never answers anything.
    """
    with connect(address, deadline) as connection:
        connection.sendall(line)
        while deadline - time.monotonic() > _SILENCE + _SIGN:
            if select([connection], [], [], _SILENCE)[0]:
                break
            try:
                exchange(address, ping, ping, time.monotonic() + _SIGN)
            except OSError as error:
                raise Unreachable(f"The process at {address.socket} is silent") from error
        return receive_line(connection, deadline)


def receive_line(connection: socket.socket, deadline: float) -> bytes:
    """Return the next line, the last one that was sent. Raises OSError, Unreachable."""
    received = bytearray()
    while not received.endswith(b"\n"):
        _limit(connection, deadline)
        chunk = connection.recv(_CHUNK)
        if not chunk or len(received) > _MOST_ANSWERED:
            raise Unreachable("The process ended before it answered")
        received += chunk
    return bytes(received)


def _limit(connection: socket.socket, deadline: float) -> None:
    connection.settimeout(max(deadline - time.monotonic(), _LEAST))
