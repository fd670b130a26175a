"""Commands as a user runs them: in this process for their branches, in others for their lives."""

import atexit
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Event
from typing import Any

import psutil
import pytest
from mcp import StdioServerParameters

from tests.conftest import TOKEN
from tests.support.folders import copy, make_once, open_folder
from tests.support.forks import Forks
from tests.support.hosts import (
    IDLE,
    end_hosts,
    end_hosts_of_test,
    end_noted_hosts,
    note_folder,
)
from textrawl.__main__ import main
from textrawl.embedded.postmaster import is_postmaster
from textrawl.host import question
from textrawl.host.entrance import start_host
from textrawl.settings import read_foreign_environment
from textrawl_client.unix_socket import Address

HELLO: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
# Answered by the host, once all is open: a plain one is answered before, like HELLO.
PING: dict[str, Any] = {"jsonrpc": "2.0", "id": 2, "method": "ping", "params": {"_meta": {}}}
FACT = {"entityName": "Ada", "entityType": "person", "observation": "likes tea"}


@cache
def find_socket_folder() -> str:
    """The data folder of processes with a database of the tests: only their sockets are in it."""
    folder = tempfile.mkdtemp(prefix="textrawl-sockets-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def name_memory(database_url: str, **more: str) -> dict[str, str]:
    """The settings of a process that uses this database as ACTOR."""
    note_folder(find_socket_folder())
    own = {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN, "DATA_DIR": find_socket_folder()}
    return {**own, **IDLE, **more}


def serve_over_stdio(database_url: str, **more: str) -> StdioServerParameters:
    """A server for a client that starts it."""
    environment = {**os.environ, **name_memory(database_url, **more)}
    return StdioServerParameters(command=sys.executable, args=["-m", "textrawl"], env=environment)


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """What an expected error says: one line, and nothing else anywhere."""
        [line] = self.err.splitlines()
        assert self.out == ""
        assert line.startswith("textrawl: ")
        return line.removeprefix("textrawl: ")


Run = Callable[..., Outcome]


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, forks: Forks
) -> Iterator[Run]:
    """Runs a command in this process; keywords are environment variables. Its host is forked."""

    def fork_host(address: Address, *words: str) -> object:
        with forks.replace_popen():
            return start_host(address, *words)

    monkeypatch.setattr(question, "start_host", fork_host)

    def go(*arguments: str, **environment: object) -> Outcome:
        with monkeypatch.context() as patch:
            if "DATABASE_URL" in environment or "TEXTRAWL_DATABASE_URL" in os.environ:
                patch.setenv("DATA_DIR", find_socket_folder())
            for name, value in environment.items():
                patch.setenv(name, str(value))
            with pytest.raises(SystemExit) as ended:
                main(arguments)
        output = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Outcome(ended.value.code, output.out, output.err)

    yield go
    end_hosts_of_test()


def type_answer(answer: str, *words: str, **environment: str) -> Outcome:
    """Runs a command in a process of its own, with lines that are typed on a terminal."""
    ours, theirs = pty.openpty()
    os.write(ours, f"{answer}\n".encode())
    done = subprocess.run(
        [sys.executable, "-m", "textrawl", *words],
        stdin=theirs,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=read_foreign_environment() | {"DATA_DIR": find_socket_folder()} | environment,
    )
    for end in (ours, theirs):
        os.close(end)
    return Outcome(done.returncode, done.stdout, done.stderr)


def read_terminal(terminal: int) -> bytes:
    """All that a process writes to a terminal until the process ends. Closes our end."""
    shown = b""
    with suppress(OSError):  # how Linux tells that the other end is closed
        while piece := os.read(terminal, 65536):
            shown += piece
    os.close(terminal)
    return shown


class Process:
    """`textrawl` in a process of its own."""

    def __init__(self, arguments: Sequence[str], environment: dict[str, str]) -> None:
        if "DATABASE_URL" in environment:
            environment = {"DATA_DIR": find_socket_folder()} | environment
        if place := environment.get("DATA_DIR") or environment.get("TEXTRAWL_DATA_DIR"):
            note_folder(place)
        self.popen = subprocess.Popen(
            [sys.executable, "-m", "textrawl", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=read_foreign_environment() | IDLE | environment,
        )

    def say(self, message: dict[str, Any]) -> None:
        """Sends one message."""
        assert self.popen.stdin is not None
        self.popen.stdin.write(json.dumps(message) + "\n")
        self.popen.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """Waits for one message."""
        assert self.popen.stdout is not None
        return json.loads(self.popen.stdout.readline())

    def open(self) -> None:
        """Shakes hands and waits until everything is open."""
        for message in (HELLO, PING):
            self.say(message)
            assert self.hear()["id"] == message["id"]

    def end(self, number: signal.Signals | None = None) -> Outcome:
        """Its outcome, after a signal, or after it was told that nothing more will come."""
        if number is not None:
            self.popen.send_signal(number)
            self.popen.wait(timeout=60)
        out, err = self.popen.communicate(timeout=60)
        return Outcome(self.popen.returncode, out, err)


def read_address(process: Process) -> str:
    """Where it says that it listens."""
    assert process.popen.stderr is not None
    for line in process.popen.stderr:
        if line.startswith("textrawl listens on "):
            return line.split()[-1]
    raise AssertionError(process.end())


Launch = Callable[..., Process]


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until it holds, for two minutes at most, with pauses that leave others the processor."""
    deadline, pause = time.monotonic() + 120, Event()
    while not condition():
        assert time.monotonic() < deadline
        pause.wait(0.01)


@pytest.fixture
def launch() -> Iterator[Launch]:
    """Starts commands in processes of their own; none outlives the test."""
    started: list[Process] = []

    def start(*arguments: str, **environment: object) -> Process:
        values = {name: str(value) for name, value in environment.items()}
        started.append(Process(arguments, values))
        return started[-1]

    yield start
    for process in started:
        process.popen.kill()
        process.popen.communicate()
    end_noted_hosts()
    end_hosts_of_test()


@pytest.fixture
def home() -> Iterator[Path]:
    """An empty folder. Processes that commands start for a memory in it end with the test."""
    with open_folder() as folder:
        yield folder
        end_hosts_of_test()
        end_hosts(folder)


@pytest.fixture(scope="session")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory that was made by `textrawl migrate`, to copy from."""

    def make(folder: Path) -> None:
        outcome = Process(["migrate"], {"DATA_DIR": str(folder / "data")}).end()
        assert outcome.code == 0, outcome.err

    return make_once(tmp_path_factory, "seed", make) / "data"


@pytest.fixture
def data_dir(home: Path, seed: Path) -> Path:
    """Folder of an embedded Postgres that is stopped, with an empty memory."""
    copy(seed, home / "data")
    return home / "data"


@pytest.fixture
def postmasters(home: Path) -> Callable[[], list[int]]:
    """Process ids of all servers on home/data, whatever their pid file says."""

    def find() -> list[int]:
        pgdata = (home / "data").resolve() / "postgres-18"
        return [pid for pid in psutil.pids() if is_postmaster(pid, pgdata)]

    return find
