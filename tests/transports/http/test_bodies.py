"""How large a request may be, and how long it may take to arrive."""

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import anyio
import httpx2
import pytest
from anyio.abc import SocketStream

from tests.support.http_team import ANA, BEN, HELLO, Team, bear, gather, wait_until
from textrawl.server.framing import MOST_BYTES
from textrawl.server.http.guards import Bodies

pytestmark = pytest.mark.anyio


def pad(size: int) -> bytes:
    """A good request of that many bytes."""
    text = httpx2.Request("POST", "http://x", json=HELLO).content
    return text + b" " * (size - len(text))


@pytest.mark.parametrize(("size", "status"), [(MOST_BYTES, 200), (MOST_BYTES + 1, 413)])
@pytest.mark.parametrize("declared", [True, False])
async def test_a_request_may_have_a_mebibyte_and_no_more(
    team: Team, http: httpx2.AsyncClient, size: int, status: int, declared: bool
) -> None:
    async def stream() -> AsyncIterator[bytes]:
        body = pad(size)
        for start in range(0, size, 65_536):
            yield body[start : start + 65_536]

    headers = {**bear(ANA), "content-type": "application/json"}
    content: Any = pad(size) if declared else stream()
    answer = await http.post(team.mcp, content=content, headers=headers)
    assert answer.status_code == status


async def test_a_body_beyond_all_measure_is_refused_and_its_sender_sees_it(
    team: Team, http: httpx2.AsyncClient
) -> None:
    for token, status in ((ANA, 413), ("trl_Nobody", 401)):
        body = {**HELLO, "method": "x" * 5_000_000}
        answer = await http.post(team.mcp, json=body, headers=bear(token))
        assert answer.status_code == status
        assert (await http.post(team.mcp, json=HELLO, headers=bear(ANA))).status_code == 200


def write_head(length: int, token: str = ANA) -> bytes:
    lines = [
        "POST /mcp HTTP/1.1", "host: localhost", "content-type: application/json",
        "accept: application/json, text/event-stream",
        f"authorization: Bearer {token}", f"content-length: {length}",
    ]  # fmt: skip
    return "\r\n".join([*lines, "", ""]).encode()


async def read_all(stream: SocketStream) -> bytes:
    """What comes until the other side hangs up."""
    data = b""
    with anyio.fail_after(20):
        try:
            while True:
                data += await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return data


async def send_until_cut(stream: SocketStream, piece: bytes) -> None:
    """Sends, one piece after the other, until the other side does not want any more."""
    with anyio.fail_after(20), suppress(anyio.BrokenResourceError):
        while True:
            await stream.send(piece)


async def test_a_request_that_does_not_arrive_in_time_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Bodies.__init__, "__kwdefaults__", {"seconds": 0.1})
    async with gather() as team, await anyio.connect_tcp("127.0.0.1", team.port) as slow:
        await slow.send(write_head(100) + b'{"jsonrpc"')
        answer = await read_all(slow)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in answer.lower()


async def test_nothing_is_read_of_a_body_whose_sender_is_unknown(team: Team) -> None:
    async with await anyio.connect_tcp("127.0.0.1", team.port) as stranger:
        await stranger.send(write_head(1_000_000, token="trl_Nobody"))
        assert (await stranger.receive()).startswith(b"HTTP/1.1 401 ")


async def test_endless_headers_are_refused(team: Team, http: httpx2.AsyncClient) -> None:
    async with await anyio.connect_tcp("127.0.0.1", team.port) as stream:
        await stream.send(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\n")
        await send_until_cut(stream, b"x: %s\r\n" % (b"y" * 1000))
    assert (await http.get(f"{team.root}/healthz")).status_code == 200


async def test_one_slow_sender_keeps_nobody_waiting(team: Team, http: httpx2.AsyncClient) -> None:
    async with await anyio.connect_tcp("127.0.0.1", team.port) as slow:
        await slow.send(write_head(100))
        answer = await http.post(team.mcp, json=HELLO, headers=bear(BEN))
    assert answer.status_code == 200


async def test_who_hangs_up_in_the_middle_of_a_body_is_no_error(
    team: Team, caplog: pytest.LogCaptureFixture
) -> None:
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{team.port}\r\nContent-Length: 100\r\n"
        f"Authorization: Bearer {ANA}\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
        "Mcp-Method: tools/list\r\n\r\n{"
    )
    with caplog.at_level("INFO", logger="textrawl"):
        async with await anyio.connect_tcp("127.0.0.1", team.port) as stream:
            await stream.send(head.encode())
        await wait_until(lambda: "the client disconnected" in caplog.text)
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
