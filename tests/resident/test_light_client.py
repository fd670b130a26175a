"""`textrawl_client` without an address: the memory that a process on this machine has open."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import Launch, Process, wait_for
from tests.support.sockets import is_answered
from textrawl.embedded.location import default_data_dir
from textrawl_client import Client, SyncClient, errors
from textrawl_client.unix_socket import MOST_BYTES, find_data_dir


@pytest.fixture
def resident(launch: Launch, data_dir: Path) -> Iterator[Process]:
    process = launch("resident", DATA_DIR=data_dir)
    wait_for(is_answered)
    yield process
    process.end(signal.SIGTERM)


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
        with pytest.raises(errors.ServerUnreachable, match="start a server"):
            await memory.recall("tea")
