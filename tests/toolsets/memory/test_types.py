"""Types of entities: every word is accepted, and kept beside the nearest of the seven."""

import pytest
from mcp import Client

from tests.support.tool_calls import ask, read, refuse, relate, remember, text_of

pytestmark = pytest.mark.anyio

# Four words have no nearest type in the list.
GIVEN = {
    "event": "fact", "tool": "project", "service": "project", "product": "project",
    "team": "organization", "decision": "fact", "task": "project", "bug": "fact",
    "feature": "project", "document": "concept", "file": "concept", "animal": "concept",
    "empresa": "organization", "Aufgabe": "project", "réunion": "fact", "TeamMember": "person",
    "droid": "concept", "Klingon": "concept", "猫": "concept", "x y z": "concept",
}  # fmt: skip


async def test_every_word_is_a_type_and_is_kept_shown_searched_and_accepted_by_the_filter(
    client: Client,
) -> None:
    facts = [
        {"entityName": f"E{place}", "entityType": word, "observation": f"fact number {place}"}
        for place, word in enumerate(GIVEN)
    ]
    read(await client.call_tool("build_knowledge", {"facts": facts}))

    shown = [await ask(client, mode="entity", entityName=f"E{n}") for n in range(len(GIVEN))]
    listed = [await ask(client, mode="list", entityTypes=[word.upper()]) for word in GIVEN]
    found = [await ask(client, query="fact number", entityTypes=[word]) for word in GIVEN]

    assert {answer["as"]: answer["t"] for answer in shown} == GIVEN
    assert [[one["n"] for one in answer["e"]] for answer in listed] == [
        [f"E{place}"] for place in range(len(GIVEN))
    ]
    assert [[one["n"] for one in answer["e"]] for answer in found] == [
        [f"E{place}"] for place in range(len(GIVEN))
    ]
    assert (await ask(client, query="which droid is there"))["e"][0]["n"] == "E16"
    title, _ = await refuse(client, "query_memory", query="fact", entityTypes=["robot"])
    assert title == "Invalid entity type"


async def test_a_type_can_be_left_out_and_comes_later(client: Client) -> None:
    first = await remember(client, "Maya", "likes tea", kind="")
    again = read(
        await client.call_tool("remember_fact", {"entityName": "Maya", "observation": "is tall"})
    )
    await relate(client, "Maya", "works at", "Acme")

    assert first["t"] == again["t"] == "concept"
    assert "as" not in await ask(client, mode="entity", entityName="Maya")
    await remember(client, "Maya", "is 41", kind="vet")
    await remember(client, "Acme", "sells tea", kind="Team")
    maya = await ask(client, mode="entity", entityName="Maya")
    acme = await ask(client, mode="entity", entityName="Acme")
    assert (maya["t"], maya["as"]) == ("concept", "vet")
    assert (acme["t"], acme["as"]) == ("organization", "Team")
    assert (await ask(client, query="vet"))["e"][0]["n"] == "Maya"


async def test_two_things_of_one_name_are_told_and_named_for_each_other(client: Client) -> None:
    await remember(client, "Jordan", "has Petra", kind="country")
    second = await remember(client, "jordan", "plays basketball", kind="person")
    facts = [{"entityName": "Jordan", "entityType": "teacher", "observation": "is tall"}]
    batch = read(await client.call_tool("build_knowledge", {"facts": facts}))

    assert (second["t"], second["sameName"]) == ("location", "Jordan (person)")
    assert batch["sameName"] == ["Jordan (teacher)"]
    assert "sameName" not in await remember(client, "Jordan", "is dry", kind="concept")
    await remember(client, "Jordan (person)", "plays basketball", kind="person")
    assert (await ask(client, mode="entity", entityName="Jordan"))["like"] == ["Jordan (person)"]
    assert "like" not in await ask(client, mode="entity", entityName="Jordan (person)")


async def test_searches_and_lists_have_the_given_word_as_structured_content(
    client: Client,
) -> None:
    await remember(client, "Acme", "sells tea", kind="Team")
    await remember(client, "Ada", "drinks tea", kind="person")

    search = await client.call_tool("query_memory", {"mode": "search", "query": "tea"})
    listed = await client.call_tool("query_memory", {"mode": "list"})

    assert search.structured_content is not None
    assert listed.structured_content is not None
    found = {one["entityName"]: one.get("as") for one in search.structured_content["entities"]}
    named = {one["name"]: one.get("as") for one in listed.structured_content["entityList"]}
    assert found == named == {"Acme": "Team", "Ada": None}
    assert "Team" not in text_of(search) + text_of(listed)
