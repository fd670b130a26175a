"""Who gets a session of a host, and what the session can do."""

import json
import socket
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import HELLO, Launch, Process, wait_for
from tests.support.hosts import find_hosts
from tests.support.pipes import (
    call,
    find_host,
    greet,
    is_listening,
    is_pipe,
    search,
)
from tests.support.sockets import NEEDS_ROOT, ask_as_another_user, is_answered, read_all
from textrawl.host.entrance import Entrance
from textrawl.host.framing import MOST_BYTES

pytestmark = pytest.mark.slow

AT_ONCE = 70  # more than the requests that a server reads at the same time


@pytest.fixture
def server(launch: Launch, data_dir: Path, entrance: Entrance) -> Process:
    """A server of a client over stdio."""
    process = launch("serve", DATA_DIR=data_dir, EMBEDDING_PROVIDER="none")
    process.open()
    wait_for(lambda: is_listening(entrance))
    return process


def ask_for_session(entrance: Entrance, **changes: Any) -> tuple[socket.socket, dict[str, Any]]:
    """A connection, and the answer to a request for a session with `changes` of its parameters."""
    request = json.loads(entrance.request)
    request["params"] |= changes
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(30)
    connection.connect(str(entrance.address.socket))
    connection.sendall(json.dumps(request).encode() + b"\n")
    return connection, json.loads(read_line(connection))


def read_line(connection: socket.socket) -> bytes:
    received = b""
    while not received.endswith(b"\n"):
        chunk = connection.recv(1 << 16)
        assert chunk
        received += chunk
    return received


@pytest.mark.usefixtures("server")
def test_a_session_that_does_not_fit_is_refused_and_none_changes_what_all_share(
    entrance: Entrance,
) -> None:
    other = json.loads(entrance.request)["params"]["_meta"]
    other["textrawl/program"]["version"] = "0.0.1"
    for changes, reason in (
        ({"settings": {"toolsets": "secret"}}, "secret"),
        ({"settings": {"max_response_tokens": "-1"}}, "TEXTRAWL_MAX_RESPONSE_TOKENS"),
        ({"_meta": other}, "Another version"),
    ):
        connection, answer = ask_for_session(entrance, **changes)
        with connection:
            assert reason in answer["error"]["message"], changes
            assert read_all(connection) == b""
    hostile = {"read_only": "true", "data_dir": "/", "database_url": "x", "vault": "/"}

    connection, answer = ask_for_session(entrance, settings=hostile)
    with connection:
        connection.sendall(json.dumps(HELLO).encode() + b"\n")
        greeting = json.loads(read_line(connection))

    assert answer["result"]["reads"] == ["query_memory"]
    assert greeting["result"]["serverInfo"]["name"] == "textrawl"


def test_broken_bytes_and_many_sessions_hurt_no_other(server: Process, entrance: Entrance) -> None:
    with ExitStack() as stack:
        for number in range(AT_ONCE):
            connection, answer = ask_for_session(entrance)
            stack.enter_context(connection)
            assert "result" in answer
            with suppress(BrokenPipeError):
                connection.sendall(b'{"broken":\n' if number % 2 else b"x" * (MOST_BYTES + 9))
        assert is_answered()
        assert '"n":0' in search(server, 3, "tea")


def test_a_pipe_with_other_settings_has_a_host_of_its_own(
    server: Process, launch: Launch, data_dir: Path
) -> None:
    own = launch("serve", DATA_DIR=data_dir, EMBEDDING_PROVIDER="none", READ_ONLY="true")
    greet(own)

    refused = call(own, 2, "remember_fact", entityName="Ada", observation="likes tea")

    assert refused["result"]["isError"]
    assert len([*find_hosts(data_dir)]) == 2
    assert server.popen.poll() is None


def test_a_client_beside_a_server_over_http_acts_as_the_user_of_this_machine(
    launch: Launch, data_dir: Path, entrance: Entrance
) -> None:
    http = launch("serve", "--http", "--port", "0", DATA_DIR=data_dir, EMBEDDING_PROVIDER="none")
    wait_for(lambda: is_listening(entrance))
    client = launch("serve", DATA_DIR=data_dir, EMBEDDING_PROVIDER="none")
    greet(client)

    fact = {"entityName": "Ada", "entityType": "person", "observation": "likes tea"}
    stored = call(client, 2, "remember_fact", **fact)

    assert stored["result"]["isError"] is False
    assert is_pipe(client.popen.pid)
    assert find_host(entrance) == http.popen.pid


@NEEDS_ROOT
def test_another_os_user_gets_no_session_even_if_it_can_open_the_socket(
    server: Process, entrance: Entrance
) -> None:
    assert ask_as_another_user(entrance.address.socket, entrance.request) in ("b''\n", "")
    assert server.popen.poll() is None
