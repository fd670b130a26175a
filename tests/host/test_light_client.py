"""A resident on this machine: the light client asks it, and it asks the server of SERVER_URL."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.support.commands import Launch, Process, Run, read_address, wait_for
from tests.support.sockets import is_answered, recall
from textrawl.environment import default_data_dir
from textrawl.errors import TextrawlError
from textrawl.host.question import ask, build_call
from textrawl_client import Client, SyncClient, errors
from textrawl_client.unix_socket import MOST_BYTES, find_data_dir


def test_the_folder_of_the_socket_is_that_of_the_server() -> None:
    assert find_data_dir({}) == default_data_dir()
    assert find_data_dir(os.environ) != default_data_dir()


@pytest.mark.anyio
async def test_a_program_uses_the_memory_that_a_process_has_open(resident: Process) -> None:
    with SyncClient() as memory:
        memory.remember("Ada", "likes tea", type="person")
        assert [fact.content for fact in memory.recall("what does Ada like?")] == ["likes tea"]
        assert memory.digest(max_tokens=60).text == "Ada (person)\n- likes tea"
        ada = memory.entity("ada")
        assert ada is not None
        assert [fact.content for fact in ada.facts] == ["likes tea"]
        with pytest.raises(errors.ArgumentInvalid, match="max_tokens"):
            memory.recall("tea", max_tokens=1)
        with pytest.raises(errors.ArgumentInvalid, match="Too long: send at most"):
            memory.items.put(("ada",), "book", "x" * MOST_BYTES)
        with pytest.raises(errors.SpaceNotFound):
            memory.with_space("nowhere").recall("tea")
    async with Client() as memory:
        assert [one.name for one in (await memory.list("ad")).entities] == ["Ada"]
        assert (await memory.forget("Ada")).id
        resident.end(signal.SIGTERM)
        with pytest.raises(errors.ServerUnreachable, match="start a client"):
            await memory.recall("tea")


@pytest.fixture
def address(launch: Launch, data_dir: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A server with the memory; the settings of the test name it, and another data folder."""
    server = launch("serve", "--http", "--port", "0", "--insecure", DATA_DIR=data_dir)
    address = read_address(server)
    monkeypatch.setenv("TEXTRAWL_SERVER_URL", address)
    monkeypatch.setenv("TEXTRAWL_DATA_DIR", str(home / "here"))
    return address


def test_a_resident_and_the_commands_use_the_memory_of_a_server(
    launch: Launch, run: Run, address: str, home: Path
) -> None:
    alone = run("remember", "Ada", "likes tea")
    launch("host", "remote", SERVER_URL=address, DATA_DIR=home / "here")
    wait_for(is_answered)

    found = recall("who likes tea?")
    again = recall("tea", known=found.short_ids)
    hook = recall("tea", "textrawl hook (codex)", authors=["nobody"])
    digest = ask(build_call("digest", {"maxTokens": 60}), timeout=60)
    listed = json.loads(run("recall", "tea", "--json").out)
    refused = run("remember", "Ada", "likes coffee", READ_ONLY="true")

    assert alone.code == 0
    assert found.text.splitlines()[0] == "Ada (concept)"
    assert digest.ids == found.ids
    assert digest.text.splitlines()[-1] == "- likes tea"
    assert (again.ids, again.text) == ([], "nothing found")
    assert hook.ids == []
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
    launch("host", "remote", SERVER_URL=address, DATA_DIR=home / "here")
    wait_for(is_answered)
    before = recall("tea")

    server.popen.kill()
    server.popen.wait()
    with pytest.raises(TextrawlError) as gone:
        recall("tea")
    port = address.rpartition(":")[2].partition("/")[0]
    read_address(launch("serve", "--http", "--port", port, "--insecure", DATA_DIR=data_dir))
    back = recall("tea")

    assert before == back
    assert gone.value.title == "Server unreachable"
