"""A host ends, in a regular way or not.

Its clients go on. Nothing that was acknowledged is lost, and a write without an acknowledgement is
answered with an error that says so.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from tests.support.commands import Launch, Process, Run, wait_for
from tests.support.hosts import find_hosts
from tests.support.pipes import (
    call,
    call_of,
    find_host,
    greet,
    is_pipe,
    search,
)
from textrawl.host.entrance import Entrance

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


@pytest.mark.slow
def test_when_a_host_ends_its_calls_are_finished_and_the_next_one_serves_its_clients(
    launch: Launch, data_dir: Path, entrance: Entrance
) -> None:
    clients = [
        start(launch, data_dir, COMPACT_RESPONSES=form) for form in ("lines", "true", "true")
    ]
    for client in clients:
        greet(client)
    assert "result" in remember(clients[0], 2, "likes tea")
    for client in clients:
        assert "likes tea" in search(client, 3, "tea")
        assert is_pipe(client.popen.pid)
    subscriber = clients[2]
    subscriber.say({"jsonrpc": "2.0", "id": 4, "method": "resources/subscribe", "params": ADA})
    assert subscriber.hear()["id"] == 4
    first = find_host(entrance)
    clients[0].say(call_of(4, "remember_fact", **fact_of("has a dog")))

    os.kill(first, signal.SIGTERM)

    assert clients[0].hear()["result"]["isError"] is False
    for client in clients:
        assert "likes tea" in search(client, 5, "tea")
        assert "has a dog" in search(client, 6, "dog")
    assert search(clients[0], 7, "tea").startswith("Ada (person)")
    remember(clients[1], 8, "has a cat")
    assert subscriber.hear()["method"] == "notifications/resources/updated"
    assert find_host(entrance) != first
    assert [finishes_its_last_call(client) for client in reversed(clients)] == [True] * 3


@pytest.mark.slow
def test_pipes_that_start_together_start_one_host(
    launch: Launch, data_dir: Path, entrance: Entrance
) -> None:
    together = [start(launch, data_dir) for _ in range(4)]
    for process in together:
        greet(process)
    for process in together:
        search(process, 2, "tea")

    assert [host.pid for host in find_hosts(data_dir)] == [find_host(entrance)]


@pytest.mark.slow
def test_a_host_that_is_stopped_is_ended_and_replaced_after_some_seconds(
    launch: Launch, data_dir: Path, entrance: Entrance
) -> None:
    first, second = start(launch, data_dir), start(launch, data_dir)
    for process in (first, second):
        greet(process)
    assert "result" in remember(first, 2, "likes tea")
    os.kill(find_host(entrance), signal.SIGSTOP)

    lost = remember(first, 3, "likes milk")
    found = search(second, 4, "tea")
    third = start(launch, data_dir)
    greet(third)

    assert "Not known whether this was done" in lost["error"]["message"]
    assert "likes tea" in found
    assert "likes tea" in search(third, 2, "tea")


@pytest.mark.slow
def test_a_client_that_reads_late_gets_all_that_its_host_has_sent(
    launch: Launch, data_dir: Path
) -> None:
    process = start(launch, data_dir)
    greet(process)
    numbers = range(10, 3010)
    for number in numbers:
        process.say({"jsonrpc": "2.0", "id": number, "method": "prompts/list"})

    assert {process.hear()["id"] for _ in numbers} == {*numbers}


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
            os.kill(find_host(entrance), signal.SIGKILL)
    for writer in writers:
        writer.finish()
    exported = run("export").out
    acknowledged = [text for writer in writers for text in writer.acknowledged]

    assert [text for text in acknowledged if f'"{text}"' not in exported] == []
    assert [writer.wrong for writer in writers] == [[] for _ in writers]
    assert len({*acknowledged}) == len(acknowledged)
