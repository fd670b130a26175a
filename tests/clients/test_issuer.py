"""Connectors sign in at a real identity provider: oidc-provider, which is certified for OpenID."""

import json
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tests.attacks.site import issue
from tests.clients.installing import Unavailable, find_node, install
from tests.clients.programs.program import DRIVERS
from tests.conftest import Era
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Place, open_place
from tests.support.connector_clients import CHATGPT, CLAUDE, DOCUMENT, connect_by_address
from tests.support.listening import find_port, wait_for_answer
from tests.support.tool_calls import read
from textrawl.settings import Settings

pytestmark = [
    pytest.mark.anyio, pytest.mark.clients, pytest.mark.timeout(900),
    pytest.mark.usefixtures("uncovered"),
]  # fmt: skip

PACKAGE = "oidc-provider@9.13.3"
SCOPES = ["read", "propose", "write", "forget"]


@pytest.fixture
def public_url() -> str:
    return f"http://127.0.0.1:{find_port()}"


@pytest.fixture
def issuer(public_url: str, tmp_path: Path) -> Iterator[str]:
    """The name of an issuer that listens."""
    try:
        installed, node = install("npm", [PACKAGE]), find_node().program
    except Unavailable as missing:
        pytest.skip(str(missing))
    script = tmp_path / "issuer.mjs"  # Node looks for packages beside the script
    script.write_bytes((DRIVERS / script.name).read_bytes())
    (tmp_path / "node_modules").symlink_to(installed / "node_modules")
    name = f"http://127.0.0.1:{find_port()}"
    given = {"issuer": name, "resource": f"{public_url}/mcp", "scopes": SCOPES}
    given |= {"document": DOCUMENT, "redirect": CLAUDE}
    with (
        (tmp_path / "issuer.log").open("w") as log,
        subprocess.Popen([node, script, json.dumps(given)], stdout=log, stderr=log) as running,
    ):
        yield name
        running.kill()


@pytest.fixture
async def place(
    issuer: str, public_url: str, settings: Callable[..., Settings], owner: psycopg.Connection
) -> AsyncIterator[Place]:
    """A server with a fact that ana may read, who signs in at the issuer."""
    owner.execute("select create_space('gates')")
    given = settings(
        embedding_provider="none",
        access_token=issue(owner, "gate", "gates", "admin", issuer=issuer),
        public_url=public_url,
        oauth_issuer=issuer,
        toolsets=["memory", "connector"],
    )
    await wait_for_answer(f"{issuer}/.well-known/openid-configuration")
    async with open_place(given, owner, int(public_url.rpartition(":")[2])) as place:
        owner.execute(
            "select grant_access('gate', 'team', '{admin}'),"
            " grant_access('ana', 'team', '{read,write}')"
        )
        remember(owner, "Ada", "likes proofs")
        yield place


async def test_a_connector_registers_itself_and_uses_what_the_issuer_grants(
    place: Place, era: Era
) -> None:
    for back, document in ((CHATGPT, None), (CLAUDE, DOCUMENT)):
        connecting = connect_by_address(f"{place.root}/mcp", era, back, document)
        async with connecting as (client, kept):
            tools = [tool.name for tool in (await client.list_tools()).tools]
            found = read(await client.call_tool("search", {"query": "proofs"}))["results"]
            fetched = read(await client.call_tool("fetch", {"id": found[0]["id"]}))

        assert kept.registration
        assert kept.token
        assert (kept.registration.client_id == document) is (document is not None)
        assert kept.token.scope == " ".join(SCOPES)
        assert tools[-2:] == ["search", "fetch"]
        assert fetched["text"] == "Ada: likes proofs"
        assert fetched["url"] == f"{place.root}/explore/open?id={found[0]['id']}"
