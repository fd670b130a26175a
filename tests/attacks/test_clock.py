"""The clock of the database goes back: facts stay in every answer, and what was ended stays out."""

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.attacks.site import issue
from tests.conftest import Connect
from tests.support.clock import set_back

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

FACT = "keeps quinces"

AHEAD = timedelta(days=365)
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
    set_back(owner, AHEAD)
    return client


def say(fact: str, **more: str) -> dict[str, Any]:
    return {"entityName": "Ada", "entityType": "person", "observation": fact, **more}


async def call(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.model_dump_json()


async def test_a_fact_that_was_acknowledged_is_in_every_answer(
    client: Client, owner: psycopg.Connection
) -> None:
    """And still a fact of its moment: as of a second ago, on this clock, it was not there."""
    for tool, arguments in READS.items():
        assert FACT in await call(client, tool, **arguments), tool
    profile = await call(client, "query_memory", mode="entity", entityName="Ada")
    assert FACT in profile
    assert "tends" in profile, "the relation of the profile"
    for query in (
        "select content from memory_observations where valid",
        "select content from memory_timeline where became",
        "select told from entity_context('Ada') where kind = 'fact'",
        "select content from search_memory('quinces')",
    ):
        assert (FACT,) in owner.execute(query).fetchall(), f"an analyst: {query}"
    soon = (datetime.now(UTC) - timedelta(seconds=1)).isoformat()
    assert FACT not in await call(client, "query_memory", query="quinces", asOf=soon)

    again = await client.call_tool("remember_fact", say(FACT))

    assert again.structured_content is not None
    assert again.structured_content["duplicate"] is True, "told again, it is known"
    assert FACT in await call(client, "query_memory", query="quinces")


async def test_what_is_corrected_or_replaced_under_an_earlier_clock_is_gone(client: Client) -> None:
    await call(client, "remember_fact", **say("keeps medlars", replaces=FACT))
    edge = {"fromEntity": "Ada", "relation": "tends", "toEntity": "Garden", "replaces": True}
    await call(client, "relate_entities", **edge)

    answer = await call(client, "query_memory", mode="entity", entityName="Ada")

    assert "medlars" in answer
    assert FACT not in answer
    assert "Garden" in answer
    assert "Orchard" not in answer


MEDLARS = {"observation": "keeps medlars", "entityType": "person", "replaces": FACT}
GARDEN = {"relation": "tends", "toEntity": "Garden", "replaces": True}
LATER = {"validUntil": "2999-01-01"}
CORRECTIONS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "Ada": ("remember_fact", "entityName", MEDLARS),
    "Bea": ("remember_fact", "entityName", {**MEDLARS, **LATER}),
    "Cleo": ("build_knowledge", "entityName", MEDLARS),
    "Dora": ("relate_entities", "fromEntity", GARDEN),
    "Edda": ("relate_entities", "fromEntity", {**GARDEN, **LATER}),
    "Fay": (
        "revise_fact", "entityName", {"fact": FACT, "reason": "wrong", "instead": "keeps medlars"}
    ),
}  # fmt: skip
"""Of each entity the tool, the name of its entity, and the arguments that correct something."""


Rows = list[tuple[Any, ...]]
MADE = """
    select entity_name, content, valid, valid_from > now() from memory_observations
    where author = 'cy'
    union all
    select from_entity, to_entity, valid, valid_from > now() from memory_relations
    where author = 'cy' order by 1"""
KEPT = """
    select entity_name, content from memory_observations where valid and author = 'ada'
    union all
    select from_entity, to_entity from memory_relations where valid and author = 'ada'"""


async def correct_all(writer: Client, owner: psycopg.Connection, *, proposing: bool) -> list[str]:
    """Make all corrections, and accept them if they are proposals. Return what was corrected."""
    done = list[str]()
    for entity, (tool, name, given) in CORRECTIONS.items():
        if proposing and tool == "revise_fact":
            continue  # nobody can propose a revision
        arguments = {name: entity, **given}
        await call(
            writer, tool, **({"facts": [arguments]} if tool == "build_knowledge" else arguments)
        )
        done.append(entity)
    if proposing:
        owner.execute(
            "select decide_proposals(array_agg(id::text), 'accept', space => default_space())"
            " from proposal"
        )
    return done


@pytest.mark.parametrize("proposing", [False, True])
async def test_a_correction_begins_no_later_than_now(
    connect: Connect, owner: psycopg.Connection, *, proposing: bool
) -> None:
    client = await connect(toolsets="all", embedding_provider="none")
    for entity in CORRECTIONS:
        await call(client, "remember_fact", **{**say(FACT), "entityName": entity})
        relation = {"fromEntity": entity, "relation": "tends", "toEntity": "Orchard"}
        await call(client, "relate_entities", **relation)
    set_back(owner, AHEAD)
    token = issue(owner, "cy", "default", "propose" if proposing else "write")
    writer = await connect(toolsets="all", access_token=token)

    done = await correct_all(writer, owner, proposing=proposing)

    related = {name for name, (tool, *_) in CORRECTIONS.items() if tool == "relate_entities"}
    made: Rows = owner.execute(MADE).fetchall()
    kept: Rows = owner.execute(KEPT).fetchall()
    assert made == [
        (name, "Garden" if name in related else "keeps medlars", True, False) for name in done
    ]
    expected = [(name, FACT) for name in CORRECTIONS if name not in done or name in related]
    expected += [(name, "Orchard") for name in CORRECTIONS if name not in related]
    assert sorted(kept) == sorted(expected)


async def test_a_planned_fact_is_not_begun_by_what_comes_before_it(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(embedding_provider="none")
    plan = (datetime.now(UTC) + timedelta(days=30)).isoformat()
    await call(client, "remember_fact", **say("lives in Turku", validFrom=plan))

    await call(client, "remember_fact", **say("lives in Oulu", replaces="lives in Turku"))

    rows = owner.execute("select content, valid_from > now() from fact order by 1").fetchall()
    assert rows == [("lives in Oulu", False), ("lives in Turku", True)]


async def test_a_finding_that_is_accepted_under_an_earlier_clock_ends_a_fact_now(
    client: Client, owner: psycopg.Connection
) -> None:
    await call(client, "remember_fact", **say("lives in Turku"))
    set_back(owner, AHEAD)
    await call(client, "remember_fact", **say("lives in Oulu"))
    owner.execute("select count(*) from tidy_memory()")

    owner.execute("select decide_proposals(array_agg(id::text), 'accept') from proposal")

    valid = owner.execute(
        "select content from memory_observations where valid and content like 'lives in %'"
    ).fetchall()
    assert len(valid) == 1


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


# For each kind of an end, the words that are then in no answer, and the call.
ENDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a replacement": (
        "no longer keeps geese",
        "remember_fact",
        say("keeps ducks", replaces="no longer keeps geese"),
    ),
    "a revision": (
        "was born in Turku",
        "revise_fact",
        {"entityName": "Ada", "fact": "was born in Turku", "reason": "that was Bo"},
    ),
    "a deleted relation": (
        "Old Company",
        "relate_entities",
        {"fromEntity": "Ada", "relation": "works at", "toEntity": "Old Company", "ended": True},
    ),
}
EVERYTHING: tuple[tuple[str, dict[str, Any]], ...] = (
    ("query_memory", {"query": "Ada keeps quinces, geese, Turku, company"}),
    ("query_memory", {"mode": "entity", "entityName": "Ada"}),
    ("open_nodes", {"names": ["Ada"]}),
    ("search_semantic", {"query": "Ada keeps quinces, geese, Turku, company"}),
    ("search_nodes", {"query": "Ada"}),
)


@pytest.mark.parametrize("end", ENDS)
async def test_what_was_ended_is_in_no_answer(
    client: Client, owner: psycopg.Connection, end: str
) -> None:
    words, tool, arguments = ENDS[end]
    if tool == "relate_entities":
        await call(client, tool, **{**arguments, "ended": False})
    else:
        await call(client, "remember_fact", **say(words))
    await call(client, tool, **arguments)

    set_back(owner, AHEAD)

    for read, question in EVERYTHING:
        answer = await client.call_tool(read, question)
        # The profile names what was wrong, and why.
        content: dict[str, Any] = answer.structured_content or {}
        shown = str(content | {"revised": None})
        assert FACT in shown or read == "search_nodes"
        assert words not in shown
    assert (
        owner.execute(
            "select content from memory_observations where valid and content = %s union all"
            " select to_entity from memory_relations where valid and to_entity = %s",
            (words, words),
        ).fetchall()
        == []
    )


async def test_what_was_replaced_and_is_told_again_with_replaces_stays_replaced(
    client: Client, owner: psycopg.Connection
) -> None:
    told = say("keeps medlars", replaces=FACT)
    await call(client, "remember_fact", **told)
    set_back(owner, AHEAD)

    await call(client, "remember_fact", **told)

    answer = await call(client, "query_memory", mode="entity", entityName="Ada")
    assert "medlars" in answer
    assert FACT not in answer


async def test_what_was_ended_and_is_told_again_is_a_new_fact(
    client: Client, owner: psycopg.Connection
) -> None:
    await call(client, "remember_fact", **say("keeps medlars", replaces=FACT))
    set_back(owner, AHEAD)

    again = await client.call_tool("remember_fact", say(FACT))

    assert again.structured_content is not None
    assert "duplicate" not in again.structured_content
    assert FACT in await call(client, "query_memory", query="quinces")


async def test_two_servers_whose_clocks_differ_by_a_year_correct_each_other(
    connect: Connect, owner: psycopg.Connection
) -> None:
    """The clock is set before each call, so that each server has its own."""
    ahead, behind = await connect(toolsets="all"), await connect(toolsets="all")
    question = {"mode": "entity", "entityName": "Ada"}
    relation = {"fromEntity": "Ada", "relation": "lives in", "toEntity": "Oulu"}
    last = "keeps bees 0"
    await call(ahead, "remember_fact", **say(last))
    for number in range(1, 5):
        writer, shift = (behind, AHEAD) if number % 2 else (ahead, -AHEAD)
        reader = ahead if writer is behind else behind
        set_back(owner, shift)
        fact = f"keeps bees {number}"
        await call(writer, "remember_fact", **say(fact, replaces=last))
        await call(writer, "relate_entities", **relation, ended=number % 2 == 0)
        here = await call(writer, "query_memory", **question)
        set_back(owner, -shift)
        there = await call(reader, "query_memory", **question)
        set_back(owner, shift)

        for answer in (here, there):
            assert fact in answer
            assert last not in answer
            assert ("Oulu" in answer) == (number % 2 == 1)
        last = fact


async def test_an_end_that_was_named_for_later_goes_by_the_clock(
    client: Client, owner: psycopg.Connection
) -> None:
    soon = (datetime.now(UTC) + timedelta(days=10)).isoformat()
    await call(client, "remember_fact", **say("rents a barn", validUntil=soon))
    question = {"mode": "entity", "entityName": "Ada"}

    seen = [await call(client, "query_memory", **question)]
    for days in (20, -20, -20):
        set_back(owner, timedelta(days=days))
        seen.append(await call(client, "query_memory", **question))

    assert ["rents a barn" in answer for answer in seen] == [True, True, True, False]


async def test_a_time_line_has_what_was_said_and_what_was_ended(
    client: Client, owner: psycopg.Connection
) -> None:
    await call(client, "remember_fact", **say("keeps medlars", replaces=FACT))
    set_back(owner, AHEAD)

    changes = owner.execute(
        "select change, content from space_timeline() where not relation"
    ).fetchall()
    ends = owner.execute("select reason, content from memory_timeline where not became").fetchall()

    assert set(changes) == {("said", FACT), ("said", "keeps medlars"), ("replaced", FACT)}
    assert ends == [("replaced", FACT)]


async def test_a_period_that_a_server_claimed_before_does_not_wait_a_year(
    client: Client, owner: psycopg.Connection
) -> None:
    assert client is not None
    claim = """
        select state from claim_period('weekly', '2026-W20', gen_random_uuid(), 120,
                                       space => default_space())"""
    owner.execute(
        "insert into consolidation (space_id, granularity, period, claimant, claimed_until)"
        " values (default_space(), 'weekly', '2026-W20', gen_random_uuid(), now())"
        " on conflict do nothing"
    )
    set_back(owner, AHEAD)

    assert owner.execute(claim).fetchone() == ("empty",)
