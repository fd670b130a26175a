"""Calls of the `items` tools as a program makes them."""

from typing import Any

from mcp import Client

from textrawl.wire.program import Program

META: Any = Program(client="test").write_meta()
ADA = ["users", "ada"]
SESSION = ["sessions", "7"]


async def ask(client: Client, tool: str, **given: Any) -> Any:
    """Return the structured content of the answer to a program."""
    result = await client.call_tool(tool, given, meta=META)
    assert not result.is_error, result.structured_content
    return result.structured_content


async def refuse(client: Client, tool: str, **given: Any) -> tuple[str, str]:
    """Return the title and the fix of the error that a program gets."""
    result = await client.call_tool(tool, given, meta=META)
    assert result.is_error, result.structured_content
    assert result.structured_content is not None
    return result.structured_content["error"], result.structured_content["fix"]


async def put(client: Client, value: Any, key: str = "tea", **given: Any) -> Any:
    """Store a value of Ada's, and return the item."""
    return await ask(client, "put_item", **{"namespace": ADA, "key": key, "value": value, **given})


async def look(client: Client, key: str = "tea", **given: Any) -> Any:
    """Return a value of Ada's, or None."""
    return (await ask(client, "get_item", namespace=ADA, key=key, **given)).get("value")
