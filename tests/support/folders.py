"""Folders for Postgres: in memory where there is room, since databases wait for disks a lot."""

import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from textrawl.embedded.postmaster import find_postmaster
from textrawl.environment import find_user_file, trust

_ENOUGH = 2 << 30  # bytes: two workers have two clusters each, and copies of others


@contextmanager
def open_folder() -> Generator[Path]:
    """An empty folder; it goes, and every Postgres in it.

    Other OS users may enter it, unlike pytest's own: as root, Postgres runs as one. Its path is
    short enough for a socket.
    """
    folder = Path(tempfile.mkdtemp(prefix="textrawl-", dir=_find_quick_disk()))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        for pgdata in folder.rglob("postgres-1[68]"):
            pid = find_postmaster(pgdata)
            if pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)


def make_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The content that `make` gives an empty folder: one process of a run makes it for all."""
    base = factory.getbasetemp()
    # The variable alone is not enough: a pytest that a test runs inherits it, and is another run.
    is_worker = base.name == f"popen-{os.environ.get('PYTEST_XDIST_WORKER')}"
    made = (base.parent if is_worker else base) / name
    with made.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            with open_folder() as folder:
                make(folder)
                copy(folder, made.with_suffix(".new"))
            made.with_suffix(".new").rename(made)
    return made


def copy(source: Path, target: Path) -> None:
    """Copy a folder as `target`, or into it if it exists, with owners and modes."""
    words = ["cp", "-a", f"{source}/." if target.exists() else source, target]
    subprocess.run(words, check=True)


def _find_quick_disk() -> str:
    # A database is made and dropped in 40 ms there rather than 300, a cluster copied in 0.1 s.
    memory, disk = "/dev/shm", "/tmp"  # noqa: S108 - mkdtemp makes the names
    if not Path(memory).is_dir() or os.statvfs(memory).f_flag & os.ST_NOEXEC:
        return disk
    return memory if shutil.disk_usage(memory).free > _ENOUGH else disk


def write_env(text: str | bytes, *, trusted: bool = False) -> Path:
    """Write the `.env` of the working directory, and let the user trust it or not."""
    file = Path.cwd() / ".env"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    if trusted:
        trust(find_user_file().parent, file, file.read_bytes())
    return file
