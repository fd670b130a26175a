"""Limits that the process which starts Postgres inherits, and the ends of its children."""

import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.support.commands import wait_for
from textrawl.embedded.postmaster import stop
from textrawl.settings import read_foreign_environment


def run_command(words: list[str], prepare: Callable[[], object], **settings: object) -> str:
    """Stderr of a command whose process is prepared before it begins."""
    done = subprocess.run(
        [sys.executable, "-m", "textrawl", *words],
        env=read_foreign_environment() | {name: str(value) for name, value in settings.items()},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        preexec_fn=prepare,
        check=False,
    )
    return f"{done.returncode} {done.stderr}"


@pytest.fixture
def ended() -> subprocess.Popen[bytes]:
    """A child that has ended and that nobody has waited for yet."""
    child = subprocess.Popen(["/bin/sh", "-c", "exit 3"])
    wait_for(lambda: psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE)
    return child


@pytest.mark.parametrize("folder", ["data", "new"])
def test_too_few_open_files_are_named_as_the_reason(data_dir: Path, folder: str) -> None:
    def prepare() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))

    told = run_command(["migrate"], prepare, DATA_DIR=data_dir.parent / folder)

    assert told.startswith("1 textrawl: This process may open only 48 files at once, and Postgres")


@pytest.mark.anyio
async def test_a_stop_of_postgres_leaves_other_children_to_whoever_started_them(
    tmp_path: Path, ended: subprocess.Popen[bytes]
) -> None:
    await stop(tmp_path / "postgres-18")

    assert ended.wait() == 3


def test_a_supervisor_that_ignores_children_does_not_hide_how_they_end(
    home: Path, data_dir: Path
) -> None:
    """The reader of files is a child, whose end asyncio reports."""
    (home / "py.py").write_text("print('tea')\n", encoding="utf-8")

    def prepare() -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    told = run_command(
        ["ingest", str(home / "py.py")], prepare, DATA_DIR=data_dir, EMBEDDING_PROVIDER="none"
    )

    assert told.startswith("0 ")
    assert "child process" not in told
