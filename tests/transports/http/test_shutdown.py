"""The end of a server over HTTP: in time, and with nothing lost that was acknowledged."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import httpx2
import psycopg
import pytest
from anyio import to_thread
from mcp import Client

from tests.support.commands import name_memory
from tests.support.http_team import ACCEPT, HELLO, call_modern
from tests.support.listening import find_port, wait_for_answer

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

CLIENTS = 20
LIMIT, GRACE = 10.0, 30.0  # seconds that it may take, and that a busy machine may add


@pytest.fixture
def process(database_url: str, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """`textrawl serve --http` as a process, and its address."""
    port = find_port()
    environment = {**os.environ, **name_memory(database_url)}
    started = subprocess.Popen(
        [sys.executable, "-m", "textrawl", "serve", "--http", "--insecure", "--port", str(port)],
        env=environment, cwd=tmp_path, stderr=subprocess.PIPE,
    )  # fmt: skip
    with started:
        yield started, f"http://127.0.0.1:{port}"
        if started.poll() is None:
            started.kill()


def remember(number: int) -> tuple[dict[str, str], dict[str, Any]]:
    headers, body = call_modern("remember_fact")
    body["params"]["arguments"] = {
        "entityName": f"Ada {number}", "entityType": "person", "observation": f"fact {number}"
    }  # fmt: skip
    return headers, body


async def store(http: httpx2.AsyncClient, root: str, number: int, acknowledged: set[str]) -> None:
    headers, body = remember(number)
    with suppress(httpx2.TransportError):  # it is cut off
        answer = await http.post(f"{root}/mcp", json=body, headers=headers)
        if answer.status_code == 200 and not answer.json()["result"].get("isError"):
            acknowledged.add(f"fact {number}")


@pytest.mark.parametrize("released", [True, False], ids=["they can end", "they cannot"])
async def test_calls_in_flight_are_stored_if_they_are_acknowledged(
    process: tuple[subprocess.Popen[bytes], str], owner: psycopg.Connection, released: bool
) -> None:
    server, root = process
    await wait_for_answer(f"{root}/healthz")
    acknowledged: set[str] = set()
    async with (
        httpx2.AsyncClient(timeout=30, limits=httpx2.Limits(max_connections=50)) as http,
        anyio.create_task_group() as group,
    ):
        with owner.transaction():
            owner.execute("lock table observation in access exclusive mode")
            for number in range(CLIENTS):
                group.start_soon(store, http, root, number, acknowledged)
            await wait_for_flight(root)
            server.send_signal(signal.SIGTERM)
            began = time.monotonic()
            if not released:
                await to_thread.run_sync(server.wait, LIMIT + GRACE)
        await to_thread.run_sync(server.wait, LIMIT + GRACE)
        assert time.monotonic() - began < LIMIT + GRACE
    assert server.returncode == 0
    assert server.stderr is not None
    assert b"Traceback" not in await to_thread.run_sync(server.stderr.read)
    stored = {text for (text,) in owner.execute("select content from observation").fetchall()}
    assert stored == acknowledged
    assert len(stored) == (CLIENTS if released else 0)


async def wait_for_flight(root: str) -> None:
    """Until the server has as many open calls as there are clients, beside this request."""
    wanted = f"textrawl_http_open_requests {CLIENTS + 1}.0"
    async with httpx2.AsyncClient() as http:
        with anyio.fail_after(60):
            while wanted not in (await http.get(f"{root}/metrics")).text:  # noqa: ASYNC110
                await anyio.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_within_ten_seconds_though_streams_are_open(
    process: tuple[subprocess.Popen[bytes], str],
    number: signal.Signals,
    owner: psycopg.Connection,
) -> None:
    server, root = process
    await wait_for_answer(f"{root}/healthz")
    async with httpx2.AsyncClient(headers=ACCEPT) as http:
        hello = await http.post(f"{root}/mcp", json=HELLO)
        session = {"mcp-session-id": hello.headers["mcp-session-id"]}
        async with http.stream("GET", f"{root}/mcp", headers=session, timeout=30) as stream:
            assert stream.status_code == 200
            server.send_signal(number)
            with suppress(httpx2.RemoteProtocolError):  # it is cut off, or ends
                await stream.aread()
        code = await to_thread.run_sync(server.wait, LIMIT + GRACE)
    assert code == 0
    left = owner.execute(
        "select count(*) from pg_stat_activity where application_name = 'textrawl' "
        "and datname = current_database()"
    )
    assert left.fetchone() == (0,)


async def test_a_stream_of_notifications_is_ended_before_the_server(
    process: tuple[subprocess.Popen[bytes], str],
) -> None:
    server, root = process
    await wait_for_answer(f"{root}/healthz")
    async with (
        Client(f"{root}/mcp") as client,
        client.listen(resource_subscriptions=["memory://entity/Ada"]) as stream,
    ):
        server.send_signal(signal.SIGTERM)
        with anyio.fail_after(60):
            assert [event async for event in stream] == []  # it raises SubscriptionLost otherwise
    _, errors = await to_thread.run_sync(server.communicate)
    assert server.returncode == 0
    assert b"ERROR" not in errors
