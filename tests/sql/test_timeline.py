"""space_timeline reads by indexes what happened last, or in some days, in a large space."""

from typing import Any, LiteralString

import psycopg

Sql = psycopg.Connection[Any]

_FILL: LiteralString = """
    insert into actor (name) values ('loader');
    insert into entity (space_id, name, name_key, entity_type, fts)
        select 1, 'name' || n, 'name' || n, 'person', '' from generate_series(1, 200) n;
    alter table observation disable trigger user;
    insert into observation (space_id, entity_id, entity_type, content, content_hash, source,
                             author_id, tool, fts, valid_from, created_at, said_at, valid_until,
                             ordinal)
        select 1, e.id, 'person', 'fact ' || n, md5(n::text)::uuid, 'note',
            (select id from actor where name = 'loader'), 'sql', '', t.at, t.at, t.at,
            case when n % 5 = 0 then t.at + interval '1 day' end, n
        from entity e cross join generate_series(1, 100) n
        cross join lateral (
            select timestamptz '2024-01-01' + make_interval(mins => n * 1000)
                + random() * interval '1 day' as at) t;
    alter table observation enable trigger user;
    analyze;
"""
_SCANS: LiteralString = """
    select relname, pg_stat_get_xact_numscans(oid) from pg_class
    where relnamespace = 'textrawl'::regnamespace and relname like 'observation%'
      and relkind in ('r', 'i')
"""


_CALLS: tuple[LiteralString, ...] = (
    "space_timeline()",
    "space_timeline(until => '2024-02-01')",
    "space_timeline(since => '2024-02-01', until => '2024-02-10')",
    "space_timeline('loader')",
    "space_timeline(entity => 'name7')",
)


def test_a_timeline_reads_indexes_and_never_all_facts(sql: Sql) -> None:
    for statement in _FILL.split(";\n"):
        sql.execute(statement)
    for call in _CALLS:
        with sql.transaction():
            before = dict(sql.execute(_SCANS).fetchall())
            found = sql.execute(f"select from {call}").fetchall()
            after = dict(sql.execute(_SCANS).fetchall())
        assert (len(found), after["observation"] - before["observation"]) == (50, 0), call
