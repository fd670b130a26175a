"""A hook that cannot help gives the model nothing, ends soon, and ends with 0."""

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.hooks.sessions import Said, Session
from tests.support.commands import Launch, wait_for
from tests.support.sockets import is_answered, recall, remember
from textrawl.hooks.events import CLAUDE_CODE, CLIENTS, Event
from textrawl.host.entrance import find_address

Start = Callable[..., Session]

PROMPT = CLAUDE_CODE.find("UserPromptSubmit") or CLAUDE_CODE.events[1]
QUESTION = "Who leads QA at Acme?"
MOST = 20.0  # seconds; a hook ends itself after 4.5, and a busy machine needs some to start it


@pytest.fixture
def alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mapping[str, str]]:
    """Settings of a memory that nobody has open. Processes that hooks start are ended."""
    values = {"TEXTRAWL_DATA_DIR": str(home / "data"), "XDG_CONFIG_HOME": str(home)}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    yield values
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            if process.environ().get("TEXTRAWL_DATA_DIR") == str(home / "data"):
                process.kill()


def ask_in_time(session: Session) -> Said:
    """Send a prompt, and check that the hook ends soon, with 0, and complains of nothing else."""
    begin = time.monotonic()
    said = session.tell("prompt", prompt=QUESTION, turn_id=begin)
    assert time.monotonic() - begin < MOST
    assert said.code == 0
    assert not said.err or said.err.startswith("textrawl hook: The memory did not answer in time")
    assert len(said.err.splitlines()) <= 1
    return said


@pytest.mark.parametrize(
    "text",
    ["", "no JSON", "[]", "{}", '{"session_id": 7}', '{"session_id": "\\ud83d"}', "[" * 100_000],
    ids=["empty", "text", "list", "no session", "number", "half a character", "deep"],
)
def test_an_input_that_cannot_be_read_gets_nothing(start: Start, text: str) -> None:
    assert start("claude-code").run(PROMPT, text).is_silent


@pytest.mark.parametrize("settings", [
    {"ENABLE_MEMORY": "false"}, {"HOOKS": "off"}, {"HOOKS": "everything"},
    {"HOOK_RECALL_TOKENS": "many"}, {"HOOK_LEAST_SCORE": "high"},
])  # fmt: skip
def test_a_hook_that_is_off_or_has_a_wrong_setting_says_nothing(
    start: Start, settings: dict[str, str]
) -> None:
    assert start("claude-code", **settings).tell("prompt", prompt=QUESTION).is_silent


def test_an_event_of_a_newer_client_gets_nothing(start: Start) -> None:
    session = start("claude-code")
    text = json.dumps({"session_id": session.name, "prompt": QUESTION})

    assert session.run(Event("PostEverything", "prompt"), text).is_silent
    session.client = "another-client"
    assert session.run(PROMPT, text).is_silent


def test_those_who_debug_read_why_a_hook_is_silent(start: Start) -> None:
    session = start("claude-code", LOG_LEVEL="DEBUG")
    broken = session.run(PROMPT, "no JSON")
    other = session.tell("prompt", prompt="fix the failing test")
    off = start("claude-code", LOG_LEVEL="DEBUG", HOOKS="off").tell("prompt", prompt=QUESTION)

    assert {(said.code, said.out) for said in (broken, other, off)} == {(0, "")}
    assert broken.err == "textrawl hook: The input is not JSON\n"
    assert other.err == "textrawl hook: Nothing to say: no new fact, and no reminder\n"
    assert off.err.startswith("textrawl hook: The settings switch the hooks off")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_read_only_memory_is_recalled_and_nobody_is_reminded_to_store(
    start: Start, client: str
) -> None:
    session = start(client, READ_ONLY="true")
    said = [session.tell("start", source="startup")]
    if session.has("prompt"):
        said += [session.tell("prompt", prompt=text) for text in ("one", "two", "three")]
    if session.has("stop"):
        said += [session.tell("stop", turn_id=turn) for turn in range(3)]

    assert "Harbour" in said[0].text
    assert all(each.is_silent for each in said[1:])


@pytest.mark.parametrize("server", ["silent", "absent"])
def test_a_server_that_cannot_be_reached_is_a_word_to_the_user(
    alone: Mapping[str, str], home: Path, server: str
) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        if server == "silent":
            listener.listen()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        settings = {**alone, "TEXTRAWL_SERVER_URL": url}

        said = Session("claude-code", home, settings).tell("prompt", prompt=QUESTION)

    assert (said.code, said.out) == (0, "")
    assert said.err.startswith("textrawl hook: ")


def test_a_cold_hook_answers_from_the_memory_or_says_that_it_is_not_open_yet(
    alone: Mapping[str, str], home: Path, data_dir: Path, launch: Launch
) -> None:
    stored = launch("remember", "Ada", "leads QA at Acme", DATA_DIR=data_dir).end()

    cold = ask_in_time(Session("claude-code", home, alone))

    assert stored.code == 0
    assert "leads QA" in cold.text or "did not answer in time" in cold.err
    wait_for(lambda: "leads QA" in ask_in_time(Session("claude-code", home, alone)).text)


@pytest.mark.parametrize("answer", [None, {"version": "0.0.1", "error": "Another version"}])
def test_a_process_that_never_answers_or_has_another_version_is_not_waited_for(
    alone: Mapping[str, str], home: Path, answer: dict[str, str] | None
) -> None:
    address = find_address()
    address.folder.mkdir(parents=True, mode=0o700)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(address.socket))
        listener.listen()
        if answer is not None:
            threading.Thread(target=serve, args=(listener, answer), daemon=True).start()

        said = ask_in_time(Session("claude-code", home, alone))

    assert said.out == ""
    assert bool(said.err) == (answer is None)


def serve(listener: socket.socket, answer: dict[str, str]) -> None:
    """Answer every request with the same line until the listener is closed."""
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(json.dumps(answer).encode() + b"\n")


@pytest.mark.slow
def test_hooks_survive_the_death_of_the_server_of_the_resident_and_of_postgres(
    alone: Mapping[str, str],
    home: Path,
    data_dir: Path,
    launch: Launch,
    postmasters: Callable[[], list[int]],
) -> None:
    server = launch("serve", **alone)
    server.open()
    wait_for(is_answered)
    remember("Ada", "leads QA at Acme")
    assert "leads QA" in ask_in_time(Session("claude-code", home, alone)).text

    def recalls() -> bool:
        return "leads QA" in ask_in_time(Session("claude-code", home, alone)).text

    server.end(signal.SIGKILL)
    wait_for(recalls)  # a hook has started a resident process, which opens the same memory
    for pid in find_residents(data_dir):
        os.kill(pid, signal.SIGKILL)
    wait_for(recalls)
    for pid in postmasters():
        os.kill(pid, signal.SIGKILL)
    wait_for(recalls)

    assert len(recall(QUESTION).ids) == 1


def find_residents(data_dir: Path) -> list[int]:
    """Return the processes of `textrawl resident` for this memory."""
    found = list[int]()
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            if process.environ().get("TEXTRAWL_DATA_DIR") == str(data_dir):
                found += [process.pid] * ("host" in process.cmdline())
    return found
