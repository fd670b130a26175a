"""A whole real conversation: what was remembered is found again.

The figures and the method are in docs/search.md; benchmarks/recall.py prints them.
"""

import json
from collections import defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from mcp import Client

pytestmark = pytest.mark.anyio

CONVERSATIONS = Path(__file__).parents[3] / "../shared/data/locomo_dev.json"
ADVERSARIAL = 5  # category of questions that have no answer


@pytest.mark.skipif(not CONVERSATIONS.is_file(), reason="the LoCoMo conversations are not here")
async def test_the_evidence_for_most_questions_about_a_conversation_is_among_ten_facts(
    connect: Callable[..., Awaitable[Client]],
) -> None:
    conversation = json.loads(CONVERSATIONS.read_text("utf-8"))[0]
    evidence: dict[tuple[str, str], set[str]] = defaultdict(set)
    for fact in conversation["facts"]:
        evidence[fact["entity"], fact["fact"]].update(fact["evidence"])
    client = await connect(max_response_tokens=25_000)
    facts = [
        {"entityName": who, "entityType": "person", "observation": what} for who, what in evidence
    ]
    for start in range(0, len(facts), 50):
        stored = await client.call_tool("build_knowledge", {"facts": facts[start : start + 50]})
        assert not stored.is_error

    recalls = [
        await _recall(client, question, evidence)
        for question in conversation["questions"]
        if question["category"] != ADVERSARIAL
        and any(turns & set(question["evidence"]) for turns in evidence.values())
    ]

    assert len(recalls) > 100
    assert fmean(recalls) > 0.65


async def _recall(
    client: Client, question: dict[str, Any], evidence: dict[tuple[str, str], set[str]]
) -> float:
    """Share of the facts that rest on the question's evidence among the ten found."""
    wanted = {fact for fact, turns in evidence.items() if turns & set(question["evidence"])}
    answer = await client.call_tool(
        "query_memory", {"mode": "search", "query": question["question"]}
    )
    assert answer.structured_content is not None
    found = {
        (entity["entityName"], memory["content"])
        for entity in answer.structured_content["entities"]
        for memory in entity["memories"]
    }
    return len(found & wanted) / len(wanted)
