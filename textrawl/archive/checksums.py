"""The checksum of a backup: its SHA-256, in the last line of its file.

The programs of Postgres do not read the end of a dump. So pg_restore reads the file as before.
"""

import hashlib
from pathlib import Path

from textrawl.errors import StartRefused

_MARK = b"\ntextrawl sha256 "
_LENGTH = len(_MARK) + 64 + 1  # bytes: the mark, the hash in hexadecimal, and the end of the line
_PIECE = 1 << 20  # bytes that are read at once


def add_checksum(file: Path) -> str:
    """Append the checksum of a file to it, and return the checksum."""
    digest = _hash(file, file.stat().st_size)
    with file.open("ab") as opened:
        opened.write(_write_line(digest))
    return digest


def verify_checksum(file: Path) -> str | None:
    """Return the checksum of a file, or None if an older version wrote the file without one.

    Raises StartRefused if the file was changed.
    """
    try:
        return _verify(file)
    except OSError as error:
        raise StartRefused(f"{file} cannot be read: {error.strerror}") from error


def _verify(file: Path) -> str | None:
    size = max(file.stat().st_size - _LENGTH, 0)
    with file.open("rb") as opened:
        opened.seek(max(size - _LENGTH, 0))
        end = opened.read()
    if not _has_mark(end):
        return None
    digest = _hash(file, size)
    if end[-_LENGTH:] != _write_line(digest):
        raise StartRefused(
            f"{file} was changed after it was written: its checksum is wrong. Use another copy"
        )
    return digest


def _has_mark(end: bytes) -> bool:
    """Return whether the end of a file has a mark, also if the mark is damaged, moved or cut."""
    same = sum(one == other for one, other in zip(end[-_LENGTH:], _MARK, strict=False))
    cut = any(end.endswith(_MARK[:length]) for length in range(4, len(_MARK)))
    return same > len(_MARK) // 2 or _MARK in end or cut


def _hash(file: Path, size: int) -> str:
    """Return the SHA-256 of the first `size` bytes of a file."""
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while size > 0 and (piece := opened.read(min(_PIECE, size))):
            digest.update(piece)
            size -= len(piece)
    return digest.hexdigest()


def _write_line(digest: str) -> bytes:
    return _MARK + digest.encode() + b"\n"
