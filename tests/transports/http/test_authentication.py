"""A server over HTTP accepts valid tokens only, and each as its own actor."""

import anyio
import httpx2
import pytest

from tests.conftest import Era
from tests.support.http_team import (
    ACCEPT,
    ANA,
    AWAY,
    BEN,
    HELLO,
    LATE,
    METER,
    PRINCIPALS,
    ROOT,
    Team,
    bear,
    call,
    gather,
)
from textrawl.access.principal import Principal

pytestmark = pytest.mark.anyio

ROUTES = [
    ("POST", "/mcp"),
    ("GET", "/mcp"),
    ("DELETE", "/mcp"),
    ("POST", "/mcp/team"),
    ("GET", "/mcp/team"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("GET", "/"),
    ("GET", "/healthz/"),
    ("GET", "//healthz"),
    ("GET", "/healthz/../metrics"),
    ("GET", "/docs"),
    ("OPTIONS", "/mcp"),
]


async def test_no_route_answers_without_a_token_but_that_it_lives(
    team: Team, http: httpx2.AsyncClient
) -> None:
    for method, path in ROUTES:
        answer = await http.request(method, f"{team.root}{path}", json=HELLO)
        assert answer.status_code == 401, (method, path)
        assert answer.headers["www-authenticate"] == 'Bearer realm="textrawl"', (method, path)
        assert answer.json()["error"] == "unauthorized", (method, path)
        assert "Send an access token" in answer.json()["error_description"]
    alive = await http.get(f"{team.root}/healthz")
    assert (alive.status_code, alive.json()) == (200, {"status": "ok"})


async def test_a_tool_sees_whose_token_it_is_and_which_space_was_addressed(
    team: Team, era: Era
) -> None:
    for path, space in (("/mcp", None), ("/mcp/team", "team")):
        async with team.connect(ANA, era, path) as client:
            answer = (await client.call_tool("introduce", {})).structured_content
        assert answer is not None
        assert (answer["actor"], answer["space"]) == ("ana", space)


async def test_what_is_no_token_of_somebody_is_refused(team: Team) -> None:
    told: dict[str, set[str]] = {"invalid_token": set(), "unauthorized": set()}
    for headers in (
        [("authorization", "Bearer trl_Nobody")],
        [("authorization", f"Bearer {LATE}")],
        [("authorization", "Bearer")],
        [("authorization", f"Bearer  {ANA}")],
        [("authorization", f"Basic {ANA}")],
        [("authorization", ANA)],
        [("authorization", f"Bearer {ANA}, Bearer {BEN}")],
        [("authorization", f"Bearer {ANA}"), ("authorization", f"Bearer {ANA}")],
        [("authorization", "Bearer x"), ("authorization", f"Bearer {ANA}")],
        [("authorization", "Bearer " + "x" * 10_000)],
        [("authorization", "Bearer trl_\u00e4")],
        [("x-authorization", f"Bearer {ANA}")],
        [("cookie", f"authorization=Bearer {ANA}")],
    ):
        given = [*ACCEPT.items(), *headers]
        raw = [(name.encode(), value.encode("latin-1")) for name, value in given]
        async with httpx2.AsyncClient() as http:
            answer = await http.post(team.mcp, json=HELLO, headers=raw)
        assert answer.status_code == 401, headers
        told[answer.json()["error"]].add(answer.text)
        is_wrong = 'error="invalid_token"' in answer.headers["www-authenticate"]
        assert is_wrong == (headers[0][0] == "authorization"), headers
    assert [len(texts) for texts in told.values()] == [1, 1]


async def test_a_token_in_the_address_is_refused_though_another_is_in_its_place(
    team: Team, http: httpx2.AsyncClient
) -> None:
    tokens = (f"access_token={ANA}", f"x=1&token={ANA}", f"q={ANA}", "API_KEY=1", "t=eyJhbGciOi")
    for query in tokens:
        answer = await http.post(f"{team.mcp}?{query}", json=HELLO, headers=bear(ANA))
        assert answer.status_code == 401, query


async def test_a_database_that_is_away_is_no_reason_to_call_a_token_wrong(
    team: Team, http: httpx2.AsyncClient
) -> None:
    answer = await http.post(team.mcp, json=HELLO, headers=bear(AWAY))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json()["error_description"].startswith("Database unavailable")


async def test_any_token_may_ask_whether_it_is_ready(team: Team, http: httpx2.AsyncClient) -> None:
    ready = await http.get(f"{team.root}/readyz", headers=bear(BEN))
    team.ready = "database slow"
    slow = await http.get(f"{team.root}/readyz", headers=bear(BEN))
    assert (ready.status_code, ready.json()) == (200, {"status": "ready"})
    assert (slow.status_code, slow.json()) == (503, {"status": "database slow"})


async def test_metrics_are_read_by_the_scope_metrics_alone(
    team: Team, http: httpx2.AsyncClient
) -> None:
    for token in (ANA, ROOT):
        refused = await http.get(f"{team.root}/metrics", headers=bear(token))
        assert refused.status_code == 403
        assert 'error="insufficient_scope"' in refused.headers["www-authenticate"]
    response = await http.get(f"{team.root}/metrics", headers=bear(METER))
    assert response.status_code == 200


async def test_without_tokens_at_all_everybody_is_nobody(
    http: httpx2.AsyncClient, era: Era
) -> None:
    async with gather(lookup=None) as team:
        assert (await http.get(f"{team.root}/metrics")).status_code == 200
        async with team.connect("none", era) as client:
            answer = (await client.call_tool("introduce", {})).structured_content
    assert answer is not None
    assert answer["actor"] is None


async def open_session(team: Team, http: httpx2.AsyncClient, token: str, path: str) -> str:
    hello = await http.post(f"{team.root}{path}", json=HELLO, headers=bear(token))
    return hello.headers["mcp-session-id"]


async def test_a_session_opened_in_one_space_does_not_carry_that_space_into_another(
    team: Team, http: httpx2.AsyncClient
) -> None:
    session = await open_session(team, http, ANA, "/mcp/a")
    headers = {**bear(ANA), "mcp-session-id": session}
    answer = await http.post(f"{team.root}/mcp/b", json=call("introduce"), headers=headers)
    assert answer.status_code == 200
    assert r"\"space\": \"b\"" in answer.text


async def test_a_session_is_of_no_use_to_another_token(
    team: Team, http: httpx2.AsyncClient
) -> None:
    session = await open_session(team, http, ANA, "/mcp")
    for method in ("POST", "GET", "DELETE"):
        answer = await http.request(
            method,
            team.mcp,
            json=call("introduce"),
            headers={**bear(BEN), "mcp-session-id": session},
        )
        assert answer.status_code == 404


async def test_a_token_that_is_revoked_ends_the_use_of_its_session(
    http: httpx2.AsyncClient,
) -> None:
    valid = {"now": True}

    async def look_up(bearer: str) -> Principal | None:
        return PRINCIPALS[bearer] if valid["now"] else None

    async with gather(lookup=look_up) as team:
        session = await open_session(team, http, ANA, "/mcp")
        headers = {**bear(ANA), "mcp-session-id": session}
        before = await http.post(team.mcp, json=call("introduce"), headers=headers)
        valid["now"] = False
        after = await http.post(team.mcp, json=call("introduce", 3), headers=headers)
    assert (before.status_code, after.status_code) == (200, 401)


async def test_with_an_identity_provider_a_refusal_says_where_tokens_come_from(
    http: httpx2.AsyncClient,
) -> None:
    issuer = "https://login.example.com"
    async with gather(oauth_issuer=issuer, public_url="https://memory.example.com/") as team:
        refused = await http.post(team.mcp, json=HELLO)
        [named] = [
            part.partition("=")[2].strip('"')
            for part in refused.headers["www-authenticate"].split(", ")
            if part.startswith("resource_metadata=")
        ]
        assert named == "https://memory.example.com/.well-known/oauth-protected-resource/mcp"
        response = await http.get(f"{team.root}/{named.split('/', 3)[3]}")
    assert response.status_code == 200
    assert response.json()["resource"] == "https://memory.example.com/mcp"
    assert [url.rstrip("/") for url in response.json()["authorization_servers"]] == [issuer]
    assert response.json()["bearer_methods_supported"] == ["header"]


async def test_who_guesses_has_to_wait_and_keeps_nobody_else_waiting(
    team: Team, http: httpx2.AsyncClient
) -> None:
    assert (await http.post(team.mcp, json=HELLO, headers=bear(ANA))).status_code == 200
    statuses: list[int] = []

    async def guess(number: int) -> None:
        answer = await http.post(team.mcp, json=HELLO, headers=bear(f"trl_{number}"))
        statuses.append(answer.status_code)
        assert answer.status_code == 401 or 1 <= int(answer.headers["retry-after"]) <= 60

    for batch in range(7):
        async with anyio.create_task_group() as group:
            for number in range(10):
                group.start_soon(guess, 10 * batch + number)
    assert (statuses.count(401), statuses.count(429)) == (60, 10)
    assert (await http.post(team.mcp, json=HELLO, headers=bear(ANA))).status_code == 200
