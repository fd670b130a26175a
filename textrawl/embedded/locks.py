"""Locks between processes. The kernel drops the locks of a process that ends, even by kill -9."""

import fcntl
import logging
import os
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio

from textrawl.embedded.account import Account
from textrawl.embedded.paths import refuse_folder

logger = logging.getLogger("textrawl")

_PAUSE = 0.02
_PROGRESS = 5.0


class FileLock:
    """A lock on one file with flock(2).

    The lock belongs to the open file. Therefore two objects in the same process exclude each other
    too. Child programs do not keep the lock, because Python does not let them inherit open files.

    Raises StartRefused if the file cannot be created or opened.
    """

    def __init__(self, path: Path, account: Account) -> None:
        self.path = path
        try:
            self._file = account.open(path, os.O_RDWR)
        except OSError as error:
            raise refuse_folder(path.parent, error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Release the lock before closing the file. A new child shares the open file, and thereby
        # the lock, until it executes its program.
        self.release()
        os.close(self._file)

    def take_shared(self) -> bool:
        """Take the lock as a shared lock. Return False if another user holds it exclusively."""
        return self._take(fcntl.LOCK_SH)

    def take_exclusive(self) -> bool:
        """Take the lock as an exclusive lock. Return False if another user holds it.

        A shared lock of this object is lost in both cases, because flock(2) releases it first.
        """
        return self._take(fcntl.LOCK_EX)

    def release(self) -> None:
        """Release the lock."""
        fcntl.flock(self._file, fcntl.LOCK_UN)

    async def wait_exclusive(self) -> None:
        """Wait until this object holds the lock exclusively. The wait can be cancelled."""
        began = reported = anyio.current_time()
        while not self.take_exclusive():
            if anyio.current_time() - reported > _PROGRESS:
                reported = anyio.current_time()
                logger.warning(
                    "Waiting for another process that starts or stops Postgres, %.0f s so far "
                    "(it holds %s)",
                    reported - began,
                    self.path,
                )
            await anyio.sleep(_PAUSE)

    def is_in_place(self) -> bool:
        """Return True unless the locked file was deleted or replaced."""
        try:
            current = self.path.stat()
        except FileNotFoundError:
            return False
        return os.path.samestat(current, os.fstat(self._file))

    def _take(self, kind: int) -> bool:
        try:
            fcntl.flock(self._file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
