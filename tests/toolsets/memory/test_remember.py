"""remember_fact: duplicates, corrections, updates, ends of validity, types said and guessed."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from mcp import Client
from psycopg.types.json import Jsonb

from tests.conftest import ACTOR, TOKEN, Connect, Era
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
from textrawl.access.access_token import hash_token

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


FACT = {"entityName": "Jeff", "entityType": "person", "observation": "likes tea"}
STORED = "select source, confidence::numeric(3, 2)::float, valid_until::date::text from observation"


async def build(client: Client, *facts: dict[str, Any]) -> Any:
    """Compact answer of build_knowledge."""
    return read(await client.call_tool("build_knowledge", {"facts": list(facts)}))


@pytest.mark.parametrize(
    ("values", "stored"),
    [
        ({"source": "document"}, ("document", 0.5, "2999-01-01")),
        ({"confidence": 1}, ("note", 1.0, "2999-01-01")),
        ({"confidence": "0"}, ("note", 0.0, "2999-01-01")),
        ({"validUntil": "2999-06-30"}, ("note", 0.5, "2999-06-30")),
        ({"source": "conversation", "confidence": 1, "validUntil": "2100-01-01"},
         ("conversation", 1.0, "2100-01-01")),
    ],
)  # fmt: skip
async def test_a_fact_told_again_takes_over_what_is_given_and_only_that(
    client: Client, owner: psycopg.Connection, values: dict[str, Any], stored: tuple[Any, ...]
) -> None:
    owner.execute("set timezone = 'utc'")
    more: dict[str, Any] = {"source": "note", "confidence": 0.5, "validUntil": "2999-01-01"}
    first = await remember(client, "Jeff", "likes tea", **more)

    updated = await client.call_tool("remember_fact", {**FACT, **values})

    assert read(updated) == first | {"dup": True, "updated": True}
    assert updated.structured_content == {
        "success": True, "duplicate": True, "updated": True,
        "message": "Updated what is known about Jeff (person)",
        "entityId": AN_ID, "entityName": "Jeff", "entityType": "person", "observationId": AN_ID,
    }  # fmt: skip
    assert owner.execute(STORED).fetchall() == [stored]
    again = read(await client.call_tool("remember_fact", {**FACT, **values}))
    assert again == first | {"dup": True}


async def test_an_argument_that_was_not_given_changes_nothing(
    client: Client, owner: psycopg.Connection
) -> None:
    more: dict[str, Any] = {"source": "manual", "confidence": 0.25, "validUntil": "2999-01-01"}
    first = await remember(client, "Jeff", "likes tea", **more)
    before = read_tables(owner)["observation"]
    for values in ({}, {"source": None, "confidence": "", "validUntil": "null", "replaces": None}):
        again = read(await client.call_tool("remember_fact", {**FACT, **values}))
        batch = await build(client, {**FACT, **values})

        assert again == first | {"dup": True}
        assert batch["facts"] == {"new": 0, "dup": 1, "at": [0]}
        assert read_tables(owner)["observation"] == before


async def test_a_new_fact_has_the_defaults_that_the_schema_shows(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Jeff", "likes tea")
    await build(client, {**FACT, "observation": "likes ale"})

    assert owner.execute(STORED).fetchall() == [("conversation", 1.0, None)] * 2
    tools = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
    shown = tools["remember_fact"]["properties"]
    assert shown["source"]["default"] == "conversation"
    assert shown["confidence"]["default"] == 1


async def test_a_batch_says_which_of_its_facts_were_repeated_and_which_updated(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Jeff", "likes tea")

    facts = [
        {**FACT, "observation": "lives in Rome"},
        FACT,
        {**FACT, "confidence": 0.5},
        {**FACT, "observation": "Lives in Rome.", "source": "note"},
        {**FACT, "observation": "owns a boat"},
    ]
    result = await client.call_tool("build_knowledge", {"facts": facts})

    assert read(result)["facts"] == {"new": 2, "dup": 3, "at": [1, 2, 3], "upd": [2, 3]}
    answer: Any = result.structured_content
    assert (answer["repeated"], answer["updated"]) == ([1, 2, 3], [2, 3])
    assert (answer["factsCreated"], answer["factsDuplicate"]) == (2, 3)
    rows = owner.execute(
        "select content, source, confidence from observation order by 1"
    ).fetchall()
    assert rows == [
        ("likes tea", "conversation", 0.5), ("lives in Rome", "note", 1.0),
        ("owns a boat", "conversation", 1.0),
    ]  # fmt: skip


async def test_a_batch_names_the_facts_that_are_close(client: Client) -> None:
    known = await remember(client, "Jeff", "uses VS Code as primary editor")
    long = "keeps a very long list of all the towns in which the river once burst its banks"
    await remember(client, "Jeff", long)

    result = await client.call_tool("build_knowledge", {"facts": [
        {**FACT, "observation": long.replace("all the", "the")},
        {**FACT, "observation": "uses VS Code as the primary editor"},
        {**FACT, "entityName": "Ada", "observation": "is married to Eve"},
        {**FACT, "entityName": "Ada", "observation": "was married to Eve"},
    ]})  # fmt: skip

    close = {one["at"]: one for one in read(result)["like"]}
    assert close.keys() == {0, 1, 3}
    begin = "keeps a very long list of all the towns in which the river…"
    assert (close[0]["c"], len(begin)) == (begin, 59)
    assert close[1] == {"at": 1, "id": known["obs"], "c": "uses VS Code as primary editor"}
    assert close[3]["c"] == "is married to Eve"
    answer: Any = result.structured_content
    assert {one["fact"]: one["content"] for one in answer["similar"]} == {
        0: begin, 1: "uses VS Code as primary editor", 3: "is married to Eve",
    }  # fmt: skip


async def test_a_batch_names_ten_close_facts_at_most(client: Client) -> None:
    facts = [{**FACT, "observation": f"likes tea number {number}"} for number in range(30)]

    answer = await build(client, *facts)

    assert answer["facts"] == {"new": 30, "dup": 0}
    assert len(answer["like"]) == 10


async def test_a_correction_that_is_known_already_takes_over_values_as_well(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Jeff", "likes coffee")
    tea = await remember(client, "Jeff", "likes tea")

    corrected = await remember(client, "Jeff", "likes tea", replaces="likes coffee", confidence=0.5)

    assert corrected == tea | {"dup": True, "updated": True}
    assert (await ask(client, entityName="Jeff"))["o"] == ["likes tea"]
    assert owner.execute(
        "select confidence from observation where valid_until is null"
    ).fetchall() == [(0.5,)]


async def test_an_update_is_told_in_the_trail_and_moves_the_entity_to_the_front(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Jeff", "likes tea")
    await remember(client, "Ada", "likes tea")

    await remember(client, "Jeff", "likes tea", validUntil="2999-01-01T00:00:00Z")

    listed = await ask(client, mode="list")
    assert [entity["n"] for entity in listed["e"]] == ["Jeff", "Ada"]
    owner.execute("set timezone = 'utc'")
    [(author, tool, before, after)] = owner.execute(
        """select a.name, e.tool, e.detail -> 'before', e.detail -> 'after'
           from event e join actor a on a.id = e.actor_id where e.action = 'updated'"""
    ).fetchall()
    assert (author, tool, before) == (ACTOR, "remember_fact", {"valid_until": None})
    assert after["valid_until"].startswith("2999-01-01T00:00:00")


async def test_as_of_before_an_update_finds_the_fact_all_the_same(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Jeff", "likes tea")
    [(moment,)] = owner.execute("select clock_timestamp()").fetchall()

    await remember(client, "Jeff", "likes tea", validUntil="2999-01-01")

    then = await ask(client, entityName="Jeff", asOf=moment.isoformat())
    assert then["o"] == ["likes tea"]
    assert (await ask(client, entityName="Jeff", asOf="2998-12-31"))["o"] == ["likes tea"]
    assert (await ask(client, entityName="Jeff", asOf="2999-01-03"))["o"] == []
    assert count(owner, "fact") == 1


async def test_lines_and_long_keys_tell_the_same(connect: Connect, era: Era) -> None:
    await remember(await connect(era), "Jeff", "uses VS Code as primary editor")
    lines = await connect(era, compact_responses="lines")
    close = await remember(lines, "Jeff", "uses VS Code as the primary editor")
    again = await remember(lines, "Jeff", "uses VS Code as the primary editor", confidence=0.5)
    verbose = await connect(era, compact_responses="false", structured_content="off")
    known = await remember(verbose, "Jeff", "uses VS Code as the primary editor", confidence=0.25)
    batch = await build(verbose, {**FACT, "observation": "uses VS Code as the primary editor"})

    assert close["like"]["c"] == "uses VS Code as primary editor"
    assert (again["dup"], again["updated"]) == (True, True)
    assert (known["duplicate"], known["updated"]) == (True, True)
    assert batch["repeated"] == [0]


async def relate_untyped(client: Client, **types: str) -> None:
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
    await relate_untyped(client)
    assert await find_type(client, "Ada") == "concept"

    answer = await remember(client, "Ada", "leads QA", kind="person")

    assert "t" not in answer
    assert await find_type(client, "Ada") == "person"
    assert read_types(owner, "Ada") == [("person", False, ["person"])]


async def test_a_type_that_was_said_stays_whatever_is_said_later(client: Client) -> None:
    await remember(client, "Ada", "leads QA", kind="concept")
    await remember(client, "Ada", "plays chess", kind="person")
    await relate_untyped(client, fromEntityType="project")

    assert await find_type(client, "Ada") == "concept"


async def test_a_relation_with_types_ends_the_guess_of_one_without(client: Client) -> None:
    await relate_untyped(client)

    await relate_untyped(client, fromEntityType="person", toEntityType="organization")

    assert await find_type(client, "Ada") == "person"
    assert await find_type(client, "Acme") == "organization"


async def test_a_batch_ends_guesses_by_its_facts_and_relations(client: Client) -> None:
    await relate_untyped(client)

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
    await relate_untyped(client)
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
    await relate_untyped(client)
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


async def test_the_user_is_the_entity_that_a_caller_is(
    client: Client, owner: psycopg.Connection
) -> None:
    before = await remember(client, "the user", "is allergic to nuts")
    again = await remember(client, "The User", "plays chess")
    await remember(client, "Mira", "lives in Bern")
    own = "select set_own_entity('Mira', credential => %s)"
    owner.execute(own, (hash_token(TOKEN),))

    after = await remember(client, "user", "keeps bees")
    relation = {"fromEntity": "me", "relation": "knows", "toEntity": "Ben"}
    await client.call_tool("relate_entities", relation)
    item = {"entityName": "I", "entityType": "person", "observation": "swims"}
    ends = {"fromEntity": "Cleo", "relation": "teaches", "toEntity": "myself"}
    await client.call_tool("build_knowledge", {"facts": [item], "relations": [ends]})
    looked_up = await ask(client, mode="entity", entityName="me")
    former = await ask(client, mode="entity", entityName="the user")

    assert before["hint"] == "who the user is, nobody has said: textrawl me NAME"
    assert "hint" not in again
    assert "hint" not in after
    assert looked_up["o"] == ["swims", "keeps bees", "lives in Bern"]
    assert looked_up["r"] == {"out": ["knows→Ben"], "in": ["Cleo→teaches"]}
    assert former["o"] == ["plays chess", "is allergic to nuts"]


async def test_spellings_of_one_name_are_one_entity(client: Client) -> None:
    pairs = (
        ("O\u2019Brien", "O'Brien"), ("L'Aquila", "L\u2019Aquila"), ("Acme", "\uff21cme"),
        ("Acme Inc.", "Acme Inc"), ("Coca\u2011Cola", "Coca-Cola"),
        ("Smith-Jones", "Smith\u2013Jones"),
        ("Nord GmbH", "Nord, GmbH"), ("Bolt, Ltd.", "BOLT LTD"), ("Kiel Corp", "Kiel Corp."),
    )  # fmt: skip
    others = (
        ("Jean", "Jeans"),
        ("US", "U.S."),
        ("node.js", "nodejs"),
        ("Inc.", "Inc"),
        ("Ben Co", "Ben Ag"),
    )
    for one, other in (*pairs, *others):
        first = await remember(client, one, "sails on Sundays")
        second = await remember(client, other, "owns a sloop")
        assert (first["entity"] == second["entity"]) is ((one, other) in pairs), one
    for one, other in pairs:
        for name in (one, other):
            found = await ask(client, mode="entity", entityName=name)
            assert found["o"][0] == "owns a sloop", name


async def test_a_name_that_is_likely_another_spelling_is_named_once(client: Client) -> None:
    likely = (
        ("Jos\u00e9 Cruz", "Jose Cruz"), ("M\u00fcller", "Mueller"), ("Goethe", "G\u00f6the"),
        ("\u0141\u00f3d\u017a", "Lodz"), ("\u00d8rsted", "Orsted"), ("Aarhus", "\u00c5rhus"),
        ("Jean-Luc", "Jean Luc"), ("node.js", "NodeJS"), ("GPT-4", "GPT 4"),
        ("\u039d\u03af\u03ba\u03bf\u03c2", "\u039d\u03b9\u03ba\u03bf\u03c2"),
    )  # fmt: skip
    others = (
        ("Joe", "Jo"), ("Michael", "Michal"), ("Python 3.1", "Python 31"), ("C++", "C#"),
        ("Anna Koch", "Anna Kuch"), ("Ben", "Bent"), ("GPT-3", "GPT 5"),
    )  # fmt: skip
    for one, other in (*likely, *others):
        first = await remember(client, one, "sails on Sundays")
        second = await remember(client, other, "owns a sloop")
        third = await remember(client, other, "is often late")
        named = second.get("like", {})
        assert "like" not in first, one
        assert "like" not in third, other
        if (one, other) in likely:
            assert (named.get("c"), named.get("why")) == (one, "same name"), (one, other, second)
            batch = [{"entityName": f"{other} x", "entityType": "t", "observation": "is new"}]
            await remember(client, f"{one} x", "is old")
            built = await client.call_tool("build_knowledge", {"facts": batch})
            assert f"{one} x" in str(built), other
        else:
            assert named == {}, (one, other)
