"""Processes that listen on a socket, each with a memory of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import data_dir, home, launch, postmasters, run, seed
from textrawl.resident import client

__all__ = ["data_dir", "home", "launch", "postmasters", "run", "seed"]


@pytest.fixture(autouse=True)
def _same_settings(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> None:
    """The client in the test uses the memory of the test."""
    monkeypatch.setenv("TEXTRAWL_DATA_DIR", str(data_dir))


@pytest.fixture(autouse=True)
def _no_process_left(_same_settings: None) -> Iterator[None]:
    """Wait for the processes that the client in the test started."""
    yield
    started = client._started  # pyright: ignore[reportPrivateUsage]
    for process in started:
        process.terminate()
        process.wait(timeout=60)
    started.clear()
