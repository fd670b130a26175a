"""Observations of several parts: stored, found, moved, deleted and undone as one text."""

import json
from datetime import datetime
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client

from tests.conftest import Connect
from tests.support.tool_calls import ask as recall
from tests.support.tool_calls import text_of
from tests.toolsets.graph.reference import ask, call
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
    client: Client, owner: psycopg.Connection
) -> None:
    await create(client, "Log", "is kept", LONG, "x" * 5000)

    answer = await ask(
        client, "delete_observations", deletions=[{"entityName": "Log", "observations": [LONG]}]
    )

    assert answer == {"success": True, "message": "Observations deleted successfully"}
    assert await open_node(client, "Log") == ["is kept", "x" * 5000]
    await ask(client, "delete_observations", name="Log", observations=["x" * 5000])
    assert list_facts(owner) == ["is kept"]


async def test_a_text_that_repeats_itself_keeps_all_its_parts(client: Client) -> None:
    said = ["word " * 2000 + "end", "字" * 4100, "é̂" * 2500]
    await create(client, "Log", *said)

    assert await open_node(client, "Log") == said


async def test_an_undo_takes_a_long_observation_and_gives_it_back(
    client: Client, owner: psycopg.Connection
) -> None:
    text = "the same words again and again. " * 200 + "The end"
    await create(client, "Log", "is kept", text)
    owner.execute("select undo_author('ada', now() - interval '1 hour')")
    assert list_facts(owner) == []

    owner.execute("select revert_undo((select max(id) from undo))")

    assert await open_node(client, "Log") == ["is kept", text]


async def test_a_split_moves_a_long_observation_whole(client: Client) -> None:
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


async def test_parts_of_one_text_are_no_duplicates_of_each_other(client: Client) -> None:
    await create(client, "Log", LONG, "The telescope was cleaned", "The telescope  was cleaned")

    answer = await ask(client, "find_duplicate_observations", entity_name="Log")

    pairs = [(one["obs_text_a"], one["obs_text_b"]) for one in answer["duplicate_pairs"]]
    assert pairs == [("The telescope was cleaned", "The telescope  was cleaned")]


async def test_an_observation_of_20001_characters_is_refused_with_its_limit(
    client: Client,
) -> None:
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


# No part of it begins or ends with a space, which a text that is told would lose.
DIARY = "".join(f"observed{number:04}," for number in range(200))


async def split(client: Client, *texts: str) -> Any:
    parts = [{"name": "Moon", "observations": list(texts)}]
    reply = await ask(client, "execute_entity_split", entity_name="Log", approved_splits=parts)
    return reply["result"]


async def add(client: Client, name: str, text: str) -> None:
    added = {"observations": [{"entityName": name, "contents": [text]}]}
    [stored] = (await ask(client, "add_observations", **added))["results"]
    assert stored["addedObservations"] == [text]


def read_clock(owner: psycopg.Connection) -> datetime:
    row = owner.execute("select clock_timestamp()").fetchone()
    assert row
    return row[0]


def undo(owner: psycopg.Connection, since: datetime) -> None:
    owner.execute("select undo_author('ada', %s)", (since,))


def revert(owner: psycopg.Connection) -> None:
    owner.execute("select revert_undo((select max(id) from undo))")


async def test_deleting_a_sentence_leaves_the_long_text_that_has_it(
    client: Client, owner: psycopg.Connection
) -> None:
    await create(client, "Log", DIARY)
    part = list_facts(owner)[1]
    await add(client, "Log", part)

    await ask(client, "delete_observations", name="Log", observations=[part])

    assert await open_node(client, "Log") == [DIARY]


async def test_a_text_is_moved_to_an_entity_that_has_it_and_is_there_once(
    client: Client, owner: psycopg.Connection
) -> None:
    texts = ["is kept", DIARY, "is round"]
    await create(client, "Log", *texts)
    await create(client, "Moon", DIARY, "is round")
    since = read_clock(owner)

    done = await split(client, DIARY, "is round")

    assert (done["moved_observations"], done["original_observations_remaining"]) == (2, 1)
    after = (["is kept"], [DIARY, "is round"])
    assert (await open_node(client, "Log"), await open_node(client, "Moon")) == after
    undo(owner, since)
    assert (await open_node(client, "Log"), await open_node(client, "Moon")) == (texts, texts[1:])
    revert(owner)
    assert (await open_node(client, "Log"), await open_node(client, "Moon")) == after


async def test_a_move_does_not_come_back_to_who_was_told_the_text_anew_meanwhile(
    client: Client, owner: psycopg.Connection
) -> None:
    await create(client, "Log", DIARY)
    await create(client, "Moon", "is round")
    since = read_clock(owner)
    await split(client, DIARY)
    undo(owner, since)
    await add(client, "Moon", DIARY)

    with pytest.raises(
        psycopg.DatabaseError, match="a later event builds on what the undo changed"
    ):
        revert(owner)

    assert await open_node(client, "Moon") == ["is round", DIARY]
    assert await open_node(client, "Log") == [DIARY]


async def test_a_long_text_comes_back_whole_to_an_entity_that_says_a_sentence_of_it(
    client: Client, owner: psycopg.Connection
) -> None:
    await create(client, "Log", DIARY)
    part = list_facts(owner)[1]
    await add(client, "Log", part)
    since = read_clock(owner)
    await split(client, DIARY)
    assert await open_node(client, "Log") == [part]

    undo(owner, since)

    assert await open_node(client, "Log") == [DIARY, part]


async def test_a_text_that_lost_a_part_is_moved_and_deleted_by_what_is_left(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(toolsets=["all"])
    await create(client, "Log", DIARY, "is kept")
    part = list_facts(owner)[0]
    correction = {"entityName": "Log", "observation": "The log begins on day 9", "replaces": part}
    correction["entityType"] = "project"
    assert not (await call(client, "remember_fact", **correction)).is_error
    left = DIARY.removeprefix(part)

    done = await split(client, left)

    assert done["moved_observations"] == 1
    assert await open_node(client, "Moon") == [left]
    await ask(client, "delete_observations", name="Moon", observations=[left])
    assert await open_node(client, "Moon") == []
    assert await open_node(client, "Log") == ["is kept", "The log begins on day 9"]


async def test_a_fact_in_the_words_of_a_part_is_a_fact_of_its_own(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(toolsets=["all"])
    await create(client, "Log", DIARY)
    part = list_facts(owner)[1]
    fact = {"entityName": "Log", "entityType": "project", "observation": part}

    for _ in range(2):
        assert not (await call(client, "remember_fact", **fact)).is_error

    assert await open_node(client, "Log") == [DIARY, part]
    forget = {"entityName": "Log", "fact": part, "confirm": True}
    assert not (await call(client, "forget_entity", **forget)).is_error
    assert await open_node(client, "Log") == [DIARY]


async def test_two_spellings_come_back_when_their_undo_is_reverted(
    client: Client, owner: psycopg.Connection
) -> None:
    texts = ["likes tea", "Likes tea."]
    await create(client, "Ada", *texts)
    owner.execute("select undo_author('ada', now() - interval '1 hour')")

    revert(owner)

    assert await open_node(client, "Ada") == texts
