"""The limits of recall in 1,000 random stores: of each graph, and of all graphs together."""

import random
from collections import Counter
from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.conftest import Connect
from tests.toolsets.corpus.conftest import Ask
from textrawl.wire.token_counter import choose_counter

pytestmark = pytest.mark.anyio

STORES = 1000
GRAPHS = ("alpha", "beta", "gamma", "delta")
WORDS = ("tea", "coffee", "harbour", "ledger", "violin", "granite", "meadow", "lantern")
CEILINGS = (0, 60, 300, 8000)
LISTED = ["alpha", "beta", "gamma"]

Sql = psycopg.Connection[Any]
Store = dict[str, tuple[str, int]]
"""The tier and the limit of each graph."""


def fill(sql: Sql, dice: random.Random) -> None:
    """Store sources of one chunk in each graph."""
    for graph in GRAPHS:
        sql.execute("select create_space(%s, tier => 'public')", (graph,))
        sql.execute("select grant_access('ada', %s, array['read'])", (graph,))
        for number in range(12):
            text = f"{graph} {number}: {' '.join(dice.choices(WORDS, k=dice.randint(2, 9)))}"
            sql.execute(
                "select store_source(%s, %s, %s, %s, jsonb_build_array(jsonb_build_array("
                "1, 0, char_length(%s), 9)), encode(sha256(%s), 'hex'))",
                (graph, f"file/{number}", text[:20], text, text, text.encode()),
            )


def change(sql: Sql, dice: random.Random) -> Store:
    """Give each graph another tier and limit, and each chunk another size."""
    sizes = [dice.choice([0, 1, 9, 40, 200, 600]) for _ in range(20)]
    sql.execute(
        "update chunk set tokens = (%s::integer[])[1 + abs(hashtext(observation_id::text)) %% 20]",
        (sizes,),
    )
    store: Store = {}
    for graph in GRAPHS:
        tier = dice.choice(["public", "personal", "sensitive"])
        own = dice.choice([None, 0, 40, 500])
        row = sql.execute("select cap from change_tier(%s, %s, %s)", (graph, tier, own)).fetchone()
        assert row is not None
        store[graph] = tier, row[0]
    return store


def list_matches(sql: Sql, arguments: dict[str, Any]) -> list[tuple[str, str, int]]:
    """Id, graph and tokens of each chunk that matches, best first, whatever the limits are."""
    return sql.execute(
        "select document_id || ':' || part, graph, tokens"
        " from recall_chunks(%(query)s, %(graphs)s, %(topK)s, %(minScore)s, ceiling => 0)",
        {"graphs": LISTED, **arguments},
    ).fetchall()


def apply_limits(
    matches: list[tuple[str, str, int]], store: Store, ceiling: int
) -> list[tuple[str, str, int]]:
    """The matches that fit: from the first that does not on, its graph (or all) is left out."""
    kept, used = list[tuple[str, str, int]](), Counter[str]()
    total = 0
    for chunk, graph, tokens in matches:
        used[graph] += tokens
        if used[graph] <= store[graph][1]:
            total += tokens
            if total <= ceiling:
                kept.append((chunk, graph, tokens))
    return kept


def check(answer: dict[str, Any], sql: Sql, store: Store, ceiling: int, **asked: Any) -> None:
    """Compare an answer with the limits of the store."""
    matches = list_matches(sql, asked)
    kept = apply_limits(matches, store, ceiling)
    found = [(result["chunkId"], result["graph"]) for result in answer["results"]]
    spent = Counter[str]()
    for _, graph, tokens in kept:
        spent[graph] += tokens

    assert found == [(chunk, graph) for chunk, graph, _ in kept]
    assert all(spent[graph] <= store[graph][1] for graph in spent)
    assert answer["totalTokens"] == sum(spent.values()) <= ceiling
    assert answer["truncated"] is (len(kept) < len(matches))
    scores = [result["score"] for result in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    shown = str(answer)
    assert "delta" not in shown
    assert not any(graph in shown for graph, (tier, _) in store.items() if tier == "sensitive")


@pytest.mark.slow
async def test_no_answer_has_a_token_over_a_limit_or_a_word_of_a_hidden_graph(
    connect: Connect, owner: Sql
) -> None:
    dice = random.Random(20)  # noqa: S311 - no secret
    fill(owner, dice)
    clients: dict[int, Client] = {
        ceiling: await connect(
            toolsets=["corpus"],
            graphs=LISTED,
            max_recall_tokens=ceiling,
            embedding_provider="none",
            record_recalls="off",
        )
        for ceiling in CEILINGS
    }
    left_out = 0
    for _ in range(STORES):
        store, ceiling = change(owner, dice), dice.choice(CEILINGS)
        arguments = {
            "query": " ".join(dice.sample(WORDS, k=dice.randint(1, 3))),
            "topK": dice.randint(1, 32),
            "minScore": dice.choice([0.05, 0.3, 0.6]),
        }
        result = await clients[ceiling].call_tool("recall", arguments)
        assert result.structured_content is not None, result
        check(result.structured_content, owner, store, ceiling, **arguments)
        left_out += result.structured_content["truncated"]
    assert STORES / 10 < left_out < STORES


async def test_a_hidden_graph_changes_no_answer(connect: Connect, owner: Sql) -> None:
    dice = random.Random(21)  # noqa: S311 - no secret
    fill(owner, dice)
    # Otherwise vectors that the server makes meanwhile would change the scores.
    client = await connect(toolsets=["corpus"], graphs=LISTED, embedding_provider="none")
    owner.execute("select change_tier('alpha', 'sensitive')")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("recall", {"query": "tea harbour", "topK": 32, "minScore": 0}),
        ("recall", {"query": "tea", "graphs": ["alpha", "delta", "gamma"]}),
        ("remember", {"text": "x", "target_engram": "alpa"}),
        ("remember", {"text": "x", "graphId": "delta"}),
        ("remember", {"text": "x"}),
        ("stats", {}),
    ]
    before = [await client.call_tool(*call) for call in calls]

    owner.execute("update space set name = 'gone-' || name where name in ('alpha', 'delta')")
    owner.execute("select archive_space(name) from space where name like 'gone-%'")

    assert [await client.call_tool(*call) for call in calls] == before


async def test_the_size_of_a_chunk_is_that_of_the_token_counter(ask: Ask, owner: Sql) -> None:
    paragraphs = [
        f"Paragraph {n}: " + "caf\u00e9 \u2713 \u65e5\u672c\u8a9e word " * n for n in range(1, 30)
    ]
    stored = await ask("remember", text="\n\n".join(paragraphs), graphId="work")

    rows = owner.execute(
        "select o.content, c.tokens from chunk c join observation o"
        " on o.space_id = c.space_id and o.id = c.observation_id"
    ).fetchall()

    assert len(rows) == stored["nodeCount"] > 3
    assert all(choose_counter().count(text) == tokens <= 512 for text, tokens in rows)
