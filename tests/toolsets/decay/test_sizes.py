"""Answers of the decay tools stay within the budget of tokens."""

from typing import Any

import pytest

from tests.conftest import Connect
from tests.support.tool_calls import read, text_of
from textrawl.wire.token_counter import choose_counter

pytestmark = pytest.mark.anyio

BUDGET = 500
TEXT = "the quarterly report needs another chapter about the harbour of Lisbon "


async def test_an_answer_that_is_too_long_keeps_the_first_memories(connect: Connect) -> None:
    client = await connect(toolsets=["decay"], max_response_tokens=BUDGET, structured_content="off")
    ids = [
        read(await client.call_tool("save_memory", {"content": f"{number}: {TEXT * 3}"}))["id"]
        for number in range(20)
    ]
    arguments: dict[str, dict[str, Any]] = {
        "search_memory": {"query": "harbour", "top_k": 20},
        "open_memories": {"memory_ids": ids},
        "read_graph": {"page_size": 20},
        "search_unified": {"query": "harbour", "limit": 20},
    }
    for tool in ("search_memory", "open_memories", "read_graph", "search_unified"):
        result = await client.call_tool(tool, arguments[tool])

        text = text_of(result)
        assert not result.is_error, text
        assert choose_counter().count(text) <= BUDGET
        if tool == "search_unified":
            assert text.startswith("[stm")
            assert "cut " in text
        else:
            answer = read(result)
            assert 0 < len(answer["m"]) < len(ids)
            assert len(answer["m"]) + answer["cut"] == len(ids)
