"""Pages of entities, over one space and over many."""

from typing import Any

import psycopg
from hypothesis import given
from hypothesis import strategies as st

Sql = psycopg.Connection[Any]

_FILL = """
    insert into space (name) values ('one'), ('two'), ('three');
    insert into entity (space_id, name, name_key, entity_type, fts, updated_at)
    select s.id, 'n' || n, 'n' || n, (array['person', 'project'])[n % 2 + 1], '',
        '2026-01-01'::timestamptz + (n * 7919 + s.id * 104729) % 40 * interval '1 day'
    from space s, generate_series(1, 12) n
"""
_PAGE = """
    select total, array(select (value ->> 'space') || '/' || (value ->> 'name')
                        from jsonb_array_elements(entities))
    from list_entities(entity_types => %s, max_rows => %s, skip => %s)
"""
_ALL = """
    select s.name || '/' || e.name from entity e join space s on s.id = e.space_id
    where %s::text[] is null or e.entity_type = any(%s) order by e.updated_at desc, e.id
"""


@given(
    st.sampled_from([None, ["person"], ["person", "project"]]),
    st.integers(1, 50),
    st.integers(0, 60) | st.just(2**31 - 1),
)
def test_a_page_over_many_spaces_is_a_piece_of_the_list_of_all_entities_last_updated_first(
    sql: Sql, types: list[str] | None, rows: int, skip: int
) -> None:
    with sql.transaction(force_rollback=True):
        sql.execute(_FILL.encode())
        everything = [name for (name,) in sql.execute(_ALL, (types, types)).fetchall()]

        [(total, page)] = sql.execute(_PAGE, (types, rows, skip)).fetchall()

    assert total == len(everything)
    assert page == everything[skip : skip + rows]
