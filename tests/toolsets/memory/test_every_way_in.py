"""The same inputs through every way in: remember_fact, build_knowledge, the graph tools.

`tests/archive/test_every_way_in.py` imports them.
"""

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client

from tests.conftest import Connect
from tests.support.odd_inputs import (
    PAIRS,
    RELATIONS,
    TEXTS,
    TYPES,
    find_differences,
    write_entities,
    write_relations,
)
from tests.support.tool_calls import ask, read, relate, remember
from textrawl.values.text import clean_fact

pytestmark = pytest.mark.anyio


async def store_one_by_one(client: Client) -> None:
    for entity in write_entities("one"):
        for text in entity["observations"]:
            assert (await remember(client, entity["name"], text, kind=entity["entityType"]))["ok"]
    for relation in write_relations("one"):
        assert (await relate(client, relation["from"], relation["relationType"], relation["to"]))[
            "ok"
        ]


async def store_in_batches(client: Client) -> None:
    facts = [
        {"entityName": entity["name"], "entityType": entity["entityType"], "observation": text}
        for entity in write_entities("batch")
        for text in entity["observations"]
    ]
    relations = [
        {"fromEntity": one["from"], "relation": one["relationType"], "toEntity": one["to"]}
        for one in write_relations("batch")
    ]
    for begin in range(0, len(facts), 50):
        read(await client.call_tool("build_knowledge", {"facts": facts[begin : begin + 50]}))
    read(await client.call_tool("build_knowledge", {"relations": relations}))


async def store_as_graph(client: Client) -> None:
    entities, relations = write_entities("graph"), write_relations("graph")
    assert not (await client.call_tool("create_entities", {"entities": entities})).is_error
    assert not (await client.call_tool("create_relations", {"relations": relations})).is_error


@pytest.mark.slow
async def test_every_way_in_stores_the_same_inputs_in_the_same_way(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(toolsets=["memory", "graph"], embedding_provider="none")
    assert len(TEXTS) + 2 * len(PAIRS) + len(TYPES) + len(RELATIONS) >= 300

    await store_one_by_one(client)
    await store_in_batches(client)
    await store_as_graph(client)

    for way in ("one", "batch", "graph"):
        assert find_differences(owner, way) == {}, way


ANY = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)


@given(st.lists(ANY, min_size=1, max_size=8))
@settings(max_examples=12)
async def test_what_is_acknowledged_is_found_again_by_a_look_up(
    client: Client, texts: list[str]
) -> None:
    """Of any Unicode text without lone surrogates, and nothing else of its batch is lost."""
    kept = [clean for text in texts if (clean := clean_fact(text))]
    name = f"Ada {abs(hash(tuple(texts)))}"
    facts = [
        {"entityName": name, "entityType": "person", "observation": text}
        for text in texts
        if clean_fact(text)
    ]
    if not facts:
        return

    done = read(await client.call_tool("build_knowledge", {"facts": facts}))
    shown = await ask(client, mode="entity", entityName=name, maxObs=100, maxTokens=25_000)

    found = {text.removeprefix("\\") if text not in kept else text for text in shown["o"]}
    repeated: set[str] = {kept[place] for place in done["facts"].get("at", [])}
    assert done["facts"]["new"] + done["facts"]["dup"] == len(kept)
    assert found <= set(kept)
    assert set(kept) - found <= repeated
