"""Processes that listen on a socket, each with a memory of its own."""

from pathlib import Path

import pytest

from tests.support.commands import data_dir, home, launch, postmasters, run, seed

__all__ = ["data_dir", "home", "launch", "postmasters", "run", "seed"]


@pytest.fixture(autouse=True)
def _same_settings(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> None:
    """The client in the test uses the memory of the test."""
    monkeypatch.setenv("TEXTRAWL_DATA_DIR", str(data_dir))
