"""The cost of access control for a search.

    python -m benchmarks.access [--facts 100000] [--calls 400]

It uses an embedded Postgres in a temporary folder, local embeddings, and the client of the MCP SDK
over HTTP. There are two comparisons. In each of them, the calls of both sides alternate:

    SQL     search_memory with a credential, and the same function without the check of spaces
    HTTP    query_memory with a token and all checks, and `serve --http --insecure`

It prints Markdown: the medians of both sides, and the ratio of the first median to the second.
"""

import argparse
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import psycopg
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from pgvector import HalfVector
from pgvector.psycopg import register_vector_async

from benchmarks.support.place import enrol, listen, open_folder, tell_machine
from benchmarks.support.work import Work
from textrawl import migrate
from textrawl.access.access_token import hash_token
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import APP, OWNER
from textrawl.models.local import LocalEmbedder
from textrawl.settings import read_foreign_environment

BATCH = 5_000
WARM = 20  # calls before the measured calls
SEARCH = Path(__file__).parents[1] / "sql" / "memory" / "search_memory.sql"
STATEMENT = "select entity_name, content, score from {}(%s, model => 1, vector => %s{})"
FILL = """
    with given as materialized (
        select *, gen_random_uuid() as id
        from unnest(%s::text[], %s::text[], %s::halfvec[]) as given (name, content, vector)
    ), about as (
        insert into textrawl.entity (space_id, name, name_key, entity_type, fts)
        select distinct on (name) 1, name, textrawl.name_key(name), 'person', '' from given
        on conflict (space_id, name_key) do update set name = excluded.name returning id, name
    ), told as (
        insert into textrawl.observation (space_id, id, entity_id, entity_type, content,
            content_hash, source, author_id, tool, fts)
        select 1, given.id, about.id, 'person', content, md5(content)::uuid, 'note',
            (select min(id) from textrawl.actor), 'bench',
            textrawl.search_document(1, 'english', given.name, content)
        from given join about using (name) returning id
    )
    insert into textrawl.embedding_1 (space_id, observation_id, vector)
    select 1, told.id, given.vector from told join given using (id)"""

Ask = Callable[[str], Awaitable[object]]


def take_away_the_check(owner: psycopg.Connection) -> None:
    """Create search_unchecked(): a copy of search_memory() that does not check spaces."""
    text = SEARCH.read_text("utf-8").replace("textrawl.search_memory", "textrawl.search_unchecked")
    check = "readable_spaces(credential, spaces)"
    assert check in text
    owner.execute("set search_path = textrawl, public, pg_temp")
    owner.execute(text.replace(check, "array[1]"))  # pyright: ignore[reportArgumentType, reportCallIssue]
    owner.execute("grant execute on function textrawl.search_unchecked to textrawl_app")


async def fill(owner: psycopg.AsyncConnection[Any], embedder: LocalEmbedder, facts: int) -> None:
    """Add facts with vectors. The index of vectors is built at the end, because this is faster."""
    await register_vector_async(owner)
    await owner.execute(
        "select textrawl.register_embedding_model(%s, %s, .05, .75, .5)",
        (embedder.name, embedder.dimensions),
    )
    await owner.execute("drop index textrawl.embedding_1_vector_idx")
    work = Work()
    for start in range(0, facts, BATCH):
        batch = [work.make_fact() for _ in range(min(BATCH, facts - start))]
        texts = [f"{fact['entityName']}: {fact['observation']}" for fact in batch]
        vectors = [HalfVector(vector) for vector in await embedder.embed_documents(texts)]
        names = [fact["entityName"] for fact in batch]
        await owner.execute(FILL, (names, [fact["observation"] for fact in batch], vectors))
        print(f"{start + len(batch):,} facts", file=sys.stderr)
    await owner.execute("set maintenance_work_mem = '1GB'")
    await owner.execute(
        "create index on textrawl.embedding_1 using hnsw (vector halfvec_cosine_ops)"
        " with (m = 16, ef_construction = 128)"
    )
    await owner.execute("select textrawl.refresh_search_statistics(true)")
    await owner.execute("vacuum analyze")


async def measure(ways: dict[str, Ask], calls: int) -> dict[str, list[float]]:
    """Return the seconds of `calls` searches for each way. The ways take turns in being first."""
    work, taken = Work(), {way: list[float]() for way in ways}
    for number in range(calls + WARM):
        _, arguments = work.kinds["query_memory search"]()
        order = list(ways) if number % 2 else list(reversed(ways))
        for way in order:
            begin = time.perf_counter()
            await ways[way](arguments["query"])
            if number >= WARM:
                taken[way].append(time.perf_counter() - begin)
    return taken


@asynccontextmanager
async def ask_in_sql(
    dsn: str, embedder: LocalEmbedder, token: str
) -> AsyncGenerator[dict[str, Ask]]:
    """Yield the two searches in SQL, on one connection of the role textrawl_app."""
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        await register_vector_async(connection)

        def build(function: str, *credential: bytes) -> Ask:
            given = ", credential => %s" if credential else ""
            statement = STATEMENT.format(f"textrawl.{function}", given).encode()

            async def ask(query: str) -> object:
                vector = HalfVector(await embedder.embed_query(query))
                cursor = await connection.execute(statement, (query, vector, *credential))
                return await cursor.fetchall()

            return ask

        yield {
            "with": build("search_memory", hash_token(token)),
            "without": build("search_unchecked"),
        }


@asynccontextmanager
async def ask_over_http(dsn: str, token: str) -> AsyncGenerator[dict[str, Ask]]:
    """Yield the tool on two servers: one requires a token, the other does not."""
    environment = read_foreign_environment() | {
        "DATABASE_URL": dsn, "EMBEDDING_PROVIDER": "local", "ACCESS_TOKEN": token, "RATE_LIMIT": "0"
    }  # fmt: skip
    async with AsyncExitStack() as stack:

        async def build(*options: str, **headers: str) -> Ask:
            url = await stack.enter_async_context(listen(environment, *options))
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=30))
            transport = streamable_http_client(url, http_client=http)
            client = await stack.enter_async_context(Client(transport))

            async def ask(query: str) -> object:
                answer = await client.call_tool("query_memory", {"mode": "search", "query": query})
                assert not answer.is_error, answer.content
                return answer

            return ask

        yield {
            "with": await build(authorization=f"Bearer {token}"),
            "without": await build("--insecure"),
        }


def write_row(name: str, taken: dict[str, list[float]]) -> str:
    """Return a line of the table, in milliseconds."""
    guarded, bare = (1000 * statistics.median(taken[way]) for way in ("with", "without"))
    return f"| {name} | {guarded:.2f} | {bare:.2f} | {guarded / bare:.3f} |"


async def run(facts: int, calls: int, folder: Path) -> None:
    """Print the table."""
    embedder = LocalEmbedder()
    await embedder.warm()
    async with run_embedded(folder) as cluster:
        await migrate(cluster.dsn(OWNER))
        token = enrol(cluster.dsn(OWNER))
        with psycopg.connect(cluster.dsn(OWNER), autocommit=True) as owner:
            take_away_the_check(owner)
        async with await psycopg.AsyncConnection.connect(
            cluster.dsn(OWNER), autocommit=True
        ) as filler:
            await fill(filler, embedder, facts)
        print(f"{tell_machine()}; {calls} calls each.\n")
        print(f"| {facts:,} facts, p50 ms | with | without | ratio |\n|---|---:|---:|---:|")
        async with ask_in_sql(cluster.dsn(APP), embedder, token) as ways:
            print(write_row("SQL", await measure(ways, calls)), flush=True)
        async with ask_over_http(cluster.dsn(APP), token) as ways:
            print(write_row("HTTP", await measure(ways, calls)), flush=True)


def main() -> None:
    """Measure in a temporary folder."""
    parser = argparse.ArgumentParser(description="The cost of access control for a search.")
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=400)
    given = parser.parse_args()
    with open_folder("access") as folder:
        anyio.run(run, given.facts, given.calls, folder)


if __name__ == "__main__":
    main()
