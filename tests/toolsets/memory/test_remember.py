"""remember_fact: duplicates, corrections, ends of validity, types."""

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.conftest import ACTOR, Connect, Era
from tests.support.tool_calls import (
    AN_ID,
    ask,
    count,
    read,
    read_tables,
    refuse,
    relate,
    remember,
    text_of,
)

pytestmark = pytest.mark.anyio


async def test_the_same_text_is_stored_once(client: Client) -> None:
    first = await remember(client, "Jeff", "prefers dark mode")

    for again in ("prefers dark mode", "Prefers dark mode.", "  prefers dark mode\n"):
        assert await remember(client, "Jeff", again) == first | {"dup": True}


async def test_another_case_or_white_space_is_another_fact_and_names_the_close_one(
    connect: Connect,
) -> None:
    client = await connect(embedding_provider="none")
    for one, other in (
        ("the flag is -n", "the flag is -N"), ("reads userId first", "reads userID first"),
        ("fills table Users", "fills table users"), ("two  spaces", "two spaces"),
        ("Likes tea", "likes tea"),
    ):  # fmt: skip
        first = await remember(client, "Env", one)
        second = await remember(client, "Env", other)

        assert "dup" not in second
        assert second["like"] == {"id": first["obs"], "c": one}
    assert len((await ask(client, mode="entity", entityName="Env"))["o"]) == 10


async def test_a_close_fact_is_stored_and_the_closest_one_named(
    client: Client, owner: psycopg.Connection
) -> None:
    first = await remember(client, "Jeff", "uses VS Code as primary editor")
    await remember(client, "Jeff", "likes tea")
    await remember(client, "Ada", "uses VS Code as the primary editor")

    arguments = {"entityName": "Jeff", "entityType": "person",
                 "observation": "uses VS Code as the primary editor"}  # fmt: skip
    second = await client.call_tool("remember_fact", arguments)

    answer: Any = second.structured_content
    close = answer["similar"]
    assert close == {"id": AN_ID, "content": "uses VS Code as primary editor"}
    assert close["id"][:8] == first["obs"]
    assert "dup" not in read(second)
    assert read(second)["like"] == {"id": first["obs"], "c": "uses VS Code as primary editor"}
    assert count(owner, "fact") == 4
    again = await client.call_tool("remember_fact", {**arguments, "replaces": close["id"]})
    assert read(again)["dup"]
    assert (await ask(client, entityName="Jeff"))["o"] == [
        "uses VS Code as the primary editor", "likes tea",
    ]  # fmt: skip


async def test_a_setting_leaves_out_the_close_fact(connect: Connect) -> None:
    client = await connect(close_facts=False)
    fact = {"entityName": "Jeff", "entityType": "person"}
    await client.call_tool("remember_fact", {**fact, "observation": "owns one red bicycle"})

    one = {**fact, "observation": "owned one red bicycle"}
    stored = read(await client.call_tool("remember_fact", one))
    two = {**fact, "observation": "owns a red bicycle"}
    batch = read(await client.call_tool("build_knowledge", {"facts": [two]}))

    assert "like" not in stored
    assert "like" not in batch


async def test_facts_that_only_look_alike_are_both_kept(client: Client) -> None:
    pairs = {
        "prefers tabs over spaces": "prefers spaces over tabs",
        "Deploy on Monday is allowed for the backend team":
            "Deploy on Friday is allowed for the backend team",
        "東京に住んでいます": "京都に住んでいます",
        "runs version 16 of the server": "runs version 17 of the server",
    }  # fmt: skip
    for number, (one, other) in enumerate(pairs.items()):
        name = f"Person {number}"
        await remember(client, name, one)

        assert "dup" not in await remember(client, name, other)
        assert (await ask(client, entityName=name))["o"] == [other, one]


async def test_the_same_fact_of_another_entity_is_another_fact(client: Client) -> None:
    await remember(client, "Jeff", "likes tea")

    assert "dup" not in await remember(client, "Ada", "likes tea")


async def test_an_existing_entity_keeps_its_type_and_the_reply_names_it(client: Client) -> None:
    await remember(client, "Mercury", "is a planet", "location")

    stored = await remember(client, "mercury", "is a metal", "concept")

    assert stored["t"] == "location"
    assert (await ask(client, mode="list"))["e"] == [{"n": "Mercury", "t": "location"}]


@pytest.mark.parametrize("kind", ["prefix", "id", "text"])
async def test_a_correction_ends_the_fact_that_it_replaces(
    client: Client, owner: psycopg.Connection, kind: str
) -> None:
    arguments = {"entityName": "Jeff", "entityType": "person", "observation": "lives in Oslo"}
    first: Any = (await client.call_tool("remember_fact", arguments)).structured_content
    whole = first["observationId"]
    reference = {"prefix": whole[:8], "id": whole.upper(), "text": "Lives in  OSLO."}[kind]

    second = await remember(client, "Jeff", "lives in Rome", replaces=reference)
    again = await remember(client, "Jeff", "lives in Rome", replaces=reference)

    assert again == second | {"dup": True}
    assert (await ask(client, entityName="Jeff"))["o"] == ["lives in Rome"]
    ended = owner.execute(
        "select left(replaced_by::text, 8) from observation where valid_until is not null"
    ).fetchall()
    assert ended == [(second["obs"],)]
    assert count(owner, "fact") == 2


async def test_a_correction_by_the_same_text_changes_what_else_it_says_once(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Jeff", "lives in Oslo")

    surer = [
        await remember(client, "Jeff", "lives in Oslo", replaces="lives in Oslo", confidence=0.5)
        for _ in range(3)
    ]

    assert "dup" not in surer[0]
    assert surer[1:] == [surer[0] | {"dup": True}] * 2
    assert count(owner, "fact") == 2


async def test_a_fact_that_was_replaced_already_is_not_replaced_again(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Jeff", "lives in Oslo")
    await remember(client, "Jeff", "lives in Rome", replaces="lives in Oslo")
    before = read_tables(owner)

    title, fix = await refuse(
        client,
        "remember_fact",
        entityName="Jeff",
        entityType="person",
        observation="lives in Bonn",
        replaces="lives in Oslo",
    )

    assert title == "Fact not found"
    assert fix.startswith("replaces: names a fact that is no longer valid")
    assert read_tables(owner) == before


async def test_a_reference_to_no_fact_of_the_entity_stores_nothing(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Ada", "likes coffee")
    before = read_tables(owner)
    newcomer = {"entityName": "Newcomer", "entityType": "person", "observation": "likes tea"}

    for reference in ("likes coffee", "00000000", "0000", "00000000-0000-4000-8000-000000000000"):
        title, fix = await refuse(client, "remember_fact", **newcomer, replaces=reference)

        assert title == "Fact not found"
        assert "names no fact of this entity" in fix
        assert read_tables(owner) == before


async def test_a_prefix_of_two_facts_is_refused_as_ambiguous(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Jeff", "likes tea")
    await remember(client, "Jeff", "lives in Oslo")
    owner.execute("delete from embedding_1")
    owner.execute("""
        update observation
        set id = overlay(id::text placing '5555aaaa-000' from 1 for 12)::uuid""")
    before = read_tables(owner)
    arguments = {"entityName": "Jeff", "entityType": "person", "observation": "likes ale"}

    title, fix = await refuse(client, "remember_fact", **arguments, replaces="5555aaaa")

    assert (title, fix) == (
        "Fact not found",
        "replaces: names more than one fact of this entity: give more characters of its id",
    )
    assert read_tables(owner) == before


async def test_an_expired_fact_never_blocks(client: Client, owner: psycopg.Connection) -> None:
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    first = await remember(client, "Jeff", "is on holiday", validUntil=tomorrow)
    owner.execute("update observation set valid_until = now() - interval '1 second'")
    assert (await ask(client, entityName="Jeff"))["o"] == []

    second = await remember(client, "Jeff", "is on holiday")

    assert "dup" not in second
    assert second["obs"] != first["obs"]
    assert (await ask(client, entityName="Jeff"))["o"] == ["is on holiday"]


async def test_a_replaced_fact_never_blocks(client: Client) -> None:
    await remember(client, "Jeff", "lives in Oslo")
    await remember(client, "Jeff", "lives in Rome", replaces="lives in Oslo")

    assert "dup" not in await remember(client, "Jeff", "lives in Oslo", replaces="lives in Rome")
    assert (await ask(client, entityName="Jeff"))["o"] == ["lives in Oslo"]


async def test_a_date_means_the_end_of_that_day(client: Client, owner: psycopg.Connection) -> None:
    await remember(client, "Jeff", "has a visa", validUntil="2199-12-31")
    await remember(client, "Jeff", "has a key", validUntil="2199-12-31T18:00:00+02:00")

    stored = owner.execute(
        "select valid_until at time zone 'utc' from observation order by created_at"
    ).fetchall()

    assert stored == [(datetime(2199, 12, 31, 23, 59, 59, 999999),), (datetime(2199, 12, 31, 16),)]


async def test_confidence_is_kept(client: Client) -> None:
    await remember(client, "Jeff", "may move", confidence="0.25")

    answer: Any = (
        await client.call_tool("query_memory", {"entityName": "Jeff"})
    ).structured_content

    assert answer["observations"][0]["confidence"] == 0.25
    assert answer["observations"][0]["id"] == AN_ID


async def test_every_write_records_who_did_it_with_what(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Jeff", "likes tea")

    created, remembered = owner.execute(
        "select a.name, e.client, e.tool, e.action, e.request "
        "from event e join actor a on a.id = e.actor_id order by e.id"
    ).fetchall()
    fact = owner.execute(
        "select a.name, o.client, o.tool, o.request "
        "from observation o join actor a on a.id = o.author_id"
    ).fetchone()

    assert remembered[0] == ACTOR
    assert remembered[1].startswith("mcp ")
    assert remembered[2:4] == ("remember_fact", "remembered")
    assert remembered[4]
    assert created == (*remembered[:3], "created", remembered[4])
    assert fact == (*remembered[:3], remembered[4])


async def test_writing_works_in_every_format(connect: Connect, era: Era) -> None:
    for form in ("compact", "verbose", "lines"):
        client = await connect(era, compact_responses=form)
        arguments = {"entityName": form, "entityType": "person", "observation": "likes tea"}
        answer = read(await client.call_tool("remember_fact", arguments))
        assert answer.get("ok", answer.get("success")) is True


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
