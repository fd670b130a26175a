"""The examples of the tools that write, as the wire contract shows them, in both eras."""

import pytest
from mcp import Client

from tests.support.tool_calls import (
    A_SHORT_ID,
    AN_ID,
    read,
    read_refusal,
    remember,
)

pytestmark = pytest.mark.anyio


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
