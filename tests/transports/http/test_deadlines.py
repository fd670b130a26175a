"""How long an answer may take."""

import anyio
import httpx2
import pytest
from starlette.types import Message, Receive, Scope, Send

from tests.conftest import Era
from tests.support.http_team import (
    ANA,
    HELLO,
    Team,
    bear,
    call,
    call_modern,
    gather,
    wait_until,
)
from textrawl.access.principal import Principal
from textrawl.server.http.guards import Deadlines

pytestmark = pytest.mark.anyio


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Deadlines.__init__, "__kwdefaults__", {"seconds": 0.3})


@pytest.mark.usefixtures("_impatient")
async def test_a_call_that_takes_too_long_is_cancelled_and_told(http: httpx2.AsyncClient) -> None:
    headers, body = call_modern("wait")
    async with gather() as team:
        answer = await http.post(team.mcp, json=body, headers={**headers, **bear(ANA)})
        assert (answer.status_code, answer.json()["error"]) == (504, "timeout")
        assert team.waiting == 1
        await wait_until(lambda: team.cancelled == 1)


@pytest.mark.usefixtures("_impatient")
async def test_a_call_that_began_its_answer_is_cut_short(http: httpx2.AsyncClient) -> None:
    headers, body = call_modern("report")
    async with gather() as team:
        answer = await http.post(team.mcp, json=body, headers={**headers, **bear(ANA)})
        assert answer.headers["content-type"] == "text/event-stream"
        assert "notifications/progress" in answer.text
        assert "result" not in answer.text
        await wait_until(lambda: team.cancelled == 1)


@pytest.mark.usefixtures("_impatient")
async def test_who_cannot_be_looked_up_in_time_is_told_so(http: httpx2.AsyncClient) -> None:
    async def look_up(bearer: str) -> Principal | None:
        del bearer
        await anyio.sleep_forever()

    async with gather(lookup=look_up) as team:
        answer = await http.post(team.mcp, json=HELLO, headers=bear(ANA))
    assert answer.status_code == 504


@pytest.mark.usefixtures("_impatient")
async def test_streams_of_the_legacy_era_outlive_the_time_limit(http: httpx2.AsyncClient) -> None:
    async with gather() as team:
        hello = await http.post(team.mcp, json=HELLO, headers=bear(ANA))
        headers = {**bear(ANA), "mcp-session-id": hello.headers["mcp-session-id"]}
        async with (
            http.stream("GET", team.mcp, headers=headers) as listening,
            http.stream("POST", team.mcp, json=call("wait"), headers=headers) as calling,
        ):
            await wait_until(lambda: team.waiting == 1)
            # Another request meets the limit meanwhile, so that both streams are older than it.
            modern, body = call_modern("wait")
            late = await http.post(team.mcp, json=body, headers={**modern, **bear(ANA)})
            assert late.status_code == 504
            team.opened.set()
            [event] = [line async for line in calling.aiter_lines() if line.startswith("data: ")]
            assert '"done"' in event
            assert listening.status_code == 200
            assert not listening.is_closed


async def test_a_client_that_waits_gets_its_answer(team: Team, era: Era) -> None:
    async with team.connect(ANA, era) as client, anyio.create_task_group() as group:

        async def release() -> None:
            await wait_until(lambda: team.waiting == 1)
            team.opened.set()

        group.start_soon(release)
        assert not (await client.call_tool("wait", {})).is_error


async def test_a_complete_response_is_not_ended_again() -> None:
    """The call can still do something after its answer. Servers log a second end as an error."""
    sent = list[Message]()

    async def answer(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"all"})
        await anyio.sleep_forever()

    async def receive() -> Message:
        await anyio.sleep_forever()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    headers, _ = call_modern("wait")
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "path": "/mcp", "headers": pairs}
    await Deadlines(answer, seconds=0.05)(scope, receive, send)

    assert [message.get("body") for message in sent] == [None, b"all"]
