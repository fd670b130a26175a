"""What facts of a file were replaced by, kept until all facts are there: on disk, not in memory."""

import struct
from collections.abc import Iterator
from tempfile import TemporaryFile
from uuid import UUID

_RECORD = struct.Struct("<qi?16s16s")
_BATCH = 1_000

Replacement = tuple[int, int, bool, UUID, UUID]
"""Number of the line, space, whether the fact was new, it, and its successor in the file."""


class Replacements:
    """A list that grows on disk."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - closed with this

    def close(self) -> None:
        """Deletes it."""
        self._file.close()

    def add(self, replacement: Replacement) -> None:
        """Keeps one."""
        line, space, new, fact, successor = replacement
        self._file.write(_RECORD.pack(line, space, new, fact.bytes, successor.bytes))

    def read(self) -> Iterator[list[Replacement]]:
        """All of them, in batches."""
        self._file.seek(0)
        while chunk := self._file.read(_RECORD.size * _BATCH):
            yield [
                (line, space, new, UUID(bytes=fact), UUID(bytes=successor))
                for line, space, new, fact, successor in _RECORD.iter_unpack(chunk)
            ]
