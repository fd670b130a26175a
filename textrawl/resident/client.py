"""The client of the socket: it asks the process that has the memory open.

A hook of an editor and `textrawl recall` run this module before anything else is imported.
Therefore it imports only the standard library, `environment`, and modules like itself.
"""

import json
import os
import socket
import struct
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from select import select
from typing import Any, NamedTuple, cast

from textrawl import __version__
from textrawl.embedded.location import RESIDENT, default_data_dir, is_private
from textrawl.environment import (
    ValueSource,
    find_access_token,
    find_value,
    list_options,
    read_sources,
)
from textrawl.errors import StartRefused, TextrawlError
from textrawl.values.word_lists import PROGRAM

_LONGEST = 103  # bytes without the NUL; sun_path has 104 on macOS and 108 on Linux
_KEY = 16  # hexadecimal digits


class MemoryKey(NamedTuple):
    """The values of the settings that decide which memory is meant."""

    database_url: str | None = None
    access_token: str | None = None
    space: str | None = None
    server_url: str | None = None


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


def find_address() -> Address:
    """Return the address that the environment and its files name. Raises StartRefused."""
    return choose_address(read_sources())


def choose_address(sources: Sequence[ValueSource]) -> Address:
    """Return the address that `sources` name. Raises StartRefused."""
    found = {name: find_value(name, sources) for name in MemoryKey._fields}
    values = {name: value.text for name, value in found.items() if value}
    folder = find_value("data_dir", sources)
    return build_address(
        Path(folder.text).expanduser().absolute() if folder else default_data_dir(),
        MemoryKey(**{**values, "access_token": find_access_token(sources)}),
    )


def build_address(data_dir: Path, memory: MemoryKey) -> Address:
    """Return the address of `memory`. `data_dir` is an absolute path."""
    address = Address(data_dir / RESIDENT, _digest(json.dumps(memory)))
    if len(os.fsencode(address.socket)) <= _LONGEST:
        return address
    import tempfile  # noqa: PLC0415 - a quick command seldom needs it

    parent = Path(tempfile.gettempdir()).resolve()
    return address._replace(folder=parent / f"textrawl-{_digest(str(address.folder.resolve()))}")


def _digest(text: str) -> str:
    return sha256(os.fsencode(text)).hexdigest()[:_KEY]


_UCRED = struct.Struct("3i")  # Linux: process, user, group
_XUCRED = struct.Struct("2I")  # macOS: version and user, the first members of a longer structure
_LOCAL_LEVEL, _LOCAL_PEERCRED, _XUCRED_SIZE = 0, 1, 76  # sys/un.h and sys/ucred.h of macOS


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


def is_trusted(connection: socket.socket) -> bool:
    """Return whether the other end runs as the current OS user."""
    return find_peer(connection) == os.geteuid()


def may_ask(connection: socket.socket) -> bool:
    """Return whether the other end runs as the current OS user or as root."""
    return find_peer(connection) in (os.geteuid(), 0)


MOST_BYTES = 1 << 20  # of a request or an answer
_CHUNK = 1 << 16
_SILENCE = 2.0  # seconds without an answer after which a process is asked whether it lives
_SIGN = 3.0  # seconds that it then has; a process that loads a library answers nothing meanwhile
_PAUSE = 0.01  # seconds between attempts to reach a process that is starting
_LEAST = 0.001  # seconds; a time limit of zero would mean a socket that does not wait
_OFF = ("false", "0", "no", "off")
_ON = ("true", "1", "yes", "on")

PING: dict[str, Any] = {"method": "ping"}
END: dict[str, Any] = {"method": "end"}
SESSION = "session"  # the method of a request that turns its connection into a session of MCP

_started: list[Any] = []


class Unreachable(Exception):
    """No process answered within the time limit."""


class NotListening(Unreachable):
    """No process has the memory open for requests."""


class ResidentRefused(Unreachable):
    """The process is of another version of textrawl or of another OS user, or memory is off."""


class SocketAnswer(NamedTuple):
    """The answer of a tool: lines with their tokens, the ids of their facts, structured content."""

    text: str
    ids: list[str]
    tokens: int
    content: dict[str, Any]

    @property
    def short_ids(self) -> list[str]:
        """The short ids of the facts."""
        from textrawl.values.text import SHORT_ID  # noqa: PLC0415 - a greeting does without it

        return [identity[:SHORT_ID] for identity in self.ids]


def build_call(tool: str, arguments: Mapping[str, Any], **program: Any) -> dict[str, Any]:
    """Return the request for a tool. Arguments that are None are left out.

    `program` says who asks, in the keys of `textrawl.wire.program.Program`. `client` is the name
    for the recall log and the trail, such as "textrawl hook (claude-code)".
    """
    params = {
        "name": tool,
        "arguments": {name: value for name, value in arguments.items() if value is not None},
        "_meta": {PROGRAM: {name: value for name, value in program.items() if value is not None}},
    }
    return {"method": "tools/call", "params": params}


def read_answer(answer: Mapping[str, Any]) -> SocketAnswer:
    """Return the answer of a tool. Raises TextrawlError if it is an error."""
    if "error" in answer:
        failure = answer["error"]["data"]
        raise TextrawlError(failure["fix"], title=failure["error"])
    result = answer["result"]
    if "content" not in result:
        return SocketAnswer("", [], 0, {})
    details = result["_meta"][PROGRAM]
    text, content = result["content"][0]["text"], result["structuredContent"]
    return SocketAnswer(text, details["ids"], details["tokens"], content)


def ask(request: Mapping[str, Any], *, timeout: float) -> SocketAnswer:
    """Send a request to the process that has the memory open, and return its answer.

    `timeout` is in seconds, and applies to the whole call. Raises Unreachable, TextrawlError.
    """
    deadline = time.monotonic() + timeout
    if sys.platform == "win32":
        raise ResidentRefused("Python has no Unix sockets on Windows")
    try:
        address, line = _prepare(request)
        answer = json.loads(_exchange(address, line, deadline))
    except (OSError, ValueError, RuntimeError) as error:
        raise Unreachable(str(error)) from error
    except StartRefused as error:
        raise ResidentRefused(str(error)) from error
    if not isinstance(answer, dict) or "version" in answer or "jsonrpc" not in answer:
        raise ResidentRefused(f"Another version than {__version__} answers")
    return read_answer(cast("dict[str, Any]", answer))


def ask_or_start(
    request: Mapping[str, Any], *, timeout: float, starting: float = 0.0
) -> SocketAnswer:
    """Do the same as `ask`. If no process listens, start `textrawl resident` and wait for it.

    Raises Unreachable after `timeout` seconds, or after `starting` seconds more if it started the
    process. The started process goes on.
    """
    deadline = time.monotonic() + timeout
    started = False
    while True:
        try:
            return ask(request, timeout=deadline - time.monotonic())
        except ResidentRefused:
            raise
        except NotListening:
            if not started:
                start_resident()
                deadline, started = deadline + starting, True
            if deadline - time.monotonic() < _PAUSE:
                raise
        except Unreachable:
            if deadline - time.monotonic() < _PAUSE:
                raise
        time.sleep(_PAUSE)


def start_resident() -> None:
    """Start `textrawl resident` in its own session, without waiting for it.

    The process ends at once if another process listens. Raises Unreachable if it cannot be started.
    """
    import subprocess  # noqa: PLC0415 - only a cold start needs it

    # With -P, Python does not load modules from the folder of a project, in which hooks run.
    command = [sys.executable, "-P", "-m", "textrawl", *list_options(), "resident"]
    try:
        process = subprocess.Popen(  # noqa: S603 - a fixed command
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise Unreachable(str(error)) from error
    _started.append(process)  # Python warns of a process that nobody refers to


def complete(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the whole request, with the version of textrawl and with what the settings forbid.

    Raises ResidentRefused if memory is off, and StartRefused.
    """
    return _complete(request, read_sources())


def _complete(request: Mapping[str, Any], sources: Sequence[ValueSource]) -> dict[str, Any]:
    names = ("enable_memory", "read_only", "record_recalls")
    found = {name: value.text.lower() for name in names if (value := find_value(name, sources))}
    if found.get("enable_memory", _ON[0]) not in _ON:
        raise ResidentRefused("TEXTRAWL_ENABLE_MEMORY is off")
    read_only = found.get("read_only", _OFF[0]) not in _OFF
    quiet = read_only or found.get("record_recalls") == "off"
    own = {"version": __version__, "readOnly": read_only, "record": not quiet}
    params = request.get("params", {})
    program = {**own, **params.get("_meta", {}).get(PROGRAM, {})}
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": request["method"],
        "params": {**params, "_meta": {PROGRAM: program}},
    }


def _prepare(request: Mapping[str, Any]) -> tuple[Address, bytes]:
    """Return the address, and the request as a line."""
    sources = read_sources()
    line = json.dumps(_complete(request, sources)).encode() + b"\n"
    if len(line) > MOST_BYTES:
        raise ResidentRefused("The request is too long")
    return choose_address(sources), line


def connect(address: Address, deadline: float) -> socket.socket:
    """Return a connection to a process of this OS user. `deadline` is on the monotonic clock.

    Raises OSError, Unreachable.
    """
    if not is_private(address.folder):
        raise NotListening(f"{address.folder} does not exist, or is not private to this OS user")
    with ExitStack() as stack:
        connection = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        _limit(connection, deadline)
        try:
            connection.connect(os.fspath(address.socket))
        except (FileNotFoundError, ConnectionRefusedError) as error:
            raise NotListening(f"No process listens at {address.socket}") from error
        if not is_trusted(connection):
            raise ResidentRefused(f"Another OS user listens at {address.socket}")
        stack.pop_all()
        return connection


def _exchange(address: Address, line: bytes, deadline: float) -> bytes:
    """Return the line that answers `line`. Raises OSError, Unreachable."""
    with connect(address, deadline) as connection:
        connection.sendall(line)
        patient = deadline - time.monotonic() > _SILENCE + _SIGN
        if patient and not _begins(connection, _SILENCE):
            _check_life(address, _SIGN)
        return receive_line(connection, deadline)


def _begins(connection: socket.socket, seconds: float) -> bool:
    """Return whether the answer begins, or the connection ends, within `seconds`."""
    return bool(select([connection], [], [], seconds)[0])


def _check_life(address: Address, seconds: float) -> None:
    """Ask a process that has not answered for something that takes no time. Raises Unreachable.

    A long answer is waited for. A process that is stopped never answers anything.
    """
    ping = json.dumps(complete(PING)).encode() + b"\n"
    try:
        _exchange(address, ping, time.monotonic() + seconds)
    except OSError as error:
        raise Unreachable(f"The process that listens at {address.socket} is silent") from error


def receive_line(connection: socket.socket, deadline: float) -> bytes:
    """Return the next line, the last one that was sent. Raises OSError, Unreachable."""
    received = bytearray()
    while not received.endswith(b"\n"):
        _limit(connection, deadline)
        chunk = connection.recv(_CHUNK)
        if not chunk or len(received) > MOST_BYTES:
            raise Unreachable("The process ended before it answered")
        received += chunk
    return bytes(received)


def _limit(connection: socket.socket, deadline: float) -> None:
    connection.settimeout(max(deadline - time.monotonic(), _LEAST))
