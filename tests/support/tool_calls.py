"""Calling tools and reading what they answer."""

import json
import re
from typing import Any, LiteralString

import psycopg
from mcp import Client
from mcp.types import CallToolResult, TextContent
from psycopg.sql import SQL, Identifier

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SHORT_ID = re.compile(r"[0-9a-f]{8}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.*Z")


class Matching:
    """Equal to any text that a pattern matches whole."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern = pattern

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and self.pattern.fullmatch(other) is not None

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return f"<{self.pattern.pattern}>"


AN_ID, A_SHORT_ID, A_MOMENT = Matching(UUID), Matching(SHORT_ID), Matching(MOMENT)


def text_of(result: CallToolResult) -> str:
    """The one text block of a result."""
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


def read(result: CallToolResult) -> Any:
    """The text of a result that is no error, as JSON."""
    text = text_of(result)
    assert not result.is_error, text
    return json.loads(text)


def read_error(result: CallToolResult) -> tuple[str, str]:
    """Title and fix of a result that is an error: sentences, or JSON without structured content."""
    text = text_of(result)
    assert result.is_error, text
    assert result.structured_content is None
    assert not re.search(r"Traceback|psycopg|pydantic|select |insert |Error executing", text)
    if not text.startswith("{"):
        title, fix = text.split(". ", 1)
        return title, fix.removesuffix(".")
    report = json.loads(text)
    assert report.keys() == {"error", "fix"}
    return report["error"], report["fix"]


def read_refusal(result: CallToolResult) -> Any:
    """The compact text of a deletion that was not made, which is an error in both halves."""
    assert result.is_error
    answer = result.structured_content
    if answer is not None:
        assert answer["success"] is False
        assert all(answer[key] for key in ("error", "message", "fix"))
    return json.loads(text_of(result))


async def structured(client: Client, tool: str, **arguments: Any) -> Any:
    """Structured content of a call that succeeds."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return result.structured_content


async def ask(client: Client, **arguments: Any) -> Any:
    """Compact answer of query_memory."""
    return read(await client.call_tool("query_memory", arguments))


async def remember(
    client: Client, name: str, observation: str, kind: str = "person", **more: Any
) -> Any:
    """Compact answer of remember_fact."""
    arguments = {"entityName": name, "entityType": kind, "observation": observation, **more}
    return read(await client.call_tool("remember_fact", arguments))


async def relate(client: Client, source: str, relation: str, target: str, **more: Any) -> Any:
    """Compact answer of relate_entities."""
    arguments = {"fromEntity": source, "relation": relation, "toEntity": target, **more}
    return read(await client.call_tool("relate_entities", arguments))


async def forget(client: Client, name: str, **more: Any) -> Any:
    """Compact answer of forget_entity."""
    return read(await client.call_tool("forget_entity", {"entityName": name, **more}))


async def keep(client: Client, name: str, **more: Any) -> Any:
    """Compact answer of forget_entity where it deletes nothing."""
    return read_refusal(await client.call_tool("forget_entity", {"entityName": name, **more}))


async def refuse(client: Client, tool: str, **arguments: Any) -> tuple[str, str]:
    """Title and fix of the error that a call gets."""
    return read_error(await client.call_tool(tool, arguments))


def count(owner: psycopg.Connection, table: LiteralString) -> int:
    """How many rows a table has."""
    row = owner.execute(SQL("select count(*) from {}").format(Identifier(table))).fetchone()
    assert row
    return row[0]


def read_tables(owner: psycopg.Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Everything that calls may change."""
    names = ("entity", "observation", "relation", "event", "embedding_pending")
    return {
        name: owner.execute(
            SQL("select to_jsonb(t)::text from {} t order by 1").format(Identifier(name))
        ).fetchall()
        for name in names
    }
