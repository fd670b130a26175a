"""Long observations beside others of the same words: deleted, moved, and taken back."""

from datetime import datetime
from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.conftest import Connect
from tests.toolsets.graph.reference import ask, call
from tests.toolsets.graph.test_long_observations import create, list_facts, open_node

pytestmark = pytest.mark.anyio

# No part of it begins or ends with a space, which a text that is told would lose.
LONG = "".join(f"observed{number:04}," for number in range(200))


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
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(toolsets=["graph"])
    await create(client, "Log", LONG)
    part = list_facts(owner)[1]
    await add(client, "Log", part)

    await ask(client, "delete_observations", name="Log", observations=[part])

    assert await open_node(client, "Log") == [LONG]


async def test_a_text_is_moved_to_an_entity_that_has_it_and_is_there_once(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(toolsets=["graph"])
    texts = ["is kept", LONG, "is round"]
    await create(client, "Log", *texts)
    await create(client, "Moon", LONG, "is round")
    since = read_clock(owner)

    done = await split(client, LONG, "is round")

    assert (done["moved_observations"], done["original_observations_remaining"]) == (2, 1)
    after = (["is kept"], [LONG, "is round"])
    assert (await open_node(client, "Log"), await open_node(client, "Moon")) == after
    undo(owner, since)
    assert (await open_node(client, "Log"), await open_node(client, "Moon")) == (texts, texts[1:])
    revert(owner)
    assert (await open_node(client, "Log"), await open_node(client, "Moon")) == after


async def test_a_text_told_anew_meanwhile_is_there_once_when_its_move_comes_back(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(toolsets=["graph"])
    await create(client, "Log", LONG)
    await create(client, "Moon", "is round")
    since = read_clock(owner)
    await split(client, LONG)
    undo(owner, since)
    await add(client, "Moon", LONG)

    revert(owner)

    assert await open_node(client, "Moon") == ["is round", LONG]
    assert await open_node(client, "Log") == [LONG]


async def test_a_long_text_comes_back_whole_to_an_entity_that_says_a_sentence_of_it(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(toolsets=["graph"])
    await create(client, "Log", LONG)
    part = list_facts(owner)[1]
    await add(client, "Log", part)
    since = read_clock(owner)
    await split(client, LONG)
    assert await open_node(client, "Log") == [part]

    undo(owner, since)

    assert await open_node(client, "Log") == [LONG, part]


async def test_a_text_that_lost_a_part_is_moved_and_deleted_by_what_is_left(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(toolsets=["all"])
    await create(client, "Log", LONG, "is kept")
    part = list_facts(owner)[0]
    correction = {"entityName": "Log", "observation": "The log begins on day 9", "replaces": part}
    correction["entityType"] = "project"
    assert not (await call(client, "remember_fact", **correction)).is_error
    left = LONG.removeprefix(part)

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
    await create(client, "Log", LONG)
    part = list_facts(owner)[1]
    fact = {"entityName": "Log", "entityType": "project", "observation": part}

    for _ in range(2):
        assert not (await call(client, "remember_fact", **fact)).is_error

    assert await open_node(client, "Log") == [LONG, part]
    forget = {"entityName": "Log", "fact": part, "confirm": True}
    assert not (await call(client, "forget_entity", **forget)).is_error
    assert await open_node(client, "Log") == [LONG]


async def test_two_spellings_come_back_when_their_undo_is_reverted(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(toolsets=["graph"])
    texts = ["likes tea", "Likes tea."]
    await create(client, "Ada", *texts)
    owner.execute("select undo_author('ada', now() - interval '1 hour')")

    revert(owner)

    assert await open_node(client, "Ada") == texts
