"""Consolidations through a client, and the entries that they find and leave."""

from typing import Any

import psycopg
from mcp import Client

from tests.support.llm_server import LlmServer


def name_llm(provider: str, server: LlmServer) -> dict[str, Any]:
    """Settings that name a provider on loopback."""
    url = server.openai_url if provider == "openai" else server.url
    return {"llm_provider": provider, "llm_model": "m", "llm_base_url": url}


def put(
    owner: psycopg.Connection,
    granularity: str,
    date: str,
    content: str,
    instance: str = "laptop",
    slug: str | None = None,
) -> None:
    """Store an entry through SQL."""
    owner.execute(
        "select write_entry(%s, %s, %s, %s, %s, space => default_space())",
        (granularity, date, content, instance, slug),
    )


async def consolidate(
    client: Client, granularity: str, *, fails: bool = False, **more: Any
) -> dict[str, Any]:
    """Structured content of memory_consolidate."""
    result = await client.call_tool("memory_consolidate", {"granularity": granularity, **more})
    assert result.is_error is fails, result.content
    assert result.structured_content is not None
    return result.structured_content


def read_texts(owner: psycopg.Connection, granularity: str) -> dict[str, str]:
    """The texts of all entries of a granularity, by date."""
    rows = owner.execute(
        "select date, content from journal_entries(default_space()) where granularity = %s",
        (granularity,),
    ).fetchall()
    return dict(rows)
