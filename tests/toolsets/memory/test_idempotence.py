"""A call that is sent again because its answer was lost does what it would have done once."""

import json
from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.conftest import Connect
from tests.support.gateway import Gateway, Moment
from tests.support.tool_calls import read, read_error

pytestmark = pytest.mark.anyio


FACT = {"entityName": "Ada", "entityType": "person", "observation": "lives in Rome"}
PARIS = {**FACT, "observation": "lives in Paris"}
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "a fact": ("remember_fact", FACT),
    "a fact that will end": ("remember_fact", {**FACT, "validUntil": "2100-01-01"}),
    "a correction": (
        "remember_fact", {**FACT, "observation": "lives in Bonn", "replaces": "lives in Paris"}
    ),
    "a batch": (
        "build_knowledge",
        {
            "facts": [FACT, {**FACT, "entityName": "Bob", "observation": "keeps bees"}],
            "relations": [{"fromEntity": "Ada", "relation": "knows", "toEntity": "Bob"}],
        },
    ),
    "a relation": (
        "relate_entities", {"fromEntity": "Ada", "relation": "works at", "toEntity": "Acme"}
    ),
}  # fmt: skip
STORED = """
    select 'fact', e.name, o.content, o.valid_until is null, o.replaced_by is null
    from observation o join entity e on (e.space_id, e.id) = (o.space_id, o.entity_id)
    union all select 'entity', name, entity_type, true, true from entity
    union all
    select 'relation', f.name || ' ' || relation_type || ' ' || t.name, '', true, true
    from relation r join entity f on f.id = r.from_entity join entity t on t.id = r.to_entity
    order by 1, 2, 3
"""


@pytest.fixture
async def client(connect: Connect, gateway: Gateway) -> Client:
    """A client of a server that reaches its database through the gateway."""
    client = await connect(
        database_url=gateway.conninfo, embedding_provider="none", record_recalls="off"
    )
    read(await client.call_tool("remember_fact", PARIS))
    return client


def count_events(owner: psycopg.Connection) -> int:
    """Events that say that something changed."""
    row = owner.execute("select count(*) from event where action <> 'repeated'").fetchone()
    return row[0] if row else 0


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_write_whose_answer_was_lost_may_be_repeated_and_is_stored_once(
    client: Client, gateway: Gateway, owner: psycopg.Connection, moment: Moment
) -> None:
    for what, (tool, given) in CALLS.items():
        person = f"Ada who has {what}"
        read(await client.call_tool("remember_fact", {**PARIS, "entityName": person}))
        arguments = json.loads(json.dumps(given).replace("Ada", person))
        await lose(client, gateway, owner, tool, arguments, moment)


async def lose(
    client: Client,
    gateway: Gateway,
    owner: psycopg.Connection,
    tool: str,
    arguments: dict[str, Any],
    moment: Moment,
) -> None:
    """Lose the answer of a call, repeat the call, and compare what is stored."""
    before = owner.execute(STORED).fetchall()
    gateway.break_at(tool.encode(), moment)
    title, fix = read_error(await client.call_tool(tool, arguments))
    assert title == "Database unavailable"
    assert "repeating a call stores nothing twice" in fix
    done, events = owner.execute(STORED).fetchall(), count_events(owner)
    assert (done != before) == (moment == "after")

    for _ in range(2):
        read(await client.call_tool(tool, arguments))
        if moment == "before":
            done, events, moment = owner.execute(STORED).fetchall(), count_events(owner), "after"
            assert done != before
        assert owner.execute(STORED).fetchall() == done
        assert count_events(owner) == events


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_forgetting_again_after_a_lost_answer_leaves_the_entity_forgotten(
    client: Client, gateway: Gateway, owner: psycopg.Connection, moment: Moment
) -> None:
    arguments = {"entityName": "Ada", "confirm": True}
    gateway.break_at(b"forget_entity", moment)
    assert (
        read_error(await client.call_tool("forget_entity", arguments))[0] == "Database unavailable"
    )
    again = (await client.call_tool("forget_entity", arguments)).structured_content
    assert again
    assert again["success"] == (moment == "before")  # else it was gone already, which is told
    assert owner.execute(STORED).fetchall() == []
