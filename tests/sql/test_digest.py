"""Digests, lists and timelines."""

from typing import Any, LiteralString

import psycopg
from hypothesis import given
from hypothesis import strategies as st

from tests.sql.story import Ids, ask, tell

Sql = psycopg.Connection[Any]


def digest(sql: Sql, project: str | None = None, **more: object) -> list[tuple[str, str]]:
    names = "".join(f", {name} => %({name})s" for name in more)
    query = f"select section, content from digest_memory(%(project)s{names})"  # noqa: S608
    return sql.execute(query.encode(), {"project": project, **more}).fetchall()


def test_the_project_comes_first_then_questions_preferences_and_people(sql: Sql) -> None:
    tell(sql, "Coffee", "is drunk in the kitchen", type="concept")
    tell(sql, "Ada", "leads QA", type="person")
    tell(sql, "Editor", "is Vim", type="preference")
    tell(sql, "Release", "who signs it?", type="concept")
    tell(sql, "Billing Service", "stores amounts in cents", type="project")

    assert digest(sql, "billing service") == [
        ("project", "stores amounts in cents"),
        ("question", "who signs it?"),
        ("preference", "is Vim"),
        ("person", "leads QA"),
        ("recent", "is drunk in the kitchen"),
    ]


def test_a_project_is_found_by_the_words_of_its_name(sql: Sql) -> None:
    tell(sql, "Billing Service v2", "runs on Postgres", type="concept")
    tell(sql, "Search Service", "runs on Lucene", type="concept")

    assert digest(sql, "billing-service")[0] == ("project", "runs on Postgres")
    assert digest(sql, "Lucene %_' | service")[0][0] == "recent"


def test_facts_that_ended_and_long_facts_are_left_out(sql: Sql) -> None:
    first = tell(sql, "Ada", "lives in Oslo", type="person")
    tell(sql, "Ada", "lives in Riga", type="person", replaces=first)
    tell(sql, "Ada", "x" * 301, type="person")

    assert digest(sql) == [("person", "lives in Riga")]


def test_one_entity_does_not_fill_the_digest(sql: Sql) -> None:
    for number in range(30):
        tell(sql, "Log", f"line {number}", type="concept")
    tell(sql, "Ada", "leads QA", type="person")

    assert len(digest(sql)) == 4
    assert len(digest(sql, "log", max_rows=12)) == 12


def test_after_a_change_a_fact_that_is_often_recalled_comes_before_newer_facts(sql: Sql) -> None:
    old = tell(sql, "Deployment", "is done on Mondays", type="concept")
    for number in range(60):
        tell(sql, f"Thing {number}", f"is number {number}", type="concept")
    age = "update observation set (created_at, valid_from) = (now() - interval '400 days',"
    sql.execute(f"{age} now() - interval '400 days') where id = %s", (old,))
    sql.execute(
        "insert into recall (space_id, at, mode, facts, format, structured, tokens, budget, items, "
        "dropped) select default_space(), now(), 'search', array[%s]::uuid[], 'compact', false, 1, "
        "1, 1, 0 "
        "from generate_series(1, 20)",
        (old,),
    )
    before = digest(sql)
    tell(sql, "Thing 60", "is number 60", type="concept")

    facts = digest(sql)

    assert before[0] == ("recent", "is number 59")
    assert facts[0] == ("recalled", "is done on Mondays")
    assert len(facts) == 40


def test_a_memory_without_facts_has_an_empty_digest(sql: Sql) -> None:
    assert digest(sql, "anything") == []
    assert digest(sql) == []


def test_preferences_names_and_work_of_the_caller_stay_before_newer_facts(sql: Sql) -> None:
    lasting = ("prefers short answers", "is called Adi by friends", "has to renew her passport")
    for fact in lasting:
        tell(sql, "Ada", fact)
    for number in range(30):
        tell(sql, "Ada", f"visited town {number}")
    sql.execute("select set_own_entity('Ada')")

    own = [content for section, content in digest(sql) if section == "self"]

    assert set(own[:3]) == set(lasting)
    assert own[3] == "visited town 29"
    kinds = {
        "preference": ("does not eat fish", "möchte Tee", "préfère le thé", "odia el ruido",
                       "お茶が好き"),
        "name": ("is nicknamed Adi", "heißt Ada", "s\u2019appelle Ada", "se llama Ada"),
        "work": ("who signs it?", "is working on Harbour", "muss packen", "doit partir", "debe ir"),
        None: ("lives in Oslo", "leads QA", "unlikely", "premag"),
    }  # fmt: skip
    for kind, texts in kinds.items():
        for text in texts:
            found = sql.execute("select profile_kind(%s)", (text,)).fetchall()
            assert found == [(kind,)], text


_MANY: LiteralString = """
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
    for statement in _MANY.split(";\n"):
        sql.execute(statement)
    for call in _CALLS:
        with sql.transaction():
            before = dict(sql.execute(_SCANS).fetchall())
            found = sql.execute(f"select from {call}").fetchall()
            after = dict(sql.execute(_SCANS).fetchall())
        assert (len(found), after["observation"] - before["observation"]) == (50, 0), call


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


def test_facts_that_mean_the_same_lie_in_one_cell_under_the_name_of_their_entity(
    sql: Sql, vectors: Ids
) -> None:
    sql.execute("update observation set valid_until = null, replaced_by = null, closed_at = null")
    shown = ask(
        sql,
        "select round(at_x::numeric, 1)::float, round(at_y::numeric, 1)::float, facts, entities,"
        " n.name from map_facts('[1,0,0]', '[0,0,1]', 10, 10) m,"
        " entity_names(array[m.space_id], array[m.entity_id]) n",
    )
    sampled = ask(sql, "select count(*) from sample_vectors(2)")

    assert shown == [(0.3, -0.3, 2, 1, "Ada"), (-0.5, 0.5, 1, 1, "Ada")]
    assert (sampled, len(vectors)) == ([(2,)], 3)


def test_each_day_has_its_facts_and_each_author_of_today_what_they_did(
    sql: Sql, story: Ids
) -> None:
    days = ask(sql, "select facts, day = (now() at time zone 'UTC')::date from activity_days(2)")
    authors = ask(sql, "select author, stored, changed from recent_authors(now() - '1h'::interval)")

    assert days[-1] == (2, True)
    assert 8 <= len(days) <= 14
    assert authors == [("textrawl_owner", 2, 1)]
    assert len(story) == 3


def test_a_fact_whose_day_comes_is_in_the_digest_of_that_day(sql: psycopg.Connection) -> None:
    for days, fact in ((0, "hands the keys over"), (1, "moves out"), (-1, "pays the deposit")):
        begin = "valid_from => now() + %s * interval '1 day'"
        sql.execute(f"select remember_fact('Flat', 'project', %s, {begin})", [fact, days])
    sql.execute("update observation set created_at = now() - interval '9 days'")
    for number in range(60):  # newer facts about somebody else
        sql.execute("select remember_fact('Ada', 'person', %s)", [f"knows rule {number}"])

    rows = sql.execute("select section, content from digest_memory() limit 2").fetchall()

    assert rows[0] == ("today", "hands the keys over")
    assert rows[1][0] != "today"
