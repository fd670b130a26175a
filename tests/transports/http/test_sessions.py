"""Abandoned sessions are bounded, what they held is released, and lost ones are opened again."""

import gc
import socket
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack

import anyio
import httpx2
import pytest
from anyio import TASK_STATUS_IGNORED
from anyio.abc import TaskStatus
from mcp import Client
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.types import ElicitRequestParams, ElicitResult

from tests.support.http_team import ANA, BEN, HELLO, Team, bear, call, gather, wait_until
from tests.support.listening import find_port, listen
from textrawl import Settings
from textrawl.server.http import sessions

pytestmark = pytest.mark.anyio

PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST", 20)
    monkeypatch.setattr(sessions, "MOST_OF_ACTOR", 15)


async def open_session(http: httpx2.AsyncClient, team: Team, token: str = "") -> str:
    answer = await http.post(team.mcp, json=HELLO, headers=bear(token) if token else {})
    assert answer.status_code == 200
    return answer.headers["mcp-session-id"]


async def open_nameless(http: httpx2.AsyncClient, team: Team, token: str = "") -> str:
    """Open a session, and keep the part of its id that does not describe the client."""
    return (await open_session(http, team, token)).partition(".")[0]


async def ping(http: httpx2.AsyncClient, team: Team, session: str, token: str = "") -> int:
    headers = {"mcp-session-id": session, **(bear(token) if token else {})}
    return (await http.post(team.mcp, json=PING, headers=headers)).status_code


def count_objects() -> Counter[str]:
    """The objects of sessions that are alive."""
    gc.collect()
    kept = ("<class 'mcp.server.", "<class 'mcp.shared.", "<class 'textrawl.server.")
    kinds = (f"{one.__class__}" for one in gc.get_objects())
    return Counter(kind for kind in kinds if kind.startswith(kept))


def count_transports() -> int:
    return count_objects()[str(StreamableHTTPServerTransport)]


async def test_hundreds_of_abandoned_sessions_leave_no_more_than_the_limit(
    http: httpx2.AsyncClient,
) -> None:
    async with gather(lookup=None) as team:
        for _ in range(30):
            await open_nameless(http, team)
        await wait_until(lambda: count_transports() == 20)
        before = count_objects()
        opened = [await open_nameless(http, team) for _ in range(400)]
        await wait_until(lambda: count_transports() == 20)
        after = count_objects()
        used = await ping(http, team, opened[-1])

    assert used == 200
    assert {kind: n for kind, n in after.items() if n > before[kind] + 20} == {}


async def test_the_session_that_was_not_used_longest_ends(http: httpx2.AsyncClient) -> None:
    async with gather(lookup=None) as team:
        opened = [await open_nameless(http, team) for _ in range(20)]
        assert await ping(http, team, opened[0]) == 200
        opened.append(await open_nameless(http, team))
        codes = [await ping(http, team, session) for session in opened]
        headers = {"mcp-session-id": opened[1]}
        gone = await http.post(team.mcp, json=PING, headers=headers)

    assert codes == [200, 404, *[200] * 19]
    assert "the server does not know it any more. Initialize a new session" in gone.text


async def test_a_session_with_an_open_request_does_not_end(http: httpx2.AsyncClient) -> None:
    async with gather(lookup=None) as team:
        session = await open_nameless(http, team)
        headers = {"mcp-session-id": session}
        async with http.stream("POST", team.mcp, json=call("wait"), headers=headers) as answer:
            await wait_until(lambda: team.waiting == 1)
            for _ in range(40):
                await open_nameless(http, team)
            team.opened.set()
            text = (await answer.aread()).decode()

    assert "done" in text


async def test_one_actor_cannot_end_the_sessions_of_another(http: httpx2.AsyncClient) -> None:
    async with gather() as team:
        bens = [await open_nameless(http, team, BEN) for _ in range(4)]
        anas = [await open_nameless(http, team, ANA) for _ in range(30)]
        bens += [await open_nameless(http, team, BEN) for _ in range(5)]
        codes = [await ping(http, team, session, BEN) for session in bens]
        left = [await ping(http, team, session, ANA) for session in anas]

    assert codes == [200] * 9
    assert left == [404] * 19 + [200] * 11


async def test_a_session_that_its_client_ends_makes_room(http: httpx2.AsyncClient) -> None:
    async with gather(lookup=None) as team:
        opened = [await open_nameless(http, team) for _ in range(20)]
        await http.delete(team.mcp, headers={"mcp-session-id": opened[5]})
        await open_nameless(http, team)
        codes = [await ping(http, team, session) for session in opened]

    assert codes == [200] * 5 + [404] + [200] * 14


async def introduce(http: httpx2.AsyncClient, team: Team, session: str, token: str) -> str:
    """The status of a call, or the actor for whom the server takes the caller."""
    headers = {"mcp-session-id": session, **bear(token)}
    answer = await http.post(team.mcp, json=call("introduce"), headers=headers)
    if answer.status_code != 200:
        return str(answer.status_code)
    assert answer.headers["mcp-session-id"] == session
    return "ana" if '\\"ana\\"' in answer.text else "another"


async def test_a_session_that_was_lost_is_opened_once_for_all_requests_of_its_client(
    http: httpx2.AsyncClient,
) -> None:
    async with gather() as team:
        session = await open_session(http, team, ANA)
        for _ in range(15):
            await open_nameless(http, team, ANA)  # the first one makes room
        await wait_until(lambda: count_transports() == 15)
        codes = list[int]()

        async def use() -> None:
            codes.append(await ping(http, team, session, ANA))

        async with anyio.create_task_group() as requests:
            for _ in range(8):
                requests.start_soon(use)
        await wait_until(lambda: count_transports() == 15)
        headers = {"mcp-session-id": session, **bear(ANA)}
        async with http.stream("GET", team.mcp, headers=headers) as stream:
            listening = stream.status_code
        ended = await http.delete(team.mcp, headers=headers)
        after = await introduce(http, team, session, ANA)

    assert (codes, listening, ended.status_code) == ([200] * 8, 200, 200)
    assert after == "404"  # its client ended it


async def test_the_id_of_a_session_gives_no_rights(http: httpx2.AsyncClient) -> None:
    async with gather() as team:
        session = await open_session(http, team, ANA)
        before = await introduce(http, team, session, BEN)
    async with gather() as team:  # the server was restarted
        taken = await introduce(http, team, session, BEN)
        refused = await http.post(team.mcp, json=PING, headers={"mcp-session-id": session})
        own = await introduce(http, team, session, ANA)

    assert (before, taken, refused.status_code, own) == ("404", "another", 401, "ana")


async def test_an_id_that_describes_no_client_is_unknown(http: httpx2.AsyncClient) -> None:
    texts = (
        b"", b"[]", b"1", b"{", b"{}", b"\xff", b"[" * 1400, b'{"protocolVersion":5}',
        b'{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"\\ud83d","version":"1"}}',
        b'{"a":"' + b"a" * 3000 + b'"}',
    )  # fmt: skip
    ids = [f"{1:032x}.{urlsafe_b64encode(text).decode()}" for text in texts]
    ids += [f"{1:032x}.{text}" for text in ("!", "a", "a.b", "=", "." * 9)]
    async with gather(lookup=None) as team:
        codes = {text: await ping(http, team, text) for text in ids}
        assert await ping(http, team, await open_session(http, team)) == 200

    assert [text for text, code in codes.items() if code != 404] == []


def listens(port: int) -> bool:
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) == 0


async def serve(
    given: Settings, stop: anyio.Event, *, task_status: TaskStatus[None] = TASK_STATUS_IGNORED
) -> None:
    """Listen until `stop` is set. The port is then free again."""
    async with listen(given, port=given.http_port):
        task_status.started()
        await stop.wait()


@pytest.mark.slow
async def test_a_client_of_the_python_sdk_goes_on_after_a_restart_of_the_server(
    settings: Callable[..., Settings],
) -> None:
    failed, asked = list[bool](), list[str]()

    async def agree(context: object, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"confirm": True})

    given = settings(embedding_provider="none", http_port=find_port())
    fact = {"entityName": "Ada", "entityType": "person", "observation": "likes tea"}
    url = f"http://127.0.0.1:{given.http_port}/mcp"
    async with AsyncExitStack() as stack:
        first, second = anyio.Event(), anyio.Event()
        servers = await stack.enter_async_context(anyio.create_task_group())
        await servers.start(serve, given, first)
        client = Client(url, mode="legacy", elicitation_callback=agree)
        await stack.enter_async_context(client)
        failed += [(await client.call_tool("remember_fact", fact)).is_error]
        first.set()
        await wait_until(lambda: not listens(given.http_port))
        await servers.start(serve, given, second)
        failed += [(await client.call_tool("forget_entity", {"entityName": "Ada"})).is_error]
        second.set()

    assert (failed, len(asked)) == ([False, False], 1)
