"""An answer without evidence is empty, and says what was missing or what came closest."""

import pytest
from mcp import Client

from tests.support.tool_calls import ask, remember

pytestmark = pytest.mark.anyio


async def test_an_answer_without_evidence_is_empty_and_names_the_words_that_no_fact_has(
    client: Client,
) -> None:
    await remember(client, "Leo", "broke his left arm in September")
    await remember(client, "Leo", "goes to primary school in Alvalade")
    await remember(client, "Maya", "is allergic to walnuts")

    assert await ask(client, mode="search", query="zebra") == {"n": 0, "e": [], "no": ["zebra"]}
    for query, missing in {
        "where does Ingrid live?": "Ingrid",
        "is there a helicopter?": "helicopter",
    }.items():
        answer = await ask(client, mode="search", query=query)
        assert (answer["n"], answer["e"]) == (0, []), answer
        assert missing in answer["no"], answer
    shown = await ask(client, mode="search", query="zebra", minScore=0)
    assert shown["n"] > 0
