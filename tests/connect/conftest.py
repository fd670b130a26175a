"""Commands run in this process, as in tests/cli, for a user with a home of their own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Outcome, Run, run
from textrawl.connect.clients import CLIENTS
from textrawl.connect.edits import FORMATS

__all__ = ["run"]

Textrawl = Callable[..., Outcome]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def textrawl(run: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Textrawl:
    """Runs a command in a project, for a user with this home."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return lambda *words: run(*words, HOME=home)


@pytest.fixture
def locate(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Finds the file of a client in that home."""

    def find(name: str) -> Path:
        with monkeypatch.context() as patch:
            patch.setenv("HOME", str(home))
            return CLIENTS[name].find_file()

    return find


def list_files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def write(path: Path, text: str) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path.read_bytes()


def read_entry(name: str, path: Path) -> Any:
    client = CLIENTS[name]
    document: Any = FORMATS[client.format].read(path.read_bytes().decode())
    for key in client.keys:
        document = document[key]
    return document["textrawl"]
