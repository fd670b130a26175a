"""Texts as long as a request can have stop nobody else's calls."""

import json
import re
import sys
import time
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import psycopg
import pytest
from mcp.types import Tool

from tests.attacks.site import issue, open_site
from tests.attacks.test_null_characters import build
from tests.conftest import Connect
from textrawl import Settings
from textrawl.tools.catalogue import find_toolsets
from textrawl.values.leaks import find_secrets
from textrawl.values.text import clean_text, count_cleaned

pytestmark = pytest.mark.anyio

MOST = 0.05  # seconds of processor time in which nothing else is answered
UNITS = (
    "password is ", "token ", "api_key=", "-key=", "hooks.slack.com/services/T", "eyJ-", "4 ",
    "1111 1111 1111 1111 1 ", "\x1b[", "e\u0301", "\u0301\u0316", "\u200d", "\u0915\u200d",
    "漢", "a",
)  # fmt: skip
LENGTH = 100_000


def find_longest_step(work: Callable[[str], object], text: str) -> float:
    """The longest time in which the interpreter could not change to another thread."""
    longest, last = 0.0, time.thread_time()

    def note(*_: Any) -> None:
        nonlocal longest, last
        now = time.thread_time()
        longest, last = max(longest, now - last), time.thread_time()

    sys.setprofile(note)
    try:
        work(text)
    finally:
        sys.setprofile(None)
    return longest


@pytest.mark.slow
@pytest.mark.parametrize("work", [find_secrets, clean_text, count_cleaned])
def test_work_on_a_long_text_never_keeps_the_interpreter(work: Callable[[str], object]) -> None:
    work(" ".join(UNITS))  # compiles the patterns
    steps = {unit: find_longest_step(work, (unit * LENGTH)[:LENGTH]) for unit in UNITS}
    assert {ascii(unit): step for unit, step in steps.items() if step > MOST} == {}


def write_long(schema: dict[str, Any], text: str) -> Any:
    """A value of a schema in which one text is `text`, or None if it has no text."""
    match schema.get("type"):
        case "array":
            item = write_long(schema["items"], text)
            return None if item is None else [item]
        case "object" if "properties" in schema:
            values = {n: write_long(part, text) for n, part in schema["properties"].items()}
            longest = [name for name, value in values.items() if value is not None]
            return build(schema) | {longest[-1]: values[longest[-1]]} if longest else None
        case "object":
            return {"a": text}
        case "integer" | "number" | "boolean":
            return None
        case _:
            return None if "enum" in schema else text


def list_calls(tool: Tool, text: str) -> list[dict[str, Any]]:
    """Calls in which one argument each has the text."""
    schema = tool.input_schema
    found = re.search(r"Example: (\{.*\})\.", tool.description or "")
    base = build(schema) | (json.loads(found[1]) if found else {})
    values = {name: write_long(part, text) for name, part in schema["properties"].items()}
    return [base | {name: value} for name, value in values.items() if value is not None]


@pytest.mark.parametrize("toolset", list(find_toolsets()))
async def test_no_argument_of_a_tool_stops_the_event_loop(connect: Connect, toolset: str) -> None:
    client = await connect(toolsets=[toolset], embedding_provider="none")
    text = ("\u200d" * 200 + "token " * 200) * 50
    turns: list[float] = []

    async def watch() -> None:
        last = time.thread_time()
        while True:
            await anyio.lowlevel.checkpoint()
            turns.append(time.thread_time() - last)
            last = time.thread_time()

    slow: dict[str, float] = {}
    for tool in (await client.list_tools()).tools:
        for arguments in list_calls(tool, text)[-1:]:
            await client.call_tool(tool.name, build(tool.input_schema))  # loads what it needs
            turns.clear()
            async with anyio.create_task_group() as group:
                group.start_soon(watch)
                await client.call_tool(tool.name, arguments)
                group.cancel_scope.cancel()
            if (longest := max(turns, default=0)) > MOST:
                slow[tool.name] = longest
    assert slow == {}


async def test_others_search_while_somebody_sends_long_texts(
    settings: Callable[..., Settings], owner: psycopg.Connection
) -> None:
    """Before, no search was answered until the text of the first call was read."""
    writer, reader = (issue(owner, name, "default", "read", "write") for name in ("ben", "cy"))
    item = {"namespace": ["d"], "key": "k", "value": "password is " * 75_000}
    async with open_site(settings(toolsets=["items", "memory"])) as site:
        ended, answered = anyio.Event(), 0

        async def attack() -> None:
            assert "version" in (await site.call(writer, "put_item", item)).text
            ended.set()

        async with anyio.create_task_group() as group:
            group.start_soon(attack)
            group.start_soon(attack)
            while not ended.is_set():
                found = await site.call(reader, "query_memory", {"query": "tea"})
                assert found.status_code == 200
                answered += not ended.is_set()
    assert answered >= 5
