"""The catalogue describes everything in the schema, now and after any change."""

import re
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from textrawl.archive.exports import KINDS
from textrawl.embedded.postmaster import APP

SQL = Path(__file__).parents[2] / "sql"
_OURS = """
    create temporary view ours as
    select 'pg_class'::regclass::oid as catalog, oid, relname::text as name from pg_class
    where relnamespace = 'textrawl'::regnamespace and relkind in ('r', 'v', 'm', 'p')
    union all
    select 'pg_proc'::regclass, oid, proname::text from pg_proc
    where pronamespace = 'textrawl'::regnamespace
"""


def list_names(sql: psycopg.Connection, query: LiteralString) -> list[str]:
    return [str(name) for (name,) in sql.execute(query).fetchall()]


@pytest.fixture(autouse=True)
def _with_a_model(sql: psycopg.Connection) -> None:
    """Tables that are made later, one a model, are held to the same."""
    sql.execute("select register_embedding_model('test:model', 8)")


def test_every_table_view_and_function_says_what_it_is_for(sql: psycopg.Connection) -> None:
    sql.execute(_OURS)
    assert len(list_names(sql, "select name from ours")) > 30
    assert (
        list_names(
            sql, "select name from ours where obj_description(oid, catalog::regclass::name) is null"
        )
        == []
    )


def test_every_file_of_every_folder_is_in_the_database_under_its_name(
    sql: psycopg.Connection,
) -> None:
    files = [
        file.stem
        for file in SQL.glob("*/*.sql")
        if file.parent.name not in {"migrations", "cells", "cluster"} and file.stem != "grants"
    ]
    made = list_names(
        sql,
        """
        select proname from pg_proc p where pronamespace = 'textrawl'::regnamespace
        and not exists (select from pg_depend d where d.refobjid = p.oid
            and d.classid in ('pg_policy'::regclass, 'pg_trigger'::regclass))
        union all
        select relname from pg_class where relnamespace = 'textrawl'::regnamespace and relkind = 'v'
        """,
    )
    # unite_embeddings() makes a view of the tables of all models.
    assert sorted([*files, "embedding"]) == sorted(made)


def test_every_grant_stands_in_the_folder_of_its_function_or_view() -> None:
    misplaced = [
        f"{file.parent.name}: {name}"
        for file in SQL.glob("*/grants.sql")
        for name in re.findall(r"textrawl\.(\w+)", file.read_text())
        for home in SQL.glob(f"*/{name}.sql")
        if home.parent != file.parent
    ]
    assert misplaced == []


def test_every_column_and_type_says_what_it_holds(sql: psycopg.Connection) -> None:
    columns = list_names(
        sql,
        """
        select attrelid::regclass || '.' || attname from pg_attribute
        join pg_class on pg_class.oid = attrelid
        where relnamespace = 'textrawl'::regnamespace and relkind in ('r', 'v', 'm', 'p', 'c')
        and attnum > 0 and not attisdropped and col_description(attrelid, attnum) is null
        """,
    )
    types = list_names(
        sql,
        """
        select typname from pg_type t
        where typnamespace = 'textrawl'::regnamespace and obj_description(t.oid, 'pg_type') is null
        and typelem = 0 and not exists (
            select from pg_class where reltype = t.oid and relkind in ('r', 'v', 'm', 'p'))
        """,
    )
    assert columns + types == []


def test_every_view_reads_with_the_rights_of_whoever_asks(sql: psycopg.Connection) -> None:
    assert (
        list_names(
            sql,
            """
            select relname from pg_class where relnamespace = 'textrawl'::regnamespace
            and relkind = 'v' and 'security_invoker=true' <> all(coalesce(reloptions, '{}'))
            """,
        )
        == []
    )


def test_every_key_of_a_table_with_spaces_begins_with_the_space(sql: psycopg.Connection) -> None:
    keys = list_names(
        sql,
        """
        select conrelid::regclass || ' ' || conname from pg_constraint c
        join pg_attribute a on a.attrelid = conrelid and a.attname = 'space_id'
        where connamespace = 'textrawl'::regnamespace and contype in ('p', 'u', 'f')
        and conkey[1] <> a.attnum
        and not (contype = 'f' and confrelid in ('actor'::regclass, 'embedding_model'::regclass))
        union all
        select indexrelid::regclass::text from pg_index i
        join pg_attribute a on a.attrelid = indrelid and a.attname = 'space_id'
        join pg_class t on t.oid = indrelid
        where t.relnamespace = 'textrawl'::regnamespace and indisunique and indkey[0] <> a.attnum
        """,
    )
    assert keys == []


def test_every_table_of_facts_has_spaces(sql: psycopg.Connection) -> None:
    without = list_names(
        sql,
        """
        select relname from pg_class c
        where relnamespace = 'textrawl'::regnamespace and relkind = 'r' and not exists (
            select from pg_attribute where attrelid = c.oid and attname = 'space_id')
        order by 1
        """,
    )
    assert without == [
        "actor",
        "code",
        "embedding_model",
        "migration",
        "ranking_weight",
        "receipt_secret",
        "removal_lock",
        "search_statistics",
        "space",
        "token",
        "vector_index_claim",
        "word_form",
    ]


def test_no_function_that_lends_its_rights_trusts_its_callers_search_path(
    sql: psycopg.Connection,
) -> None:
    unpinned = list_names(
        sql,
        """
        select proname from pg_proc
        where pronamespace = 'textrawl'::regnamespace and prosecdef
        and not exists (select from unnest(proconfig) setting
            where setting like 'search_path=%textrawl%' and setting like '%pg_temp')
        """,
    )
    assert unpinned == []


def test_no_function_that_catches_errors_runs_in_a_parallel_worker(sql: psycopg.Connection) -> None:
    # An exception block is a subtransaction, which a parallel worker of Postgres 16 cannot start.
    catching = list_names(
        sql,
        """
        select proname from pg_proc
        where pronamespace = 'textrawl'::regnamespace and proparallel = 's'
        and prosrc ~* '\\mexception\\s+when\\M'
        """,
    )
    assert catching == []


def test_nobody_may_call_a_function_who_was_not_granted_it(sql: psycopg.Connection) -> None:
    public = list_names(
        sql,
        """
        select proname from pg_proc,
            lateral aclexplode(coalesce(proacl, acldefault('f', proowner)))
        where pronamespace = 'textrawl'::regnamespace and grantee = 0
        """,
    )
    assert public == []


def test_the_application_reaches_tables_through_functions_alone(sql: psycopg.Connection) -> None:
    sql.execute("select * from remember_fact('Ada', 'person', 'likes proofs')")
    readable = list_names(
        sql,
        f"""
        select relname from pg_class where relnamespace = 'textrawl'::regnamespace
        and relkind in ('r', 'v')
        and has_any_column_privilege('{APP}', oid, 'select, insert, update')
        order by 1
        """,  # noqa: S608 - a constant of ours
    )
    assert readable == ["code", "migration"]
    with psycopg.connect(make_conninfo(sql.info.dsn, user=APP), autocommit=True) as application:
        for table in ("observation", "entity", "embedding_1", "event", "memory_observations"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                application.execute(f"select * from textrawl.{table}")  # noqa: S608 # pyright: ignore[reportArgumentType, reportCallIssue]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            application.execute("create table textrawl.mine ()")
        found = application.execute("select content from textrawl.search_memory('proofs')")
        assert found.fetchall() == []
        own = sql.execute("select open_local_access('ada')").fetchone()
        found = application.execute(
            "select content from textrawl.search_memory('proofs', credential => %s)", own
        )
        assert found.fetchall() == [("likes proofs",)]


def test_deleting_a_space_or_a_fact_finds_what_refers_to_it_by_index(
    sql: psycopg.Connection,
) -> None:
    unindexed = list_names(
        sql,
        r"""
        select conrelid::regclass || ' ' || conname from pg_constraint c
        where connamespace = 'textrawl'::regnamespace and contype = 'f'
        and array_length(conkey, 1) > 1
        and not exists (select from pg_index i where i.indrelid = conrelid
            and (i.indkey::smallint[])[0:array_length(conkey, 1) - 1] @> conkey
            and (indpred is null or pg_get_expr(indpred, indrelid) ~ '^\([a-z_]+ IS NOT NULL\)$'))
        """,
    )
    assert unindexed == []


# Tables with a space that content_tables() leaves out.
_WITHOUT_CONTENT = """
    chunk document_clock document_rebuild embedding_pending extraction_pending item_vector lexeme
    merged recalled space_statistics summary consolidation entity_use joint_use llm_use decay_policy
    graph_key import_run space_grant erasure undo"""
"""Made from content, queues, counts and records without words, keys, settings and rights."""


def test_every_table_of_a_space_is_in_the_list_of_content_or_left_out_by_name(
    sql: psycopg.Connection,
) -> None:
    tables = list_names(
        sql,
        """select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
           where a.attname = 'space_id' and c.relnamespace = 'textrawl'::regnamespace
             and c.relkind = 'r' and c.relname !~ '^embedding_[0-9]+$'""",
    )
    listed = list_names(sql, "select name from content_tables()")

    assert {*tables} == {*listed, *_WITHOUT_CONTENT.split()}
    assert len(tables) == len({*listed}) + len(_WITHOUT_CONTENT.split())
    kinds = list_names(sql, "select kind from content_tables() where kind is not null")
    assert sorted(["space", *kinds]) == sorted(KINDS)
