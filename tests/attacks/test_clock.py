"""The clock of the database goes back: what was acknowledged stays in every answer."""

from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString

import psycopg
import pytest
from mcp import Client

from tests.conftest import Connect

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

FACT = "keeps quinces"

# What a clock that is a year ahead stores.
AHEAD: dict[str, LiteralString] = {
    table: f"""
        update {table} set valid_from = valid_from + interval '1 year',
            created_at = created_at + interval '1 year'"""  # noqa: S608 - ours
    for table in ("observation", "relation")
}
READS: dict[str, dict[str, Any]] = {
    "query_memory": {"query": "quinces"},
    "open_nodes": {"names": ["Ada"]},
    "read_graph": {},
    "search_nodes": {"query": "quinces"},
    "search_semantic": {"query": "quinces"},
}


@pytest.fixture
async def client(connect: Connect, owner: psycopg.Connection) -> Client:
    """A client of a memory that was written while the clock was a year ahead."""
    client = await connect(toolsets="all", embedding_provider="local")
    answer = await client.call_tool("remember_fact", say(FACT))
    assert not answer.is_error
    await client.call_tool(
        "relate_entities", {"fromEntity": "Ada", "relation": "tends", "toEntity": "Orchard"}
    )
    for statement in AHEAD.values():
        owner.execute(statement)
    return client


def say(fact: str, **more: str) -> dict[str, Any]:
    return {"entityName": "Ada", "entityType": "person", "observation": fact, **more}


async def call(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.model_dump_json()


@pytest.mark.parametrize("tool", READS)
async def test_a_fact_that_was_acknowledged_is_in_every_answer(client: Client, tool: str) -> None:
    assert FACT in await call(client, tool, **READS[tool])


async def test_a_profile_has_the_fact_and_the_relation(client: Client) -> None:
    answer = await call(client, "query_memory", mode="entity", entityName="Ada")

    assert FACT in answer
    assert "tends" in answer


async def test_what_is_told_again_is_known_and_found(client: Client) -> None:
    again = await client.call_tool("remember_fact", say(FACT))

    assert again.structured_content is not None
    assert again.structured_content["duplicate"] is True
    assert FACT in await call(client, "query_memory", query="quinces")


async def test_what_is_corrected_is_replaced(client: Client) -> None:
    await call(client, "remember_fact", **say("keeps medlars", replaces=FACT))

    answer = await call(client, "query_memory", mode="entity", entityName="Ada")

    assert "medlars" in answer
    assert FACT not in answer


async def test_a_moment_that_is_asked_for_by_name_is_still_a_moment(client: Client) -> None:
    soon = (datetime.now(UTC) - timedelta(seconds=1)).isoformat()

    assert FACT not in await call(client, "query_memory", query="quinces", asOf=soon)


async def test_analysts_see_it_as_valid(client: Client, owner: psycopg.Connection) -> None:
    assert client is not None
    for query in (
        "select content from memory_observations where valid",
        "select content from memory_timeline where became",
        "select told from entity_context('Ada') where kind = 'fact'",
        "select content from search_memory('quinces')",
    ):
        assert (FACT,) in owner.execute(query).fetchall(), query


async def test_a_fact_that_waits_for_its_vector_does_not_wait_a_year(
    client: Client, owner: psycopg.Connection
) -> None:
    assert client is not None
    [(model,)] = owner.execute("select active_model()").fetchall()
    owner.execute(
        "insert into embedding_pending (space_id, observation_id, model_id, next_attempt)"
        " select space_id, id, %s, now() + interval '1 year' from observation",
        (model,),
    )

    due = owner.execute("select content from claim_pending_embeddings(%s)", (model,)).fetchall()

    # The statement of the relation waits as well.
    assert sorted(due) == [(FACT,), ("tends Orchard",)]
