"""Facts that look alike or disagree are stored, and the answer names the stored one."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from mcp import Client

from tests.conftest import Connect
from tests.support.tool_calls import A_SHORT_ID, ask, read, remember, text_of

pytestmark = pytest.mark.anyio

# The stored fact, the new fact, and why they disagree.
TABLE = [
    ("lives in Munich", "moved to Berlin in March 2025", "other value"),
    ("works at Initech", "works at Globex", "other value"),
    ("works at Initech", "no longer works at Initech", "opposite"),
    ("is vegetarian", "eats meat every Sunday", "opposite"),
    ("dark mode is enabled", "dark mode is disabled", "opposite"),
    ("the deadline is 3 May", "the deadline is 10 May", "other value"),
    ("runs PostgreSQL 16", "runs PostgreSQL 17", "other value"),
    ("weighs 72 kg", "weighs 68 kg", "other value"),
    ("wohnt in Hamburg", "ist nach Köln gezogen", "other value"),
    ("boit du café", "ne boit pas de café", "opposite"),
    ("su color favorito es el verde", "su color favorito es el azul", "other value"),
    ("speaks Portuguese", "speaks Japanese", None),
    ("has a cat", "has a dog", None),
    ("visited Rome in May", "visited Oslo in June", None),
    ("likes jazz", "likes techno", None),
    ("worked at Initech until 2021", "works at Globex", None),
    ("ran a marathon on 1 April 2024", "ran a marathon on 1 April 2025", None),
    ("lives in Leeds", "her brother lives in York", None),
    ("costs 10 euros for members", "costs 15 euros for guests", None),
]


async def test_the_answer_to_a_new_fact_names_the_fact_that_disagrees(connect: Connect) -> None:
    client = await connect(embedding_provider="none")
    told = list[tuple[str, str, str | None]]()
    for number, (old, new, _) in enumerate(TABLE):
        stored = await remember(client, f"Case {number}", old)
        reply = await remember(client, f"Case {number}", new)
        like = reply.get("like") or reply.get("closed", [None])[0]
        if like:
            today = {"on": datetime.now(UTC).date().isoformat()} if "like" in reply else {}
            assert like == {"id": stored["obs"], "c": old, "why": like["why"], **today}
        told.append((old, new, like and like["why"]))

    assert told == TABLE


async def test_the_named_fact_can_be_replaced_and_is_named_once(client: Client) -> None:
    fact = {"entityName": "Mo", "entityType": "person"}
    said = {**fact, "observation": "lives in Munich", "saidAt": "2024-01-10"}
    await client.call_tool("remember_fact", said)

    new = {**fact, "observation": "lives in Berlin"}
    like = read(await client.call_tool("remember_fact", new))["like"]
    assert like == {"id": A_SHORT_ID, "c": "lives in Munich", "why": "other value",
                    "on": "2024-01-10"}  # fmt: skip
    await client.call_tool("remember_fact", {**new, "replaces": like["id"]})

    assert (await ask(client, entityName="Mo"))["o"] == ["lives in Berlin"]
    assert "like" not in await remember(client, "Mo", "works at Acme")


async def test_a_batch_names_what_disagrees_with_stored_facts_and_with_its_own(
    client: Client,
) -> None:
    await remember(client, "Mo", "lives in Munich")
    texts = ["lives in Berlin", "has 2 cats", "has 3 cats"]
    facts = [{"entityName": "Mo", "entityType": "person", "observation": text} for text in texts]

    like = read(await client.call_tool("build_knowledge", {"facts": facts}))["like"]

    assert [(item["at"], item["c"], item["why"]) for item in like] == [
        (0, "lives in Munich", "other value"),
        (2, "has 2 cats", "other value"),
    ]


async def test_a_relation_names_others_of_its_type_if_only_one_can_be_true(client: Client) -> None:
    for relation, target, like in (
        ("lives_in", "Munich", None),
        ("knows", "Eve", None),
        ("knows", "Bob", None),
        ("lives_in", "Berlin", ["Munich"]),
        ("lives_in", "Berlin", None),
    ):
        edge = {"fromEntity": "Mo", "relation": relation, "toEntity": target}
        answer = read(await client.call_tool("relate_entities", edge))
        assert answer.get("like") == like, edge


async def test_answers_show_the_days_of_facts_that_disagree(connect: Connect) -> None:
    client = await connect()
    for text, day in (
        ("lives in Munich", "2024-01-10"),
        ("lives in Berlin", "2025-03-20"),
        ("likes to live in quiet towns", "2024-05-01"),
    ):
        fact = {"entityName": "Mo", "entityType": "person", "observation": text, "saidAt": day}
        await client.call_tool("remember_fact", fact)

    looked_up = (await ask(client, entityName="Mo"))["o"]
    found = await ask(client, query="where does Mo live")
    lines = await connect(compact_responses="lines")
    text = text_of(await lines.call_tool("query_memory", {"query": "where does Mo live"}))

    dated = {"lives in Munich": "2024-01-10", "lives in Berlin": "2025-03-20"}
    assert [fact for fact in looked_up if isinstance(fact, str)] == ["likes to live in quiet towns"]
    assert {fact["c"]: fact["on"] for fact in looked_up if isinstance(fact, dict)} == dated
    assert {fact["c"]: fact.get("on") for fact in found["e"][0]["m"]} == {
        **dated, "likes to live in quiet towns": None,
    }  # fmt: skip
    assert "2024-01-10: lives in Munich" in text
    assert ": likes to live" not in text


_FILE = Path(__file__).with_name("pairs.txt")


def _read_pairs() -> Iterator[tuple[str, str, str]]:
    """The heading, and the two facts, of each pair."""
    heading = ""
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            heading = line.removeprefix("== ")
        elif line and not line.startswith("#"):
            one, other = line.split(" | ")
            yield heading, one, other


PAIRS = list(_read_pairs())


def test_the_list_has_44_handwritten_pairs_and_200_more_in_four_languages_and_more() -> None:
    headings = [heading for heading, _, _ in PAIRS]
    languages, kinds = zip(*(heading.split(": ") for heading in headings), strict=True)

    assert headings.count("English: handwritten") == 44
    assert len(PAIRS) == len(set(PAIRS)) == 244
    assert len(set(languages)) >= 4
    assert set(kinds) == {
        "handwritten", "tense", "negation", "quantifier", "direction", "modality", "comparison",
        "unit",
    }  # fmt: skip


def _find_lost(owner: psycopg.Connection) -> list[tuple[str, str]]:
    """The pairs of which the memory does not hold both facts as valid ones."""
    query = """
        select e.name, o.content from observation o
        join entity e on (e.space_id, e.id) = (o.space_id, o.entity_id)
        where o.valid_until is null"""
    stored = set(owner.execute(query).fetchall())
    return [
        (one, other)
        for number, (_, one, other) in enumerate(PAIRS)
        if not {(f"Entity {number}", one), (f"Entity {number}", other)} <= stored
    ]


def _state(number: int, observation: str) -> dict[str, str]:
    return {
        "entityName": f"Entity {number}", "entityType": "concept", "observation": observation
    }  # fmt: skip


@pytest.fixture
async def one_client(connect: Connect) -> Client:
    """A client of a server with default settings, whose embedder averages the vectors of words."""
    return await connect()


async def test_remembered_in_batches_none_of_them_is_lost(
    one_client: Client, owner: psycopg.Connection
) -> None:
    facts = [_state(number, text) for number, (_, *pair) in enumerate(PAIRS) for text in pair]
    answers = [
        read(await one_client.call_tool("build_knowledge", {"facts": facts[start : start + 50]}))
        for start in range(0, len(facts), 50)
    ]

    assert [answer["facts"]["dup"] for answer in answers] == [0] * len(answers)
    assert _find_lost(owner) == []
