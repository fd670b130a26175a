"""What is no message is told so, over HTTP, by its id where that can be read; pages; addresses."""

import json
from itertools import pairwise
from typing import Any

import anyio
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import Era
from tests.support.http_team import ANA, HELLO, Team, bear, call, call_modern
from tests.transports.stdio.test_bad_lines import BAD
from textrawl.host.framing import MOST_BYTES, Outline

pytestmark = pytest.mark.anyio


async def test_a_bad_body_gets_its_error_in_both_eras(
    team: Team, http: httpx2.AsyncClient, era: Era
) -> None:
    modern, _ = call_modern("introduce")
    headers = {**bear(ANA), "content-type": "application/json"}
    headers |= modern if era == "auto" else {}
    for name, (body, code, identity) in BAD.items():
        answer = await http.post(team.mcp, content=body, headers=headers)
        document = answer.json()
        assert answer.status_code == (413 if len(body) > MOST_BYTES else 400), name
        told = (document["jsonrpc"], document["id"], document["error"]["code"])
        assert told == ("2.0", identity, code), name
        good = await http.post(team.mcp, json=HELLO, headers=bear(ANA))
        assert good.status_code == 200, name


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(
    st.integers(-(2**53), 2**53) | st.text(max_size=50),
    st.dictionaries(st.sampled_from(["params", "method", "result", "x"]), JSON, max_size=3),
    st.lists(st.integers(0, 400), max_size=5),
    st.booleans(),
)
def test_the_id_of_a_message_is_read_in_whatever_pieces_it_comes(
    identity: int | str, members: dict[str, Any], cuts: list[int], first: bool
) -> None:
    message = {"id": identity, **members} if first else {**members, "id": identity}
    text = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")
    outline = Outline()
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    for start, end in pairwise(places):
        outline.feed(text[start:end])
    assert outline.find_id() == identity


async def test_a_stream_that_would_be_resumed_begins_anew(
    team: Team, http: httpx2.AsyncClient
) -> None:
    hello = await http.post(team.mcp, json=HELLO, headers=bear(ANA))
    headers = bear(ANA) | {
        "mcp-session-id": hello.headers["mcp-session-id"], "last-event-id": "12",
    }  # fmt: skip
    async with http.stream("GET", team.mcp, headers=headers) as stream:
        assert stream.status_code == 200
        assert stream.headers["content-type"].startswith("text/event-stream")


async def test_a_slash_at_the_end_of_an_address_changes_nothing(
    team: Team, http: httpx2.AsyncClient
) -> None:
    headers, body = call_modern("introduce")
    for path, space in (("/mcp/", None), ("/mcp/team/", "team")):
        answer = await http.post(f"{team.root}{path}", json=body, headers=headers | bear(ANA))
        assert answer.status_code == 200
        assert answer.json()["result"]["structuredContent"]["space"] == space


async def test_a_page_of_this_machine_may_ask_first_and_then_read_the_answer(
    team: Team, http: httpx2.AsyncClient
) -> None:
    page = {"origin": "http://localhost:18400"}
    wanted = {
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,mcp-protocol-version",
    }
    asked = await http.options(team.mcp, headers=page | wanted)
    assert asked.status_code == 200
    assert asked.headers["access-control-allow-origin"] == page["origin"]
    assert "mcp-protocol-version" in asked.headers["access-control-allow-headers"]
    for headers, status in ((bear(ANA), 200), ({}, 401)):
        answer = await http.post(team.mcp, json=HELLO, headers=page | headers)
        assert answer.status_code == status
        assert answer.headers["access-control-allow-origin"] == page["origin"]
        assert "mcp-session-id" in answer.headers["access-control-expose-headers"].lower()


async def test_no_other_page_is_told_anything(team: Team, http: httpx2.AsyncClient) -> None:
    for origin in ("https://evil.example", "null", "file://", "http://localhost.evil"):
        page = {"origin": origin}
        asked = await http.options(
            team.mcp, headers=page | {"access-control-request-method": "POST"}
        )
        answer = await http.post(team.mcp, json=HELLO, headers=page | bear(ANA))
        alive = await http.get(f"{team.root}/healthz", headers=page)
        answers = (asked, answer, alive)
        assert [entry.status_code for entry in answers] == [403, 403, 200], origin
        assert [e for e in answers if "access-control-allow-origin" in e.headers] == [], origin


async def test_what_follows_a_body_never_becomes_a_header(team: Team) -> None:
    body = json.dumps(HELLO).encode()
    lines = [
        "POST /mcp HTTP/1.1", f"host: 127.0.0.1:{team.port}", "content-type: application/json",
        "accept: application/json, text/event-stream", "transfer-encoding: chunked",
        "trailer: authorization", "x-request-id: mine", "connection: close",
    ]  # fmt: skip
    trailers = [f"authorization: Bearer {ANA}", "host: evil.example", "x-request-id: other"]
    for head, status in ((lines, b"401"), ([*lines, f"authorization: Bearer {ANA}"], b"200")):
        async with await anyio.connect_tcp("127.0.0.1", team.port) as stream:
            await stream.send("\r\n".join([*head, "", ""]).encode())
            chunk = f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n"
            await stream.send(chunk + "\r\n".join([*trailers, "", ""]).encode())
            answer = await stream.receive()
        assert answer.split(b" ")[1] == status
        assert b"x-request-id: mine" in answer


async def test_a_call_with_an_id_that_is_text_is_answered_by_it(
    team: Team, http: httpx2.AsyncClient
) -> None:
    hello = await http.post(team.mcp, json=HELLO, headers=bear(ANA))
    headers = bear(ANA) | {"mcp-session-id": hello.headers["mcp-session-id"]}
    answer = await http.post(team.mcp, json={**call("introduce"), "id": "x/1"}, headers=headers)
    assert '"id":"x/1"' in answer.text


async def test_a_request_of_an_unknown_session_is_told_why_and_what_to_do(
    team: Team, http: httpx2.AsyncClient
) -> None:
    headers = bear(ANA) | {"mcp-session-id": "of a server that was restarted"}
    answer = await http.post(team.mcp, json=call("introduce", 7), headers=headers)
    error = answer.json()["error"]
    assert (answer.status_code, answer.json()["id"], error["code"]) == (404, 7, -32600)
    assert error["message"].startswith("Session not found: the client ended it")
    assert "reconnect or restart this client" in error["message"]
    hello = await http.post(team.mcp, json=HELLO, headers=bear(ANA))
    assert hello.status_code == 200
    headers = bear(ANA) | {"mcp-session-id": hello.headers["mcp-session-id"]}
    again = await http.post(team.mcp, json=call("introduce", 7), headers=headers)
    assert '"ana"' in again.text.replace("\\", "")
