"""The clock of a database that goes back or forth, without another clock.

All that the clock compares with the present is stored. If every stored time is moved by a year into
the future, the database answers as it would after its clock was set back by a year.
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, LiteralString

import psycopg
from psycopg import sql

# The times of rows, and the columns in which an undo, a merge and the trail keep such times.
_TIMES = """
    select c.table_name, array_agg(c.column_name::text) filter (where c.data_type <> 'jsonb'),
        array_agg(c.column_name::text) filter (where c.data_type = 'jsonb'),
        exists (select from information_schema.columns s where s.table_schema = 'textrawl'
                and s.table_name = c.table_name and s.column_name = 'space_id')
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'textrawl' and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
      and t.table_name not in ('migration', 'code')
      and c.data_type in ('timestamp with time zone', 'jsonb')
    group by c.table_name"""  # noqa: E501
_TRIGGERED = """
    select distinct c.relname::text from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where c.relnamespace = 'textrawl'::regnamespace and not t.tgisinternal"""
_INSTANT = re.compile(r'(?<=")\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)(?=")')


def set_back(
    owner: psycopg.Connection[Any], by: timedelta, spaces: Sequence[int] | None = None
) -> None:
    """Set the clock back by some time, or forth if it is negative, for some spaces or for all."""
    with owner.transaction():
        triggered = owner.execute(_TRIGGERED).fetchall()
        for (table,) in triggered:
            owner.execute(_switch_triggers(table, "disable"))
        for table, times, documents, has_space in owner.execute(_TIMES).fetchall():
            if spaces is not None and not has_space:
                continue
            where = sql.SQL("true")
            if spaces is not None:
                where = sql.SQL("space_id = any({})").format(sql.Literal(list(spaces)))
            name = sql.Identifier("textrawl", table)
            for column in documents or ():
                _move_in_documents(owner, name, sql.Identifier(column), where, by)
            if times:
                changes = sql.SQL(", ").join(
                    sql.SQL("{0} = {0} + {1}").format(sql.Identifier(time), sql.Literal(by))
                    for time in times
                )
                owner.execute(sql.SQL("update {} set {} where {}").format(name, changes, where))
        for (table,) in triggered:
            owner.execute(_switch_triggers(table, "enable"))


def _switch_triggers(table: str, state: LiteralString) -> sql.Composed:
    return sql.SQL("alter table {} {} trigger user").format(
        sql.Identifier("textrawl", table), sql.SQL(state)
    )


def _move_in_documents(
    owner: psycopg.Connection[Any],
    table: sql.Identifier,
    column: sql.Identifier,
    where: sql.Composable,
    by: timedelta,
) -> None:
    def move(found: re.Match[str]) -> str:
        return (datetime.fromisoformat(found.group()) + by).isoformat()

    query = sql.SQL("select ctid, {}::text from {} where {}").format(column, table, where)
    for place, text in owner.execute(query).fetchall():
        if text is not None and (moved := _INSTANT.sub(move, text)) != text:
            change = sql.SQL("update {} set {} = %s::jsonb where ctid = %s").format(table, column)
            owner.execute(change, (moved, place))
