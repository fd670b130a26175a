"""The first second of a pipe: its client is greeted before there is a host."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import HELLO, PING, find_socket_folder, wait_for
from tests.support.folders import write_env
from tests.support.hosts import IDLE, end_noted_hosts, note_folder
from textrawl.host.description_file import LISTS
from textrawl.server.description import INSTRUCTIONS
from textrawl.settings import read_foreign_environment

TOOLS = ["query_memory", "remember_fact", "build_knowledge", "relate_entities", "forget_entity"]
SERVE = ["-m", "textrawl"]
# What takes long to load is never loaded. A signal ends the wait, also one that came before it.
STOP = """
import os, signal, sys

woken, wake = os.pipe()
os.set_blocking(wake, False)
signal.set_wakeup_fd(wake)

class Stop:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"mcp", "pydantic", "anyio", "psycopg", "typer", "numpy"}:
            os.read(woken, 1)

sys.meta_path.insert(0, Stop())
from textrawl.__main__ import main
main([])
"""
ENVELOPE = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    }
}
DISCOVER = {"jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": ENVELOPE}
LIST = {"jsonrpc": "2.0", "id": 3, "method": "tools/list"}


class Raw:
    """A process at three pipes."""

    def __init__(self, arguments: list[str], environment: dict[str, object]) -> None:
        values = {"DATA_DIR": find_socket_folder()}
        values |= {name: str(value) for name, value in environment.items()}
        self.popen = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=read_foreign_environment() | IDLE | values,
        )
        note_folder(str(environment.get("DATA_DIR", find_socket_folder())))
        assert self.popen.stdin
        assert self.popen.stdout
        self._stdin, self._stdout = self.popen.stdin, self.popen.stdout

    def say(self, *messages: dict[str, Any] | bytes) -> None:
        """Sends messages in one piece."""
        lines = (m if isinstance(m, bytes) else json.dumps(m).encode() for m in messages)
        self._stdin.write(b"".join(line + b"\n" for line in lines))
        self._stdin.flush()

    def hear(self) -> dict[str, Any]:
        """Waits for a message."""
        return json.loads(self._stdout.readline())

    def hears_within(self, seconds: float) -> bool:
        """Return whether the process writes something within `seconds`."""
        return bool(select.select([self._stdout], [], [], seconds)[0])

    def end(self, number: signal.Signals | None = None) -> tuple[int, bytes, bytes]:
        """Its code and what it has still to say."""
        if number is not None:
            self.popen.send_signal(number)
        out, err = self.popen.communicate(timeout=60)
        return self.popen.returncode, out, err


Start = Callable[..., Raw]


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[Raw] = []

    def go(*arguments: str, **environment: object) -> Raw:
        started.append(Raw([*arguments] or SERVE, environment))
        return started[-1]

    yield go
    for process in started:
        process.popen.kill()
        process.popen.communicate()
    end_noted_hosts()


def read_tools(answer: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in answer["result"]["tools"]]


def test_both_handshakes_are_answered_before_anything_is_loaded(start: Start) -> None:
    process = start("-c", STOP)

    process.say(DISCOVER, HELLO, LIST)
    found, hello, tools = process.hear(), process.hear(), process.hear()

    assert read_tools(tools) == TOOLS
    assert (found["id"], found["result"]["supportedVersions"]) == (0, ["2026-07-28"])
    assert (hello["id"], hello["result"]["protocolVersion"]) == (1, "2025-11-25")
    assert found["result"]["instructions"] == INSTRUCTIONS["memory"]
    assert process.end(signal.SIGTERM) == (0, b"", b"")


def test_a_signal_before_anything_is_loaded_is_a_regular_end(start: Start) -> None:
    for number in (signal.SIGINT, signal.SIGHUP):
        process = start("-c", STOP)
        process.say(HELLO)
        process.hear()
        assert process.end(number) == (0, b"", b"")


@pytest.mark.parametrize("late", [False, True], ids=["at once", "after it gave up"])
def test_a_client_that_gave_up_discovering_is_served(
    start: Start, data_dir: Path, late: bool
) -> None:
    """Both wait for the process, or the first is answered and the client does not know it."""
    process = start(DATA_DIR=data_dir)
    if late:
        process.say(DISCOVER)
        process.hears_within(60)

    process.say(*([] if late else [DISCOVER]), HELLO)
    answers = [process.hear(), process.hear()]
    process.say({"jsonrpc": "2.0", "method": "notifications/initialized"}, LIST)

    assert [answer["id"] for answer in answers] == [0, 1]
    assert answers[1]["result"]["protocolVersion"] == "2025-11-25"
    assert read_tools(process.hear()) == TOOLS
    assert process.end()[:2] == (0, b"")


def test_a_client_of_2026_is_served_after_its_greeting(start: Start, data_dir: Path) -> None:
    process = start(DATA_DIR=data_dir)

    process.say(DISCOVER, LIST | {"params": ENVELOPE}, DISCOVER | {"id": 4})
    heard = [process.hear() for _ in range(3)]
    greeting, tools, again = (
        next(one for one in heard if one["id"] == number)
        for number in (DISCOVER["id"], LIST["id"], 4)
    )

    assert read_tools(tools) == TOOLS
    assert again["result"] == greeting["result"]
    assert process.end()[:2] == (0, b"")


def test_each_request_is_answered_once(start: Start, data_dir: Path) -> None:
    """Also requests that wait for the SDK, and requests with the id of a greeting."""
    process = start(DATA_DIR=data_dir)
    broken = rb'{"jsonrpc": "2.0", "id": 9, "method": "ping", "params": {"a": "\ud83d"}}'
    long = json.dumps(PING | {"id": 8}).encode().ljust(2_000_000)

    process.say(b"", HELLO, PING | {"id": HELLO["id"]}, broken)
    process.say(long, PING | {"id": 7}, b"hello", PING)
    answers = [process.hear() for _ in range(7)]
    outcome = process.end()

    assert answers[0]["result"]["serverInfo"]["name"] == "textrawl"
    assert {answer["id"] for answer in answers if "error" in answer} == {9, 8, None}
    assert sorted(answer["id"] for answer in answers if "result" in answer) == [1, 1, 2, 7]
    assert outcome[:2] == (0, b"")


def test_a_client_that_reads_late_gets_every_greeting_whole(start: Start, tmp_path: Path) -> None:
    """Together they are larger than a pipe."""
    process = start(ENABLE_MEMORY="off", DATA_DIR=tmp_path)

    plain = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    process.say(*(DISCOVER | {"id": f"{number}-"} for number in range(1000)), HELLO, plain)

    heard = {process.hear()["id"] for _ in range(1002)}
    assert heard == {*(f"{number}-" for number in range(1000)), 1, 2}
    assert process.end()[:2] == (0, b"")


@pytest.mark.parametrize(("name", "value", "message"), [
    ("TOOLSETS", "graph", INSTRUCTIONS["graph"]),
    ("TOOLSETS", "identity", INSTRUCTIONS["identity"]), ("ENABLE_MEMORY", "off", None),
])  # fmt: skip
@pytest.mark.parametrize("place", ["environment", "file"])
def test_instructions_are_those_of_what_is_offered(
    start: Start, home: Path, name: str, value: str, message: str | None, place: str
) -> None:
    write_env(f"TEXTRAWL_{name}={value}\n" if place == "file" else "", trusted=True)
    environment = {name: value} if place == "environment" else {}
    process = start(DATABASE_URL="postgresql://nobody@127.0.0.1:9/none", **environment)

    process.say(HELLO)

    assert process.hear()["result"].get("instructions") == message


def test_a_host_that_cannot_start_tells_every_waiting_request_why(
    start: Start, tmp_path: Path
) -> None:
    call = {"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": {"name": "query_memory"}}
    broken = b'{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"a": "\xff"}}'
    refusals: list[tuple[dict[str, str], list[int], str]] = [
        ({"DATABASE_URL": "postgresql://somebody:100%secret@localhost/memory"}, [1, 3],
         "TEXTRAWL_DATABASE_URL cannot be read: write postgresql://user"),
        ({"DATA_DIR": "/proc/x"}, [1, 3], "The data folder /proc/x cannot be used"),
        ({"MAX_RESPONSE_TOKENS": "abc"}, [1, 3], "MAX_RESPONSE_TOKENS must be a whole number"),
        ({"TOOLSETS": "poetry"}, [], "TEXTRAWL_TOOLSETS: there is no toolset 'poetry'; known:"),
    ]  # fmt: skip
    processes = [
        start(**{"DATA_DIR": tmp_path / str(number)} | environment)
        for number, (environment, _, _) in enumerate(refusals)
    ]
    for process in processes:
        process.say(HELLO, LIST, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        process.say(broken, call)

    for (_, greeted, reason), process in zip(refusals, processes, strict=True):
        code, out, err = process.end()
        answers = [json.loads(line) for line in out.splitlines()]
        errors = [answer["error"] for answer in answers if "error" in answer]

        assert sorted((answer["id"] for answer in answers), key=str) == [1, 3, 9, "c"]
        assert [answer["id"] for answer in answers if "result" in answer] == greeted
        assert {error["code"] for error in errors} == {-32603}
        assert {error["message"] for error in errors} == {
            f"textrawl cannot start: {err.decode().removeprefix('textrawl: ').strip()}"
        }
        assert reason in errors[0]["message"]
        assert code == 1


def test_a_client_that_begins_in_an_unusual_way_is_served(start: Start, tmp_path: Path) -> None:
    """With a byte order mark, with a ping, or with members of `_meta` that few clients send."""
    more = {"progressToken": "a", "io.modelcontextprotocol/logLevel": "info"}
    asked = DISCOVER | {"params": {"_meta": ENVELOPE["_meta"] | more}}
    process = start(ENABLE_MEMORY="off", DATA_DIR=tmp_path)

    process.say(b"\xef\xbb\xbf" + json.dumps(PING).encode(), asked, HELLO, LIST)
    answers = [process.hear() for _ in range(4)]

    assert sorted(answer["id"] for answer in answers) == [0, 1, 2, 3]
    assert all("result" in answer for answer in answers if answer["id"] != asked["id"])
    assert process.end()[:2] == (0, b"")


def test_a_request_before_the_handshake_learns_what_is_missing(
    start: Start, tmp_path: Path
) -> None:
    first = start(ENABLE_MEMORY="off", DATA_DIR=tmp_path)
    first.say(HELLO, PING)
    assert {first.hear()["id"], first.hear()["id"]} == {1, 2}
    process = start(ENABLE_MEMORY="off", DATA_DIR=tmp_path)

    process.say(LIST, LIST | {"id": 4, "method": "nothing"})
    early, unknown = process.hear(), process.hear()
    process.say(HELLO, LIST)
    hello, late = process.hear(), process.hear()

    reason = "initialize is missing: send it, then notifications/initialized, and then this"
    assert early["error"] == {"code": -32602, "message": reason}
    assert unknown["error"]["code"] == -32601
    assert hello["id"] == HELLO["id"]
    assert late["result"] == {"tools": []}
    assert process.end()[:2] == (0, b"")


def test_calls_that_were_read_are_finished_after_the_end_of_the_input(
    start: Start, data_dir: Path
) -> None:
    """Also a call that asks the user, whom nobody can ask any more."""
    asking: dict[str, Any] = {"capabilities": {"elicitation": {}}}
    fact = {"entityName": "Ada", "entityType": "person", "observation": "likes tea"}
    names = {"remember_fact": fact, "forget_entity": {"entityName": "Ada"}}
    calls = [
        {"jsonrpc": "2.0", "id": name, "method": "tools/call",
         "params": {"name": name, "arguments": arguments}}
        for name, arguments in names.items()
    ]  # fmt: skip
    process = start(DATA_DIR=data_dir, STRUCTURED_CONTENT="off")

    process.say(HELLO | {"params": HELLO["params"] | asking}, *calls)
    code, out, _ = process.end()
    messages = {message["id"]: message for message in map(json.loads, out.splitlines())}

    assert code == 0
    assert '"ok":true' in messages["remember_fact"]["result"]["content"][0]["text"]
    assert messages["forget_entity"]["error"]["message"] == "The client's input has ended"
    assert "elicitation/create" in [message.get("method") for message in messages.values()]


@pytest.mark.slow
def test_a_second_start_lists_before_there_is_a_host(start: Start, data_dir: Path) -> None:
    lists = [{"jsonrpc": "2.0", "id": name, "method": name} for name in LISTS]

    def ask(process: Raw) -> list[dict[str, Any]]:
        process.say(HELLO, *lists)
        return [process.hear() for _ in range(5)]

    first = start(DATA_DIR=data_dir, TOOLSETS="memory,graph")
    answers = ask(first)
    wait_for(lambda: [*data_dir.glob("resident/*.described")])
    assert first.end()[:2] == (0, b"")
    end_noted_hosts()
    second = start("-c", STOP, DATA_DIR=data_dir, TOOLSETS="memory,graph")

    assert sorted(answers, key=str) == sorted(ask(second), key=str)
    assert second.end(signal.SIGTERM) == (0, b"", b"")


def connect(start: Start, data_dir: Path, **environment: object) -> list[str]:
    """The tools that a client sees which gives up discovering after a second."""
    process = start(DATA_DIR=data_dir, **environment)
    process.say(DISCOVER)
    if process.hears_within(1):
        process.hear()
        process.say(LIST | {"params": ENVELOPE})
    else:
        process.say(HELLO)
        while process.hear()["id"] != HELLO["id"]:
            pass
        process.say({"jsonrpc": "2.0", "method": "notifications/initialized"}, LIST)
    tools = read_tools(process.hear())
    assert process.end()[:2] == (0, b"")
    return tools


@pytest.mark.slow
@pytest.mark.parametrize("bytecode", ["", "1"], ids=["warm", "cold"])
def test_a_client_that_waits_a_second_connects_ten_times_of_ten(
    start: Start, data_dir: Path, bytecode: str
) -> None:
    """Cold: nothing is compiled, as at the first start after an installation."""
    away = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": os.devnull} if bytecode else {}

    assert [connect(start, data_dir, **away) for _ in range(10)] == [TOOLS] * 10
