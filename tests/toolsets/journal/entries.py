"""Entries of a journal, written and read through a client."""

import json
from typing import Any

from mcp import Client
from mcp.types import CallToolResult

from tests.support.tool_calls import read, structured, text_of

DAY = "2026-05-12"


async def record(client: Client, content: str, **more: Any) -> Any:
    """Compact answer of memory_create; by default for a day of the laptop."""
    arguments = {"granularity": "daily", "date": DAY, "instanceId": "laptop", **more}
    return read(await client.call_tool("memory_create", {"content": content, **arguments}))


async def update(client: Client, content: str, **more: Any) -> Any:
    """Compact answer of memory_update; by default for a day."""
    arguments = {"granularity": "daily", "date": DAY, "content": content, **more}
    return read(await client.call_tool("memory_update", arguments))


async def look_up(client: Client, granularity: str = "daily", date: str = DAY, **more: Any) -> Any:
    """Structured content of memory_read."""
    return await structured(client, "memory_read", granularity=granularity, date=date, **more)


async def miss(client: Client, granularity: str = "daily", date: str = DAY, **more: Any) -> Any:
    """Compact text of memory_read where there is no entry."""
    arguments = {"granularity": granularity, "date": date, **more}
    return _failure(await client.call_tool("memory_read", arguments))


async def delete(client: Client, **more: Any) -> Any:
    """Compact answer of memory_delete; by default for a day of the laptop."""
    arguments = {"granularity": "daily", "date": DAY, "instanceId": "laptop", **more}
    return read(await client.call_tool("memory_delete", arguments))


async def keep(client: Client, **more: Any) -> Any:
    """Compact text of memory_delete where it deletes nothing."""
    return _failure(await client.call_tool("memory_delete", more))


def _failure(result: CallToolResult) -> Any:
    assert result.is_error
    assert result.structured_content is not None
    assert result.structured_content["success"] is False
    return json.loads(text_of(result))
