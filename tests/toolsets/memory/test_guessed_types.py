"""A type that nobody said is a guess, and gives way to the first one that is said."""

from pathlib import Path

import psycopg
import pytest
from mcp import Client
from psycopg.types.json import Jsonb

from tests.conftest import Connect
from tests.support.tool_calls import ask, read, remember

pytestmark = pytest.mark.anyio


async def relate(client: Client, **types: str) -> None:
    arguments = {"fromEntity": "Ada", "relation": "works at", "toEntity": "Acme", **types}
    read(await client.call_tool("relate_entities", arguments))


async def find_type(client: Client, name: str) -> str:
    return (await ask(client, entityName=name))["t"]


def read_types(owner: psycopg.Connection, name: str) -> list[tuple[object, ...]]:
    """Type and mark of an entity, with each type that its facts repeat."""
    return owner.execute(
        "select e.entity_type, e.type_guessed, array_agg(distinct o.entity_type)"
        " from textrawl.entity e left join textrawl.fact o on o.entity_id = e.id"
        " where e.name = %s group by 1, 2",
        [name],
    ).fetchall()


async def test_a_fact_with_a_type_ends_the_guess_of_a_relation(
    client: Client, owner: psycopg.Connection
) -> None:
    await relate(client)
    assert await find_type(client, "Ada") == "concept"

    answer = await remember(client, "Ada", "leads QA", kind="person")

    assert "t" not in answer
    assert await find_type(client, "Ada") == "person"
    assert read_types(owner, "Ada") == [("person", False, ["person"])]


async def test_a_type_that_was_said_stays_whatever_is_said_later(client: Client) -> None:
    await remember(client, "Ada", "leads QA", kind="concept")
    await remember(client, "Ada", "plays chess", kind="person")
    await relate(client, fromEntityType="project")

    assert await find_type(client, "Ada") == "concept"


async def test_a_relation_with_types_ends_the_guess_of_one_without(client: Client) -> None:
    await relate(client)

    await relate(client, fromEntityType="person", toEntityType="organization")

    assert await find_type(client, "Ada") == "person"
    assert await find_type(client, "Acme") == "organization"


async def test_a_batch_ends_guesses_by_its_facts_and_relations(client: Client) -> None:
    await relate(client)

    relation = {"fromEntity": "Grace", "relation": "advises", "toEntity": "Acme"}
    typed = relation | {"fromEntity": "Ada", "toEntityType": "organization"}
    fact = {"entityName": "Ada", "entityType": "person", "observation": "leads QA"}
    result = await client.call_tool(
        "build_knowledge", {"facts": [fact], "relations": [relation, typed]}
    )

    assert not result.is_error
    assert [await find_type(client, name) for name in ("Ada", "Acme", "Grace")] == [
        "person", "organization", "concept",
    ]  # fmt: skip


async def test_facts_that_came_before_the_type_have_it_too(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(toolsets=["memory", "graph"])
    await relate(client)
    addition = {"entityName": "Ada", "contents": ["leads QA"]}
    read(await client.call_tool("add_observations", {"observations": [addition]}))
    assert read_types(owner, "Ada") == [("concept", True, ["concept"])]

    await remember(client, "Ada", "plays chess", kind="person")

    assert read_types(owner, "Ada") == [("person", False, ["person"])]


async def test_an_entity_without_a_type_of_the_graph_takes_one_of_the_memory(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(toolsets=["memory", "graph"])
    untyped = {"name": "Ada", "observations": ["leads QA"]}
    read(await client.call_tool("create_entities", {"entities": [untyped]}))

    await remember(client, "Ada", "plays chess", kind="person")

    opened = read(await client.call_tool("open_nodes", {"names": ["Ada"]}))
    assert [node["entityType"] for node in opened["entities"]] == ["person"]
    assert read_types(owner, "Ada") == [("person", False, ["person"])]


async def test_a_guess_stays_one_in_an_export_and_an_import_ends_it(
    client: Client, owner: psycopg.Connection, database_url: str, tmp_path: Path
) -> None:
    await relate(client)
    rows = owner.execute(
        "select jsonb_agg(to_jsonb(e) || jsonb_build_object('place', 1, 'space', 1))"
        " from textrawl.export_entities(1) e where name = 'Ada'"
    ).fetchone()
    assert rows is not None
    [line] = rows[0]
    assert line["type_guessed"] is True

    def bring(**changes: object) -> None:
        lines = Jsonb([line | changes])
        owner.execute("select * from textrawl.import_entities(%s)", [lines])

    bring()
    assert read_types(owner, "Ada") == [("concept", True, [None])]
    bring(entity_type="person", type_guessed=None)
    assert read_types(owner, "Ada") == [("person", False, [None])]
