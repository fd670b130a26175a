"""revise_fact: what was wrong is told from what is no longer so."""

import json
from typing import Any

import pytest

from tests.conftest import Connect
from tests.support.tool_calls import A_SHORT_ID, read, remember, text_of

pytestmark = pytest.mark.anyio

WRONG: dict[str, Any] = {
    "entityName": "Jeff", "fact": "lives in Oslo", "reason": "he said Bergen"
}  # fmt: skip


async def test_a_wrong_fact_is_shown_with_its_reason_and_what_is_right(connect: Connect) -> None:
    client = await connect(toolsets=["memory", "curation"])
    await remember(client, "Jeff", "lives in Oslo")

    answer = read(await client.call_tool("revise_fact", {**WRONG, "instead": "lives in Bergen"}))
    jeff = {"mode": "entity", "entityName": "Jeff"}
    shown = read(await client.call_tool("query_memory", jeff))

    assert answer == {"ok": True, "wrong": A_SHORT_ID, "obs": A_SHORT_ID}
    assert shown == {
        "t": "person",
        "o": ["lives in Bergen"],
        "revised": [{"c": "lives in Oslo", "why": "he said Bergen"}],
    }
    found = read(await client.call_tool("query_memory", {"query": "where does Jeff live"}))
    assert "Oslo" not in json.dumps(found)


async def test_lines_mark_a_wrong_fact(connect: Connect) -> None:
    client = await connect(toolsets=["memory", "curation"], compact_responses="lines")
    await remember(client, "Jeff", "lives in Oslo")
    await remember(client, "Jeff", "wrong: a fact that begins like a mark")
    await client.call_tool("revise_fact", WRONG)

    shown = text_of(
        await client.call_tool("query_memory", {"mode": "entity", "entityName": "Jeff"})
    )

    assert shown.splitlines()[1:] == [
        r"\wrong: a fact that begins like a mark",
        "wrong: lives in Oslo (he said Bergen)",
    ]


async def test_a_refused_revision_says_what_to_do(connect: Connect) -> None:
    client = await connect(toolsets=["memory", "curation"])
    await remember(client, "Jeff", "lives in Oslo")
    await remember(client, "Jeff", "drinks tea")
    await client.call_tool("revise_fact", WRONG)
    for change, says in (
        ({"instead": "lives in Riga"}, "was revised already"),
        ({"fact": "lives in Rome"}, "names no fact"),
        ({"entityName": "Nobody"}, "Nobody"),
        ({"fact": "drinks tea", "instead": "drinks tea"}, "a new text that differs"),
    ):
        refused = await client.call_tool("revise_fact", WRONG | change)

        assert refused.is_error
        assert says in text_of(refused)
