"""`textrawl_client`: a server over HTTP for programs that have nothing else of textrawl."""

import asyncio
import gc
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from anyio.from_thread import start_blocking_portal

from tests.conftest import TOKEN
from tests.support.listening import listen
from textrawl import Settings
from textrawl_client import Client, SyncClient, errors
from textrawl_client.client import find_token

pytestmark = pytest.mark.anyio


async def test_a_program_remembers_recalls_relates_and_forgets(
    settings: Callable[..., Settings],
) -> None:
    async with listen(settings()) as address, Client(address.mcp, token=TOKEN) as memory:
        stored = await memory.remember("Ada", "likes tea", type="person")
        [fact] = await memory.recall("what does Ada like?")
        related = await memory.relate("Ada", "works at", "Acme")
        plan = await memory.forget("Ada", dry_run=True)
        with pytest.raises(errors.SpaceNotFound):
            await memory.with_space("other").recall("tea")
        with pytest.raises(errors.ArgumentInvalid, match=r"fact .given 'yyy.*2500 characters"):
            await memory.remember("Ada", "y" * 2500)
        with pytest.raises(errors.NothingToDelete, match="Entity not found"):
            await memory.forget("Nobody")
        digest = await memory.digest()

    assert (fact.id, fact.entity, fact.content) == (stored.id, "Ada", "likes tea")
    assert (related.from_entity.type, related.to_entity.name) == ("person", "Acme")
    assert (plan.id, plan.facts, plan.relations) == (None, 1, 1)
    assert digest.text.startswith("Ada (person)\n")


def count_open() -> int:
    """The clients of httpx in this process that were not closed."""
    gc.collect()
    clients = [one for one in gc.get_objects() if type(one) is httpx.AsyncClient]
    return sum(not one.is_closed for one in clients)


async def rest() -> None:
    """Let the tasks of this loop go on until they wait for something."""
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture
def elsewhere(settings: Callable[..., Settings]) -> Generator[Client]:
    """A client of a server in another event loop."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(listen(settings())) as address,
    ):
        yield Client(address.mcp, token=TOKEN)


def test_one_client_serves_event_loops_one_after_another_and_in_threads(
    elsewhere: Client,
) -> None:
    before = count_open()

    async def add(values: list[int]) -> list[Any]:
        log = elsewhere.log("loops")
        await asyncio.gather(*(log.append([value]) for value in values))
        return await log.read()

    for number in range(3):
        asyncio.run(add([number]))
        assert count_open() == before
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(asyncio.run, [add([number, number]) for number in range(3, 20)]))
    assert sorted(asyncio.run(add([]))) == [0, 1, 2, *(n for n in range(3, 20) for _ in "ab")]
    assert count_open() == before
    asyncio.run(elsewhere.close())


def test_loops_that_do_not_run_keep_at_most_sixteen_connections(elsewhere: Client) -> None:
    before = count_open()
    kept = [asyncio.new_event_loop() for _ in range(40)]
    for loop in [*kept, *reversed(kept)]:
        assert loop.run_until_complete(elsewhere.log("loops").read()) == []
    for loop in kept:
        loop.run_until_complete(rest())
    assert count_open() - before <= 16
    asyncio.run(elsewhere.close())
    for loop in kept:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
    assert count_open() == before


def test_a_value_that_is_no_json_is_refused_before_it_is_sent() -> None:
    with SyncClient("http://127.0.0.1:9") as memory:
        for value in (float("nan"), "\udc00", {1, 2}, object()):
            with pytest.raises(errors.ArgumentInvalid, match="Value is not JSON"):
                memory.items.put(("a",), "key", value)


def test_a_text_is_no_namespace_and_no_list_of_values() -> None:
    with SyncClient("http://127.0.0.1:9") as memory:
        with pytest.raises(errors.ArgumentInvalid, match=r"such as \('ada',\)"):
            memory.items.put("ada", "tea", 1)
        wrong: list[Any] = ["hello", {"role": "user"}]
        for text in wrong:
            with pytest.raises(errors.ArgumentInvalid, match="write a list"):
                memory.log("ada").append(text)


async def test_a_client_of_one_space_leaves_the_shared_connection_open(
    settings: Callable[..., Settings],
) -> None:
    async with listen(settings()) as address, Client(address.mcp, token=TOKEN) as memory:
        async with memory.with_space("default") as narrow:
            await narrow.remember("Ada", "likes tea")
        await narrow.close()
        assert len(await memory.recall("tea")) == 1


def test_a_token_file_that_others_can_read_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("TEXTRAWL_ACCESS_TOKEN", raising=False)
    monkeypatch.setenv("TEXTRAWL_ACCESS_TOKEN_FILE", str(tmp_path / "token"))
    (tmp_path / "token").write_text("trl_x\n")
    (tmp_path / "token").chmod(0o644)
    with pytest.raises(errors.ArgumentInvalid, match="chmod 600"):
        Client("http://127.0.0.1:9")
    (tmp_path / "token").chmod(0o600)
    assert find_token() == "trl_x"


async def test_a_long_text_finds_items_by_its_end(settings: Callable[..., Settings]) -> None:
    async with listen(settings()) as address, Client(address.mcp, token=TOKEN) as memory:
        await memory.items.put(["ada"], "drink", "likes green tea")
        found = await memory.items.search("x " * 2_000 + "green tea?")
    assert [item.key for item in found] == ["drink"]


def test_a_token_with_a_line_end_is_refused_and_not_shown() -> None:
    for token in ("trl_secret\n", "trl_sécret"):
        with pytest.raises(errors.ArgumentInvalid, match=r"^(?!.*cret).*no token has"):
            SyncClient("http://127.0.0.1:9", token=token).open()


async def test_a_sync_client_works_in_threads_and_where_an_event_loop_runs() -> None:
    with SyncClient("http://127.0.0.1:9", token="t") as memory, ThreadPoolExecutor(2) as threads:
        with pytest.raises(errors.ServerUnreachable, match="ConnectError"):
            memory.recall("tea")
        failed = [threads.submit(memory.recall, "tea").exception() for _ in range(4)]

    assert {type(error) for error in failed} == {errors.ServerUnreachable}
