"""Resources, prompts and completions give nothing of another space, nor of a sensitive graph."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import psycopg
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import INVALID_PARAMS, PromptReference, ResourceTemplateReference

from tests.attacks.site import (
    GRAPHS,
    SEALED,
    SECRETS,
    Site,
    add_graphs,
    add_spaces,
    issue,
    open_site,
)
from tests.conftest import Era
from tests.support.http_team import bear
from textrawl import Settings

pytestmark = pytest.mark.anyio

FOREIGN = ("green", "blue", "default", *(f"red-{graph}" for graph in GRAPHS), "green-papers")
NAMES = ("Ada", "Canary green", f"Vault {SECRETS['green']}", f"Node {SECRETS['blue']}")
QUESTIONS = ("canary green", "what hides the vault?", SECRETS["green"], f"~s3 {SEALED}")


@asynccontextmanager
async def connect(site: Site, token: str, era: Era, path: str) -> AsyncGenerator[Client]:
    async with httpx2.AsyncClient(headers=bear(token), timeout=30) as http:
        transport = streamable_http_client(f"{site.root}{path}", http_client=http)
        async with Client(transport, mode=era) as client:
            yield client


@pytest.fixture
async def site(settings: Callable[..., Settings], owner: psycopg.Connection) -> AsyncIterator[Site]:
    add_spaces(owner)
    for space in ("red", "green"):
        issue(owner, f"of {space}", space, "read")
        add_graphs(owner, space)
    async with open_site(settings(embedding_provider="none", toolsets=["memory"])) as found:
        yield found


async def gather(client: Client) -> AsyncIterator[Any]:
    """Yield all answers to one who tries everything that the server offers besides tools."""
    codes = set[int]()
    yield await client.list_resources()
    yield await client.list_resource_templates()
    addresses = [f"memory://space/{space}/digest" for space in FOREIGN]
    addresses += [f"memory://entity/{name}" for name in NAMES]
    addresses += [f"memory://help/{name}" for name in (*NAMES, "../space/green/digest")]
    for address in addresses:
        try:
            yield await client.read_resource(address)
        except MCPError as refused:
            codes.add(refused.error.code)
    assert codes == {INVALID_PARAMS}
    for question in QUESTIONS:
        yield await client.get_prompt("recall", {"question": question})
        yield await client.get_prompt("digest", {"project": question, "maxTokens": "9000"})
    for template in ("memory://entity/{name}", "memory://space/{name}/digest"):
        for typed in ("", "c", "v", "n", "g", "green"):
            ref = ResourceTemplateReference(uri=template)
            yield await client.complete(ref, {"name": "name", "value": typed})
    for typed in ("", "c", "v", "canary g"):
        ref = PromptReference(name="remember")
        yield await client.complete(ref, {"name": "entity", "value": typed})


async def test_a_member_of_one_space_gets_nothing_of_another(
    site: Site, owner: psycopg.Connection, era: Era
) -> None:
    token = issue(owner, "of red", "red", "read", "write", "forget")
    paths = ["/mcp", "/mcp/t/memory/red"] if era == "legacy" else ["/mcp/red", "/mcp/t/memory"]
    for path in paths:
        await attack(site, token, era, path)


async def attack(site: Site, token: str, era: Era, path: str) -> None:
    """Try everything as a member of the space red."""
    own = 0
    async with connect(site, token, era, path) as client:
        async for answer in gather(client):
            text = answer.model_dump_json()
            own += SECRETS["red"] in text or "canary red" in text
            for foreign in (SECRETS["green"], SECRETS["blue"], SEALED, "anary green", "red-"):
                asked = foreign in "".join(QUESTIONS)
                assert text.count(foreign) <= asked, text
        with pytest.raises(MCPError):
            await client.read_resource("memory://space/green/digest")
        assert "canary red" in (await client.read_resource("memory://entity/ada")).model_dump_json()
    assert own


async def test_an_address_of_another_space_offers_nothing(
    site: Site, owner: psycopg.Connection
) -> None:
    token = issue(owner, "of red", "red", "read", "write")
    for path in ("/mcp/green", "/mcp/red-safe", "/mcp/t/memory/green"):
        async with connect(site, token, "auto", path) as client:
            for call in (
                client.list_resources(), client.read_resource("memory://entity/Ada"),
                client.get_prompt("digest"), client.get_prompt("recall", {"question": "canary"}),
            ):  # fmt: skip
                with pytest.raises(MCPError) as refused:
                    await call
                assert SECRETS["green"] not in str(refused.value.error)
                assert "Spaces that of red may use: red" in refused.value.error.message
