"""Real programs report textrawl as connected after `textrawl connect`, and keep their files."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.clients.catalogue import QUICK
from tests.clients.connecting import CASES, Case
from tests.clients.programs.program import Place, Server
from tests.clients.snippets import provide
from tests.conftest import TOKEN
from tests.support.listening import find_port

pytestmark = [
    pytest.mark.clients, pytest.mark.timeout(900), pytest.mark.usefixtures("uncovered"),
]  # fmt: skip


ALL = [
    pytest.param(case, id=case.name, marks=[pytest.mark.slow] if case.program in QUICK else [])
    for case in CASES
]
ASKING = [pytest.param(case, id=case.name) for case in CASES if case.asks]


@dataclass(frozen=True)
class Desk:
    """A home with a program and a memory in a Postgres that runs."""

    case: Case
    place: Place
    file: Path

    def ask(self) -> str:
        """What the program says of its servers."""
        words = [*self.case.program.locate(self.place.installed), *self.case.words]
        environment = self.case.program.write_environment(self.place)
        settled = {"UV_NO_SYNC": "1", "UV_FROZEN": "1", "TEXTRAWL_ACCESS_TOKEN": TOKEN}
        return self._run(words, {**environment, **settled})

    def run_textrawl(self, *words: str) -> str:
        """What a command of textrawl writes, as the user of this home."""
        home = {"HOME": str(self.place.home), "PATH": "/usr/bin:/bin", "UV_NO_SYNC": "1"}
        return self._run([sys.executable, "-m", "textrawl", *words], home)

    def _run(self, words: Sequence[str], environment: Mapping[str, str]) -> str:
        done = subprocess.run(
            words,
            env=environment,
            cwd=self.place.work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
        )
        return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)


@pytest.fixture
def desk(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> Iterator[Desk]:
    case: Case = request.param
    installed = provide(case.program)
    home = tmp_path / "home"
    place = Place(installed, home, home / "work", Server("", (), {}), "http://127.0.0.1:9")
    place.work.mkdir(parents=True)
    settings = f"TEXTRAWL_DATABASE_URL={database_url}\nTEXTRAWL_ACCESS_TOKEN={TOKEN}\n"
    place.write(".config/textrawl/.env", settings)
    desk = Desk(case, place, place.write(case.file, case.content))
    desk.ask()  # some programs write their file anew when they first run
    yield desk
    end_all(home)


def end_all(home: Path) -> None:
    """End what a program left running."""
    for process in psutil.process_iter():
        try:
            if process.environ().get("HOME") == str(home):
                process.kill()
        except psutil.Error:
            continue


@pytest.fixture
def url(database_url: str) -> Iterator[str]:
    """The address of a server that asks for tokens."""
    port = find_port()
    command = [sys.executable, "-m", "textrawl", "serve", "--http", "--port", str(port)]
    given: dict[str, Any] = {"TEXTRAWL_DATABASE_URL": database_url, "HF_HUB_OFFLINE": "1"}
    with subprocess.Popen(command, env={**os.environ, **given}, stderr=subprocess.PIPE) as server:
        assert server.stderr is not None
        for line in server.stderr:
            if b"/mcp" in line:
                break
        yield f"http://127.0.0.1:{port}/mcp"
        server.terminate()
        server.stderr.read()


@pytest.mark.parametrize("desk", ALL, indirect=True)
def test_a_program_reports_the_server_and_its_file_is_byte_for_byte_as_before(desk: Desk) -> None:
    before = desk.file.read_bytes()

    connected = desk.run_textrawl("connect", desk.case.name, "--yes")
    said = desk.ask()
    again = desk.run_textrawl("connect", desk.case.name)
    disconnected = desk.run_textrawl("disconnect", desk.case.name, "--yes")

    assert "is connected" in connected
    assert re.search(desk.case.says, said), said
    assert "is already connected" in again
    assert "is disconnected" in disconnected
    assert desk.file.read_bytes() == before
    assert not re.search(desk.case.says, desk.ask())


@pytest.mark.parametrize("desk", ASKING, indirect=True)
def test_a_program_gets_the_token_of_a_file(desk: Desk, url: str) -> None:
    before = desk.file.read_bytes()
    token = desk.place.write("token", f"{TOKEN}\n")
    token.chmod(0o600)
    words = ("connect", desk.case.name, "--url", url, "--token-file", str(token), "--yes")

    connected = desk.run_textrawl(*words)
    said = desk.ask()
    kept = desk.file.read_bytes()
    desk.run_textrawl("disconnect", desk.case.name, "--yes")

    assert TOKEN.encode() not in kept + connected.encode()
    assert re.search(desk.case.says, said), said
    assert desk.file.read_bytes() == before


@pytest.mark.parametrize("desk", ASKING[:1], indirect=True)
def test_a_wrong_token_is_no_connection(desk: Desk, url: str) -> None:
    token = desk.place.write("token", "trl_wrong\n")
    desk.run_textrawl("connect", desk.case.name, "--url", url, "--token-file", str(token), "--yes")

    assert not re.search(desk.case.says, desk.ask())
