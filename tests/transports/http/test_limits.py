"""How often a token may call."""

import httpx2
import pytest

from tests.support.http_team import ANA, BEN, HELLO, bear, call_modern, gather
from textrawl.server.http.guards import Window

pytestmark = pytest.mark.anyio


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
