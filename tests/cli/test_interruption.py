"""Ctrl-C while a command loads its modules: one line and no traceback."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from textrawl.settings import read_foreign_environment

# Python imports `sitecustomize` when it starts. The signal comes from a finalizer, where an
# exception would get lost. Code that loads modules has such finalizers and callbacks too.
INTERRUPTING = """
import os, signal, sys

class Interrupting:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["MODULE"]:
            Interrupting()

sys.meta_path.insert(0, Finder())
"""


@pytest.fixture(scope="module")
def customized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("customized")
    (folder / "sitecustomize.py").write_text(INTERRUPTING, encoding="utf-8")
    return folder


def run_interrupted(folder: Path, module: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command that gets SIGINT when it imports `module`."""
    return subprocess.run(
        [sys.executable, "-m", "textrawl", *words],
        env=read_foreign_environment() | {"PYTHONPATH": str(folder), "MODULE": module},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "module",
    [
        "textrawl.environment",
        "typer",
        "textrawl.cli.commands.demo",
        "numpy",
        "mcp.types",
        "uvicorn",
    ],
)
def test_a_demo_that_is_interrupted_while_it_loads_ends_with_one_line(
    customized: Path, tmp_path: Path, module: str
) -> None:
    done = run_interrupted(customized, module, "demo", "--data-dir", str(tmp_path / "demo"))

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "textrawl: Interrupted\n")
    assert not (tmp_path / "demo").exists()


@pytest.mark.parametrize(
    ("words", "module"),
    [
        (["recall", "tea"], "textrawl.cli.questions"),
        (["recall", "tea"], "typer"),
        (["hook", "prompt"], "textrawl.hooks.command"),
        (["host"], "textrawl.cli.host"),
        (["--help"], "rich"),
        (["no-such"], "textrawl.cli.console"),
    ],
)
def test_every_kind_of_command_ends_so(customized: Path, words: list[str], module: str) -> None:
    done = run_interrupted(customized, module, *words)

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "textrawl: Interrupted\n")


def test_a_process_that_was_started_to_ignore_the_signal_ignores_it(customized: Path) -> None:
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)  # children inherit it
    try:
        done = run_interrupted(customized, "typer", "--version")
    finally:
        signal.signal(signal.SIGINT, former)

    assert done.returncode == 0, done.stderr
