"""Which pipes share a host, and what the session of each has for itself."""

from typing import Any

import psycopg
import pytest
from mcp import Client
from mcp.client.session import ClientRequestContext
from mcp.types import ElicitRequestParams, ElicitResult, TextContent

from tests.conftest import Era
from tests.support.commands import find_socket_folder, serve_over_stdio
from tests.support.hosts import find_hosts
from textrawl.access.access_token import hash_token, make_token, shorten_token
from textrawl.environment import SESSION_SETTINGS, ValueSource
from textrawl.host.entrance import SHARED_SETTINGS, describe_shared
from textrawl.settings import Settings

OF_OTHERS = {
    "access_token", "access_token_file", "hook_least_score", "hook_recall_tokens", "hooks",
    "host_idle", "http_host", "http_port", "oauth_actor_claim", "oauth_client_id", "oauth_issuer",
    "rate_limit", "server_url",
}  # fmt: skip
"""The token of a session, and the settings of hooks, of commands and of servers over HTTP."""


def test_each_setting_is_of_a_session_or_of_all_sessions_or_of_something_else() -> None:
    known = [*SESSION_SETTINGS, *SHARED_SETTINGS, *OF_OTHERS]

    assert sorted(known) == sorted(Settings.model_fields)


def test_pipes_whose_hosts_would_differ_do_not_meet(monkeypatch: pytest.MonkeyPatch) -> None:
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
        ("textrawl.host.entrance", "describe_code", lambda: "older"),
    ):  # fmt: skip
        with monkeypatch.context() as patch:
            patch.setattr(f"{module}.{name}", other)
            assert describe_shared([]) != plain, name


def count_hosts(database_url: str) -> int:
    """The number of hosts of a memory. A host of another test may still be ending beside them."""
    found = [host.environ() for host in find_hosts(find_socket_folder())]
    return [one.get("DATABASE_URL") for one in found].count(database_url)


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
async def test_each_client_has_a_whole_session_of_its_own_at_one_host(database_url: str) -> None:
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
                hosts = count_hosts(database_url)
                await use_everything(second, user)

            assert hosts == 1
            assert text_of(found).startswith("Ada (person)")
            assert "read_graph" in {tool.name for tool in offered.tools}
        again = await first.call_tool("query_memory", {"query": "tea"})

        assert text_of(again).startswith("{")
        assert len((await first.list_tools()).tools) == 5


@pytest.mark.anyio
async def test_two_tokens_and_none_have_their_own_rights_at_one_host(
    database_url: str, owner: psycopg.Connection
) -> None:
    reader = make_token()
    owner.execute(
        "select create_token(hash => %s, prefix => %s, actor => 'rita', space => 'default',"
        " scopes => '{read}')",
        (hash_token(reader), shorten_token(reader)),
    )
    fact = {"entityName": "Ada", "entityType": "person", "observation": "likes tea"}
    async with (
        Client(serve_over_stdio(database_url)) as writer,
        Client(serve_over_stdio(database_url, ACCESS_TOKEN=reader)) as other,
        Client(serve_over_stdio(database_url, ACCESS_TOKEN="")) as stranger,
    ):
        stored = await writer.call_tool("remember_fact", fact)
        found = await other.call_tool("query_memory", {"query": "tea"})
        refused = await other.call_tool("remember_fact", fact)
        unknown = await stranger.call_tool("query_memory", {"query": "tea"})
        hosts = count_hosts(database_url)

    assert not stored.is_error
    assert "likes tea" in text_of(found)
    assert "write" in text_of(refused)
    assert unknown.is_error
    assert hosts == 1
