"""Rules that every table follows, so that a memory can be distributed by space."""

import re
from typing import Any

import psycopg
import pytest

from textrawl.cluster.layout import DIRECTORY, OF_CELLS, OF_NODES, OPEN

Sql = psycopg.Connection[Any]

_TABLES = """
    select c.relname::text, c.relrowsecurity, exists (
        select from pg_attribute a where a.attrelid = c.oid and a.attname = 'space_id')
    from pg_class c where c.relnamespace = 'textrawl'::regnamespace and c.relkind = 'r'
"""
# A distributed table needs the distribution column in unique indexes and in references to it.
_KEYS = """
    select indrelid::regclass::text, indexrelid::regclass::text, indrelid::regclass::text,
        array(select attname::text from pg_attribute
              where attrelid = indrelid and attnum = any(indkey::smallint[]))
    from pg_index where indisunique
        and indrelid in (select oid from pg_class where relnamespace = 'textrawl'::regnamespace)
    union all
    select conrelid::regclass::text, conname::text, confrelid::regclass::text,
        array(select attname::text from pg_attribute
              where attrelid = conrelid and attnum = any(conkey))
    from pg_constraint where contype = 'f' and connamespace = 'textrawl'::regnamespace
"""


@pytest.fixture(autouse=True)
def _with_a_model(sql: Sql) -> None:
    """There is a table for each model."""
    sql.execute("select register_embedding_model('test:model', 8)")


def list_content(sql: Sql) -> set[str]:
    """The tables that are distributed by space."""
    tables = {str(name) for name, *_ in sql.execute(_TABLES).fetchall()}
    return tables - {*DIRECTORY, *OF_CELLS, *OF_NODES}


def test_every_other_table_has_the_space_of_its_rows(sql: Sql) -> None:
    content = list_content(sql)
    spaceless = [name for name, _, has_space in sql.execute(_TABLES) if not has_space]

    assert content & set(spaceless) == set()
    assert len(content) > 10


def test_tables_without_row_level_security_belong_to_no_space(sql: Sql) -> None:
    """Cells show the other tables with the rights of their reader."""
    unprotected = {name for name, protected, _ in sql.execute(_TABLES) if not protected}

    assert unprotected == {*OPEN, *OF_CELLS}


def test_every_key_of_a_distributed_table_holds_the_space(sql: Sql) -> None:
    content = list_content(sql)
    wrong = [
        f"{table} {key}"
        for table, key, target, columns in sql.execute(_KEYS).fetchall()
        if target in content and ("space_id" not in columns or table not in content)
    ]

    assert wrong == []


def test_every_distributed_table_has_a_primary_key(sql: Sql) -> None:
    """A move of a cell while it is used finds changed rows by it."""
    keyed = {
        str(name)
        for (name,) in sql.execute(
            "select indrelid::regclass::text from pg_index where indisprimary"
        ).fetchall()
    }

    assert list_content(sql) - keyed == set()


def test_a_key_deletes_its_rows_or_sets_null(sql: Sql) -> None:
    """Cells add these keys to their shards. Citus refuses them because of their action."""
    actions = sql.execute("""
        select pg_get_constraintdef(oid) from pg_constraint
        where contype = 'f' and connamespace = 'textrawl'::regnamespace""").fetchall()

    found = {match for (text,) in actions for match in re.findall(r"ON DELETE (\w+ ?\w*)", text)}
    assert found <= {"CASCADE", "SET NULL", "RESTRICT"}
