"""A server whose upkeep is done by hand."""

import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, LiteralString, cast

import anyio
import psycopg
from mcp import Client
from mcp.types import CallToolResult, TextContent

from tests.conftest import TOKEN
from tests.support.databases import choose_database
from tests.support.providers import Clock
from textrawl import Settings, create_server
from textrawl.access.access_token import hash_token
from textrawl.access.principal import Directory
from textrawl.memory.store import Store
from textrawl.models.active_model import Models, choose_named
from textrawl.models.choice import asks_for_model, choose_embedder
from textrawl.postgres.database import Database
from textrawl.server.lifespan import Upkeep
from textrawl.settings import read_foreign_environment
from textrawl.tools.call import App, Identity

LONG_AGO = 10_000.0  # seconds: longer than any breaker or worker waits


@dataclass(frozen=True)
class Desk:
    """A server whose upkeep is done by hand, and its parts."""

    client: Client
    memory: Store
    upkeep: Upkeep
    clock: Clock

    async def remember(self, *observations: str) -> list[CallToolResult]:
        fact = {"entityName": "Ada", "entityType": "person"}
        return [
            await self.client.call_tool("remember_fact", {**fact, "observation": text})
            for text in observations
        ]

    async def build(self, *observations: str) -> CallToolResult:
        fact = {"entityName": "Ada", "entityType": "person"}
        facts = [{**fact, "observation": text} for text in observations]
        return await self.client.call_tool("build_knowledge", {"facts": facts})

    async def search(self, query: str, **more: Any) -> str:
        result = await self.client.call_tool(
            "query_memory", {"mode": "search", "query": query, **more}
        )
        [text] = result.content
        assert isinstance(text, TextContent)
        return text.text


@asynccontextmanager
async def open_desk(settings: Settings, *, connections: int = 5) -> AsyncGenerator[Desk]:
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    database = await choose_database(url, timeout=10, max_size=connections)
    async with open_desk_of(settings, database) as desk:
        yield desk


@asynccontextmanager
async def open_desk_of(settings: Settings, database: Database) -> AsyncGenerator[Desk]:
    """A desk of a database that is not open yet."""
    clock = Clock()
    embedder = choose_embedder(settings, clock=clock)
    await database.open()
    credential = hash_token(TOKEN)
    models = Models(
        database,
        embedder,
        partial(choose_named, settings),
        chosen=asks_for_model(settings),
        clock=clock,
    )
    memory = Store(database, models, credential=credential)
    identity = Identity(Directory(database), credential)
    app = App(settings, memory, identity)
    try:
        async with Client(create_server(settings, app=app)) as client:
            yield Desk(client, memory, Upkeep(memory), clock)
    finally:
        await models.aclose()
        await database.close()
        if embedder is not None:
            await embedder.aclose()


def count(owner: psycopg.Connection, what: str) -> int:
    query = cast("LiteralString", f"select count(*) from {what}")  # noqa: S608 - ours
    row = owner.execute(query).fetchone()
    return row[0] if row else 0


def make_due(owner: psycopg.Connection) -> None:
    """As if the waiting time of every claimed fact were over."""
    owner.execute("update embedding_pending set next_attempt = now()")


Embed = Callable[..., subprocess.Popen[str]]


def build_embed(**environment: str) -> Embed:
    """A function that starts `textrawl embed` with these settings."""

    def start(*words: str, **more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "textrawl", "embed", *words],
            env=read_foreign_environment() | environment | more,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    return start


async def finish(process: subprocess.Popen[str], code: int = 0) -> str:
    """What the command said."""
    out, err = await anyio.to_thread.run_sync(process.communicate)
    assert process.returncode == code, err + out
    return f"{out}{err}"
