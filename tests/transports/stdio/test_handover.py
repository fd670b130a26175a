"""A client whose memory another process has open is served by that process, with its own settings.

The processes of these tests are clients' own: they have loaded a server, or only pass on.
"""

import socket
from contextlib import ExitStack
from threading import Thread
from typing import Any

import pytest
from mcp import Client
from mcp.client.session import ClientRequestContext
from mcp.types import ElicitRequestParams, ElicitResult, TextContent

from tests.conftest import Era
from tests.support.commands import serve_over_stdio, wait_for
from tests.support.handing_over import find_child, is_passing_on
from textrawl.environment import ValueSource
from textrawl.server.early_reader import Endpoint
from textrawl.server.handover import (
    SESSION_SETTINGS,
    SHARED_SETTINGS,
    Joined,
    describe_shared,
    find_entrance,
)
from textrawl.server.relay import Relay
from textrawl.settings import Settings

OF_OTHERS = {
    "hook_least_score", "hook_recall_tokens", "hooks", "http_host", "http_port",
    "oauth_actor_claim", "oauth_client_id", "oauth_issuer", "rate_limit",
}  # fmt: skip
"""The settings of hooks and of servers over HTTP."""


def test_each_setting_is_of_a_session_or_of_all_sessions_or_of_something_else() -> None:
    known = [*SESSION_SETTINGS, *SHARED_SETTINGS, *OF_OTHERS]

    assert sorted(known) == sorted(Settings.model_fields)


def test_processes_that_would_make_other_servers_do_not_meet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = describe_shared([])
    for name in SHARED_SETTINGS:
        assert describe_shared([ValueSource("file", {name.upper(): "x"})]) != plain, name
    for name in (*SESSION_SETTINGS, *OF_OTHERS):
        assert describe_shared([ValueSource("file", {name.upper(): "x"})]) == plain, name
    for name in ("PGUSER", "https_proxy", "SSL_CERT_FILE", "HOME", "LOGNAME"):
        with monkeypatch.context() as patch:
            patch.setenv(name, "/else")
            assert describe_shared([]) != plain, name
    for module, name, other in (
        ("sys", "prefix", "/else"), ("os", "geteuid", lambda: 4711),
        ("textrawl.server.handover", "describe_code", lambda: "older"),
    ):  # fmt: skip
        with monkeypatch.context() as patch:
            patch.setattr(f"{module}.{name}", other)
            assert describe_shared([]) != plain, name


def test_a_memory_that_is_off_or_of_a_server_over_http_is_not_shared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in (("ENABLE_MEMORY", "off"), ("SERVER_URL", "http://localhost:1/mcp")):
        with monkeypatch.context() as patch:
            patch.setenv(f"TEXTRAWL_{name}", value)
            assert find_entrance() is None


def text_of(result: Any) -> str:
    [item] = result.content
    assert isinstance(item, TextContent)
    return item.text


class User:
    """A user who says no to each question."""

    def __init__(self) -> None:
        self.questions = 0

    async def answer(
        self, context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult:
        del context, params
        self.questions += 1
        return ElicitResult(action="decline")


async def use_everything(client: Client, user: User) -> None:
    """Use what a session has beside reading and writing."""
    target = {"entityName": "Ada"}
    kept = await client.call_tool("forget_entity", target)
    prompts = await client.list_prompts()
    resources = await client.list_resources()
    content = await client.read_resource("memory://entity/Ada")

    assert user.questions == 1
    assert "Declined by the user" in text_of(kept)
    assert prompts.prompts
    assert resources.resources
    assert "likes tea" in str(content.contents)


@pytest.mark.anyio
async def test_a_second_client_has_a_whole_session_of_its_own_in_the_process_of_the_first(
    database_url: str,
) -> None:
    fact = {"entityName": "Ada", "entityType": "person", "observation": "likes tea"}
    eras: tuple[Era, ...] = ("auto", "legacy")
    async with Client(serve_over_stdio(database_url)) as first:
        await first.call_tool("remember_fact", fact)
        for era in eras:
            own = {"TOOLSETS": "memory,graph", "COMPACT_RESPONSES": "lines"}
            user, server = User(), serve_over_stdio(database_url, **own)
            async with Client(server, mode=era, elicitation_callback=user.answer) as second:
                found = await second.call_tool("query_memory", {"query": "tea"})
                offered = await second.list_tools()
                passes_on = is_passing_on(find_child().pid)
                await use_everything(second, user)

            assert passes_on
            assert text_of(found).startswith("Ada (person)")
            assert "read_graph" in {tool.name for tool in offered.tools}
        again = await first.call_tool("query_memory", {"query": "tea"})

        assert text_of(again).startswith("{")
        assert len((await first.list_tools()).tools) == 5


def test_a_client_that_reads_late_gets_all_that_its_server_has_sent() -> None:
    lines = b'{"jsonrpc":"2.0","method":"notifications/message"}\n' * 8000
    with ExitStack() as stack:
        pairs = [socket.socketpair() for _ in range(3)]
        client, its_end, reader, writer, server, relay_end = (
            stack.enter_context(end) for pair in pairs for end in pair
        )
        endpoint = Endpoint(its_end.fileno(), writer.fileno())
        client.shutdown(socket.SHUT_WR)
        relay_end.setblocking(False)
        relay = Thread(target=Relay(endpoint).run, args=[Joined(relay_end, frozenset())])
        relay.start()
        server.sendall(lines)
        server.shutdown(socket.SHUT_WR)
        wait_for(lambda: relay_end.fileno() < 0)
        reader.settimeout(10)
        received = b""
        while len(received) < len(lines):
            received += reader.recv(1 << 16)
        relay.join()
        endpoint.output.close()

    assert received == lines
