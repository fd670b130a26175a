"""docs/operations.md on spaces on several machines, held against the catalogue and the SQL files.

Nobody here runs Citus. What its rules ask of a schema is asked of ours all the same, so that a
change which breaks the recipe is noticed when it is made.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import psycopg
import pytest

from tests.support.composition import OPERATIONS
from textrawl.postgres.sql_files import list_folders, read_folder

Sql = psycopg.Connection[Any]

_TITLE = "## When one Postgres is not enough"
_TABLES = """
    select relname::text from pg_class
    where relnamespace = 'textrawl'::regnamespace and relkind = 'r'
"""
# What must hold the distribution column: unique indexes, and references to what is distributed.
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
_CHANGE = r"(?:insert into|update|delete from)"
_NAMED = re.compile(r"\b(?:from|join|into|update|using)\s+(?:textrawl\.)?(\w+)\b(?!\()")


@pytest.fixture(autouse=True)
def _with_a_model(sql: Sql) -> None:
    """There is a table for each model."""
    sql.execute("select register_embedding_model('test:model', 8)")


@cache
def read_recipe() -> str:
    """The section of the page."""
    [section] = re.findall(
        rf"^{_TITLE}\n(.*?)(?=^## |\Z)", OPERATIONS.read_text(), re.MULTILINE | re.DOTALL
    )
    return section


def read_names(beginning: str) -> list[str]:
    """Names in the point of the section that begins so."""
    [point] = re.findall(rf"^- {beginning}(.*?)(?=^- |^$)", read_recipe(), re.MULTILINE | re.DOTALL)
    return re.findall(r"`(\w+)`", point)


def read_rows() -> Iterator[tuple[list[str], list[str]]]:
    """What the table of the section says: functions, and the distributed tables they touch."""
    for row in re.findall(r"^\| (`.*)\|$", read_recipe(), re.MULTILINE):
        functions, tables, _ = row.split("|")
        yield re.findall(r"`(\w+)`", functions), re.findall(r"`(\w+)`", tables)


@cache
def read_functions() -> dict[str, str]:
    """Texts of all functions and views without comments."""
    return {
        name: re.sub(r"--[^\n]*|comment on .*?';\n", "", text, flags=re.DOTALL)
        for name, text in read_folder(*list_folders(), "views").items()
    }


def find_calls(function: str) -> set[str]:
    """A function and all functions and views that it asks, however far."""
    texts, found, left = read_functions(), set[str](), [function]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            called = [*re.findall(r"(\w+)\(", texts[name]), *_NAMED.findall(texts[name])]
            left += {word for word in called if word in texts}
    return found


def find_tables(function: str, known: list[str]) -> set[str]:
    """Those of the known tables that a function reads or writes."""
    found = set[str]()
    for name in find_calls(function):
        text = read_functions()[name]
        found |= {table for table in _NAMED.findall(text) if table in known}
        if "'embedding_' ||" in text:
            found.add("embedding_N")
    return found & set(known)


def list_tables(sql: Sql) -> set[str]:
    tables = {str(name) for (name,) in sql.execute(_TABLES).fetchall()}
    assert "embedding_1" in tables
    return tables - {"embedding_1"} | {"embedding_N"}


def test_every_table_is_distributed_or_on_every_node_or_on_one(sql: Sql) -> None:
    named = [
        *read_names("distributed by `space_id`, together:"),
        *read_names("on every node"),
        *read_names("on the coordinator alone:"),
    ]

    assert sorted(named) == sorted(list_tables(sql))


def test_every_key_of_a_distributed_table_holds_the_space(sql: Sql) -> None:
    distributed = read_names("distributed by `space_id`, together:")
    wrong = list[str]()
    for table, key, target, columns in sql.execute(_KEYS).fetchall():
        here, there = (re.sub(r"_\d+$", "_N", name) in distributed for name in (table, target))
        if there and ("space_id" not in columns or not here):
            wrong.append(f"{table} {key}")

    assert len(distributed) > 10
    assert wrong == []


def test_numbers_that_a_distributed_table_gives_are_large_ones(sql: Sql) -> None:
    """Citus gives each node a range of its own, which only a bigint has room for."""
    distributed = read_names("distributed by `space_id`, together:")
    given = sql.execute("""
        select table_name, column_name, data_type from information_schema.columns
        where table_schema = 'textrawl' and is_identity = 'YES'""").fetchall()

    kinds = {(table, column): kind for table, column, kind in given if table in distributed}
    assert len(kinds) >= 3
    assert set(kinds.values()) == {"bigint"}


def test_the_page_says_what_every_function_that_a_server_calls_touches(sql: Sql) -> None:
    distributed = read_names("distributed by `space_id`, together:")
    rows = list(read_rows())
    granted = sql.execute("""
        select distinct proname::text from pg_proc
        where pronamespace = 'textrawl'::regnamespace
        and has_function_privilege('textrawl_app', oid, 'execute')""").fetchall()

    assert sorted(name for names, _ in rows for name in names) == sorted(n for (n,) in granted)
    said = {tuple(functions): sorted(tables) for functions, tables in rows}
    assert said == {
        functions: sorted(set[str]().union(*(find_tables(name, distributed) for name in functions)))
        for functions in said
    }


def test_the_page_names_what_has_to_be_written_anew() -> None:
    distributed = read_names("distributed by `space_id`, together:")
    changing = re.compile(rf"\bas (?:not )?(?:materialized )?\(\s*{_CHANGE}\b")
    writing = [
        name for name, text in read_functions().items()
        if changing.search(text) and find_tables(name, distributed)
    ]  # fmt: skip

    assert sorted(read_names("one statement that changes several tables")) == sorted(writing)
