"""Lines that are no messages: each is answered, and the next good one as well."""

import json
import socket
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.hosts import IDLE, end_hosts
from textrawl.host.framing import MOST_BYTES
from textrawl.settings import read_foreign_environment

HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "resources/list"}
PARSE_ERROR, INVALID_REQUEST = -32700, -32600

Process = subprocess.Popen[bytes]


def describe_environment(folder: Path) -> dict[str, str]:
    """The environment of `textrawl` without a memory."""
    return read_foreign_environment() | {"ENABLE_MEMORY": "off", "DATA_DIR": str(folder)} | IDLE


@contextmanager
def start(folder: Path) -> Generator[Process]:
    environment = describe_environment(folder)
    with subprocess.Popen(
        [sys.executable, "-m", "textrawl"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        cwd=folder,
    ) as process:
        say(process, json.dumps(HELLO).encode())
        assert hear(process)["id"] == 0
        say(process, b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        yield process
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(120) == 0
    end_hosts(folder)


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    """`textrawl` without a memory: nothing but its stdio."""
    with start(tmp_path) as process:
        yield process


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """One for many tests, since none of them may spoil it."""
    with start(tmp_path_factory.mktemp("stdio")) as process:
        yield process


def say(process: Process, line: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(line + b"\n")
    process.stdin.flush()


def hear(process: Process) -> dict[str, Any]:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def ping(number: int) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}).encode()


BAD = {
    "a word": (b"hello", PARSE_ERROR, None),
    "half an object": (b'{"jsonrpc": "2.0", "id": 1', PARSE_ERROR, None),
    "half of its parameters": (
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": [', PARSE_ERROR, 1
    ),
    "a lone surrogate": (
        rb'{"method": "ping", "params": {"a": "\ud83d}"}, "jsonrpc": "2.0", "id": "a\"b"}',
        PARSE_ERROR, 'a"b',
    ),
    "a lone surrogate before the end": (
        rb'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": "\ud83d"}}',
        PARSE_ERROR, 1,
    ),
    "no UTF-8": (b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}', PARSE_ERROR, None),
    "no UTF-8 inside": (
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": "\xff"}}', PARSE_ERROR, 1
    ),
    "NUL": (b"\x00", PARSE_ERROR, None),
    "a depth bomb": (b"[" * 100_000, PARSE_ERROR, None),
    "a deep message": (
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"id": 2, "a": '
        + b"[" * 1000 + b"]" * 1000 + b"}}",
        PARSE_ERROR, 1,
    ),
    "NaN": (
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": NaN}}', PARSE_ERROR, 1
    ),
    "an endless number": (b"9" * 100_000, PARSE_ERROR, None),
    "an endless id": (
        b'{"jsonrpc": "2.0", "id": ' + b"9" * 900 + b', "method": "ping"}', INVALID_REQUEST, None
    ),
    "no id that may be": (
        b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', INVALID_REQUEST, None
    ),
    "no id at all": (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', INVALID_REQUEST, None),
    "a batch": (b"[" + ping(1) + b"]", INVALID_REQUEST, None),
    "an object": (b"{}", INVALID_REQUEST, None),
    "null": (b"null", INVALID_REQUEST, None),
    "another protocol": (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', INVALID_REQUEST, 1),
    "too long": (ping(1) + b" " * MOST_BYTES, INVALID_REQUEST, 1),
    "too long, its id behind": (
        b'{"params": {"id": 3, "a": "' + b"\\n{" * MOST_BYTES + b'"}, "id": 1, "method": "ping"}',
        INVALID_REQUEST, 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("line", "code", "identity"), BAD.values(), ids=BAD.keys())
def test_a_bad_line_gets_its_error_and_the_next_good_line_its_answer(
    lasting: Process, line: bytes, code: int, identity: int | str | None
) -> None:
    say(lasting, line)
    say(lasting, ping(7))
    refusal, answer = hear(lasting), hear(lasting)
    assert (refusal["jsonrpc"], refusal["id"]) == ("2.0", identity)
    assert refusal["error"]["code"] == code
    assert (answer["id"], answer["result"]) == (7, {})


def test_a_line_may_have_a_mebibyte(process: Process) -> None:
    say(process, ping(7).ljust(MOST_BYTES))
    assert hear(process)["id"] == 7
    say(process, ping(8).ljust(MOST_BYTES + 1))
    answer = hear(process)["error"]
    assert answer["message"] == "A message has at most 1048576 bytes: send less"


def test_blank_lines_and_carriage_returns_are_no_messages(process: Process) -> None:
    for line in (b"", b"  ", b"\r", ping(7) + b"\r"):
        say(process, line)
    assert hear(process)["id"] == 7


@pytest.mark.slow
def test_skipping_a_line_without_end_takes_no_memory(process: Process) -> None:
    say(process, ping(1))
    hear(process)
    before = psutil.Process(process.pid).memory_info().rss
    assert process.stdin is not None
    for _ in range(64):
        process.stdin.write(b"x" * 1_048_576)
    say(process, b"")
    say(process, ping(7))
    assert hear(process)["error"]["code"] == INVALID_REQUEST
    assert hear(process)["id"] == 7
    grown = psutil.Process(process.pid).memory_info().rss - before
    assert grown < 16_000_000


@pytest.mark.slow
def test_a_thousand_bad_lines_between_good_ones_cost_none_of_them(process: Process) -> None:
    lines = [line for line, *_ in BAD.values() if len(line) < 1000]
    for number in range(1000):
        say(process, lines[number % len(lines)])
        say(process, ping(number))
        refusal, answer = hear(process), hear(process)
        assert refusal["error"]["code"] in {PARSE_ERROR, INVALID_REQUEST}
        assert answer["id"] == number


@pytest.mark.slow
def test_a_client_that_reads_late_gets_every_answer_whole(process: Process) -> None:
    """Together they are larger than a pipe."""
    for number in range(400):
        say(process, json.dumps(LIST | {"id": number}).encode())
    say(process, ping(7_000))

    heard = [hear(process) for _ in range(401)]

    assert {answer["id"] for answer in heard} == {*range(400), 7_000}


def test_a_client_at_a_socket_is_answered_like_one_at_a_pipe(tmp_path: Path) -> None:
    """As those that run on Node are."""
    environment = describe_environment(tmp_path)
    ours, theirs = socket.socketpair()
    with (
        ours,
        theirs,
        subprocess.Popen(
            [sys.executable, "-m", "textrawl"],
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            env=environment,
            cwd=tmp_path,
        ) as process,
        ours.makefile("rwb") as wire,
    ):
        theirs.close()
        ours.settimeout(60)
        wire.write(json.dumps(HELLO).encode() + b"\n")
        for number in range(1, 400):
            wire.write(ping(number) + b"\n")
        wire.flush()
        heard = [json.loads(wire.readline())["id"] for _ in range(400)]
        ours.shutdown(socket.SHUT_WR)
        assert wire.readline() == b""
        assert process.wait(120) == 0

    end_hosts(tmp_path)
    assert sorted(heard) == list(range(400))
