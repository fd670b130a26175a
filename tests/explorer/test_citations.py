"""A connector with only the address of the server, and what its citations open."""

import base64
import json
from typing import Any

import httpx2
import psycopg
import pytest

from tests.conftest import Era
from tests.explorer.markup import Document
from tests.explorer.siege import compare
from tests.explorer.test_issuer_sign_in import Gate, gate, provider
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Browser, Place
from tests.support.connector_clients import CHATGPT, CLAUDE, DOCUMENT, connect_by_address
from tests.support.sources import MEALS, store
from tests.support.tool_calls import read

__all__ = ["gate", "provider"]

pytestmark = pytest.mark.anyio


def read_claims(token: str) -> Any:
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def find_target(page: httpx2.Response) -> str:
    """The page of ours that a page from another site leads on to."""
    assert page.status_code == 200
    return page.text.partition('content="0;url=')[2].partition('"')[0].removeprefix("/explore/")


async def go(browser: Browser, page: str) -> httpx2.Response:
    """Follow the redirects of a page."""
    answer = await browser.http.get(f"{browser.root}/explore/{page}", follow_redirects=True)
    assert Document(answer.text).faults == []
    return answer


async def test_a_connector_signs_in_with_nothing_but_the_address(gate: Gate, era: Era) -> None:
    remember(gate.place.owner, "Ada", "likes proofs")
    provider, root = gate.provider, gate.place.root
    ways = ("mcp", CHATGPT, None), ("mcp/team", CLAUDE, DOCUMENT)
    for path, back, document in ways:
        provider.metadata["client_id_metadata_document_supported"] = document is not None
        provider.client_id = document or ""
        async with connect_by_address(f"{root}/{path}", era, back, document) as (client, kept):
            tools = [tool.name for tool in (await client.list_tools()).tools]
            [found] = read(await client.call_tool("search", {"query": "proofs"}))["results"]
            fetched = read(await client.call_tool("fetch", {"id": found["id"]}))

        assert tools == ["search", "fetch"]
        assert kept.token
        assert read_claims(kept.token.access_token)["aud"] == f"{root}/mcp"
        assert provider.asked[-1]["scope"] == "read"
        assert provider.asked[-1]["client_id"] == provider.client_id
        assert fetched["text"] == "Ada: likes proofs"
        assert fetched["url"] == f"{root}/explore/open?id={found['id']}"


async def test_a_citation_opens_the_fact_after_the_sign_in(gate: Gate) -> None:
    for fact in ("likes proofs", "likes tea"):
        remember(gate.place.owner, "Ada", fact)
    [(fact,)] = gate.place.owner.execute(
        "select id::text from fact where content = 'likes proofs'"
    ).fetchall()
    async with gate.place.browse() as browser:
        entrance = await go(browser, find_target(await browser.get("open", id=f"fact:{fact}")))
        asked = dict(entrance.url.params)
        shown = await go(browser, find_target(await gate.sign_in(browser, **asked)))
        again = await go(browser, find_target(await browser.get("open", id=f"fact:{fact}")))
        everything = await go(browser, "entity?name=Ada")

    assert entrance.url.path == "/explore/sign-in"
    assert asked == {"next": f"item?id=fact%3A{fact}"}
    assert "likes proofs" in shown.text
    assert "likes tea" not in shown.text
    assert compare(again) == compare(shown)
    assert "likes tea" in everything.text


async def test_the_metadata_names_the_issuer_exactly_and_the_scopes_of_the_tools(
    gate: Gate,
) -> None:
    root = gate.place.root
    async with httpx2.AsyncClient(headers={"origin": "https://chatgpt.com"}) as http:
        refused = await http.post(f"{root}/mcp", json={}, headers={"origin": root})
        named = refused.headers["www-authenticate"].partition('resource_metadata="')[2]
        bare = f"{root}/.well-known/oauth-protected-resource"
        answers = [await http.get(address) for address in (named.rstrip('"'), bare)]

    for answer in answers:
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.json() == {
            "resource": f"{root}/mcp",
            "authorization_servers": [gate.provider.url],
            "scopes_supported": ["read"],
            "bearer_methods_supported": ["header"],
            "resource_name": "textrawl",
        }


async def test_each_kind_of_item_opens_and_no_item_out_of_reach(
    place: Place, owner: psycopg.Connection
) -> None:
    owner.execute(
        "select relate_entities('Ada', 'works_at', 'Acme', 'person', 'organization', space => id)"
        " from space where name = 'team'"
    )
    for graph, tier in (("handbook", "personal"), ("diary", "sensitive")):
        owner.execute("select create_space(%s, tier => %s)", (graph, tier))
        owner.execute("select grant_access('reader', %s, '{read}')", (graph,))
    source, sealed = (store(owner, graph) for graph in ("handbook", "diary"))
    [(entity, relation)] = owner.execute("select from_entity, id from relation").fetchall()
    hidden = (f"document:{sealed}", f"fact:{source}", "fact:1")
    async with place.browse("reader") as browser:
        of_entity = await go(browser, f"item?id=entity:{entity}")
        of_relation = await browser.get("item", id=f"fact:{relation}")
        whole = await go(browser, f"item?id=document:{source}")
        rest = await go(browser, f"item?id=document:{source}:2")
        codes = [(await browser.get("item", id=each)).status_code for each in hidden]
        foreign = find_target(await browser.get("open", id='"><script>'))

    assert of_entity.url.params["name"] == "Ada"
    assert of_relation.headers["location"].endswith("/entity?name=Ada&space=team#relations")
    lines, begin = MEALS.splitlines(), "The beginning"
    shown = [Document(page.text).prose for page in (whole, rest)]
    assert [line in shown[0] for line in (*lines, begin)] == [True, True, True, False]
    assert [line in shown[1] for line in (*lines, begin)] == [False, True, True, True]
    assert (codes, foreign) == ([404] * 3, "search")
