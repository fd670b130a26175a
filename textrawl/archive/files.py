"""Files of backups and exports: written completely or not at all, and private to their owner."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from textrawl.errors import StartRefused


@contextmanager
def write_whole(file: Path, *, force: bool) -> Generator[Path]:
    """Yield an empty file beside `file`, and rename it to `file` if the block raises no error.

    Raises StartRefused if the file cannot be written, or if `file` exists and `force` is false.
    """
    draft = file.with_name(f"{file.name}.new")
    try:
        refuse_existing(file, force=force)
        draft.unlink(missing_ok=True)
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
        try:
            yield draft
            _sync(draft)
            refuse_existing(file, force=force)
            draft.replace(file)
            _sync(file.parent)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise StartRefused(
            f"{file} cannot be written: {error.strerror}. Name a file in a folder in which you may "
            "write, on a disk with enough space"
        ) from error


def refuse_existing(file: Path, *, force: bool) -> None:
    """Raise StartRefused if `file` exists, unless `force` allows replacing a file."""
    if file.is_dir() or (os.path.lexists(file) and not force):
        fix = "name a file" if file.is_dir() else "name another file, or add --force to replace it"
        raise StartRefused(f"{file} exists already: {fix}")


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
