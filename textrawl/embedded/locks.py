"""Locks between processes that the kernel drops when their holder dies, even by kill -9."""

import fcntl
import logging
import os
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio

from textrawl.embedded.account import Account
from textrawl.embedded.site import refuse_folder

logger = logging.getLogger("textrawl")

_PAUSE = 0.02
_PROGRESS = 5.0


class FileLock:
    """flock(2) on one file.

    The lock belongs to the open file, so two objects exclude each other within one process
    too. Python opens files without inheritance: no program that we start keeps the lock.

    Raises StartRefused where the file cannot be made or opened.
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
        # Released by name: a child forked this moment has the open file too until it execs.
        self.release()
        os.close(self._file)

    def take_shared(self) -> bool:
        """Hold the lock together with others; False when somebody holds it alone."""
        return self._take(fcntl.LOCK_SH)

    def take_alone(self) -> bool:
        """Hold the lock alone; False when anybody else holds it.

        A shared hold is lost in either case: flock(2) releases it before it asks for more.
        """
        return self._take(fcntl.LOCK_EX)

    def release(self) -> None:
        """Let others have it."""
        fcntl.flock(self._file, fcntl.LOCK_UN)

    async def wait_alone(self) -> None:
        """Hold the lock alone, waiting as long as it takes; may be cancelled."""
        began = reported = anyio.current_time()
        while not self.take_alone():
            if anyio.current_time() - reported > _PROGRESS:
                reported = anyio.current_time()
                logger.warning(
                    "Another process starts or stops Postgres, %.0f s so far (it holds %s)",
                    reported - began, self.path,
                )  # fmt: skip
            await anyio.sleep(_PAUSE)

    def is_in_place(self) -> bool:
        """Whether the file is still the one under its name, and not one that was deleted."""
        try:
            there = self.path.stat()
        except FileNotFoundError:
            return False
        return os.path.samestat(there, os.fstat(self._file))

    def _take(self, kind: int) -> bool:
        try:
            fcntl.flock(self._file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
