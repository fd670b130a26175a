"""TEXTRAWL_SERVER_URL: the memory of a server over HTTP, through a resident on this machine."""

import json
from pathlib import Path

import pytest

from tests.support.commands import Launch, Process, Run, wait_for
from tests.support.sockets import is_answered
from textrawl.resident.client import ask


@pytest.fixture
def address(launch: Launch, data_dir: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A server with the memory; the settings of the test name it, and another data folder."""
    server = launch("serve", "--http", "--port", "0", "--insecure", DATA_DIR=data_dir)
    address = read_address(server)
    monkeypatch.setenv("TEXTRAWL_SERVER_URL", address)
    monkeypatch.setenv("TEXTRAWL_DATA_DIR", str(home / "here"))
    return address


def read_address(process: Process) -> str:
    assert process.popen.stderr is not None
    for line in process.popen.stderr:
        if line.startswith("textrawl listens on "):
            return line.split()[-1]
    raise AssertionError(process.end())


def test_a_resident_and_the_commands_use_the_memory_of_a_server(
    launch: Launch, run: Run, address: str, home: Path
) -> None:
    alone = run("remember", "Ada", "likes tea")
    launch("resident", SERVER_URL=address, DATA_DIR=home / "here")
    wait_for(is_answered)

    found = ask({"op": "recall", "query": "who likes tea?", "maxTokens": 60}, timeout=20)
    again = ask({"op": "recall", "query": "tea", "known": found["ids"]}, timeout=20)
    digest = ask({"op": "digest"}, timeout=20)
    listed = json.loads(run("recall", "tea", "--json").out)
    refused = run("remember", "Ada", "likes coffee", READ_ONLY="true")

    assert alone.code == 0
    assert found["text"].splitlines()[0] == "Ada (concept)"
    assert (found["items"], digest["items"]) == (1, 1)
    assert digest["text"].splitlines()[-1] == "- likes tea"
    assert (again["ids"], again["text"]) == ([], "nothing found")
    assert [fact["fact"] for fact in listed["facts"]] == ["likes tea"]
    assert "TEXTRAWL_READ_ONLY" in refused.complaint
    assert not (home / "here" / "postgres-18").exists()


@pytest.mark.slow
def test_a_server_that_is_gone_is_an_error_and_its_return_is_noticed(
    launch: Launch, home: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = launch("serve", "--http", "--port", "0", "--insecure", DATA_DIR=data_dir)
    address = read_address(server)
    monkeypatch.setenv("TEXTRAWL_SERVER_URL", address)
    monkeypatch.setenv("TEXTRAWL_DATA_DIR", str(home / "here"))
    launch("resident", SERVER_URL=address, DATA_DIR=home / "here")
    wait_for(is_answered)
    before = ask({"op": "recall", "query": "tea"}, timeout=20)

    server.popen.kill()
    server.popen.wait()
    gone = ask({"op": "recall", "query": "tea"}, timeout=20)
    port = address.rpartition(":")[2].partition("/")[0]
    read_address(launch("serve", "--http", "--port", port, "--insecure", DATA_DIR=data_dir))
    back = ask({"op": "recall", "query": "tea"}, timeout=20)

    assert "error" not in before
    assert gone["error"] == "Server unreachable"
    assert "error" not in back
