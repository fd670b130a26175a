"""A folder that Postgres can reach, and other processes that use the same cluster."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio
import psutil
import pytest

from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import find_postmaster, is_postmaster

_GUEST = """
import ctypes, sys
from pathlib import Path
import anyio
from textrawl.embedded.cluster import run_embedded

async def main():
    async with run_embedded(Path(sys.argv[1])):
        print("ready", flush=True)
        await anyio.to_thread.run_sync(sys.stdin.readline)

if sys.argv[2:] == ["adopts"]:
    ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: inherits orphans, as process 1 does
anyio.run(main)
"""


class Guest:
    """Another process that uses the cluster until it is told to leave."""

    def __init__(self, data_dir: Path, *arguments: str, **environment: str | None) -> None:
        values = {**os.environ, **environment}
        self.process = subprocess.Popen(
            [sys.executable, "-c", _GUEST, str(data_dir), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={name: value for name, value in values.items() if value is not None},
        )

    def wait_ready(self) -> None:
        """Wait until it has a cluster."""
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def leave(self) -> None:
        """Leave as a program does that ends."""
        self.process.communicate("\n", timeout=60)
        assert self.process.returncode == 0

    def kill(self) -> None:
        """Die without a chance to clean up."""
        self.process.kill()
        self.process.communicate(timeout=60)


@pytest.fixture(scope="session")
def first() -> Iterator[Path]:
    """A data folder that was started and stopped once, to copy from."""
    with _open_folder() as folder:
        anyio.run(_start_once, folder / "data")
        yield folder / "data"


@pytest.fixture
def home() -> Iterator[Path]:
    """An empty folder that another OS user can enter, unlike tmp_path."""
    with _open_folder() as folder:
        yield folder
        for pgdata in folder.rglob("postgres-1[68]"):
            pid = find_postmaster(pgdata)
            if pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


@pytest.fixture
def data_dir(home: Path, first: Path) -> Path:
    """A data folder with a stopped cluster."""
    subprocess.run(["cp", "-a", first, home / "data"], check=True)
    return home / "data"


@pytest.fixture
def fresh(data_dir: Path) -> None:
    """Make `data_dir` a folder that does not exist yet."""
    shutil.rmtree(data_dir)


@contextmanager
def _open_folder() -> Generator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="textrawl-", dir=_find_quick_disk()))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def _find_quick_disk() -> str:
    # Both are short enough for a socket; in memory a cluster is copied in 0.1 s instead of 1.
    memory, disk = "/dev/shm", "/tmp"  # noqa: S108 - mkdtemp makes the names
    if not Path(memory).is_dir() or os.statvfs(memory).f_flag & os.ST_NOEXEC:
        return disk
    return memory if shutil.disk_usage(memory).free > 2 << 30 else disk


async def _start_once(data_dir: Path) -> None:
    async with run_embedded(data_dir):
        pass


@pytest.fixture
def guest(data_dir: Path) -> Iterator[Callable[..., Guest]]:
    """Make processes that use `data_dir`; none outlives the test."""
    guests: list[Guest] = []

    def invite(*arguments: str, **environment: str | None) -> Guest:
        guests.append(Guest(data_dir, *arguments, **environment))
        return guests[-1]

    yield invite
    for one in guests:
        one.kill()


@pytest.fixture
def postmasters(data_dir: Path) -> Callable[[], list[int]]:
    """Process ids of all servers on `data_dir`, whatever their pid file says."""

    def find() -> list[int]:
        pgdata = data_dir.resolve() / "postgres-18"
        return [pid for pid in psutil.pids() if is_postmaster(pid, pgdata)]

    return find
