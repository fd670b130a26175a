"""Links from facts to their replacements, kept on disk until all facts are stored."""

import struct
from collections.abc import Iterator
from tempfile import TemporaryFile
from uuid import UUID

_RECORD = struct.Struct("<qi?16s16s")
_BATCH = 1_000

Replacement = tuple[int, int, bool, UUID, UUID]
"""The number of the line, the space, True if the fact is new, and the ids of the fact and its
replacement."""


class Replacements:
    """A list of replacements on disk."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - close() closes it

    def close(self) -> None:
        """Close and delete the file."""
        self._file.close()

    def add(self, replacement: Replacement) -> None:
        """Append a replacement."""
        line, space, new, fact, successor = replacement
        self._file.write(_RECORD.pack(line, space, new, fact.bytes, successor.bytes))

    def read(self) -> Iterator[list[Replacement]]:
        """Yield all replacements in batches."""
        self._file.seek(0)
        while chunk := self._file.read(_RECORD.size * _BATCH):
            yield [
                (line, space, new, UUID(bytes=fact), UUID(bytes=successor))
                for line, space, new, fact, successor in _RECORD.iter_unpack(chunk)
            ]
