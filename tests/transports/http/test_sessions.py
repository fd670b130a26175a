"""Abandoned sessions are bounded, and what they held is released."""

import gc
from collections import Counter

import httpx2
import pytest
from mcp.server.streamable_http import StreamableHTTPServerTransport

from tests.support.http_team import ANA, BEN, HELLO, Team, bear, call, gather, wait_until
from textrawl.server.http import exchanges

pytestmark = pytest.mark.anyio

PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchanges, "MOST", 20)
    monkeypatch.setattr(exchanges, "MOST_OF_ACTOR", 15)


async def open_session(http: httpx2.AsyncClient, team: Team, token: str = "") -> str:
    answer = await http.post(team.mcp, json=HELLO, headers=bear(token) if token else {})
    assert answer.status_code == 200
    return answer.headers["mcp-session-id"]


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
            await open_session(http, team)
        await wait_until(lambda: count_transports() == 20)
        before = count_objects()
        opened = [await open_session(http, team) for _ in range(400)]
        await wait_until(lambda: count_transports() == 20)
        after = count_objects()
        used = await ping(http, team, opened[-1])

    assert used == 200
    assert {kind: n for kind, n in after.items() if n > before[kind] + 20} == {}


async def test_the_session_that_was_not_used_longest_ends(http: httpx2.AsyncClient) -> None:
    async with gather(lookup=None) as team:
        opened = [await open_session(http, team) for _ in range(20)]
        assert await ping(http, team, opened[0]) == 200
        opened.append(await open_session(http, team))
        codes = [await ping(http, team, session) for session in opened]
        headers = {"mcp-session-id": opened[1]}
        gone = await http.post(team.mcp, json=PING, headers=headers)

    assert codes == [200, 404, *[200] * 19]
    assert "newer sessions took its place. Initialize a new session" in gone.text


async def test_a_session_with_an_open_request_does_not_end(http: httpx2.AsyncClient) -> None:
    async with gather(lookup=None) as team:
        session = await open_session(http, team)
        headers = {"mcp-session-id": session}
        async with http.stream("POST", team.mcp, json=call("wait"), headers=headers) as answer:
            await wait_until(lambda: team.waiting == 1)
            for _ in range(40):
                await open_session(http, team)
            team.opened.set()
            text = (await answer.aread()).decode()

    assert "done" in text


async def test_one_actor_cannot_end_the_sessions_of_another(http: httpx2.AsyncClient) -> None:
    async with gather() as team:
        bens = [await open_session(http, team, BEN) for _ in range(4)]
        anas = [await open_session(http, team, ANA) for _ in range(30)]
        bens += [await open_session(http, team, BEN) for _ in range(5)]
        codes = [await ping(http, team, session, BEN) for session in bens]
        left = [await ping(http, team, session, ANA) for session in anas]

    assert codes == [200] * 9
    assert left == [404] * 19 + [200] * 11


async def test_a_session_that_its_client_ends_makes_room(http: httpx2.AsyncClient) -> None:
    async with gather(lookup=None) as team:
        opened = [await open_session(http, team) for _ in range(20)]
        await http.delete(team.mcp, headers={"mcp-session-id": opened[5]})
        await open_session(http, team)
        codes = [await ping(http, team, session) for session in opened]

    assert codes == [200] * 5 + [404] + [200] * 14
