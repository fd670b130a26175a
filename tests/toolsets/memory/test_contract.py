"""Every example of the wire contract, through an MCP client, in both eras."""

from typing import Any

import pytest
from mcp import Client

from tests.conftest import ACTOR, Connect, Era
from tests.support.tool_calls import (
    A_MOMENT,
    A_SHORT_ID,
    AN_ID,
    ask,
    read,
    read_refusal,
    relate,
    remember,
    text_of,
)

pytestmark = pytest.mark.anyio

PREFERENCES = {"mode": "search", "query": "what does Jeff prefer"}


async def fill(client: Client) -> None:
    """The memory of the contract's examples."""
    await remember(client, "Development Setup", "dark mode enabled by default", "preference")
    await remember(client, "Jeff", "uses TypeScript for most projects", source="note")
    await remember(client, "Jeff", "prefers dark mode in IDEs")
    await relate(client, "Jeff", "works at", "Acme Corp", toEntityType="organization")
    await relate(client, "Sarah", "manages", "Jeff", fromEntityType="person")


async def test_a_compact_search_groups_facts_by_entity_in_score_order(client: Client) -> None:
    await fill(client)

    answer = await ask(client, **PREFERENCES)

    assert list(answer) == ["n", "e"]
    assert answer["n"] == sum(len(entity["m"]) for entity in answer["e"]) >= 3
    assert answer["e"][0]["n"] == "Jeff"
    assert answer["e"][0]["t"] == "person"
    assert answer["e"][0]["m"][0]["c"] == "prefers dark mode in IDEs"
    assert [list(fact) for entity in answer["e"] for fact in entity["m"]] == [["c", "s"]] * answer[
        "n"
    ]
    scores = [fact["s"] for fact in answer["e"][0]["m"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


async def test_structured_content_of_a_search_is_verbose_whatever_the_text_looks_like(
    client: Client,
) -> None:
    await fill(client)

    result = await client.call_tool("query_memory", PREFERENCES)

    answer: Any = result.structured_content
    assert list(answer) == ["mode", "totalMemories", "entities"]
    assert answer["mode"] == "search"
    assert answer["totalMemories"] == sum(len(e["memories"]) for e in answer["entities"]) >= 3
    jeff = answer["entities"][0]
    assert {key: jeff[key] for key in ("entityName", "entityType")} == {
        "entityName": "Jeff",
        "entityType": "person",
    }
    [best, *others] = jeff["memories"]
    assert best == {
        "content": "prefers dark mode in IDEs",
        "source": "conversation",
        "author": ACTOR,
        "score": best["score"],
    }
    assert {"uses TypeScript for most projects": "note"}.items() <= {
        other["content"]: other.get("source") for other in others
    }.items()
    short = [(e["n"], e["t"], [(f["c"], f["s"]) for f in e["m"]]) for e in read(result)["e"]]
    long = [
        (e["entityName"], e["entityType"], [(f["content"], f["score"]) for f in e["memories"]])
        for e in answer["entities"]
    ]
    assert short == long


async def test_a_verbose_search_repeats_the_query_on_indented_lines(
    connect: Connect, era: Era
) -> None:
    client = await connect(era, compact_responses="verbose")
    await fill(client)

    result = await client.call_tool("query_memory", PREFERENCES)

    answer: Any = result.structured_content
    total = answer["totalMemories"]
    assert text_of(result).startswith(
        f'{{\n  "query": "what does Jeff prefer",\n  "totalMemories": {total}'
    )
    assert read(result) == {
        "query": "what does Jeff prefer",
        "totalMemories": total,
        "entities": answer["entities"],
    }


async def test_lines_of_a_search_are_a_header_an_entity_and_a_score_a_fact(
    connect: Connect, era: Era
) -> None:
    client = await connect(era, compact_responses="lines")
    remembered = {"entityName": "Jeff", "entityType": "person"}
    for observation in ("prefers dark mode", "uses VS Code as primary editor"):
        await client.call_tool("remember_fact", {**remembered, "observation": observation})

    result = await client.call_tool("query_memory", PREFERENCES)

    answer: Any = result.structured_content
    facts = answer["entities"][0]["memories"]
    assert text_of(result).splitlines() == [
        "Jeff (person)",
        *(f"{round(fact['score'] * 100)} {fact['content']}" for fact in facts),
    ]


async def test_a_compact_entity_tells_its_newest_facts_and_its_relations_both_ways(
    client: Client,
) -> None:
    await fill(client)

    assert await ask(client, mode="entity", entityName="jeff") == {
        "t": "person",
        "o": ["prefers dark mode in IDEs", "uses TypeScript for most projects"],
        "r": {"out": ["works_at→Acme Corp"], "in": ["Sarah→manages"]},
    }
    assert await ask(client, mode="entity", entityName="Jeff", maxObs=1, includeRelated=False) == {
        "t": "person",
        "o": ["prefers dark mode in IDEs"],
        "more": 1,
    }
    assert await ask(client, mode="entity", entityName="Development Setup") == {
        "t": "preference",
        "o": ["dark mode enabled by default"],
    }


WHOLE_ENTITY: dict[str, Any] = {
    "found": True,
    "entity": {"id": AN_ID, "name": "Jeff", "type": "person"},
    "observations": [
        {
            "id": AN_ID,
            "content": "prefers dark mode in IDEs",
            "source": "note",
            "author": ACTOR,
            "confidence": 0.5,
            "createdAt": A_MOMENT,
        }
    ],
    "relations": {
        "outgoing": [
            {
                "relation_type": "works_at",
                "to_entity": "Acme Corp",
                "to_entity_type": "organization",
            }
        ],
        "incoming": [
            {
                "relation_type": "manages",
                "from_entity": "Sarah",
                "from_entity_type": "person",
            }
        ],
    },
    "hasMore": False,
    "totalObservations": 1,
}


async def test_a_verbose_entity_tells_ids_sources_and_types(connect: Connect, era: Era) -> None:
    client = await connect(era, compact_responses="verbose")
    await fill_verbose(client)

    result = await client.call_tool("query_memory", {"mode": "entity", "entityName": "Jeff"})
    for channel in ("verbose", "structured"):
        answer = read(result) if channel == "verbose" else result.structured_content
        assert answer == ({} if channel == "verbose" else {"mode": "entity"}) | WHOLE_ENTITY


async def fill_verbose(client: Client) -> None:
    await remember(client, "Jeff", "prefers dark mode in IDEs", source="note", confidence=0.5)
    await relate(client, "Jeff", "works_at", "Acme Corp", toEntityType="organization")
    await relate(client, "Sarah", "manages", "Jeff", fromEntityType="person")


async def test_lines_of_an_entity_are_a_header_facts_and_arrows(connect: Connect, era: Era) -> None:
    client = await connect(era, compact_responses="lines")
    facts = [{"entityName": "Jeff", "entityType": "person", "observation": o} for o in ("a", "b")]
    relations = [
        {"fromEntity": "Jeff", "relation": "works at", "toEntity": "Acme"},
        {"fromEntity": "Sarah", "relation": "manages", "toEntity": "Jeff"},
    ]
    await client.call_tool("build_knowledge", {"facts": facts, "relations": relations})

    result = await client.call_tool(
        "query_memory", {"mode": "entity", "entityName": "Jeff", "maxObs": 1}
    )

    assert text_of(result) == "Jeff (person)\nb\n→ works_at Acme\n← manages Sarah\nmore 1"


async def test_an_entity_that_is_not_there_is_an_answer_and_no_error(client: Client) -> None:
    await remember(client, "Jeff Green", "likes tea")

    near = await client.call_tool("query_memory", {"mode": "entity", "entityName": "Jef Green"})
    far = await client.call_tool("query_memory", {"mode": "entity", "entityName": "PostgreSQL"})

    assert read(near) == {"found": False, "like": ["Jeff Green"]}
    assert near.structured_content == {"mode": "entity", "found": False, "like": ["Jeff Green"]}
    assert read(far) == {"found": False}
    assert far.structured_content == {"mode": "entity", "found": False}


async def test_a_list_counts_all_that_match_and_not_the_page(client: Client) -> None:
    await remember(client, "Oslo", "has a fjord", "location")
    await remember(client, "Acme Corp", "builds rockets", "organization")
    await remember(client, "Jeff", "likes tea")

    result = await client.call_tool("query_memory", {"mode": "list", "limit": 2})

    assert read(result) == {
        "n": 3,
        "e": [{"n": "Jeff", "t": "person"}, {"n": "Acme Corp", "t": "organization"}],
    }
    ids_and_dates = {"id": AN_ID, "updatedAt": A_MOMENT}
    assert result.structured_content == {
        "mode": "list",
        "total": 3,
        "returned": 2,
        "offset": 0,
        "entityList": [
            {"name": "Jeff", "type": "person", **ids_and_dates},
            {"name": "Acme Corp", "type": "organization", **ids_and_dates},
        ],
    }


async def test_a_verbose_list_calls_its_rows_entities(connect: Connect, era: Era) -> None:
    client = await connect(era, compact_responses="verbose")
    await remember(client, "Jeff", "likes tea")

    result = await client.call_tool("query_memory", {"mode": "list"})

    answer: Any = result.structured_content
    assert read(result) == {
        "total": 1,
        "returned": 1,
        "offset": 0,
        "entities": answer["entityList"],
    }


async def test_remembering_answers_two_ids_and_says_when_it_knew(client: Client) -> None:
    new = await remember(client, "Jeff", "prefers dark mode")
    known = await remember(client, "JEFF", "Prefers dark mode.")

    assert new == {"ok": True, "entity": A_SHORT_ID, "obs": A_SHORT_ID}
    assert known == {"ok": True, "dup": True, "entity": new["entity"], "obs": new["obs"]}


async def test_remembering_in_long_form_tells_the_stored_entity(client: Client) -> None:
    arguments = {"entityName": "Jeff", "entityType": "person", "observation": "likes tea"}

    new = (await client.call_tool("remember_fact", arguments)).structured_content
    known = (
        await client.call_tool("remember_fact", arguments | {"entityType": "concept"})
    ).structured_content

    stored = {
        "success": True,
        "entityId": AN_ID,
        "entityName": "Jeff",
        "entityType": "person",
        "observationId": AN_ID,
    }
    assert new == stored | {"message": "Remembered about Jeff (person)"}
    assert known == stored | {"message": "Already known about Jeff (person)", "duplicate": True}


async def test_a_batch_answers_how_much_was_new(client: Client) -> None:
    facts = [
        {"entityName": "Ada", "entityType": "person", "observation": observation}
        for observation in ("leads QA", "lives in Oslo", "likes chess")
    ]
    relations = [
        {"fromEntity": "Ada", "relation": "works_at", "toEntity": "Acme Corp"},
        {"fromEntity": "Ada", "relation": "lives_in", "toEntity": "Oslo"},
    ]

    result = await client.call_tool("build_knowledge", {"facts": facts, "relations": relations})

    assert read(result) == {"ok": True, "facts": {"new": 3, "dup": 0}, "rel": 2}
    assert result.structured_content == {
        "success": True,
        "factsCreated": 3,
        "factsDuplicate": 0,
        "relationsCreated": 2,
    }


async def test_relating_answers_both_ends_as_they_are_stored(client: Client) -> None:
    await remember(client, "Ada", "leads QA")
    ends = {"fromEntity": "ada", "relation": "Works at", "toEntity": "Acme Corp"}

    result = await client.call_tool("relate_entities", ends | {"toEntityType": "organization"})

    assert read(result) == {
        "ok": True,
        "rel": A_SHORT_ID,
        "from": {"id": A_SHORT_ID, "n": "Ada", "t": "person"},
        "to": {"id": A_SHORT_ID, "n": "Acme Corp", "t": "organization"},
    }
    assert result.structured_content == {
        "success": True,
        "message": "Related: Ada works_at Acme Corp",
        "relationId": AN_ID,
        "fromEntity": {"id": AN_ID, "name": "Ada", "type": "person"},
        "toEntity": {"id": AN_ID, "name": "Acme Corp", "type": "organization"},
    }


async def test_forgetting_answers_the_id_or_why_nothing_went(client: Client) -> None:
    stored = await remember(client, "Jeff", "likes tea")

    refused = await client.call_tool("forget_entity", {"entityName": "Jeff"})
    fix = (
        "This would forget Jeff (facts 1, relations 0). "
        "Ask the user, then call again with confirm true once the user agrees"
    )
    assert read_refusal(refused) == {"ok": False, "err": "confirm", "fix": fix}
    assert refused.structured_content == {
        "success": False,
        "error": "Confirmation required",
        "message": "Nothing was deleted",
        "fix": fix,
    }
    gone = await client.call_tool("forget_entity", {"entityName": "JEFF", "confirm": True})
    assert read(gone) == {"ok": True, "id": stored["entity"]}
    assert gone.structured_content == {
        "success": True,
        "message": "Forgot Jeff: facts 1, relations 0",
        "deletedEntityId": AN_ID,
    }
    absent = await client.call_tool("forget_entity", {"entityName": "Jeff", "confirm": True})
    assert read_refusal(absent) == {"ok": False, "err": "not_found"}
    assert absent.structured_content == {
        "success": False,
        "error": "Entity not found",
        "message": "There is no entity named Jeff",
        "fix": "Look for the name with query_memory",
    }
