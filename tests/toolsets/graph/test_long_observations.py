"""Observations longer than a fact: several facts for all others, one text for the graph tools."""

import json
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client

from tests.conftest import Connect
from tests.support.tool_calls import ask as recall
from tests.toolsets.graph.reference import ask, call, text_of
from textrawl.values.text import split_text

pytestmark = pytest.mark.anyio

SENTENCE = "On day {} the team of the observatory looked at the far side of the moon.{}"
LONG = "".join(SENTENCE.format(day, "\n\n" if day % 10 == 9 else " ") for day in range(90)).strip()


async def create(client: Client, name: str, *said: str) -> None:
    item = {"name": name, "entityType": "log", "observations": list(said)}
    [stored] = (await ask(client, "create_entities", entities=[item]))["entities"]
    assert stored["name"] == name


async def open_node(client: Client, name: str) -> list[str]:
    [node] = (await ask(client, "open_nodes", names=[name]))["entities"]
    return node["observations"]


def list_facts(owner: psycopg.Connection) -> list[str]:
    return [row[0] for row in owner.execute("select content from observation order by ordinal")]


async def test_a_long_observation_is_read_whole_and_found_by_its_sentences(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(toolsets=["all"], max_response_tokens=20_000)
    said = ["came first", LONG, "came last"]
    await create(client, "Log", *said)

    node = {"name": "Log", "entityType": "log", "observations": said}
    for tool, asked in (
        ("read_graph", {}), ("open_nodes", {"names": ["Log"]}), ("search_nodes", {"query": "day 7"})
    ):  # fmt: skip
        assert (await ask(client, tool, **asked))["entities"] == [node], tool
    assert (await ask(client, "search_semantic", query="moon"))["results"][0][
        "observations"
    ] == said
    facts = list_facts(owner)
    assert len(facts) > 4
    assert max(map(len, facts)) <= 2000
    assert all(fact.rstrip().endswith(".") for fact in facts[1:-1])
    found = await recall(client, query="day 70 observatory", limit=1)
    assert "day 70 " in found["e"][0]["m"][0]["c"]


async def test_a_long_observation_is_stored_once_and_completed_where_a_part_is_gone(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(toolsets=["all"])
    await create(client, "Log", LONG)
    added = {"observations": [{"entityName": "Log", "contents": [LONG]}]}
    facts = list_facts(owner)

    assert await ask(client, "add_observations", **added) == {
        "results": [{"entityName": "Log", "addedObservations": []}]
    }
    assert list_facts(owner) == facts
    forget = {"entityName": "Log", "fact": facts[1], "confirm": True}
    assert not (await call(client, "forget_entity", **forget)).is_error
    assert await open_node(client, "Log") == [LONG.replace(facts[1], "")]
    result = await ask(client, "add_observations", **added)
    assert result["results"][0]["addedObservations"] == [LONG]
    assert await open_node(client, "Log") == [LONG]


async def test_a_long_observation_is_deleted_by_its_text(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(toolsets=["graph"])
    await create(client, "Log", "is kept", LONG, "x" * 5000)

    answer = await ask(
        client, "delete_observations", deletions=[{"entityName": "Log", "observations": [LONG]}]
    )

    assert answer == {"success": True, "message": "Observations deleted successfully"}
    assert await open_node(client, "Log") == ["is kept", "x" * 5000]
    await ask(client, "delete_observations", name="Log", observations=["x" * 5000])
    assert list_facts(owner) == ["is kept"]


async def test_a_text_that_repeats_itself_keeps_all_its_parts(connect: Connect) -> None:
    client = await connect(toolsets=["graph"])
    said = ["word " * 2000 + "end", "字" * 4100, "é̂" * 2500]
    await create(client, "Log", *said)

    assert await open_node(client, "Log") == said


async def test_an_undo_takes_a_long_observation_and_gives_it_back(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(toolsets=["graph"])
    text = "the same words again and again. " * 200 + "The end"
    await create(client, "Log", "is kept", text)
    owner.execute("select undo_author('ada', now() - interval '1 hour')")
    assert list_facts(owner) == []

    owner.execute("select revert_undo((select max(id) from undo))")

    assert await open_node(client, "Log") == ["is kept", text]


async def test_a_split_moves_a_long_observation_whole(connect: Connect) -> None:
    client = await connect(toolsets=["graph"])
    await create(client, "Log", "is kept", LONG)

    answer = await ask(
        client,
        "execute_entity_split",
        entity_name="Log",
        approved_splits=[{"name": "Moon", "observations": [LONG]}],
    )

    assert answer["result"]["moved_observations"] == 1
    assert await open_node(client, "Moon") == [LONG]
    assert await open_node(client, "Log") == ["is kept"]


async def test_parts_of_one_text_are_no_duplicates_of_each_other(connect: Connect) -> None:
    client = await connect(toolsets=["graph"])
    await create(client, "Log", LONG, "The telescope was cleaned", "The telescope  was cleaned")

    answer = await ask(client, "find_duplicate_observations", entity_name="Log")

    pairs = [(one["obs_text_a"], one["obs_text_b"]) for one in answer["duplicate_pairs"]]
    assert pairs == [("The telescope was cleaned", "The telescope  was cleaned")]


async def test_an_observation_of_20001_characters_is_refused_with_its_limit(
    connect: Connect,
) -> None:
    client = await connect(toolsets=["graph"])
    await create(client, "Log", "a" * 20_000)
    item = {"name": "Log", "entityType": "log", "observations": ["a" * 20_001]}

    result = await call(client, "create_entities", entities=[item])

    assert result.is_error
    assert "20000" in text_of(result)


@given(st.text(alphabet="ab .!?\n。é\u0301\u200d👩👧🏽字", max_size=300))
def test_the_parts_of_any_text_are_the_text_again(text: str) -> None:
    parts = split_text(text, most=20)

    assert "".join(parts) == text
    assert all(len(part) <= 20 for part in parts)
    assert all(parts) or not text


async def test_an_entity_may_be_related_to_itself(connect: Connect) -> None:
    client = await connect(toolsets=["all"])
    await create(client, "Log")
    edge = {"from": "Log", "to": "log", "relationType": "continues"}
    own: dict[str, Any] = {**edge, "to": "Log"}

    assert await ask(client, "create_relations", relations=[edge]) == {"relations": [edge]}
    assert await ask(client, "create_relations", relations=[edge]) == {"relations": []}

    for tool, asked in (("read_graph", {}), ("open_nodes", {"names": ["Log"]})):
        assert (await ask(client, tool, **asked))["relations"] == [own]
    answer = await recall(client, mode="entity", entityName="Log")
    assert answer["r"] == {"out": ["continues→Log"], "in": ["Log→continues"]}
    assert (await ask(client, "delete_relations", relations=[edge]))["success"]
    assert (await ask(client, "read_graph"))["relations"] == []
    assert json.loads(text_of(await call(client, "read_graph")))["entities"]
