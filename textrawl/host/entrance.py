"""The entrance to the host of a memory: where it listens, what it is asked, and how it starts.

A host is the one process that has a memory open for a person of this machine. Everything that would
make another process shapes the name of its socket: the memory, most settings, the installation, the
user, and the environment that libraries read. What a session can have for itself travels with it.
This module uses only the standard library, `environment` and modules like itself.
"""

import fcntl
import getpass
import json
import os
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from textrawl.environment import (
    ValueSource,
    find_access_token,
    find_data_dir,
    find_value,
    list_options,
    read_environment,
    read_sources,
)
from textrawl.errors import StartRefused
from textrawl.host.description_file import (
    Answers,
    DescriptionFile,
    describe_code,
    name_description,
    read_packaged,
)
from textrawl.host.repository import find_checkout, find_folder, find_repository
from textrawl.host.requests import SESSION, find_session_settings, write_request
from textrawl_client.unix_socket import (
    KEY_SETTINGS,
    Address,
    FolderTaken,
    build_address,
    require_private,
)

if TYPE_CHECKING:
    from subprocess import Popen

LEAVING_LINE = b'{"jsonrpc":"2.0","method":"notifications/textrawl/leaving"}'
"""The notification that a host ends. It still answers what it gets until the end of the input."""

SHARED_SETTINGS = (
    "close_facts", "consolidate_journal", "data_dir", "database_read_url", "database_timeout",
    "database_url", "embedding_model", "embedding_provider", "enable_memory",
    "enable_memory_extraction", "encryption_key", "llm_api_key", "llm_base_url", "llm_model",
    "llm_provider", "llm_timeout", "log_format", "log_level", "ollama_base_url", "openai_api_key",
    "openai_base_url", "propose_facts", "read_only", "record_recalls", "snapshot_retention_days",
    "summarize_entities", "vault", "webhook_hosts",
)  # fmt: skip
"""The settings that all sessions of a host have in common."""

_OFFERING = (
    "enable_memory", "enable_memory_extraction", "graphs", "llm_provider", "read_only", "resources",
    "space", "structured_content", "toolsets",
)  # fmt: skip
_PATHS = ("data_dir", "vault")
# Libraries read these variables of the environment, and those that begin or end in this way.
_READ_BY_LIBRARIES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "TZ")
_PREFIXES, _SUFFIX = ("PG", "OTEL_"), "_PROXY"
_MOMENTS = (0.01, 0.02, 0.05)  # seconds: a pipe that looks at the lock holds it so long
_LONGEST_LOG = 1 << 20  # bytes: a longer one is begun anew


class Entrance(NamedTuple):
    """The address of a host, and the settings and the token of a session there.

    `plain` is true if no setting says anything else than its default about what is offered.
    """

    address: Address
    settings: dict[str, str]
    token: str | None
    plain: bool

    @property
    def request(self) -> bytes:
        """The line that asks for a session."""
        folder = find_folder()
        return write_request(
            SESSION,
            settings=self.settings,
            token=self.token,
            repository=" ".join(find_repository(folder, self.address.folder)),
            checkout=find_checkout(folder),
        )

    @property
    def ping(self) -> bytes:
        """The line that asks for a sign of life."""
        return write_request("ping")

    def read_description(self) -> Answers:
        """Return what the last host said about itself, or else what the package says."""
        path = name_description(self.address, self.settings, self.token)
        return DescriptionFile(path).answers or (read_packaged() if self.plain else {})


def find_entrance(sources: Sequence[ValueSource]) -> Entrance:
    """Return where to ask for a session. Raises StartRefused, OSError, RuntimeError."""
    token = find_access_token(sources)
    plain = token is None and not any(find_value(name, sources) for name in _OFFERING)
    return Entrance(choose_host(sources), find_session_settings(sources), token, plain)


def find_address() -> Address:
    """Return the address that the environment and its files name. Raises StartRefused."""
    return choose_address(read_sources())


def choose_address(sources: Sequence[ValueSource]) -> Address:
    """Return where a question goes: to the host, or to what asks the server of SERVER_URL.

    Raises StartRefused, OSError.
    """
    if find_value("server_url", sources) is None:
        return choose_host(sources)
    return build_address(find_data_dir(sources), find_key(sources))


def find_key(sources: Sequence[ValueSource]) -> dict[str, str]:
    """Return the values that decide which process answers."""
    found = {name: find_value(name, sources) for name in KEY_SETTINGS}
    return {name: value.text for name, value in found.items() if value}


def choose_host(sources: Sequence[ValueSource]) -> Address:
    """Return the address of the host that `sources` name. Raises StartRefused, OSError."""
    database = find_value("database_url", sources)
    key = {"database_url": database.text} if database else {}
    return build_address(find_data_dir(sources), key).narrow(describe_shared(sources))


def describe_shared(sources: Sequence[ValueSource]) -> str:
    """Return a digest of what all sessions of a host have in common. Raises OSError."""
    chosen = {name: find_value(name, sources) for name in SHARED_SETTINGS}
    settings = {name: value.text for name, value in chosen.items() if value}
    for name in settings.keys() & {*_PATHS}:
        settings[name] = os.path.abspath(os.path.expanduser(settings[name]))  # noqa: PTH100, PTH111
    environment = {
        name: text
        for name, text in read_environment().values.items()
        if name in _READ_BY_LIBRARIES or name.startswith(_PREFIXES) or name.endswith(_SUFFIX)
    }
    installation = [describe_code(), sys.version, sys.prefix, str(Path(__file__).parent)]
    user = [os.geteuid(), os.path.expanduser("~"), _name_user()]  # noqa: PTH111
    shared = json.dumps([settings, environment, installation, user], sort_keys=True)
    return sha256(os.fsencode(shared)).hexdigest()


def _name_user() -> str:
    """Return the name that the memory of an embedded Postgres gives to the OS user."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


@contextmanager
def claim(address: Address) -> Generator[bool]:
    """Take the lock of an address, and yield whether no other process has it.

    Create its folder if it does not exist. The kernel drops the lock of a process that ends, even
    by kill -9. Raises StartRefused.
    """
    make_folder(address.folder)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        lock = os.open(address.lock, flags, 0o600)
    except OSError as error:
        raise StartRefused(f"{address.lock} cannot be used: {error.strerror}") from error
    try:
        claimed = _take(lock, address.lock)
        try:
            yield claimed
        finally:
            if claimed:
                address.lock.unlink(missing_ok=True)
    finally:
        # A new child shares the open file until it executes its program.
        fcntl.flock(lock, fcntl.LOCK_UN)
        os.close(lock)


def _take(lock: int, path: Path) -> bool:
    """Return whether the lock is taken. Another process may have it for a moment only."""
    for pause in _MOMENTS:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return os.path.samestat(os.fstat(lock), path.stat())
        except BlockingIOError:
            time.sleep(pause)
        except OSError:  # another process has just deleted the file
            return False
    return False


def is_claimed(address: Address) -> bool:
    """Return whether a process has the lock of an address. It may still be starting."""
    try:
        lock = os.open(address.lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        fcntl.flock(lock, fcntl.LOCK_UN)
        os.close(lock)


def make_folder(folder: Path) -> None:
    """Make the private folder of sockets, or check that it is private. Raises StartRefused."""
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        require_private(folder)
    except FolderTaken as error:
        raise StartRefused(str(error)) from error
    except OSError as error:
        raise StartRefused(
            f"The data folder {folder.parent} cannot be used: {error.strerror}: set "
            "TEXTRAWL_DATA_DIR to a folder that you can write to"
        ) from error


def start_host(address: Address, *words: str) -> "Popen[bytes]":
    """Start a host in its own session, without waiting for it. Raises StartRefused, OSError.

    `words` say what the host is for: see `textrawl.cli.host`. It ends at once if another one has
    the memory open, and outlives this process.
    """
    import subprocess  # noqa: PLC0415 - only a first start needs its 10 ms

    make_folder(address.folder)
    path = name_log(address)
    with suppress(OSError):
        if path.stat().st_size > _LONGEST_LOG:
            path.unlink()
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    log = os.open(path, flags, 0o600)
    # With -P, Python does not load modules from the folder of a project.
    command = [sys.executable, "-P", "-m", "textrawl", *list_options(), "host", *words]
    try:
        return subprocess.Popen(  # noqa: S603 - a fixed command
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    finally:
        os.close(log)


def name_log(address: Address) -> Path:
    """Return the path of the log of a host."""
    return address.folder / f"{address.key}.log"


def read_refusal(address: Address) -> str:
    """Return the reason why a host could not start: the last line of its log."""
    with suppress(OSError, IndexError):
        text = name_log(address).read_bytes()[-4096:].decode(errors="replace")
        return text.strip().splitlines()[-1].removeprefix("textrawl: ")
    return "the host ended without a reason"
