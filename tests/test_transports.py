"""Streamable HTTP as clients meet it: both eras, probes, refusals, an end in time."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import psycopg
import pytest
from anyio import to_thread
from mcp import Client
from mcp.types import ElicitRequestParams, ElicitResult, TextContent
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

from tests.conftest import Era
from tests.gateway import Gateway
from textrawl import Settings, create_server
from textrawl.errors import StartRefused
from textrawl.transports import refuse_exposure, serve_http

pytestmark = pytest.mark.anyio

FACT = {"entityName": "Ada", "entityType": "person", "observation": "likes proofs"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}


@dataclass(frozen=True)
class Address:
    """A server that listens; `stop` ends it."""

    port: int
    stop: Callable[[], None]

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def mcp(self) -> str:
        return f"{self.root}/mcp"


def find_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


async def wait_for_answer(url: str) -> None:
    async with httpx2.AsyncClient() as http:
        async for attempt in AsyncRetrying(stop=stop_after_delay(20), wait=wait_fixed(0.02)):
            with attempt:
                await http.get(url)


@asynccontextmanager
async def listen(settings: Settings, host: str = "127.0.0.1") -> AsyncGenerator[Address]:
    """A server of `settings` in this process."""
    port = find_port()
    async with anyio.create_task_group() as group:
        address = Address(port, group.cancel_scope.cancel)
        group.start_soon(serve_http, create_server(settings), host, port)
        await wait_for_answer(f"{address.root}/healthz")
        yield address
        group.cancel_scope.cancel()


@pytest.fixture
async def address(settings: Callable[..., Settings]) -> AsyncGenerator[Address]:
    async with listen(settings()) as address:
        yield address


async def test_a_client_of_either_era_remembers_and_recalls_over_http(
    address: Address, era: Era, owner: psycopg.Connection
) -> None:
    async with Client(address.mcp, mode=era) as client:
        stored = await client.call_tool("remember_fact", FACT)
        assert not stored.is_error
    async with Client(address.mcp, mode=era) as another:
        found = await another.call_tool("query_memory", {"mode": "search", "query": "proofs"})
    [text] = found.content
    assert isinstance(text, TextContent)
    assert "likes proofs" in text.text
    assert owner.execute("select client, tool from observation").fetchall() == [
        ("mcp 0.1.0", "remember_fact")
    ]


async def test_an_answer_does_not_wait_for_an_acknowledgement_of_its_beginning(
    address: Address, era: Era
) -> None:
    """Nagle's algorithm and delayed acknowledgements together cost 40 ms an answer."""
    async with Client(address.mcp, mode=era) as client:
        taken: list[float] = []
        for _ in range(20):
            began = time.perf_counter()
            await client.call_tool("query_memory", {"mode": "list"})
            taken.append(time.perf_counter() - began)
    assert min(taken) < 0.03


async def test_many_clients_share_one_server_and_one_pool(
    address: Address, owner: psycopg.Connection
) -> None:
    async def remember(number: int, era: Era) -> None:
        async with Client(address.mcp, mode=era) as client:
            await client.call_tool("remember_fact", {**FACT, "observation": f"fact {number}"})

    async with anyio.create_task_group() as group:
        for number in range(8):
            group.start_soon(remember, number, "legacy" if number % 2 else "auto")
    assert owner.execute("select count(*) from observation").fetchone() == (8,)
    [connections] = owner.execute(
        "select count(*) from pg_stat_activity where datname = current_database() "
        "and application_name = 'textrawl'"
    ).fetchone() or (0,)
    assert connections <= 5


async def test_a_client_can_be_asked_for_a_confirmation_over_http(
    address: Address, era: Era
) -> None:
    asked: list[str] = []

    async def agree(context: Any, params: ElicitRequestParams) -> ElicitResult:
        del context
        asked.append(params.message)
        return ElicitResult(action="accept", content={"confirm": True})

    async with Client(address.mcp, mode=era, elicitation_callback=agree) as client:
        await client.call_tool("remember_fact", FACT)
        forgotten = await client.call_tool("forget_entity", {"entityName": "Ada"})
    assert not forgotten.is_error
    assert len(asked) == 1


async def test_the_probes_tell_a_database_that_is_away_and_heal(
    settings: Callable[..., Settings], gateway: Gateway
) -> None:
    changes = {"database_url": gateway.conninfo, "database_timeout": 1}
    async with listen(settings(**changes)) as address, httpx2.AsyncClient() as http:

        async def probe(path: str) -> tuple[int, Any]:
            answer = await http.get(f"{address.root}{path}")
            return answer.status_code, answer.json()

        assert await probe("/readyz") == (200, {"status": "ready"})
        await gateway.close()
        assert await probe("/readyz") == (503, {"status": "database unavailable"})
        assert await probe("/healthz") == (200, {"status": "ok"})
        await gateway.open()
        async for attempt in AsyncRetrying(stop=stop_after_delay(10)):
            with attempt:
                assert await probe("/readyz") == (200, {"status": "ready"})
        gateway.freeze()
        began = time.monotonic()
        status, _ = await probe("/readyz")
        assert status == 503
        assert time.monotonic() - began < 5
        gateway.thaw()


async def test_the_probe_waits_no_longer_than_those_who_probe(
    settings: Callable[..., Settings], gateway: Gateway
) -> None:
    async with (
        listen(settings(database_url=gateway.conninfo, database_timeout=60)) as address,
        httpx2.AsyncClient() as http,
    ):
        gateway.freeze()
        answer = await http.get(f"{address.root}/readyz", timeout=5)
        assert (answer.status_code, answer.json()) == (503, {"status": "database slow"})
        gateway.thaw()


async def test_without_memory_it_is_ready_and_has_no_tools(
    settings: Callable[..., Settings], era: Era
) -> None:
    async with listen(settings(enable_memory=False)) as address, httpx2.AsyncClient() as http:
        assert (await http.get(f"{address.root}/readyz")).status_code == 200
        async with Client(address.mcp, mode=era) as client:
            assert (await client.list_tools()).tools == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "evil.example:8000"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://localhost.evil.example"}, 403),
        ({"host": "localhost"}, 200),
        ({"host": "[::1]:9"}, 200),
        ({"origin": "http://localhost:6274"}, 200),
    ],
)
async def test_pages_and_names_of_others_are_refused(
    address: Address, headers: dict[str, str], status: int
) -> None:
    accept = {"accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient() as http:
        answer = await http.post(address.mcp, json=HELLO, headers={**accept, **headers})
    assert answer.status_code == status


async def test_a_body_beyond_all_measure_is_refused(address: Address) -> None:
    headers = {"accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient() as http:
        answer = await http.post(
            address.mcp, json={**HELLO, "method": "x" * 5_000_000}, headers=headers
        )
    assert answer.status_code == 413


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_addresses_of_this_machine_may_be_listened_on(host: str) -> None:
    refuse_exposure(host)


@pytest.mark.parametrize(
    "host",
    [
        "0.0.0.0",  # noqa: S104 - it is not bound to
        "::",
        "192.168.1.5",
        "10.0.0.1",
        "example.com",
        "localhost.evil",
        "fe80::1",
        "",
    ],
)
async def test_addresses_that_others_reach_are_refused(
    host: str, settings: Callable[..., Settings]
) -> None:
    with pytest.raises(StartRefused, match=r"HTTP_HOST: .* can be reached by others"):
        await serve_http(create_server(settings()), host, 0)


async def test_a_port_that_is_taken_or_not_allowed_is_told(
    settings: Callable[..., Settings],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StartRefused, match=f"HTTP_PORT.*{port} is taken.*--port"):
            await serve_http(create_server(settings()), "127.0.0.1", port)


async def test_a_database_that_does_not_fit_is_refused_before_anything_listens(
    postgres: Any, settings: Callable[..., Settings]
) -> None:
    with postgres.create() as name:
        url = postgres.cluster.dsn("textrawl_owner", name)
        with pytest.raises(StartRefused, match="textrawl migrate"):
            await serve_http(create_server(settings(database_url=url)), "127.0.0.1", find_port())


@pytest.fixture
def command(database_url: str, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """`textrawl serve --http` as a process."""
    port = find_port()
    environment = {**os.environ, "DATABASE_URL": database_url}
    process = subprocess.Popen(
        [sys.executable, "-m", "textrawl", "serve", "--http", "--port", str(port)],
        env=environment, cwd=tmp_path, stderr=subprocess.PIPE,
    )  # fmt: skip
    with process:
        yield process, port
        if process.poll() is None:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_within_ten_seconds_though_streams_are_open(
    command: tuple[subprocess.Popen[bytes], int], number: signal.Signals, owner: psycopg.Connection
) -> None:
    process, port = command
    await wait_for_answer(f"http://127.0.0.1:{port}/healthz")
    url = f"http://127.0.0.1:{port}/mcp"
    accept = {"accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient() as http:
        hello = await http.post(url, json=HELLO, headers=accept)
        session = {**accept, "mcp-session-id": hello.headers["mcp-session-id"]}
        async with http.stream("GET", url, headers=session, timeout=30) as stream:
            assert stream.status_code == 200
            process.send_signal(number)
            with suppress(httpx2.RemoteProtocolError):  # it is cut off, or ends
                await stream.aread()
        code = await to_thread.run_sync(process.wait, 10)
    assert code == 0
    left = owner.execute(
        "select count(*) from pg_stat_activity where application_name = 'textrawl' "
        "and datname = current_database()"
    )
    assert left.fetchone() == (0,)
