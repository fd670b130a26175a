"""One caller, or one machine, cannot keep the others from being served."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import httpx2
import psutil
import psycopg
import pytest
from anyio.abc import SocketStream

from tests.attacks.site import issue, open_site
from tests.support.http_team import (
    ACCEPT,
    ANA,
    BEN,
    HELLO,
    PRINCIPALS,
    Team,
    bear,
    call,
    call_modern,
    gather,
    wait_until,
)
from textrawl import scheduling
from textrawl.access.principal import Principal
from textrawl.server.http import guards, listening
from textrawl.settings import Settings

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

WAITING = "select count(distinct pid) from pg_locks where not granted"
HALF = b"POST /mcp HTTP/1.1\r\nhost: localhost\r\nx: "  # headers that go no further
ALIVE = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """An analysis on a busy machine can take longer than a request may."""
    monkeypatch.setattr(guards.Deadlines.__init__, "__kwdefaults__", {"seconds": 300.0})


@pytest.fixture
async def http() -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(headers=ACCEPT, timeout=120) as http:
        yield http


async def hold_connections(
    team: Team, stack: AsyncExitStack, count: int, words: bytes
) -> list[SocketStream]:
    """Connections that ask something once, or nothing, and stay."""
    held: list[SocketStream] = []
    for _ in range(count):
        stream = await stack.enter_async_context(await anyio.connect_tcp("127.0.0.1", team.port))
        held.append(stream)
        if words:
            await stream.send(words)
        if words == ALIVE:
            await stream.receive()
    return held


@pytest.mark.parametrize("words", [ALIVE, HALF, b""], ids=["asked once", "slow", "silent"])
async def test_idle_connections_without_a_token_lock_nobody_out(
    http: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch, words: bytes
) -> None:
    monkeypatch.setattr(listening, "_MOST_CONNECTIONS", 20)
    headers, body = call_modern("introduce")
    async with gather() as team, AsyncExitStack() as stack:
        for _ in range(3):
            await hold_connections(team, stack, 25, words)
            fresh = httpx2.AsyncClient()
            for client in (http, await stack.enter_async_context(fresh)):
                answer = await client.post(team.mcp, json=body, headers=headers | bear(ANA))
                assert answer.status_code == 200
                assert (await client.get(f"{team.root}/healthz")).status_code == 200


async def test_whether_the_process_lives_is_answered_while_every_connection_is_busy(
    http: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "_MOST_CONNECTIONS", 5)
    headers, body = call_modern("wait")
    async with gather() as team, anyio.create_task_group() as group:
        for waiting in range(1, 5):
            group.start_soon(lambda: http.post(team.mcp, json=body, headers=headers | bear(ANA)))
            await wait_until(lambda waiting=waiting: team.waiting == waiting)
        async with httpx2.AsyncClient() as prober:
            assert (await prober.get(f"{team.root}/healthz")).status_code == 200
            refused = await prober.post(team.mcp, json=body, headers=headers | bear(BEN))
            assert refused.status_code == 503
            assert (await prober.get(f"{team.root}/healthz")).status_code == 200
        team.opened.set()


async def test_a_person_has_so_many_calls_and_streams_open_whatever_tokens_they_use(
    http: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guards, "_MOST_OPEN", 3)
    tokens = {"trl_One": person(1, "ana"), "trl_Two": person(2, "ana"), BEN: person(3, "ben")}

    async def look_up(bearer: str) -> Principal | None:
        return tokens.get(bearer)

    async def post(team: Team, token: str, name: str = "wait") -> int:
        headers, body = call_modern(name)
        return (await http.post(team.mcp, json=body, headers=headers | bear(token))).status_code

    async with gather(lookup=look_up) as team, AsyncExitStack() as stack:
        async with anyio.create_task_group() as group:
            for token in ("trl_One", "trl_One", "trl_Two"):
                group.start_soon(post, team, token)
            await wait_until(lambda: team.waiting == 3)
            assert [await post(team, token) for token in ("trl_One", "trl_Two")] == [429, 429]
            assert await post(team, BEN, "introduce") == 200
            team.opened.set()
        opened = [await open_stream(team, http, "trl_One", stack) for _ in range(3)]
        refused = await open_stream(team, http, "trl_Two", stack)
        assert [one.status_code for one in (*opened, refused)] == [200, 200, 200, 429]
        assert (await open_stream(team, http, BEN, stack)).status_code == 200
        assert await post(team, "trl_One", "introduce") == 200


def person(token: int, actor: str, **changes: Any) -> Principal:
    return Principal(b"", token, actor, 1, PRINCIPALS[ANA].spaces, **changes)


async def open_stream(
    team: Team, http: httpx2.AsyncClient, token: str, stack: AsyncExitStack
) -> httpx2.Response:
    hello = await http.post(team.mcp, json=HELLO, headers=bear(token))
    headers = bear(token) | {"mcp-session-id": hello.headers["mcp-session-id"]}
    return await stack.enter_async_context(http.stream("GET", team.mcp, headers=headers))


@pytest.mark.parametrize("reason", ["revoked", "expired"])
async def test_a_stream_ends_with_its_token(http: httpx2.AsyncClient, reason: str) -> None:
    tokens = {ANA: person(1, "ana"), BEN: person(2, "ben")}

    async def look_up(bearer: str) -> Principal | None:
        return tokens.get(bearer)

    async with gather(lookup=look_up) as team, AsyncExitStack() as stack:
        ended = await open_stream(team, http, ANA, stack)
        other = await open_stream(team, http, BEN, stack)
        assert (ended.status_code, other.status_code) == (200, 200)
        if reason == "revoked":
            del tokens[ANA]
        else:
            past = datetime.now(UTC) - timedelta(seconds=2)
            tokens[ANA] = person(1, "ana", expires_at=past)
        with anyio.fail_after(60):
            async for _ in ended.aiter_lines():
                pass
        assert not other.is_closed
        with pytest.raises(TimeoutError), anyio.fail_after(2):
            async for _ in other.aiter_lines():
                pass


async def test_a_call_of_a_token_that_was_revoked_meanwhile_ends_unanswered(
    http: httpx2.AsyncClient,
) -> None:
    tokens = {ANA: person(1, "ana")}
    headers, body = call_modern("wait")

    async def look_up(bearer: str) -> Principal | None:
        return tokens.get(bearer)

    async with gather(lookup=look_up) as team, anyio.create_task_group() as group:

        async def revoke() -> None:
            await wait_until(lambda: team.waiting == 1)
            tokens.clear()

        group.start_soon(revoke)
        with anyio.fail_after(60):
            answer = await http.post(team.mcp, json=body, headers=headers | bear(ANA))
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_token")
        await wait_until(lambda: team.cancelled == 1)


@pytest.mark.parametrize("again", [7, "7"])
async def test_an_id_that_is_being_answered_is_refused_and_both_requests_get_an_answer(
    http: httpx2.AsyncClient, again: int | str
) -> None:
    async with gather() as team:
        hello = await http.post(team.mcp, json=HELLO, headers=bear(ANA))
        headers = bear(ANA) | {"mcp-session-id": hello.headers["mcp-session-id"]}
        first = call("wait", 7)
        async with http.stream("POST", team.mcp, json=first, headers=headers) as calling:
            await wait_until(lambda: team.waiting == 1)
            second = await http.post(team.mcp, json={**first, "id": again}, headers=headers)
            assert second.status_code == 400
            answer = second.json()
            assert (answer["id"], answer["error"]["code"]) == (again, -32600)
            team.opened.set()
            [event] = [line async for line in calling.aiter_lines() if line.startswith("data: ")]
            assert json.loads(event.removeprefix("data: "))["id"] == 7
        later = await http.post(team.mcp, json=first, headers=headers)
        assert '"done"' in later.text


async def test_no_request_takes_the_place_of_a_session_s_stream(http: httpx2.AsyncClient) -> None:
    async with gather() as team:
        hello = await http.post(team.mcp, json=HELLO, headers=bear(ANA))
        headers = bear(ANA) | {"mcp-session-id": hello.headers["mcp-session-id"]}
        body = {**call("introduce"), "id": "_GET_stream"}
        answer = await http.post(team.mcp, json=body, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32600)


async def test_a_person_s_rate_is_one_however_many_tokens_they_have(
    http: httpx2.AsyncClient,
) -> None:
    tokens = {f"trl_{number}": person(number, "ana") for number in range(5)}

    async def look_up(bearer: str) -> Principal | None:
        return tokens.get(bearer)

    headers, body = call_modern("introduce")
    async with gather(lookup=look_up, rate_limit=10) as team:
        answers = [
            (await http.post(team.mcp, json=body, headers=headers | bear(token))).status_code
            for token in [*tokens] * 3
        ]
    assert answers == [200] * 10 + [429] * 5


async def test_sixty_failures_do_not_shut_out_a_neighbour_with_a_new_token(
    http: httpx2.AsyncClient,
) -> None:
    async with gather() as team:
        for number in range(60):
            wrong = await http.post(team.mcp, json=HELLO, headers=bear(f"trl_{number}"))
            assert wrong.status_code == 401
        assert (await http.post(team.mcp, json=HELLO, headers=bear("trl_61"))).status_code == 429
        assert (await http.post(team.mcp, json=HELLO, headers=bear(ANA))).status_code == 200
        assert (await http.post(team.mcp, json=HELLO, headers=bear("trl_62"))).status_code == 429


@pytest.mark.ordinary("the owner locks a row of one Postgres")
async def test_ten_calls_of_one_token_take_two_connections_and_a_neighbour_is_served(
    owner: psycopg.Connection, settings: Callable[..., Settings]
) -> None:
    heavy = issue(owner, "ana", "default", "read", "write")
    victim = issue(owner, "ben", "default", "read")
    fact = {"entityName": "Rust", "entityType": "concept", "observation": "never sleeps"}
    # A call that waits for a lock gives up after half of the time limit.
    async with open_site(settings(embedding_provider="none", database_timeout=120)) as site:
        assert (await site.call(heavy, "remember_fact", fact)).status_code == 200
        with psycopg.connect(owner.info.dsn) as locker:
            locker.execute("select from textrawl.entity where name = 'Rust' for update")
            async with anyio.create_task_group() as group:
                for number in range(10):
                    given = {**fact, "observation": f"never sleeps for {number} days"}
                    client = f"program {number}"  # writes of one program wait for each other
                    group.start_soon(site.call, heavy, "remember_fact", given, "/mcp", client)
                with anyio.fail_after(50):
                    await wait_until(lambda: owner.execute(WAITING).fetchone() == (2,))
                    answer = await site.call(victim, "query_memory", {"mode": "list"})
                assert "Rust" in answer.text
                assert owner.execute(WAITING).fetchone() == (2,)
                locker.commit()
    stored = owner.execute("select count(*) from observation").fetchone()
    assert stored == (11,)


@pytest.mark.ordinary("the owner locks a row of one Postgres")
async def test_heavy_calls_of_many_people_leave_connections_for_the_others(
    owner: psycopg.Connection, settings: Callable[..., Settings]
) -> None:
    people = [issue(owner, f"person {number}", "default", "read") for number in range(6)]
    victim = issue(owner, "ben", "default", "read")
    answers = list[str]()
    chosen = settings(embedding_provider="none", toolsets=["memory", "graph"], database_timeout=120)
    async with open_site(chosen) as site:
        with psycopg.connect(owner.info.dsn) as locker:
            locker.execute("lock table textrawl.entity_use in access exclusive mode")
            async with anyio.create_task_group() as group:

                async def report(token: str) -> None:
                    answer = await site.call(token, "consolidation_report", {})
                    answers.append(answer.text)

                for token in people * 2:
                    group.start_soon(report, token)
                with anyio.fail_after(50):
                    await wait_until(lambda: owner.execute(WAITING).fetchone() == (1,))
                    answer = await site.call(victim, "query_memory", {"mode": "list"})
                assert '"isError":true' not in answer.text
                assert owner.execute(WAITING).fetchone() == (1,)
                assert answers == []
                locker.commit()
    assert len(answers) == 12
    assert all('"summary"' in text for text in answers)


async def test_calls_of_others_are_answered_while_an_entity_is_analysed(
    owner: psycopg.Connection, settings: Callable[..., Settings]
) -> None:
    reader, victim = (issue(owner, name, "default", "read") for name in ("ana", "ben"))
    owner.execute(
        "select remember_fact('Moon', 'concept', 'moon ' || k) from generate_series(1, 30) k"
    )
    answers = list[str]()
    chosen = settings(embedding_provider="none", toolsets=["memory", "graph"], database_timeout=120)
    async with open_site(chosen) as site, anyio.create_task_group() as group:

        async def analyse() -> None:
            answer = await site.call(reader, "analyze_entity_split", {"entity_name": "Moon"})
            answers.append(answer.text)

        await analyse()
        analyst = find_analyst()
        analyst.suspend()
        group.start_soon(analyse)
        await wait_until(lambda: scheduling._interpreter.count("apart") == 1)  # pyright: ignore[reportPrivateUsage]
        answer = await site.call(victim, "query_memory", {"mode": "list"})
        assert "Moon" in answer.text
        assert len(answers) == 1
        analyst.resume()
    # An answer that takes longer is a stream of events, which can begin with pings.
    first, second = (answer[answer.index('{"jsonrpc"') :].strip() for answer in answers)
    assert second == first


def find_analyst() -> psutil.Process:
    """Return the process in which entities are analysed."""
    [analyst] = [
        child
        for child in psutil.Process().children()
        # Processes of earlier tests can have ended without anybody asking how.
        if child.status() != psutil.STATUS_ZOMBIE and "anyio.to_process" in child.cmdline()
    ]
    return analyst
