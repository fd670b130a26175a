"""docs/analytics.md and contributing/schema.md: statements run, the picture is the database's.

UPDATE_PAGES=1 writes the pages anew instead of comparing them.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from mcp import Client
from mcp.types import Implementation

from tests.docs.test_readme import (
    count_words,
    keep_up_to_date,
    load_demonstration,
)
from tests.support.pages import ROOT, read_blocks, read_shape, rewrite_generated, rewrite_results
from textrawl import Settings, create_server
from textrawl.embedded.postmaster import SUPERUSER
from textrawl.postgres.sql_files import describe_views

pytestmark = pytest.mark.anyio

ANALYTICS, SCHEMA = ROOT / "docs/analytics.md", ROOT / "docs/contributing/schema.md"
CORRECTION: dict[str, Any] = {
    "entityName": "Neon",
    "entityType": "organization",
    "observation": "keeps storage apart from compute and branches a database like a repository",
    "replaces": "separates storage from compute and can branch a database like a Git repository",
}
TOLD: list[dict[str, Any]] = [
    {"entityName": "pgvector", "entityType": "project",
     "observation": "got its graph-based index in version 0.5.0, in August 2023"},
    {"entityName": "Andrew Kane", "entityType": "person",
     "observation": "may like cycling", "confidence": 0.3},
    {"entityName": "pgvector", "entityType": "project",
     "observation": "half-precision and sparse vectors came with version 0.7.0"},
    {"entityName": "FOSDEM PGDay", "entityType": "concept",
     "observation": "early tickets are sold",
     "validUntil": (datetime.now(UTC) + timedelta(days=10)).isoformat()},
]  # fmt: skip
ASKED = [
    "who created pgvector?", "who created pgvector?", "which port does Postgres listen on?",
    "what does Andrew Kane like to eat?", "recipe for sourdough",
    "recipe for sourdough",
]  # fmt: skip


async def play_story(server_settings: Settings) -> None:
    """The demonstration, one correction, what is of little use, and questions."""
    client_info = Implementation(name="textrawl demo", version="0.1.0")
    async with Client(create_server(server_settings), client_info=client_info) as client:
        await load_demonstration(client)
        for fact in TOLD:
            done = await client.call_tool("remember_fact", fact)
            assert not done.is_error, done.content
        corrected = await client.call_tool("remember_fact", CORRECTION)
        assert not corrected.is_error, corrected.content
        for query in ASKED:
            await client.call_tool("query_memory", {"mode": "search", "query": query})


async def test_every_statement_of_the_page_of_questions_gives_what_it_shows(
    settings: Callable[..., Settings], postgres: Any, database: str
) -> None:
    await play_story(settings(record_recalls="text"))
    conninfo = postgres.cluster.dsn(SUPERUSER, database)
    with psycopg.connect(conninfo, autocommit=True) as upkeep:
        upkeep.execute("analyze textrawl.observation")  # Postgres does so by itself in a minute
    with psycopg.connect(conninfo) as connection:
        count_words(connection)
        written = rewrite_results(ANALYTICS.read_text(encoding="utf-8"), connection)

    keep_up_to_date(ANALYTICS, written)


def test_the_page_of_questions_has_more_than_fifteen_and_asks_every_view() -> None:
    statements = [block.body for block in read_blocks(ANALYTICS) if block.language == "sql"]
    whole = " ".join(statements)

    assert len(statements) >= 15
    assert {view for view in describe_views() if view not in whole} <= {"memory_relations"}


def test_no_result_of_the_page_of_questions_is_empty() -> None:
    results = [block.body for block in read_blocks(ANALYTICS) if block.language == "text"]
    empty = [body for body in results if body.endswith("(0 rows)\n")]

    assert len(results) >= 15
    assert empty == []


def test_a_sample_has_another_shape_when_a_column_or_its_kind_changes() -> None:
    shown = " day        | n\n------------+--\n 2026-11-21 | 3\n(1 row)\n"

    assert read_shape(shown) == [("day", "d"), ("n", "n")]
    assert read_shape(shown.replace("3", "44")) == read_shape(shown)
    assert read_shape(shown.replace("| 3", "| x")) != read_shape(shown)
    assert read_shape(shown.replace("day", "tag")) != read_shape(shown)


REFERENCES = """
    select distinct confrelid::regclass::text, conrelid::regclass::text,
        (select string_agg(attname, ', ' order by array_position(conkey, attnum))
         from pg_attribute where attrelid = conrelid and attnum = any(conkey)
         and attname <> 'space_id'),
        exists (select from pg_constraint p where p.conrelid = k.conrelid and p.contype = 'p'
                and p.conkey = k.conkey)
    from pg_constraint k where connamespace = 'textrawl'::regnamespace and contype = 'f'
    order by 1, 2, 3"""


def draw_tables(connection: psycopg.Connection) -> str:
    """The diagram in Mermaid, from the catalogue. It leaves out that a row belongs to a space."""
    lines = ["```mermaid", "erDiagram"]
    for one, many, columns, single in connection.execute(REFERENCES).fetchall():
        arrow = "||--o|" if single else "||--o{"
        if columns:
            lines.append(f'    {one} {arrow} {many} : "{columns}"')
    return "\n".join([*lines, "```"])


def test_the_page_of_the_schema_shows_the_tables_that_there_are(
    postgres: Any, database: str
) -> None:
    with psycopg.connect(postgres.cluster.dsn(SUPERUSER, database)) as connection:
        connection.execute("set search_path = textrawl, public")
        connection.execute("select register_embedding_model('test:model', 3)")
        writers = {"diagram": lambda: draw_tables(connection)}
        written = rewrite_generated(SCHEMA.read_text(encoding="utf-8"), writers)
        connection.rollback()

    assert written.count("||--o") > 50
    keep_up_to_date(SCHEMA, written)
