"""The socket of a memory: who listens, who may ask, and what a request can do."""

from pathlib import Path

import pytest

from tests.support.commands import Launch, wait_for
from textrawl.resident.client import Unreachable, ask


@pytest.fixture(autouse=True)
def _same_settings(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> None:
    monkeypatch.setenv("TEXTRAWL_DATA_DIR", str(data_dir))


def is_answered() -> bool:
    try:
        return "error" not in ask({"op": "ping"}, timeout=2)
    except Unreachable:
        return False


def test_facts_are_stored_and_recalled_through_the_socket_of_a_server(
    launch: Launch, data_dir: Path
) -> None:
    launch("serve", DATA_DIR=data_dir).open()
    wait_for(is_answered)

    stored = ask({"op": "remember", "entity": "Ada", "fact": "likes tea"}, timeout=5)
    found = ask({"op": "recall", "query": "who likes tea?"}, timeout=5)
    again = ask({"op": "recall", "query": "who likes tea?", "known": found["ids"]}, timeout=5)

    assert stored["ids"] == found["ids"]
    assert found["text"].splitlines()[0] == "Ada (concept)"
    assert (again["ids"], again["items"]) == ([], 0)
