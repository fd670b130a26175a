"""A folder that Postgres can reach, and other processes that use the same cluster."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import psutil
import pytest

from tests.support.folders import copy, make_once, open_folder
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import is_postmaster

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
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that was started and stopped once, to copy from."""
    return make_once(
        tmp_path_factory, "first", lambda folder: anyio.run(_start_once, folder / "data")
    )


@pytest.fixture
def home() -> Iterator[Path]:
    """An empty folder that another OS user can enter, unlike tmp_path."""
    with open_folder() as folder:
        yield folder


@pytest.fixture
def data_dir(home: Path, first: Path) -> Path:
    """A data folder with a stopped cluster."""
    copy(first / "data", home / "data")
    return home / "data"


@pytest.fixture
def fresh(data_dir: Path) -> None:
    """Make `data_dir` a folder that does not exist yet."""
    shutil.rmtree(data_dir)


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
    """Process ids of all servers on `data_dir`, whatever their version and pid file."""

    def find() -> list[int]:
        folders = [data_dir.resolve() / f"postgres-{major}" for major in (16, 18)]
        found = {pid for pid in psutil.pids() if any(is_postmaster(pid, at) for at in folders)}
        return [pid for pid in found if not _is_child(pid, found)]

    return find


def _is_child(pid: int, of: set[int]) -> bool:
    # A child that was forked a moment ago still has the title of its server.
    try:
        return psutil.Process(pid).ppid() in of
    except psutil.NoSuchProcess:
        return True
