"""Every kind of token at every tool and mode: what is refused changes nothing."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.attacks.site import Site, add_spaces, digest, issue, open_site, revoke
from tests.conftest import Connect
from tests.support.http_team import bear
from tests.support.issuer import IdentityProvider
from tests.support.tool_calls import text_of
from textrawl.access.access_token import hash_token
from textrawl.settings import Settings

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PUBLIC = "https://memory.example"
AUDIENCE = f"{PUBLIC}/mcp"
ADA = {"entityName": "Ada", "entityType": "person"}
CALLS: dict[str, tuple[str, dict[str, Any], str]] = {
    "search": ("query_memory", {"mode": "search", "query": "canary"}, "read"),
    "semantic search": ("query_memory", {"query": "x", "searchMode": "semantic"}, "read"),
    "entity": ("query_memory", {"mode": "entity", "entityName": "Ada"}, "read"),
    "list": ("query_memory", {"mode": "list"}, "read"),
    "remember": ("remember_fact", {**ADA, "observation": "likes tea"}, "write"),
    "replace": (
        "remember_fact", {**ADA, "observation": "new", "replaces": "canary red"}, "write"
    ),
    "build facts": ("build_knowledge", {"facts": [{**ADA, "observation": "swims"}]}, "write"),
    "build relations": (
        "build_knowledge",
        {"relations": [{"fromEntity": "Ada", "relation": "met", "toEntity": "Bo"}]}, "write",
    ),
    "relate": (
        "relate_entities", {"fromEntity": "Ada", "relation": "likes", "toEntity": "Bo"}, "write"
    ),
    "dry run": ("forget_entity", {"entityName": "Ada", "dryRun": True}, "read"),
    "dry run of a fact": (
        "forget_entity", {"entityName": "Canary red", "fact": "hides", "dryRun": True}, "read"
    ),
    "forget a fact": (
        "forget_entity", {"entityName": "Canary red", "fact": "hides", "confirm": True}, "forget"
    ),
    "forget": ("forget_entity", {"entityName": "Ada", "confirm": True}, "forget"),
}  # fmt: skip
HELD: dict[str, set[str]] = {
    "read": {"read"}, "write": {"write"}, "forget": {"forget"}, "admin": {"admin"},
    "read and write": {"read", "write"}, "all": {"read", "write", "forget", "admin"},
}  # fmt: skip
NOBODY = ("no token", "a wrong token", "expired", "revoked", "wrong audience", "unsigned")


@pytest.fixture
def team(owner: psycopg.Connection) -> psycopg.Connection:
    add_spaces(owner)
    return owner


def make_bearer(kind: str, owner: psycopg.Connection, provider: IdentityProvider) -> str | None:
    """The token of somebody whom nothing is allowed, though all was granted to them."""
    if kind == "no token":
        return None
    if kind == "wrong audience":
        return provider.issue(
            provider.claims(sub="eve", aud="https://else.example/mcp", scope="read write")
        )
    if kind == "unsigned":
        return (
            ".".join(provider.issue(provider.claims(sub="eve", aud=AUDIENCE)).split(".")[:2]) + "."
        )
    token = issue(owner, "eve", "red", *HELD["all"])
    if kind == "a wrong token":
        return token[:-1] + ("A" if token[-1] != "A" else "B")
    end = {"expired": "expires_at", "revoked": "revoked_at"}[kind]
    owner.execute(
        sql.SQL("update token set {} = now() - interval '1 second' where hash = %s").format(
            sql.Identifier(end)
        ),
        (hash_token(token),),
    )
    return token


async def try_all(
    site: Site, token: str | None, owner: psycopg.Connection, path: str = "/mcp"
) -> dict[str, str]:
    """How each call ends: ok, or what refuses it. Whatever is refused has changed nothing."""
    ends: dict[str, str] = {}
    for name, (tool, arguments, _) in CALLS.items():
        before = digest(owner)
        answer = await site.call(token, tool, arguments, path)
        document: dict[str, Any] = (
            answer.json().get("result", {}) if answer.status_code == 200 else {}
        )
        ends[name] = str(answer.status_code)
        if document:
            ends[name] = document["content"][0]["text"] if document.get("isError") else "ok"
        if ends[name] != "ok":
            assert digest(owner) == before, name
            assert "canary red" not in answer.text
    return ends


def expect(scopes: set[str], ends: dict[str, str]) -> None:
    for name, (_, _, scope) in CALLS.items():
        if scope not in scopes:
            assert "Not allowed" in ends[name], name
            assert f"scope {scope}" in ends[name], name
        elif name == "semantic search":
            assert "Embedding service not configured" in ends[name]
        else:
            assert ends[name] == "ok", name


@pytest.mark.parametrize("path", ["/mcp", "/mcp/red"])
@pytest.mark.parametrize("held", HELD)
async def test_a_token_does_what_its_scopes_say_and_nothing_else(
    team: psycopg.Connection, settings: Callable[..., Settings], held: str, path: str
) -> None:
    token = issue(team, "ana", "red", *HELD[held])
    async with open_site(settings()) as site:
        ends = await try_all(site, token, team, path)
    expect(HELD[held], ends)


@pytest.mark.parametrize("held", HELD)
async def test_a_server_of_one_client_does_what_the_scopes_of_its_token_say(
    team: psycopg.Connection, connect: Connect, held: str
) -> None:
    token = issue(team, "ana", "red", *HELD[held])
    client = await connect(access_token=token, embedding_provider="none")
    ends: dict[str, str] = {}
    for name, (tool, arguments, _) in CALLS.items():
        before = digest(team)
        result = await client.call_tool(tool, arguments)
        ends[name] = text_of(result) if result.is_error else "ok"
        assert not result.is_error or digest(team) == before
    expect(HELD[held], ends)


async def test_a_token_for_metrics_reads_them_and_can_do_nothing_else(
    team: psycopg.Connection, settings: Callable[..., Settings], database_url: str
) -> None:
    meter, root = (issue(team, name, "red", name) for name in ("metrics", "admin"))
    async with open_site(settings()) as site:
        statuses = [
            (await site.http.get(f"{site.root}/metrics", headers=bear(token))).status_code
            for token in (meter, root)
        ]
        ends = [await try_all(site, meter, team, path) for path in ("/mcp", "/mcp/red")]
    assert statuses == [200, 403]
    expect(set(), ends[0])
    assert not [end for one in ends for end in one.values() if end == "ok" or " red" in end]
    credential = hash_token(meter)
    for statement in (
        "select grant_access('eve', 'red', array['read'], credential => %s)",
        "select revoke_access('admin', 'red', credential => %s)",
        "select list_grants(credential => %s)", "select list_events(credential => %s)",
        "select add_webhook('red', 'https://evil.example/', credential => %s)",
        "select list_webhooks(credential => %s)",
        "select undo_author('eve', now() - interval '1 day', credential => %s)",
        "select vouch(%s, sha256('x'), 'eve', array['read'], now(), 'https://login.example')",
        "select search_memory('canary', credential => %s)",
        "select remember_fact('Ada', 'person', 'x', credential => %s)",
    ):  # fmt: skip
        with psycopg.connect(database_url) as app, pytest.raises(psycopg.Error) as refused:
            app.execute(statement.replace("select ", "select textrawl.").encode(), (credential,))
        assert refused.value.sqlstate in {"TR010", "TR011", "TR012"}, statement


async def test_the_same_claims_for_the_right_audience_are_let_in(
    team: psycopg.Connection, settings: Callable[..., Settings]
) -> None:
    """So that what the forged ones below are refused for is what is wrong with them."""
    team.execute("select grant_access('eve', 'red', array['read', 'write'])")
    with IdentityProvider() as provider:
        changes = {"oauth_issuer": provider.url, "public_url": PUBLIC}
        gate = issue(team, "gate", "red", "admin", issuer=provider.url)
        async with open_site(settings(**changes, access_token=gate)) as site:
            token = provider.issue(provider.claims(sub="eve", aud=AUDIENCE, scope="read write"))
            answer = await site.call(token, "query_memory", {"mode": "list"}, "/mcp/red")
            assert answer.status_code == 200
            assert "Ada" in answer.text


async def test_who_is_nobody_gets_401_from_every_tool(
    team: psycopg.Connection, settings: Callable[..., Settings]
) -> None:
    team.execute("select grant_access('eve', 'red', array['read', 'write', 'forget'])")
    with IdentityProvider() as provider:
        changes = {"oauth_issuer": provider.url, "public_url": PUBLIC}
        for kinds in (NOBODY[:3], NOBODY[3:]):  # a server shuts out who failed 60 times
            async with open_site(settings(**changes)) as site:
                for kind in kinds:
                    ends = await try_all(site, make_bearer(kind, team, provider), team)
                    assert set(ends.values()) == {"401"}, kind


async def test_another_space_is_as_absent_as_one_that_does_not_exist(
    team: psycopg.Connection, settings: Callable[..., Settings]
) -> None:
    token = issue(team, "ana", "red", *HELD["all"])
    async with open_site(settings()) as site:
        for path in ("/mcp/green", "/mcp/nowhere", "/mcp/RED", "/mcp/red%20"):
            ends = {*(await try_all(site, token, team, path)).values()}
            assert len(ends) == 1, path
            assert all("Space not found" in end and "green" not in end for end in ends), path


async def test_a_token_that_is_revoked_does_nothing_a_second_later(
    team: psycopg.Connection, settings: Callable[..., Settings]
) -> None:
    token = issue(team, "ana", "red", *HELD["all"])
    async with open_site(settings()) as site:
        assert (await site.call(token, "query_memory", {"mode": "list"})).status_code == 200
        revoke(team, token)
        # Believed for a moment at the door, refused by the database from the first call on.
        answer = await site.call(token, "query_memory", {"mode": "list"})
        assert answer.status_code == 401 or "Not authenticated" in answer.text
        before = digest(team)
        await site.call(token, *CALLS["remember"][:2])
        assert digest(team) == before
