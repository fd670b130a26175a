"""The socket of a memory: its path, and the check that it is private.

The folder is `resident` in the data folder. The name of the socket depends on the settings that
decide which memory is meant, so two servers with different memories never share a socket.
"""

import json
import os
import stat
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from textrawl.embedded.location import RESIDENT, default_data_dir
from textrawl.environment import Source, find_access_token, find_value, read_sources

_LONGEST = 103  # bytes without the NUL; sun_path has 104 on macOS and 108 on Linux
_KEY = 16  # hexadecimal digits


class Memory(NamedTuple):
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


def find_address() -> Address:
    """Return the address that the environment and its files name. Raises StartRefused."""
    return choose_address(read_sources())


def choose_address(sources: Sequence[Source]) -> Address:
    """Return the address that `sources` name. Raises StartRefused."""
    found = {name: find_value(name, sources) for name in Memory._fields}
    values = {name: value.text for name, value in found.items() if value}
    folder = find_value("data_dir", sources)
    return build_address(
        Path(folder.text).expanduser().absolute() if folder else default_data_dir(),
        Memory(**{**values, "access_token": find_access_token(sources)}),
    )


def build_address(data_dir: Path, memory: Memory) -> Address:
    """Return the address of `memory`. `data_dir` is an absolute path."""
    address = Address(data_dir / RESIDENT, _digest(json.dumps(memory)))
    if len(os.fsencode(address.socket)) <= _LONGEST:
        return address
    import tempfile  # noqa: PLC0415 - a quick command seldom needs it

    parent = Path(tempfile.gettempdir()).resolve()
    return address._replace(folder=parent / f"textrawl-{_digest(str(address.folder.resolve()))}")


def is_private(folder: Path) -> bool:
    """Return whether `folder` exists and only the current OS user can enter it."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    closed = stat.S_ISDIR(status.st_mode) and not stat.S_IMODE(status.st_mode) & 0o077
    return closed and status.st_uid == os.geteuid()


def _digest(text: str) -> str:
    return sha256(os.fsencode(text)).hexdigest()[:_KEY]
