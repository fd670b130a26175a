"""build_knowledge and relate_entities: all or nothing, and one relation a triple."""

from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.conftest import Connect, Era
from tests.support.providers import EmbeddingServer
from tests.support.tool_calls import ask, count, forget, read, read_tables, refuse, relate, remember

pytestmark = pytest.mark.anyio

FACT = {"entityName": "Ada", "entityType": "person", "observation": "leads QA"}
RELATION = {"fromEntity": "Ada", "relation": "works_at", "toEntity": "Acme Corp"}


async def build(client: Client, **batch: Any) -> Any:
    return read(await client.call_tool("build_knowledge", batch))


async def test_a_batch_keeps_every_field_of_its_facts(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Ada", "leads QA")
    fact = FACT | {
        "observation": "leads R&D", "source": "note", "confidence": 0.5,
        "validUntil": "2199-12-31", "replaces": "leads QA",
    }  # fmt: skip

    assert await build(client, facts=[fact]) == {
        "ok": True,
        "facts": {"new": 1, "dup": 0},
        "rel": 0,
    }

    assert (await ask(client, entityName="Ada"))["o"] == ["leads R&D"]
    rows = owner.execute(
        "select source, confidence, valid_until::date::text, tool from observation "
        "where content = 'leads R&D'"
    ).fetchall()
    assert rows == [("note", 0.5, "2199-12-31", "build_knowledge")]


async def test_the_same_batch_twice_adds_nothing(client: Client, owner: psycopg.Connection) -> None:
    batch = {"facts": [FACT, FACT | {"entityName": "ADA"}], "relations": [RELATION, RELATION]}

    once, twice = {"new": 1, "dup": 1, "at": [1]}, {"new": 0, "dup": 2, "at": [0, 1]}
    assert await build(client, **batch) == {"ok": True, "facts": once, "rel": 1}
    assert await build(client, **batch) == {"ok": True, "facts": twice, "rel": 0}
    assert (count(owner, "fact"), count(owner, "relation")) == (1, 1)


async def test_facts_come_before_relations_so_their_types_hold(client: Client) -> None:
    await build(client, relations=[RELATION], facts=[FACT])

    assert (await ask(client, entityName="Ada"))["t"] == "person"


async def test_a_batch_may_come_as_text_or_as_one_item(client: Client) -> None:
    texts = '[{"entityName":"Ada","entityType":"Person","observation":"leads QA","source":null}]'

    assert (await build(client, facts=texts))["facts"]["new"] == 1
    assert (await build(client, relations=RELATION, facts="null"))["rel"] == 1


async def test_every_bad_item_is_named_by_its_path_and_nothing_is_stored(
    client: Client, owner: psycopg.Connection
) -> None:
    before = read_tables(owner)

    title, fix = await refuse(
        client, "build_knowledge",
        facts=[FACT, FACT | {"observation": ""}, FACT | {"confidence": 2},
               FACT | {"entityType": 7}, {"entityName": "Bob"}, FACT | {"colour": "red"}],
        relations=[RELATION, RELATION | {"relation": " "}, RELATION | {"toEntityType": 7}],
    )  # fmt: skip

    assert title == "Invalid argument"
    for place in (
        "facts[1].observation", "facts[2].confidence (given '2'): must be a number from 0 to 1",
        "facts[3].entityType (given '7'), relations[2].toEntityType (given '7'): "
        "must be one of person, concept,",
        "facts[4].observation: required",
        "facts[5].colour: unknown; known are entityName,", "relations[1].relation",
    ):  # fmt: skip
        assert place in fix
    assert "facts[0]" not in fix
    assert "relations[0]" not in fix
    assert read_tables(owner) == before


async def test_what_only_the_database_can_tell_is_named_by_path_too(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Ada", "leads QA")
    before = read_tables(owner)

    title, fix = await refuse(
        client, "build_knowledge",
        facts=[FACT | {"observation": "new"}, FACT | {"replaces": "nothing"},
               FACT | {"entityName": "Newcomer", "replaces": "leads QA"}],
        relations=[RELATION],
    )  # fmt: skip

    assert title == "Invalid argument"
    assert fix == (
        "Nothing was stored. facts[1].replaces, facts[2].replaces: names no fact of this entity: "
        "give its id, 8 or more characters of it, or its text"
    )
    assert read_tables(owner) == before


async def test_an_empty_batch_is_refused(client: Client) -> None:
    empty: tuple[dict[str, Any], ...] = ({}, {"facts": []}, {"facts": "null", "relations": []})
    for batch in empty:
        assert await refuse(client, "build_knowledge", **batch) == (
            "Missing facts",
            "Provide facts, relations, or both",
        )


async def test_more_than_fifty_items_are_refused(client: Client, owner: psycopg.Connection) -> None:
    title, fix = await refuse(client, "build_knowledge", facts=[FACT] * 51)

    assert (title, fix) == ("Invalid argument", "facts: must be a list of at most 50")
    assert count(owner, "entity") == 0


async def test_a_batch_asks_for_its_vectors_in_one_request(connect: Connect, era: Era) -> None:
    with EmbeddingServer(dimensions=1536) as server:
        client = await connect(
            era,
            embedding_provider="openai",
            openai_api_key="sk-test",
            openai_base_url=server.openai_url,
        )
        facts = [FACT | {"observation": f"owns boat {number}"} for number in range(50)]
        await build(client, facts=[FACT])  # the provider of a new memory has to answer first
        before = len(server.requests)

        await build(client, facts=facts)

        assert [len(request.texts) for request in server.requests[before:]] == [50]


async def test_missing_ends_are_created_and_existing_ones_keep_their_type(client: Client) -> None:
    await remember(client, "Ada", "leads QA")

    answer = await relate(
        client, "ADA", "knows", "Bob", fromEntityType="project", toEntityType="person"
    )
    other = await relate(client, "Ada", "knows", "Xylo")

    assert (answer["from"]["n"], answer["from"]["t"]) == ("Ada", "person")
    assert (answer["to"]["n"], answer["to"]["t"]) == ("Bob", "person")
    assert other["to"]["t"] == "concept"


async def test_a_triple_in_another_spelling_is_the_same_relation(
    client: Client, owner: psycopg.Connection
) -> None:
    """It is shown as first written: with _ for blanks, in lower case unless in camel case."""
    spellings = (
        "works at",
        "Works  At",
        "WORKS_AT",
        " works\tat ",
        "worksAt",
        "WorksAt",
        "works-at",
    )
    for place, first in enumerate(spellings):
        name = f"Ada {place}"
        for spelling in (first, *spellings):
            answer = await relate(client, name, spelling, "Acme Corp")
            assert answer["ok"]
        shown = (await ask(client, mode="entity", entityName=name))["r"]["out"]
        assert shown == [
            f"{first if first in ('worksAt', 'WorksAt', 'works-at') else 'works_at'}→Acme Corp"
        ]

    assert count(owner, "relation") == len(spellings)
    types = owner.execute("select distinct relation_type from relation").fetchall()
    assert types == [("works_at",)]


async def test_the_words_of_a_relation_in_camel_case_count_in_search(client: Client) -> None:
    await relate(client, "Kim", "worksAt", "Acme")
    await relate(client, "Lea", "works_at", "Acme")
    await relate(client, "Acme", "suppliedBy", "Globex")

    for question, entity in (("who supplied Acme", "Acme"), ("where does Kim work", "Kim"),
                             ("where does Lea work", "Lea")):  # fmt: skip
        assert (await ask(client, query=question))["e"][0]["n"] == entity


async def test_relating_needs_no_embeddings(connect: Connect, era: Era) -> None:
    client = await connect(era, embedding_provider="none")

    assert (await relate(client, "Ada", "knows", "Bob"))["ok"]


async def test_a_relation_of_an_entity_to_itself_and_one_with_arrows_are_relations(
    client: Client, owner: psycopg.Connection
) -> None:
    own = await relate(client, "Straße", "is", "STRASSE")
    await relate(client, "A→B", "leads -> to", "C → D")
    await relate(client, "E", "maps→to", "A→B")

    assert own["from"] == own["to"]
    shown = (await ask(client, mode="entity", entityName="A→B"))["r"]
    for arrow in (*shown["out"], *shown["in"]):
        assert (await forget(client, "A→B", fact=arrow, confirm=True))["ok"]
    assert (await forget(client, "Straße", fact="is→Straße", confirm=True))["ok"]
    assert count(owner, "relation") == 0
