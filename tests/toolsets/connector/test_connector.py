"""The `connector` toolset: search and fetch in the documented form of ChatGPT's connectors."""

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from mcp import Client

from tests.conftest import Connect, Era
from tests.support.sources import MEALS, store
from tests.support.tool_calls import read, read_error, refuse, remember
from textrawl import Settings
from textrawl.wire.token_counter import choose_counter

pytestmark = pytest.mark.anyio

PUBLIC = {"public_url": "https://memory.example.com", "explorer": True}
PAGES = "https://memory.example.com/explore/open?id="
Sql = psycopg.Connection[Any]


async def call(client: Client, tool: str, **arguments: str) -> Any:
    """Both halves of an answer, which are the same JSON."""
    result = await client.call_tool(tool, arguments)
    assert read(result) == result.structured_content
    return result.structured_content


async def find(client: Client, query: str) -> dict[str, str]:
    """The titles that a search found, by their ids."""
    found = await call(client, "search", query=query)
    return {item["id"]: item["title"] for item in found["results"]}


async def test_answers_have_the_documented_form_in_each_format(
    connect: Connect, owner: Sql, era: Era
) -> None:
    for facts in (["likes proofs", "likes tea"], ["likes tea"]):
        for fact in facts:
            owner.execute("select remember_fact('Ada', 'person', %s)", (fact,))
    owner.execute("select relate_entities('Ben', 'works_at', 'Acme', 'person', 'organization')")
    for form in ({}, {"compact_responses": "lines"}, {"structured_content": "off"}):
        client = await connect(era, toolsets=["connector"], **PUBLIC, **form)
        results = (await call(client, "search", query="who likes tea or proofs?"))["results"]
        shown = [item["title"] for item in results]

        assert shown[0] == "Ada (person)"
        assert sorted(shown[1:3]) == ["Ada: likes proofs", "Ada: likes tea"]
        for item in results:
            fetched = await call(client, "fetch", id=item["id"])
            assert list(item) == ["id", "title", "url"]
            assert list(fetched) == ["id", "title", "text", "url", "metadata"]
            assert {name: fetched[name] for name in item} == item
            assert item["url"] == PAGES + item["id"]
            assert all(isinstance(value, str) for value in fetched["metadata"].values())

    assert (await call(client, "search", query="zebra"))["results"] == []
    [worker] = await find(client, "where does Ben work?")
    fetched = await call(client, "fetch", id=worker)
    assert (fetched["title"], fetched["metadata"]["type"]) == ("Ben: works at Acme", "relation")


async def test_the_tools_only_read_and_take_one_text(connect: Connect) -> None:
    client = await connect(toolsets=["connector"], **PUBLIC)
    tools = (await client.list_tools()).tools

    assert [(tool.name, tool.input_schema["required"]) for tool in tools] == [
        ("search", ["query"]), ("fetch", ["id"])
    ]  # fmt: skip
    for tool in tools:
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        assert not tool.annotations.destructive_hint
        assert not tool.annotations.open_world_hint


def test_without_the_explorer_there_is_no_address_to_cite(
    settings: Callable[..., Settings],
) -> None:
    for given in ({}, {**PUBLIC, "explorer": False}, {"explorer": True}):
        assert settings(**given).explorer_url is None


async def test_a_fact_says_when_it_was_valid_and_what_is_right_instead(
    connect: Connect, owner: Sql
) -> None:
    client = await connect(toolsets=["memory", "connector"])
    await remember(client, "Ada", "lives in Graz", saidAt="2024-05-01")
    [old] = await find(client, "where does Ada live?")
    await remember(client, "Ada", "lives in Wien", replaces="lives in Graz")
    [new] = await find(client, "where does Ada live?")
    before = await find(client, "where did Ada live before?")
    ended = await call(client, "fetch", id=old)
    owner.execute("select revise_fact('Ada', %s, 'a joke')", (new.partition(":")[2],))
    wrong = await call(client, "fetch", id=new)

    assert ended["text"].startswith("Ada: lives in Graz (2024-05-01 to 20")
    assert before[old] == ended["title"] == ended["text"]
    assert (ended["url"], ended["metadata"]["valid"]) == ("", "false")
    assert ended["metadata"]["replacedBy"] == new
    assert ended["metadata"]["validUntil"] >= ended["metadata"]["validFrom"]
    assert wrong["text"] == "Ada: lives in Wien (wrong: a joke)"
    assert (wrong["metadata"]["valid"], wrong["metadata"]["wrong"]) == ("false", "a joke")


async def test_the_parts_of_a_large_entity_hold_each_fact_once(
    connect: Connect, owner: Sql
) -> None:
    owner.execute(
        "select remember_fact('Ada', 'person', 'has badge no. ' || n || ';'),"
        " relate_entities('Ada', 'knows', 'Ben ' || n || '.', 'person', 'person')"
        " from generate_series(1, 30) n"
    )
    client = await connect(toolsets=["connector"], max_graph_tokens=300, max_response_tokens=500)
    found = await find(client, "badge")
    parts, following = list[Any](), next(each for each in found if each.startswith("entity:"))
    while following and len(parts) < 20:
        parts.append(await call(client, "fetch", id=following))
        following = parts[-1]["metadata"].get("next")
    text = "\n".join(part["text"] for part in parts)
    counter = choose_counter()
    narrow = await connect(toolsets=["connector"], max_graph_tokens=50)
    nothing = await call(narrow, "fetch", id=parts[0]["id"])

    assert 3 < len(found) < 20
    assert 2 < len(parts) < 20
    assert max(counter.count(json.dumps(part)) for part in parts) < 400
    assert {part["metadata"]["facts"] for part in parts} == {"30"}
    assert [text.count(f" no. {n};") for n in range(1, 31)] == [1] * 30
    assert "→ knows Ben 30." in text
    assert "next" not in nothing["metadata"]


async def test_a_document_is_read_on_from_the_passage_that_was_found(
    connect: Connect, owner: Sql
) -> None:
    owner.execute("select create_space('handbook', tier => 'personal')")
    owner.execute("select grant_access('ada', 'handbook', array['read'])")
    overlapping = json.dumps([[1, 0, 30, 9], [2, 23, 26, 9], [3, 40, 35, 9]])
    [(source,)] = owner.execute(
        "select document_id from store_source('handbook', 'file/m.md', 'm.md', %s, %s, %s)",
        (MEALS, overlapping, "0" * 64),
    ).fetchall()
    client = await connect(toolsets=["connector"], **PUBLIC)
    found = await find(client, "when is coffee served?")
    whole = await call(client, "fetch", id=f"document:{source}")
    middle = await call(client, "fetch", id=f"document:{source}:2")
    owner.execute("select change_tier('handbook', 'personal', 18)")
    capped = await call(client, "fetch", id=f"document:{source}")

    assert found[f"document:{source}:2"] == "m.md, line 2"
    assert whole["text"] == MEALS
    assert "next" not in whole["metadata"]
    assert (middle["text"], middle["metadata"]["line"]) == (MEALS[23:], "2")
    assert (whole["title"], middle["title"]) == ("m.md", "m.md, line 2")
    assert middle["url"] == f"{PAGES}document:{source}:2"
    assert (capped["text"], capped["metadata"]["next"]) == (MEALS[:49], f"document:{source}:3")
    owner.execute("select change_tier('handbook', 'personal', 8)")
    assert "not found" in str(await refuse(client, "fetch", id=f"document:{source}"))


async def test_an_address_of_a_graph_searches_its_documents(connect: Connect, owner: Sql) -> None:
    owner.execute("select create_space('handbook', tier => 'personal')")
    owner.execute("select grant_access('ada', 'handbook', array['read'])")
    source = store(owner, "handbook")
    owner.execute("select remember_fact('Ben', 'person', 'drinks coffee', space => 1)")
    client = await connect(toolsets=["connector"], space="handbook")
    found = await find(client, "coffee")
    [(fact,)] = owner.execute("select id from fact where content = 'drinks coffee'").fetchall()

    assert found
    assert all(item.startswith(f"document:{source}:") for item in found)
    assert "not found" in str(await refuse(client, "fetch", id=f"fact:{fact}"))


async def test_an_id_out_of_reach_is_like_one_that_nothing_has(client: Client, owner: Sql) -> None:
    for name, tier in (("others", None), ("papers", "personal"), ("diary", "sensitive")):
        owner.execute("select create_space(%s, tier => %s)", (name, tier))
    owner.execute("select grant_access('ada', 'diary', array['read'])")
    source, sealed = (store(owner, graph) for graph in ("papers", "diary"))
    owner.execute(
        "select remember_fact('Eve', 'person', 'knows', space => id) from space"
        " where name = 'others'"
    )
    query = "select id, entity_id from fact where whole is null"
    [(fact, entity)] = owner.execute(query).fetchall()
    [(chunk,)] = owner.execute("select id from fact where whole is not null limit 1").fetchall()
    ids = [
        "", "fact", "x", f"fact:{fact}:1", f"{fact}", f"node:{fact}", f"fact:{fact}'--",
        f"fact:{uuid4()}", f"entity:{uuid4()}", f"document:{uuid4()}", f"document:{uuid4()}:1",
        f"fact:{fact}", f"entity:{entity}", f"entity:{fact}", f"fact:{entity}", f"fact:{chunk}",
        f"document:{source}", f"document:{sealed}", f"document:{source}:1", f"entity:{entity}:9",
        f"document:{source}:999999999", f"entity:{entity}:999999999",
    ]  # fmt: skip
    answers = {read_error(await client.call_tool("fetch", {"id": each})) for each in ids}

    assert answers == {
        ("Item not found", "Use an id as search shows it: nothing that you can read has this one")
    }
    assert await find(client, "Eve knows tea") == {}


async def test_titles_are_one_short_line_and_a_long_question_is_condensed(
    client: Client, owner: Sql
) -> None:
    fact = "keeps the minutes\nof the club " + "and so on " * 100
    owner.execute("select remember_fact('Ada', 'person', %s)", (fact,))
    long = "Yesterday we walked along the river for hours. " * 60
    found = await find(client, f"{long} Who keeps the minutes of the club? {long}")

    [(number, title)] = found.items()
    assert title.startswith("Ada: keeps the minutes of the club and so on")
    assert len(title) <= 160
    assert title[-1] == "…"
    assert (await call(client, "fetch", id=number))["text"] == f"Ada: {fact}"
