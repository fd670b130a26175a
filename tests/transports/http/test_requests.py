"""By which id a request is found again."""

import httpx2
import pytest

from tests.conftest import Era
from tests.support.http_team import ANA, HELLO, Team, bear, call_modern

pytestmark = pytest.mark.anyio


async def test_a_request_keeps_the_id_that_it_came_with(
    team: Team, http: httpx2.AsyncClient
) -> None:
    for given in ("a", "0198c3-AF.7_x", "x" * 64):
        for headers in ({}, bear(ANA)):
            answer = await http.post(
                team.mcp, json=HELLO, headers={**headers, "x-request-id": given}
            )
            assert answer.headers.get_list("x-request-id") == [given]


@pytest.mark.parametrize("given", ["", "x" * 65, "a b", "a\tb", "a;b", "<script>", "a,b", "\u00e4"])
async def test_an_id_that_is_not_sane_is_replaced(team: Team, given: str) -> None:
    async with httpx2.AsyncClient() as http:
        raw = [(b"x-request-id", given.encode("latin-1"))]
        first = await http.get(f"{team.root}/healthz", headers=raw)
        second = await http.get(f"{team.root}/healthz", headers=raw)
    ids = [answer.headers["x-request-id"] for answer in (first, second)]
    assert all(len(one) == 32 and one.isalnum() for one in ids)
    assert ids[0] != ids[1]


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
