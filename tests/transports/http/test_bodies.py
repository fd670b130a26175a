"""Requests over HTTP: bodies, limits, odd requests, and the page that a browser gets."""

from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import anyio
import httpx2
import psycopg
import pytest
from anyio.abc import SocketStream

from tests.attacks.site import issue, open_site
from tests.conftest import Era
from tests.support.http_team import ANA, BEN, HELLO, Team, bear, call_modern, gather, wait_until
from textrawl import Settings
from textrawl.host.framing import MOST_BYTES
from textrawl.server.http.guards import Bodies, Window

pytestmark = pytest.mark.anyio


def pad(size: int) -> bytes:
    """A good request of that many bytes."""
    text = httpx2.Request("POST", "http://x", json=HELLO).content
    return text + b" " * (size - len(text))


async def test_a_request_may_have_a_mebibyte_and_no_more(
    team: Team, http: httpx2.AsyncClient
) -> None:
    async def stream(body: bytes) -> AsyncIterator[bytes]:
        for start in range(0, len(body), 65_536):
            yield body[start : start + 65_536]

    headers = {**bear(ANA), "content-type": "application/json"}
    for size, status in ((MOST_BYTES, 200), (MOST_BYTES + 1, 413)):
        for content in (pad(size), stream(pad(size))):  # the second one does not declare its size
            answer = await http.post(team.mcp, content=content, headers=headers)
            assert answer.status_code == status, (size, type(content))


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
    """Return all bytes until the other side closes the connection."""
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


async def test_a_token_beyond_its_rate_has_to_wait_and_others_do_not(
    http: httpx2.AsyncClient,
) -> None:
    headers, body = call_modern("introduce")
    async with gather(rate_limit=5) as team:

        async def post(token: str) -> httpx2.Response:
            return await http.post(team.mcp, json=body, headers={**headers, **bear(token)})

        assert [(await post(ANA)).status_code for _ in range(5)] == [200] * 5
        refused = await post(ANA)
        assert refused.status_code == 429
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert (await post(BEN)).status_code == 200
        assert (await http.get(f"{team.root}/healthz")).status_code == 200


@pytest.mark.parametrize("rate_limit", [0, 600])
async def test_no_limit_or_a_usual_one_is_not_met_by_a_hundred_calls(
    http: httpx2.AsyncClient, rate_limit: int
) -> None:
    headers, body = call_modern("introduce")
    async with gather(rate_limit=rate_limit) as team:
        for _ in range(100):
            answer = await http.post(team.mcp, json=body, headers={**headers, **bear(ANA)})
            assert answer.status_code == 200


async def test_one_token_cannot_open_sessions_without_end(http: httpx2.AsyncClient) -> None:
    async with gather() as team:
        opened = [await http.post(team.mcp, json=HELLO, headers=bear(ANA)) for _ in range(60)]
        assert {answer.status_code for answer in opened} == {200}
        disguised = {**bear(ANA), "mcp-method": "tools/call"}
        refused = await http.post(team.mcp, json=HELLO, headers=disguised)
        other = await http.post(team.mcp, json=HELLO, headers=bear(BEN))
        session = {**bear(ANA), "mcp-session-id": opened[0].headers["mcp-session-id"]}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        used = await http.post(team.mcp, json=ping, headers=session)
    assert (refused.status_code, other.status_code, used.status_code) == (429, 200, 200)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_in_no_minute_there_are_more_than_the_window_lets_pass() -> None:
    clock = Clock()
    window = Window(3, clock=clock)
    passed: list[float] = []
    for tick in range(400):
        clock.now = 1000 + tick
        if window.find_wait("a") == 0:
            window.add("a")
            passed.append(clock.now)
    for start in passed:
        assert sum(1 for at in passed if start <= at < start + 60) <= 3
    assert len(passed) == 3 * 7


def test_after_the_wait_that_is_told_there_is_room() -> None:
    clock = Clock()
    window = Window(2, clock=clock)
    window.add("a")
    clock.now += 10.5
    window.add("a")
    assert window.find_wait("a") == 50
    assert window.find_wait("b") == 0
    clock.now += 50
    assert window.find_wait("a") == 0


def test_keys_that_nobody_comes_back_with_are_forgotten() -> None:
    clock = Clock()
    window = Window(2, clock=clock)
    for number in range(30_000):
        window.add(number)
    assert len(window) <= 10_000
    clock.now += 61
    assert len(window) == 0


async def test_a_request_keeps_the_id_that_it_came_with(
    team: Team, http: httpx2.AsyncClient
) -> None:
    for given in ("a", "0198c3-AF.7_x", "x" * 64):
        for headers in ({}, bear(ANA)):
            answer = await http.post(
                team.mcp, json=HELLO, headers={**headers, "x-request-id": given}
            )
            assert answer.headers.get_list("x-request-id") == [given]


async def test_an_id_that_is_not_sane_is_replaced(team: Team) -> None:
    ids: list[str] = []
    async with httpx2.AsyncClient() as http:
        for given in ("", "x" * 65, "a b", "a\tb", "a;b", "<script>", "a,b", "\u00e4"):
            for _ in range(2):
                raw = [(b"x-request-id", given.encode("latin-1"))]
                answer = await http.get(f"{team.root}/healthz", headers=raw)
                ids.append(answer.headers["x-request-id"])
    assert [one for one in ids if len(one) != 32 or not one.isalnum()] == []
    assert len({*ids}) == len(ids)


async def test_a_tool_and_its_logs_know_the_id_of_their_request(team: Team, era: Era) -> None:
    seen: set[str] = set()
    async with team.connect(ANA, era) as client:
        for _ in range(2):
            answer = (await client.call_tool("introduce", {})).structured_content
            assert answer is not None
            assert answer["request"] == answer["logged"]
            seen.add(answer["request"])
    assert len(seen) == 2


async def test_the_answer_of_a_call_carries_the_id_that_the_tool_saw(
    team: Team, http: httpx2.AsyncClient
) -> None:
    headers, body = call_modern("introduce")
    given = {**headers, **bear(ANA), "x-request-id": "mine"}
    answer = await http.post(team.mcp, json=body, headers=given)
    assert answer.headers["x-request-id"] == "mine"
    assert answer.json()["result"]["structuredContent"]["request"] == "mine"


async def test_a_browser_gets_a_page_that_says_what_the_server_is_and_a_program_an_error(
    settings: Callable[..., Settings], owner: psycopg.Connection
) -> None:
    async with open_site(settings(explorer=True)) as site:
        pages = [
            await site.http.get(f"{site.root}{path}", headers={"accept": "text/html,*/*"})
            for path in ("/", "/mcp")
        ]
        program = await site.http.get(f"{site.root}/", headers={"accept": "*/*"})

    assert [page.status_code for page in pages] == [200, 401]
    for page in pages:
        assert f"--url {site.root}/mcp" in page.text
        assert 'href="/explore"' in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
    assert (program.status_code, program.json()["error"]) == (401, "unauthorized")


async def test_a_server_for_which_nobody_has_a_token_says_how_to_make_one(
    settings: Callable[..., Settings], owner: psycopg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    owner.execute("update token set revoked_at = now()")
    async with open_site(settings()):
        assert "`textrawl token create" in caplog.text
    caplog.clear()
    issue(owner, "ana", "default", "read")
    async with open_site(settings()):
        assert "listens on" in caplog.text
        assert "token create" not in caplog.text
