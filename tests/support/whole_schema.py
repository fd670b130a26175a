"""The schema `whole` of a coordinator: the content of all cells as tables of one database.

Its tables, views and functions have the names of those in the schema textrawl. Tables read the
distributed tables, and write each row in its cell. Functions are called in the cell of their space,
or in all cells.
"""

import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString, cast

import psycopg
from psycopg import sql

from tests.support.cluster import ClusterMemory, ClusterNode
from textrawl.cluster.planning import Route, find_route
from textrawl.embedded.postmaster import OWNER, SUPERUSER
from textrawl.postgres.sql_files import list_folders, order_functions, read_folder

_FILE = Path(__file__).with_suffix(".sql")
# They answer with one row, whether it is of one cell or of all.
_OF_ONE_ROW = {"extraction_state", "memory_statistics", "pending_embeddings"}
# A command on a worker tells the words of its error only, so the answer has the other parts.
_ATTEMPT = """
    create function whole.attempt(statement text) returns jsonb
    language plpgsql volatile as $$
    declare
        rows  jsonb;
        state text;
        words text;
        more  text;
    begin
        execute statement into rows;
        return jsonb_build_object('rows', rows);
    exception when others then
        get stacked diagnostics
            state = returned_sqlstate, words = message_text, more = pg_exception_detail;
        return jsonb_build_object('state', state, 'message', words, 'detail', more);
    end
    $$
"""
# They change tables, so WholeSession sends these changes to the cells.
_OF_MODELS = {"drop_embedding_model", "register_embedding_model", "start_embedding_model"}
_SIGNATURES = """
    select p.proname::text, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid),
        p.proretset, r.typtype = 'c',
        coalesce(p.proargnames, '{}'), coalesce(p.proargmodes::text[], '{}'),
        array(
            select format_type(t, null)
            from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) t)
    from pg_proc p join pg_type r on r.oid = p.prorettype
    where p.pronamespace = 'textrawl'::regnamespace and p.proname = any(%s)
      and r.typname <> 'trigger'
"""
_SHOWN = """
    select relname from pg_class where relnamespace = 'whole'::regnamespace and relkind = 'v'
    union select proname from pg_proc where pronamespace = 'whole'::regnamespace
"""


@dataclass(frozen=True)
class _Function:
    """A function that reads or writes content."""

    name: str
    declared: str
    result: str
    is_set: bool
    is_composite: bool
    given: dict[str, str]  # the types of arguments
    returned: dict[str, str]  # the types of columns

    @property
    def _values(self) -> list[str]:
        return [f"${place}" for place in range(1, len(self.given) + 1)]

    def _find_space(self) -> str:
        """SQL for the space in whose cell the function runs; null for all cells."""
        values = dict(zip(self.given, self._values, strict=True))
        for name, kind in self.given.items():
            if kind.endswith("origin"):
                return f"({values[name]}).space_id"
        named = next((name for name in ("space", "graph", "name") if name in self.given), "")
        if self.given.get(named) == "text":
            return f"whole.find_named({values[named]})"
        if named != "space":
            return "null"
        if find_route(self.name, self.given) is not Route.SPACE:
            return values["space"]
        return f"coalesce({values['space']}, whole.find_home({values.get('credential', 'null')}))"

    def _ask(self) -> str:
        """SQL for the rows of the call in a cell, which gets the arguments as text."""
        formats = ", ".join(f"{name} => %L" for name in self.given)
        call = f"{{cell}}.{self.name}({formats})"
        expands = self.is_set or self.returned
        answer = f"select * from {call} value" if expands else f"select {call} as value"  # noqa: S608 - our own names
        values = "".join(f", {value}::text" for value in self._values)
        text = f"select jsonb_agg(to_jsonb(r)) from ({answer}) r"  # noqa: S608 - our own names
        rows = f"whole.ask(format($s${text}$s${values}), {self._find_space()})"
        return f"whole.fold({rows})" if self.name in _OF_ONE_ROW else rows

    def _answer(self) -> str:
        """The statement that answers with these rows."""
        rows = self._ask()
        kind = self.result.removeprefix("SETOF ")
        if self.result == "void":
            return f"select {rows}"
        if self.is_set and self.is_composite and not self.returned:
            return f"select r.* from jsonb_populate_recordset(null::{kind}, {rows}) r"  # noqa: S608 - our own names
        columns = self.returned or {"value": kind}
        listed = ", ".join(f'"{name}" {type_}' for name, type_ in columns.items())
        found = f"select r.* from jsonb_to_recordset({rows}) r ({listed})"  # noqa: S608 - our own names
        if self.is_set or self.returned:
            return found
        return f"{found} where r.value is not null limit 1"

    def compose(self) -> str:
        """SQL that creates the function in the schema `whole`."""
        body = self._answer()
        if find_route(self.name, self.given) is Route.NAMED_TWICE:
            again = f"textrawl.{self.name}({', '.join(self._values)})"
            body = f"select {self._ask()}; select * from {again}"  # noqa: S608 - our own names
        return (
            f"create function whole.{self.name}({self.declared}) returns {self.result} "
            f"language sql volatile as $f$ {body} $f$"
        )


def list_shown(connection: psycopg.Connection) -> frozenset[str]:
    """The names of the tables, views and functions in the schema `whole`."""
    return frozenset(name for (name,) in connection.execute(_SHOWN).fetchall())


def create_whole(memory: ClusterMemory) -> None:
    """Create the schema `whole` on the coordinator, and what it calls on the workers."""
    for node in memory.cluster.workers:
        with _create_schema(memory, node) as connection:
            connection.execute(_ATTEMPT)
    with _create_schema(memory, memory.cluster.coordinator) as connection:
        connection.execute("set search_path = whole, textrawl, public")
        connection.execute(cast("LiteralString", _FILE.read_text("utf-8")))
        connection.execute("reset role")
        for function in ("show_tables", "alter_table"):
            connection.execute(f"alter function whole.{function} owner to {SUPERUSER}".encode())
        connection.execute("select whole.show_tables()")
        connection.execute(sql.SQL("set role {}").format(sql.Identifier(OWNER)))
        functions = _list_functions(connection)
        for function in functions:
            connection.execute(cast("LiteralString", function.compose()))
        _create_views(connection)


@contextmanager
def _create_schema(memory: ClusterMemory, node: ClusterNode) -> Generator[psycopg.Connection[Any]]:
    with memory.open(SUPERUSER, node) as connection:
        connection.execute("set citus.enable_ddl_propagation = off")
        owner = sql.Identifier(OWNER)
        connection.execute(sql.SQL("create schema whole authorization {}").format(owner))
        connection.execute(sql.SQL("set role {}").format(owner))
        yield connection


def _list_functions(connection: psycopg.Connection) -> list[_Function]:
    rows = connection.execute(_SIGNATURES, (sorted(_find_content_functions(connection)),))
    found: list[_Function] = []
    for name, declared, result, is_set, is_composite, names, modes, kinds in rows.fetchall():
        arguments = list(zip(names, modes or "i" * len(names), kinds, strict=False))
        given = {key: kind for key, mode, kind in arguments if mode in "ib"}
        returned = {key: kind for key, mode, kind in arguments if mode in "ot"}
        if len(returned) == 1 and not is_set:
            returned = {}  # the value itself
        found.append(_Function(name, declared, result, is_set, is_composite, given, returned))
    return found


def _find_content_functions(connection: psycopg.Connection) -> set[str]:
    """The functions that read or write content, themselves or by others that they call."""
    texts = read_folder(*list_folders())
    query = (
        "select relname from pg_class where relnamespace = 'whole'::regnamespace and relkind = 'v'"
    )
    tables = {name for (name,) in connection.execute(query).fetchall()} | {"fact", "stale_fact"}
    words = "|".join(tables)
    reads = re.compile(
        rf"\b(?:from|join|into|update|on|table)\s+(?:only\s+)?(?:textrawl\.)?(?:{words}|embedding_?)\b"
    )
    found = {name for name, text in texts.items() if reads.search(text)}
    while more := {
        name
        for name, text in texts.items()
        if name not in found and found & set(re.findall(r"\b(\w+)\(", text))
    }:
        found |= more
    directory = {name for name in found if find_route(name, ()) is Route.DIRECTORY}
    return found - directory - _OF_MODELS


def _create_views(connection: psycopg.Connection) -> None:
    """Create the views of the memory over the tables in `whole`."""
    texts = read_folder("shared") | read_folder("views")
    views: dict[str, LiteralString] = {
        name: text.partition("\ncomment on")[0]
        for name, text in texts.items()
        if text.startswith("create view")
    }
    for name in order_functions(views):
        connection.execute(cast("LiteralString", re.sub(r"\btextrawl\.", "", views[name])))
