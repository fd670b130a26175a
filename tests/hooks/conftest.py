"""A memory that a server has open, for hooks."""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.hooks.sessions import Session
from tests.hooks.week import Week, find_facts
from tests.support.commands import (
    Launch,
    Process,
    Run,
    data_dir,
    home,
    launch,
    postmasters,
    run,
    seed,
    wait_for,
)
from tests.support.folders import copy, open_folder
from tests.support.hosts import end_hosts_of_test
from tests.support.llm_server import LlmServer
from tests.support.sockets import is_answered, remember
from textrawl.environment import is_setting

__all__ = ["data_dir", "home", "launch", "postmasters", "run", "seed"]

FACTS = (
    ("Ada", "person", "leads QA at Acme"),
    ("Cleo", "person", "maintains the build machines in Oslo"),
    ("Harbour", "project", "Harbour 1 was written in Go, and Harbour 2 is written in Rust"),
    ("Harbour", "project", "Passwords are hashed with Argon2 since the audit of May 2026"),
    ("Harbour", "project", "The release of Harbour 2 is planned for March"),
    ("Harbour", "project", "Open question: who reviews the security of Harbour?"),
    ("Ben", "preference", "prefers short pull requests with tests"),
)

Environment = Mapping[str, str]


@contextmanager
def open_memory(seed: Path) -> Generator[Environment]:
    """Yield the settings of a memory with FACTS that a server over stdio has open."""
    with open_folder() as folder:
        copy(seed, folder / "data")
        values = {"TEXTRAWL_DATA_DIR": str(folder / "data"), "XDG_CONFIG_HOME": str(folder)}
        server = Process(["serve"], values)
        server.open()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in values.items():
                patch.setenv(name, value)
            wait_for(is_answered)
            for entity, kind, fact in FACTS:
                remember(entity, fact, kind)
        yield values
        server.end()


@pytest.fixture(scope="session")
def memory(seed: Path) -> Iterator[Environment]:
    """A memory that the tests share. They may add facts that no prompt of another test finds."""
    with open_memory(seed) as values:
        yield values


@pytest.fixture(autouse=True)
def _same_settings(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `ask` of the test itself use the module's memory."""
    if "memory" in request.fixturenames:
        for name, value in request.getfixturevalue("memory").items():
            assert is_setting(name) or name == "XDG_CONFIG_HOME"
            monkeypatch.setenv(name, value)


@pytest.fixture
def start(memory: Environment, tmp_path: Path) -> Iterator[Callable[..., Session]]:
    """Begins a session of a client in a repository called Harbour."""

    def begin(client: str, transcript: Path | None = None, **settings: object) -> Session:
        folder = tmp_path / "Harbour"
        (folder / ".git").mkdir(parents=True, exist_ok=True)
        values = {f"TEXTRAWL_{name}": str(value) for name, value in settings.items()}
        return Session(client, folder, {**memory, **values}, transcript, patient=True)

    yield begin
    end_hosts_of_test()  # of hooks whose settings need another process than that of the memory


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer(find_facts) as server:
        yield server


@pytest.fixture
def week(
    run: Run,
    launch: Launch,
    owner: psycopg.Connection,
    database_url: str,
    server: LlmServer,
    tmp_path: Path,
) -> Week:
    """A memory with an LLM that nothing uses yet, for hooks, commands and servers."""
    return Week(run, launch, owner, server, database_url, tmp_path)
