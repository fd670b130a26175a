"""A search and a new fact enter few functions: whoever follows a call reads all of them."""

from collections.abc import Callable

import pytest

from tests.quality.house_calls import describe, trace_calls
from textrawl import Settings

MOST = {"query_memory": (65, 145), "remember_fact": (70, 155)}
"""The functions and the calls of one call of a tool."""

pytestmark = pytest.mark.anyio


async def test_a_call_of_a_tool_enters_few_functions(settings: Callable[..., Settings]) -> None:
    for tool, found in (await trace_calls(settings)).items():
        functions, calls = MOST[tool]
        assert len(found.functions) <= functions, describe(tool, found)
        assert len(found.calls) <= calls, describe(tool, found)
