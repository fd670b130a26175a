"""A server that serves other processes' clients ends, in a regular way or not.

Its clients go on. Nothing that was acknowledged is lost, and a write without an acknowledgement is
answered with an error that says so.
"""

import json
import os
import signal
import socket
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from tests.support.commands import HELLO, Launch, Process, Run, wait_for
from tests.support.handing_over import (
    INITIALIZED,
    call,
    call_of,
    find_server,
    greet,
    is_listening,
    is_passing_on,
    search,
)
from textrawl.server.early_reader import EarlyReader
from textrawl.server.handover import Entrance
from textrawl.server.relay import children, hand_over

KILLS = 20
WRITERS = 3
ADA = {"uri": "memory://entity/Ada"}


def start(launch: Launch, data_dir: Path, **environment: object) -> Process:
    return launch("serve", DATA_DIR=data_dir, EMBEDDING_PROVIDER="none", **environment)


def fact_of(text: str) -> dict[str, object]:
    return {"entityName": "Ada", "entityType": "person", "observation": text}


def remember(process: Process, identity: int, text: str) -> dict[str, Any]:
    return call(process, identity, "remember_fact", **fact_of(text))


def finishes_its_last_call(process: Process) -> bool:
    """Whether a process answers a write that comes just before the end of its input."""
    process.say(call_of(9, "remember_fact", **fact_of(f"is known to {process.popen.pid}")))
    ended = process.end()
    return ended.code == 0 and '"isError":false' in ended.out


@contextmanager
def stopped(process: int) -> Generator[None]:
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


@pytest.mark.slow
def test_when_a_server_ends_its_calls_are_finished_and_one_of_its_clients_serves_the_others(
    launch: Launch, data_dir: Path, entrance: Entrance
) -> None:
    first = start(launch, data_dir)
    greet(first)
    assert "result" in remember(first, 2, "likes tea")
    others = [start(launch, data_dir, COMPACT_RESPONSES=form) for form in ("lines", "true", "true")]
    for other in others:
        greet(other)
        assert "likes tea" in search(other, 2, "tea")
        assert is_passing_on(other.popen.pid)
    subscriber = others[2]
    subscriber.say({"jsonrpc": "2.0", "id": 3, "method": "resources/subscribe", "params": ADA})
    assert subscriber.hear()["id"] == 3
    others[0].say(call_of(3, "remember_fact", **fact_of("has a dog")))

    ended = first.end()

    assert ended.code == 0
    assert others[0].hear()["result"]["isError"] is False
    for other in others:
        assert "likes tea" in search(other, 4, "tea")
        assert "has a dog" in search(other, 5, "dog")
    assert search(others[0], 6, "tea").startswith("Ada (person)")
    remember(others[1], 7, "has a cat")
    assert subscriber.hear()["method"] == "notifications/resources/updated"
    assert [is_passing_on(other.popen.pid) for other in others].count(False) == 1
    assert find_server(entrance) in {other.popen.pid for other in others}
    assert [finishes_its_last_call(other) for other in reversed(others)] == [True] * 3


@pytest.mark.slow
def test_processes_that_start_together_load_one_server(
    launch: Launch, data_dir: Path, entrance: Entrance
) -> None:
    together = [start(launch, data_dir) for _ in range(4)]
    for process in together:
        greet(process)
    for process in together:
        search(process, 2, "tea")

    serving = {one.popen.pid for one in together if not is_passing_on(one.popen.pid)}

    assert serving == {find_server(entrance)}


@pytest.mark.slow
def test_a_server_that_is_stopped_is_left_after_some_seconds(
    launch: Launch, data_dir: Path, entrance: Entrance
) -> None:
    first, second = start(launch, data_dir), start(launch, data_dir)
    for process in (first, second):
        greet(process)
    wait_for(lambda: is_listening(entrance))
    server = find_server(entrance)
    [other] = [one for one in (first, second) if one.popen.pid != server]
    assert "result" in remember(other, 2, "likes tea")

    with stopped(server):
        lost = remember(other, 3, "likes milk")
        found = search(other, 4, "tea")
        third = start(launch, data_dir)
        greet(third)
        found_by_third = search(third, 2, "tea")

    assert "Not known whether this was done" in lost["error"]["message"]
    assert "likes tea" in found
    assert "likes tea" in found_by_third


@pytest.mark.slow
def test_after_an_update_the_next_server_is_a_new_process(
    launch: Launch, data_dir: Path, entrance: Entrance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that has loaded a part of the former version does not load the rest of the new."""
    first = start(launch, data_dir)
    greet(first)
    assert "result" in remember(first, 2, "likes tea")
    with ExitStack() as stack:
        ends = [stack.enter_context(end) for end in (*socket.socketpair(), *socket.socketpair())]
        ours, its_input, its_output, theirs = ends
        client = stack.enter_context(theirs.makefile("r"))
        reader = EarlyReader(its_input.fileno(), its_output.fileno())
        reader.start()
        relay = Thread(target=hand_over, args=[reader])
        relay.start()
        ours.sendall(b"%b\n%b\n" % (encode(HELLO), encode(INITIALIZED)))
        assert json.loads(client.readline())["id"] == HELLO["id"]
        monkeypatch.setattr("textrawl.server.relay.describe_code", lambda: "another version")
        os.kill(find_server(entrance), signal.SIGKILL)
        first.popen.wait(timeout=60)
        ours.sendall(encode(call_of(2, "query_memory", query="tea")) + b"\n")
        found = json.loads(client.readline())
        ours.shutdown(socket.SHUT_WR)
        relay.join(timeout=60)
        reader.output.close()
        [child] = children
        children.clear()

    assert child.wait(timeout=60) == 0
    assert found["id"] == 2
    assert "likes tea" in str(found["result"])


def encode(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode()


class Writer:
    """A client that stores facts, and starts its process again if the process was killed."""

    def __init__(self, name: str, start_process: Any) -> None:
        self.acknowledged = list[str]()
        self.unknown = list[str]()
        self.wrong = list[object]()
        self._name, self._start = name, start_process
        self._stop = Event()
        self._thread = Thread(target=self._write)
        self._thread.start()

    def finish(self) -> None:
        self._stop.set()
        self._thread.join()

    def _write(self) -> None:
        number = 2
        process = None
        while not self._stop.is_set():
            number += 1
            text = f"{self._name} counted to {number} on that day"
            try:
                if process is None:
                    process = self._start()
                    greet(process)
                self._note(text, remember(process, number, text))
            except (ValueError, OSError):  # the process was killed
                process = None

    def _note(self, text: str, answer: dict[str, Any]) -> None:
        match answer:
            case {"result": {"isError": False}}:
                self.acknowledged.append(text)
            case {"error": {"code": -32603, "message": str(message)}} if "Not known" in message:
                self.unknown.append(text)
            case _:
                self.wrong.append(answer)


@pytest.mark.slow
@pytest.mark.usefixtures("uncovered")
def test_kills_lose_no_fact_that_was_acknowledged(
    launch: Launch, run: Run, data_dir: Path, entrance: Entrance
) -> None:
    writers = [Writer(f"W{number}", lambda: start(launch, data_dir)) for number in range(WRITERS)]
    for _ in range(KILLS):
        before = [len(writer.acknowledged) for writer in writers]
        wait_for(
            lambda before=before: all(
                len(writer.acknowledged) > count + 1
                for writer, count in zip(writers, before, strict=True)
            )
        )
        with suppress(OSError):
            os.kill(find_server(entrance), signal.SIGKILL)
    for writer in writers:
        writer.finish()
    exported = run("export").out
    acknowledged = [text for writer in writers for text in writer.acknowledged]

    assert [text for text in acknowledged if f'"{text}"' not in exported] == []
    assert [writer.wrong for writer in writers] == [[] for _ in writers]
    assert len({*acknowledged}) == len(acknowledged)
