"""Processes that listen on a socket, each with a memory of its own."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import (
    Launch,
    Process,
    data_dir,
    home,
    launch,
    postmasters,
    run,
    seed,
    wait_for,
)
from tests.support.hosts import end_hosts_of_test
from tests.support.pipes import open_entrance
from tests.support.sockets import is_answered
from textrawl.host.entrance import Entrance

__all__ = ["data_dir", "home", "launch", "postmasters", "run", "seed"]


@pytest.fixture(autouse=True)
def _same_settings(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> None:
    """The client in the test uses the memory of the test."""
    monkeypatch.setenv("TEXTRAWL_DATA_DIR", str(data_dir))


@pytest.fixture(autouse=True)
def _no_process_left(_same_settings: None) -> Iterator[None]:
    """Wait for the processes that the client in the test started."""
    yield
    end_hosts_of_test()


@pytest.fixture
def resident(launch: Launch, data_dir: Path) -> Iterator[Process]:
    process = launch("host", DATA_DIR=data_dir)
    wait_for(is_answered)
    yield process
    process.end(signal.SIGTERM)


@pytest.fixture
def entrance(monkeypatch: pytest.MonkeyPatch) -> Entrance:
    """Where the processes of the test meet."""
    monkeypatch.setenv("TEXTRAWL_EMBEDDING_PROVIDER", "none")
    return open_entrance()
