"""Processes that end at any moment: requests fail quickly, another process takes over, and no fact
that was acknowledged is lost.
"""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import pytest

from tests.support.commands import Launch, Run, wait_for
from tests.support.sockets import fact_of, find_listener, is_answered, recall, remember
from textrawl.errors import TextrawlError
from textrawl.host.entrance import find_address
from textrawl.host.question import ask
from textrawl.host.requests import PING
from textrawl_client.unix_socket import Unreachable

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("uncovered")]

LIMIT = 2.0  # seconds that a hook waits
GRACE = 10.0  # seconds that a busy machine may add
KILLS = 8

Postmasters = Callable[[], list[int]]


def kill(process: int) -> None:
    os.kill(process, signal.SIGKILL)


def find_resident() -> int:
    return find_listener(find_address().socket)


def test_another_host_takes_over_from_a_killed_one(launch: Launch, data_dir: Path) -> None:
    servers = [launch("serve", DATA_DIR=data_dir) for _ in range(2)]
    for server in servers:
        server.open()
    wait_for(is_answered)
    first = find_resident()

    kill(first)
    began = time.monotonic()
    with pytest.raises(Unreachable):
        ask(PING, timeout=LIMIT)
    refused = time.monotonic() - began
    wait_for(is_answered)

    assert refused < LIMIT + GRACE
    assert find_resident() != first
    assert time.monotonic() - began < 60


def test_a_request_fails_quickly_while_postgres_is_dead_and_works_again_afterwards(
    launch: Launch, data_dir: Path, postmasters: Postmasters
) -> None:
    launch("host", DATA_DIR=data_dir)
    wait_for(is_answered)
    stored = remember("Ada", "likes tea", timeout=30)
    taken = list[float]()

    kill(*postmasters())
    for _ in range(5):
        began = time.monotonic()
        with suppress(Unreachable, TextrawlError):
            recall("tea", timeout=LIMIT)
        taken.append(time.monotonic() - began)
    wait_for(is_answered)
    found = recall("tea", timeout=30)

    assert max(taken) < LIMIT + GRACE
    assert found.ids == [stored]


class Writer:
    """A thread that stores facts as hooks do, until it is told to stop."""

    def __init__(self) -> None:
        self.acknowledged: list[str] = []
        self.longest = 0.0
        self._stop = Event()
        self._thread = Thread(target=self._write)
        self._thread.start()

    def finish(self) -> None:
        self._stop.set()
        self._thread.join()

    def _write(self) -> None:
        number = 0
        while not self._stop.is_set():
            number += 1
            text = f"counted to {number} on that day"
            began = time.monotonic()
            with suppress(Unreachable, TextrawlError):
                ask(fact_of(f"Ada {number % 7}", text), timeout=LIMIT, starting=LIMIT)
                self.acknowledged.append(text)
            self.longest = max(self.longest, time.monotonic() - began)


def test_kills_lose_no_fact_that_was_acknowledged(
    run: Run, data_dir: Path, postmasters: Postmasters
) -> None:
    assert data_dir.exists()
    writer = Writer()
    for round_ in range(KILLS):
        before = len(writer.acknowledged)
        wait_for(lambda before=before: len(writer.acknowledged) > before + 2)
        kill(find_resident())
        if round_ % 4 == 3:
            kill(*postmasters())
    before = len(writer.acknowledged)
    wait_for(lambda: len(writer.acknowledged) > before + 2)
    writer.finish()
    os.kill(find_resident(), signal.SIGTERM)
    wait_for(lambda: not postmasters())

    exported = run("export").out

    assert [text for text in writer.acknowledged if text not in exported] == []
    assert writer.longest < LIMIT + GRACE
