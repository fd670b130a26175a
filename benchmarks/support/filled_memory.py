"""A new database that is filled through an MCP client, for benchmarks of searches."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from mcp import Client
from psycopg.sql import SQL, Identifier
from pydantic import SecretStr
from tenacity import AsyncRetrying, retry_if_result, wait_fixed

from benchmarks.support.place import enrol
from textrawl import Settings, create_server, migrate
from textrawl.embedded.cluster import Cluster
from textrawl.embedded.postmaster import APP, OWNER, SUPERUSER
from textrawl.models.choice import choose_embedder
from textrawl.models.embeddings import Embedder

BATCH = 50  # facts that build_knowledge takes at once

Document = tuple[str, str]
"""The name of an entity, and an observation about this entity."""


@asynccontextmanager
async def open_filled_memory(
    cluster: Cluster,
    name: str,
    stored: Collection[Document] | Callable[[Client], Awaitable[None]],
    chosen: Mapping[str, Any],
    *,
    language: str = "english",
) -> AsyncGenerator[tuple[psycopg.Connection[Any], Embedder]]:
    """Yield a connection of the owner to the new database `name`, and its embedder.

    The database has the documents, or what the function `stored` stores, with their vectors, and
    fresh search statistics. `chosen` are the settings of the embedder.
    """
    async with open_database(cluster, name):
        settings = Settings(
            database_url=SecretStr(cluster.dsn(APP, name)),
            access_token=SecretStr(enrol(cluster.dsn(OWNER, name))),
            **chosen,
        )
        embedder = choose_embedder(settings)
        assert embedder is not None
        with psycopg.connect(cluster.dsn(OWNER, name), autocommit=True) as sql:
            sql.execute("set search_path = textrawl, public")
            if language != "english":
                sql.execute("select change_language('default', %s)", (language,))
            async with Client(create_server(settings)) as client:
                await (stored(client) if callable(stored) else remember(client, stored))
                await embed_all(sql)
            sql.execute("select refresh_search_statistics(force => true)")
            yield sql, embedder
        await embedder.aclose()


async def remember(client: Client, documents: Collection[Document]) -> None:
    """Store documents with the tool build_knowledge."""
    facts = [
        {"entityName": entity, "entityType": "person", "observation": text}
        for entity, text in documents
    ]
    for start in range(0, len(facts), BATCH):
        reply = await client.call_tool("build_knowledge", {"facts": facts[start : start + BATCH]})
        if reply.is_error:
            raise RuntimeError(reply.content)


@asynccontextmanager
async def open_asked_memory(
    cluster: Cluster,
    name: str,
    store: Callable[[Client], Awaitable[None]],
    chosen: Mapping[str, Any],
    *,
    language: str = "english",
) -> AsyncGenerator[tuple[Client, psycopg.Connection[Any]]]:
    """Yield a client of the new database `name`, and a connection of its owner.

    The database has what `store` stores, as in `open_filled_memory`.
    """
    async with open_database(cluster, name):
        settings = Settings(
            database_url=SecretStr(cluster.dsn(APP, name)),
            access_token=SecretStr(enrol(cluster.dsn(OWNER, name))),
            **chosen,
        )
        with psycopg.connect(cluster.dsn(OWNER, name), autocommit=True) as sql:
            sql.execute("set search_path = textrawl, public")
            sql.execute("select change_language('default', %s)", (language,))
            async with Client(create_server(settings)) as client:
                await store(client)
                await embed_all(sql)
                sql.execute("select refresh_search_statistics(force => true)")
                yield client, sql


@asynccontextmanager
async def open_database(cluster: Cluster, name: str) -> AsyncGenerator[None]:
    """Create and migrate a new database, and drop it at the end."""
    with psycopg.connect(cluster.dsn(SUPERUSER, "postgres"), autocommit=True) as own:
        own.execute(SQL("create database {} owner {}").format(Identifier(name), Identifier(OWNER)))
    with psycopg.connect(cluster.dsn(SUPERUSER, name), autocommit=True) as own:
        own.execute("create extension vector")
    await migrate(cluster.dsn(OWNER, name))
    yield
    with psycopg.connect(cluster.dsn(SUPERUSER, "postgres"), autocommit=True) as own:
        own.execute(SQL("drop database {} with (force)").format(Identifier(name)))


async def embed_all(sql: psycopg.Connection[Any]) -> None:
    """Wait until the server has embedded the facts that it stored without a vector."""
    waiting = """select exists (table embedding_pending)
        or not exists (select from embedding_model where queued)"""

    async def is_waiting() -> bool:
        return sql.execute(waiting).fetchone() == (True,)

    await AsyncRetrying(wait=wait_fixed(0.2), retry=retry_if_result(bool))(is_waiting)
