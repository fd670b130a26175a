"""Reading and writing configuration files of other programs."""

import contextlib
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from textrawl.clients.refusals import FileRefused

_BACKUP = ".textrawl-backup"
_PRIVATE = 0o600
_LARGEST = 64 << 20  # bytes: a configuration is smaller


@dataclass(frozen=True)
class Snapshot:
    """A file at one moment. `content` is None if there is no file, and `mode` then as well."""

    path: Path
    content: bytes | None
    mode: int | None

    @property
    def text(self) -> str:
        """The content. A byte order mark is part of it. Raises FileRefused if it is not UTF-8."""
        try:
            return (self.content or b"").decode()
        except UnicodeDecodeError as error:
            raise FileRefused(f"{self.path} was not changed: it is not UTF-8") from error


def read_snapshot(path: Path) -> Snapshot:
    """Return the file at `path`, or the file that a link at `path` leads to.

    Raises FileRefused for anything but a regular file, and if it cannot be read.
    """
    target = path.expanduser().resolve()
    try:
        status = target.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            raise FileRefused(
                f"{path} was not changed: it is not a regular file, or it has more than 64 MB"
            )
        return Snapshot(target, target.read_bytes(), stat.S_IMODE(status.st_mode))
    except FileNotFoundError:
        return Snapshot(target, None, None)
    except OSError as error:
        raise FileRefused(f"{path} cannot be read: {error.strerror}") from error


def write_file(
    snapshot: Snapshot, content: bytes, *, private: bool, mode: int | None = None
) -> None:
    """Replace the file by `content` in one step. It keeps its owner and its mode.

    A `private` file can then be read by its owner only. `mode` is a mode to go back to. Raises
    FileRefused if the file has changed since `snapshot`, or cannot be written.
    """
    path = snapshot.path
    if read_snapshot(path).content != snapshot.content:
        raise FileRefused(f"{path} was not changed: another program has just written it. Try again")
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            _copy_rights(file.fileno(), snapshot, private=private, mode=mode)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except OSError as error:
        raise FileRefused(f"{path} cannot be written: {error.strerror}") from error
    finally:
        Path(name).unlink(missing_ok=True)


def _copy_rights(descriptor: int, snapshot: Snapshot, *, private: bool, mode: int | None) -> None:
    if snapshot.mode is not None:
        status = snapshot.path.stat()
        with contextlib.suppress(PermissionError):  # the file of another user in a shared folder
            os.fchown(descriptor, status.st_uid, status.st_gid)
    usual = mode or snapshot.mode or 0o666 & ~_read_mask()
    os.fchmod(descriptor, usual & _PRIVATE if private else usual)


def _read_mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def create_folders(path: Path) -> list[Path]:
    """Create the folders above `path`, and return the new ones, the innermost first."""
    missing = [folder for folder in path.parents if not folder.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileRefused(f"{path.parent} cannot be created: {error.strerror}") from error
    return missing


def remove_folders(folders: list[Path]) -> None:
    """Remove folders, the innermost first, as far as they are empty."""
    for folder in folders:
        with contextlib.suppress(OSError):  # it is gone, or other files are in it
            folder.rmdir()


def back_up(snapshot: Snapshot) -> Path | None:
    """Write the file as it is beside itself, and return the path of the copy.

    A file that has the name of the copy already is not overwritten: the copy then gets a number.
    """
    if snapshot.content is None or snapshot.mode is None:
        return None
    number = 0
    while True:
        suffix = f"{_BACKUP}{f'-{number}' if number else ''}"
        path = snapshot.path.with_name(snapshot.path.name + suffix)
        held = read_snapshot(path)
        if held.content == snapshot.content:
            return path
        if held.content is None:
            write_file(
                Snapshot(path, None, None), snapshot.content, private=False, mode=snapshot.mode
            )
            return path
        number += 1
