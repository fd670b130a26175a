"""Two versions of textrawl on one memory: the newer one has migrated it while the older one ran."""

from typing import LiteralString, cast

import psycopg
import pytest
from psycopg import sql

from tests.conftest import Connect
from tests.support.tool_calls import read, remember
from textrawl.postgres.sql_files import read_folder

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.ordinary("a later version of one Postgres is made by hand"),
]

FUNCTIONS = ("list_entities", "search_memory", "describe_entity")


def widen(owner: psycopg.Connection, function: str) -> None:
    """Give a function one more column and one more parameter, as a newer version may.

    The function of before keeps its name in another schema, because its text may contain the name.
    """
    row = owner.execute(
        "select pg_get_function_identity_arguments(oid), pg_get_function_arguments(oid),"
        " pg_get_function_result(oid), pronargs from pg_proc"
        " where proname = %s and pronamespace = 'textrawl'::regnamespace",
        (function,),
    ).fetchone()
    assert row is not None
    identity, arguments, result, count = row
    assert result.startswith("TABLE(")
    given = ", ".join(f"${number}" for number in range(1, count + 1))
    statement = f"""
        alter function textrawl.{function}({identity}) set schema before;
        create function textrawl.{function}({arguments}, newer text default null)
        returns {result[:-1]}, newest text) language sql volatile as
            'select t.*, null::text from before.{function}({given}) t';
        grant execute on function textrawl.{function} to textrawl_app"""  # noqa: S608
    owner.execute(sql.SQL(cast("LiteralString", statement)))


def migrate_further(owner: psycopg.Connection) -> None:
    """Leave the memory as a newer version would; test_migrations.py shows who is refused."""
    owner.execute("insert into migration (name) values ('9999_newer')")
    owner.execute("update code set fingerprint = 'of a newer version'")
    for table in ("entity", "observation", "relation", "event"):
        query = sql.SQL("alter table {} add column newer text")
        owner.execute(query.format(sql.Identifier(table)))
    for function in ("local_entities", "local_relations"):  # they return rows of a table
        made = read_folder("shared")[function].replace(
            "create function", "create or replace function"
        )
        owner.execute(made)
    owner.execute("create schema before; grant usage on schema before to textrawl_app")
    for function in FUNCTIONS:
        widen(owner, function)


async def test_a_server_that_runs_goes_on_after_a_newer_version_has_migrated(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(embedding_provider="none")
    await remember(client, "Ada", "keeps geese")

    migrate_further(owner)

    await remember(client, "Ada", "keeps ducks")
    for question in (
        {"query": "keeps"},
        {"mode": "entity", "entityName": "Ada"},
        {"mode": "list"},
    ):
        answer = str(read(await client.call_tool("query_memory", question)))
        assert "Ada" in answer or "ducks" in answer
    stored = owner.execute("select content from observation order by ordinal").fetchall()
    assert stored == [("keeps geese",), ("keeps ducks",)]
