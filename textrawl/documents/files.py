"""The bytes of files: only of regular files, of bounded size, that do not change meanwhile."""

import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

MOST_BYTES = 200_000_000
_PIECE = 1 << 20  # bytes that are read at once
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}


class FileRefused(Exception):
    """A file that cannot be stored. The message gives the reason."""


class OpenFile:
    """A regular file that is open. `changed_at` is the time of its last change, in seconds."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._status = _check(os.fstat(descriptor))
        self.changed_at = self._status.st_mtime

    def read(self) -> Iterator[bytes]:
        """Yield the bytes in pieces.

        Raises FileRefused if the file is too large, or if another program changes it meanwhile.
        """
        size = 0
        while piece := os.read(self._descriptor, _PIECE):
            size += len(piece)
            _refuse_large(size)
            yield piece
        now = os.fstat(self._descriptor)
        before = self._status
        if (now.st_mtime_ns, now.st_size) != (before.st_mtime_ns, before.st_size):
            raise FileRefused("it changed while it was read: run the command again")


@contextmanager
def open_file(path: Path) -> Generator[OpenFile]:
    """Open a file to read it. Raises FileRefused, also for what is read within the block.

    A FIFO or a device is not opened. If one takes the place of a file meanwhile, O_NONBLOCK keeps
    the process from waiting for its writer.
    """
    try:
        _check(path.stat())
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        descriptor = os.open(path, flags)
        try:
            yield OpenFile(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise FileRefused(f"it cannot be read: {error.strerror}") from None


def _check(status: os.stat_result) -> os.stat_result:
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        raise FileRefused(f"it is {kind}, not a regular file")
    _refuse_large(status.st_size)
    return status


def _refuse_large(size: int) -> None:
    if size > MOST_BYTES:
        raise FileRefused(f"it is larger than {MOST_BYTES // 1_000_000} MB")
