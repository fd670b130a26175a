"""The folders whose `.env` the user trusts, as `textrawl trust` records them.

The trust is for one file with one content: each record is named by a hash of both, so a file that
somebody changes is not trusted. The records are in the user's configuration folder, which no
repository controls. A process reads them before pydantic and typer are loaded, so this module
imports only the standard library.
"""

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple

_FOLDER = "trusted"
_NEW = ".new"  # the end of the name of a record that is being written

State = Literal["trusted", "changed", "missing"]


class TrustedFile(NamedTuple):
    """A file that was trusted once. `state` says whether it still has the same content."""

    path: Path
    state: State


def is_trusted(config: Path, file: Path, content: bytes) -> bool:
    """Return whether the user trusts `file` with this content. `config` is the user's folder."""
    return _find_record(config, file, content).is_file()


def trust(config: Path, file: Path, content: bytes) -> None:
    """Record the trust in `file` with this content, and drop that in a former content.

    Raises OSError.
    """
    record = _find_record(config, file, content)
    record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = record.with_name(f"{record.name}.{os.getpid()}{_NEW}")
    new.write_bytes(os.fsencode(_resolve(file)))
    new.replace(record)
    for other in _find_records_of(config, file):
        if other != record:
            other.unlink(missing_ok=True)


def distrust(config: Path, file: Path) -> bool:
    """Take the trust in `file` back, and return whether there was any. Raises OSError."""
    found = list(_find_records_of(config, file))
    for record in found:
        record.unlink(missing_ok=True)
    return bool(found)


def list_trusted(config: Path) -> list[TrustedFile]:
    """Return every file that was trusted, by path. Raises OSError."""
    found = [(path, record) for record, path in _read_records(config)]
    return [TrustedFile(path, _find_state(config, path, record)) for path, record in sorted(found)]


def _find_state(config: Path, path: Path, record: Path) -> State:
    try:
        content = path.read_bytes()
    except OSError:
        return "missing"
    return "trusted" if _find_record(config, path, content) == record else "changed"


def _find_records_of(config: Path, file: Path) -> Iterator[Path]:
    wanted = _resolve(file)
    return (record for record, path in _read_records(config) if path == wanted)


def _read_records(config: Path) -> list[tuple[Path, Path]]:
    """Return each record with the path of its file."""
    folder = config / _FOLDER
    if not folder.is_dir():
        return []
    records = [entry for entry in folder.iterdir() if entry.suffix != _NEW]
    return [(record, Path(os.fsdecode(record.read_bytes()))) for record in records]


def _find_record(config: Path, file: Path, content: bytes) -> Path:
    digest = sha256(os.fsencode(_resolve(file)) + b"\0" + content)
    return config / _FOLDER / digest.hexdigest()


def _resolve(file: Path) -> Path:
    """Return the path without links in its folders. The file itself can be a link."""
    return Path(os.path.realpath(file.parent), file.name)
