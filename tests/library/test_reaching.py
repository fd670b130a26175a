"""How `Client` and `SyncClient` reach a memory: tokens, addresses, outages, threads."""

import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest

from tests.conftest import TOKEN
from tests.library.conftest import Reach
from tests.support.http_team import AWAY, BEN, gather
from tests.support.listening import find_port, listen
from textrawl import Client, Settings, SyncClient, errors

anyio_test = pytest.mark.anyio


def test_importing_textrawl_loads_neither_the_sdk_nor_pydantic() -> None:
    program = (
        "import sys, textrawl; heavy = {'mcp', 'pydantic', 'psycopg', 'httpx2', 'anyio'}\n"
        "print(heavy & set(sys.modules), textrawl.Client.__name__, textrawl.SyncClient.__name__,"
        " 'mcp' in sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert result.stdout.split("\n")[0] == "set() Client SyncClient False"


def test_a_sync_client_waits_for_each_result(environment: pytest.MonkeyPatch) -> None:
    with SyncClient() as memory:
        memory.remember("Ada", "likes tea", type="person")
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(memory.recall, ["what does Ada like?"] * 8))
        with pytest.raises(errors.NothingToDelete):
            memory.forget("Nobody")

    assert [[fact.content for fact in facts] for facts in found] == [["likes tea"]] * 8
    with pytest.raises(RuntimeError, match="with SyncClient"):
        memory.recall("tea")


def test_a_client_is_opened_and_closed_without_a_block(environment: pytest.MonkeyPatch) -> None:
    memory = SyncClient()
    memory.open().remember("Ada", "likes tea")
    assert memory.open() is memory
    memory.close()
    memory.close()
    with memory.open():
        assert len(memory.recall("tea")) == 1


def test_a_client_that_is_left_open_does_not_keep_the_program_from_ending(
    environment: pytest.MonkeyPatch,
) -> None:
    program = (
        "import textrawl; memory = textrawl.SyncClient().open(); print(len(memory.recall('x')))"
    )
    command = [sys.executable, "-c", program]

    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    assert (result.returncode, result.stdout, result.stderr) == (0, "0\n", "")


def test_a_memory_that_cannot_be_opened_ends_the_thread(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("TEXTRAWL_ENABLE_MEMORY", "false")

    with pytest.raises(errors.MemoryNotEnabled), SyncClient():
        pass


@anyio_test
async def test_a_read_only_memory_refuses_to_change(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("TEXTRAWL_READ_ONLY", "true")
    async with Client() as memory:
        assert len(await memory.recall("tea")) == 0
        with pytest.raises(errors.ReadOnly):
            await memory.remember("Ada", "likes tea")


@anyio_test
async def test_a_server_refuses_a_wrong_or_missing_token() -> None:
    async with gather() as team:
        for token in ("trl_wrong", None):
            async with Client(team.root, token=token) as memory:
                with pytest.raises(errors.NotAuthenticated):
                    await memory.recall("tea")
        async with Client(team.root, token=AWAY) as memory:
            with pytest.raises(errors.DatabaseUnavailable, match="Retry in a few seconds"):
                await memory.recall("tea")


@anyio_test
async def test_the_token_of_the_settings_is_sent_if_none_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEXTRAWL_ACCESS_TOKEN", BEN)
    async with gather() as team, Client(team.mcp) as memory:
        # This server has no path for programs, so it answered a caller whom it knows.
        with pytest.raises(errors.ServerUnreachable, match="have a path here"):
            await memory.recall("tea")


@anyio_test
async def test_an_outage_is_an_error_of_one_call(settings: Callable[..., Settings]) -> None:
    given = settings()
    port = find_port()
    async with Client(f"http://127.0.0.1:{port}", token=TOKEN) as memory:
        with pytest.raises(errors.ServerUnreachable):
            await memory.recall("tea")
        async with listen(given, port=port):
            await memory.remember("Ada", "likes tea")
        with pytest.raises(errors.ServerUnreachable):
            await memory.recall("tea")
        async with listen(given, port=port):
            assert len(await memory.recall("tea")) == 1


@anyio_test
async def test_several_tasks_use_one_client(reach: Reach) -> None:
    memory = await reach("structured")
    await memory.remember("Ada", "likes tea")
    counts: list[int] = []

    async def ask() -> None:
        counts.append(len(await memory.recall("tea")))

    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(ask)
    assert counts == [1] * 10


@anyio_test
async def test_an_address_that_is_no_server_is_named_in_the_error() -> None:
    with pytest.raises(errors.ArgumentInvalid, match="url"):
        Client("memory.example.com")
    async with gather() as team, Client(f"{team.root}/elsewhere", token=BEN) as memory:
        with pytest.raises(errors.ServerUnreachable):
            await memory.recall("tea")


@anyio_test
async def test_a_server_that_does_not_answer_costs_no_more_than_the_time_limit() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        async with Client(url, timeout=0.2) as hasty, Client(url) as patient:
            with pytest.raises(errors.ServerUnreachable, match="Timeout"):
                await hasty.recall("tea")
            with anyio.move_on_after(0.2) as scope:
                await patient.recall("tea")
    assert scope.cancelled_caught


@anyio_test
async def test_the_settings_can_name_the_server_and_a_file_with_the_token(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text(f"{BEN}\n")
    file.chmod(0o600)
    async with gather() as team:
        monkeypatch.setenv("TEXTRAWL_SERVER_URL", team.root)
        monkeypatch.setenv("TEXTRAWL_ACCESS_TOKEN_FILE", str(file))
        async with Client() as memory:
            with pytest.raises(errors.ServerUnreachable, match="have a path here"):
                await memory.recall("tea")
