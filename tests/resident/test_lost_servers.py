"""A server that serves other processes' clients ends, in a regular way or not.

Its clients go on. Nothing that was acknowledged is lost, and a write without an acknowledgement is
answered with an error that says so.
"""

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from tests.support.commands import Launch, Process, Run, wait_for
from tests.support.handing_over import (
    call,
    call_of,
    find_server,
    greet,
    is_listening,
    is_passing_on,
    open_entrance,
    search,
)
from textrawl.server.handover import Entrance

KILLS = 20
WRITERS = 3
ADA = {"uri": "memory://entity/Ada"}


@pytest.fixture
def entrance(monkeypatch: pytest.MonkeyPatch) -> Entrance:
    """Where the processes of the test meet."""
    monkeypatch.setenv("TEXTRAWL_EMBEDDING_PROVIDER", "none")
    return open_entrance()


def start(launch: Launch, data_dir: Path, **environment: object) -> Process:
    return launch("serve", DATA_DIR=data_dir, EMBEDDING_PROVIDER="none", **environment)


def fact_of(text: str) -> dict[str, object]:
    return {"entityName": "Ada", "entityType": "person", "observation": text}


def remember(process: Process, identity: int, text: str) -> dict[str, Any]:
    return call(process, identity, "remember_fact", **fact_of(text))


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
    assert [other.end().code for other in reversed(others)] == [0, 0, 0]


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
