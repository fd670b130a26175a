"""since and until in SQL: no search, look-up or list returns what was said outside the period."""

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

Sql = psycopg.Connection[Any]

_FIRST = datetime(2020, 1, 1, tzinfo=UTC)
_DAYS = 400
_TYPES = ("person", "project", "location")
_FACTS = 120
_FILL = """
    with said as (
        select remember_fact(
            'name' || mod(n, 17), (%(types)s::text[])[1 + mod(mod(n, 17), 3)],
            'tea ' || n || ' word' || mod(n, 5),
            said_at => case when mod(n, 10) > 0
                then %(first)s + mod(n * 37, %(days)s) * interval '1 day' end,
            model => 1, embedding => array[1, mod(n, 7), mod(n, 3)]::real[]::vector::halfvec)
        from generate_series(1, %(facts)s) n)
    select count(*) from said
"""
_SEARCH = """
    select observation_id from search_memory(%(query)s, since => %(since)s, until => %(until)s,
        entity_types => %(types)s, max_rows => %(rows)s, model => %(model)s, vector => %(vector)s,
        semantic => %(semantic)s, around => tstzrange(%(since)s, null))
"""
_OUTSIDE = """
    select content, said_at from observation
    where id = any(%s) and not (said_at >= coalesce(%s, '-infinity'::timestamptz)
                                and said_at <= coalesce(%s, 'infinity'::timestamptz))
"""
_INSIDE = """
    select {} from fact
    where said_at >= coalesce(%(since)s, '-infinity'::timestamptz)
      and said_at <= coalesce(%(until)s, 'infinity'::timestamptz)
"""
_bounds = st.none() | st.integers(-5, _DAYS + 5).map(lambda day: _FIRST + timedelta(days=day))


@pytest.fixture
def filled(sql: Sql) -> Sql:
    sql.execute("select register_embedding_model('test:model', 3)")
    values = {"types": list(_TYPES), "first": _FIRST, "days": _DAYS, "facts": _FACTS}
    assert sql.execute(_FILL, values).fetchone() == (_FACTS,)
    sql.execute("select relate_entities('name1', 'drinks', 'tea')")
    sql.execute("select refresh_search_statistics(true)")
    return sql


@st.composite
def write_search(draw: st.DrawFn) -> dict[str, Any]:
    """Return the arguments of a search in a period, with or without vectors."""
    since, until = draw(_bounds), draw(_bounds)
    if since and until:
        since, until = min(since, until), max(since, until)
    queries = ["tea", "word3", "tea word1", "tea 7", "name3", "nothing of this"]
    mode = draw(st.sampled_from(["words", "hybrid", "semantic"]))
    return {
        "since": since,
        "until": until,
        "query": draw(st.sampled_from(queries)),
        "types": draw(st.none() | st.lists(st.sampled_from(_TYPES), min_size=1, max_size=2)),
        "rows": draw(st.integers(1, 50)),
        "model": None if mode == "words" else 1,
        "vector": None if mode == "words" else "[1,2,1]",
        "semantic": mode == "semantic",
    }


@given(search=write_search())
def test_no_search_returns_what_was_said_outside_the_period(
    filled: Sql, search: dict[str, Any]
) -> None:
    found = [row for (row,) in filled.execute(_SEARCH, search).fetchall()]

    outside = filled.execute(_OUTSIDE, (found, search["since"], search["until"]))
    assert outside.fetchall() == []
    if search["query"] == "tea" and search["types"] is None and search["model"] is None:
        [expected] = filled.execute(_INSIDE.format("count(*)"), search).fetchone() or [0]
        assert min(expected, search["rows"]) <= len(found) <= search["rows"]


@given(since=_bounds, until=_bounds)
def test_look_ups_and_lists_return_exactly_what_was_said_in_the_period(
    filled: Sql, since: datetime | None, until: datetime | None
) -> None:
    period = {"since": since, "until": until}
    listed = """
        select entity ->> 'id' from list_entities(max_rows => 100, since => %(since)s,
            until => %(until)s), jsonb_array_elements(entities) entity"""
    names = {name for (name,) in filled.execute(listed, period).fetchall()}
    inside = filled.execute(_INSIDE.format("entity_id::text, id::text"), period).fetchall()

    if since or until:
        assert names == {entity for entity, _ in inside}
    described = """
        select observations, total_observations from describe_entity('name3',
            max_observations => 100, since => %(since)s, until => %(until)s)"""
    row: Any = filled.execute(described, period).fetchone()
    facts: list[dict[str, Any]] = row[0]
    [owner] = filled.execute("select id::text from entity where name = 'name3'").fetchall()
    mine = {fact for entity, fact in inside if (entity,) == owner}
    assert {fact["id"] for fact in facts} == mine
    assert row[1] == len(mine)


def test_a_period_that_ends_before_it_begins_is_empty(filled: Sql) -> None:
    period = {"since": _FIRST + timedelta(days=9), "until": _FIRST}
    values = dict.fromkeys(("types", "model", "vector"), None)
    search = {"query": "tea", "rows": 50, "semantic": False, **values, **period}
    assert filled.execute(_SEARCH, search).fetchall() == []
