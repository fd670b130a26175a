"""The same text again with another end, confidence or source, which the known fact takes over."""

from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.conftest import ACTOR, Connect, Era
from tests.support.tool_calls import AN_ID, ask, count, read, read_tables, remember

pytestmark = pytest.mark.anyio

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
