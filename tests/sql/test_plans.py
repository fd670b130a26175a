"""A search among 100,000 facts reads indexes and the facts that it looks at, and no whole table.

Scans are counted by Postgres itself (pg_stat_get_xact_numscans), since what EXPLAIN would show is
inside functions.
"""

from collections.abc import Iterator
from typing import Any, LiteralString

import psycopg
import pytest

from textrawl.embedded.postmaster import OWNER

Sql = psycopg.Connection[Any]

FACTS = 100_000

_FILL = """
    insert into space (name) values ('small');
    select register_embedding_model('test:space', 8);
    insert into actor (name) values ('loader');
    insert into entity (space_id, name, name_key, entity_type, fts)
        select s.id, 'name' || n, 'name' || n, case when n = 7 then 'location' else 'person' end, ''
        from space s, generate_series(1, 1000) n;
    insert into observation (space_id, entity_id, entity_type, content, content_hash, source,
                             author_id, tool, fts)
        select e.space_id, e.id, e.entity_type, text, md5(text)::uuid, 'note',
            (select id from actor where name = 'loader'), 'sql',
            array_to_tsvector(array['~s' || e.space_id]) || to_tsvector('english', text)
        from entity e cross join lateral (
            select format('common word%s kind%s rare%s %s', n % 10, n % 23,
                          e.name_key::text || n, e.name) as text
            from generate_series(1, case e.space_id when 1 then 98 else 2 end) n) fact;
    drop index embedding_1_vector_idx;
    insert into embedding_1 (space_id, observation_id, vector)
        select o.space_id, o.id, (
            select array_agg(hashint4extended(hashtext(o.content), n) % 1000)::real[]
            from generate_series(1, 8) n)::vector::halfvec
        from observation o;
    create index embedding_1_vector_idx on embedding_1
        using hnsw (vector halfvec_cosine_ops) with (m = 4, ef_construction = 8);
    vacuum analyze;
    select refresh_search_statistics(true);
"""

_SCANS = """
    select relname, pg_stat_get_xact_numscans(oid) from pg_class
    where relnamespace = 'textrawl'::regnamespace and relkind in ('r', 'i')
      and (relname like 'observation%' or relname like 'embedding_1%')
"""


@pytest.fixture(scope="module")
def sql(postgres: Any) -> Iterator[Sql]:
    """As the owner, in a database of 98,000 facts in one space and 2,000 in another."""
    with (
        postgres.create("migrated") as name,
        psycopg.connect(postgres.cluster.dsn(OWNER, name), autocommit=True) as connection,
    ):
        connection.execute("set search_path = textrawl, public")
        for statement in _FILL.split(";\n"):
            connection.execute(statement)  # pyright: ignore[reportArgumentType, reportCallIssue]
        yield connection


def count_scans(sql: Sql, query: str, **named: Any) -> dict[str, int]:
    """Return how often a search scans each index and (by its name) each whole table."""
    model = {"model": 1, "vector": "[1,2,3,4,5,6,7,8]"} | named
    given: LiteralString = ", ".join(f"{name} => %({name})s" for name in model)  # pyright: ignore[reportAssignmentType]
    search: LiteralString = f"select from search_memory(%(query)s, {given})"
    found, scans = call_counted(sql, search, {"query": query, **model})
    assert len(found) == 10
    return scans


def call_counted(
    sql: Sql, statement: LiteralString, given: dict[str, Any]
) -> tuple[list[Any], dict[str, int]]:
    """The rows of a statement, and the scans that it needed."""
    with sql.transaction():
        before = dict(sql.execute(_SCANS).fetchall())
        rows = sql.execute(statement, given).fetchall()
        after = dict(sql.execute(_SCANS).fetchall())
    scans = {name: count - before[name] for name, count in after.items() if count > before[name]}
    return rows, scans


WORDS, VECTORS = "observation_fts_idx", "embedding_1_vector_idx"
OWN = "embedding_1_space_1_idx"
BY_TYPE = "observation_type_idx"
NEWEST = BESIDE = "observation_ordinal_idx"
BY_DAY, BY_BEGIN = "observation_said_at_idx", "observation_valid_from_idx"
AUTHORS = "observation_author_idx"  # whether the spaces of an answer have several authors
BY_KEY = {"observation_pkey", "embedding_1_pkey", BESIDE, AUTHORS}


@pytest.mark.slow
def test_a_search_of_a_large_space_reads_both_indexes_and_no_whole_table(sql: Sql) -> None:
    scans = count_scans(sql, "common word3 rarename12", spaces=[1])

    assert scans[WORDS] == scans[VECTORS] == 1
    assert scans.keys() <= {WORDS, VECTORS, *BY_KEY}


def test_a_search_of_a_small_space_asks_its_own_vectors_and_not_the_index_of_all(sql: Sql) -> None:
    scans = count_scans(sql, "common word1", spaces=[2])

    assert VECTORS not in scans
    # Facts of a space are counted by whatever index begins with it.
    assert scans.keys() <= {WORDS, BY_TYPE, BY_DAY, BY_BEGIN, *BY_KEY}


def test_a_search_of_a_short_period_compares_its_own_vectors(sql: Sql) -> None:
    with sql.transaction(force_rollback=True):
        sql.execute(
            "update observation set said_at = '2023-05-08' where entity_id in ("
            "select id from entity where space_id = 1 and name like 'name1%')"
        )
        period = {"spaces": [1], "since": "2023-05-01", "until": "2023-05-31"}
        short = count_scans(sql, "common word1", **period)
        long = count_scans(sql, "common word1", spaces=[1], since="2023-05-01")

    assert VECTORS not in short
    assert short.keys() <= {WORDS, BY_DAY, *BY_KEY}
    assert VECTORS in long
    assert long.keys() <= {WORDS, BY_DAY, VECTORS, *BY_KEY}


def test_a_search_of_a_few_facts_of_a_small_space_does_not_look_up_the_others(sql: Sql) -> None:
    with sql.transaction(force_rollback=True):
        sql.execute(
            "update observation set said_at = '2023-05-08' where entity_id in ("
            "select id from entity where space_id = 2 and name ~ '^name1[0-4][0-9]$')"
        )
        query = {"spaces": [2], "since": "2023-05-01", "until": "2023-05-31"}
        scans = count_scans(sql, "whatever", semantic=True, **query)

    assert sum(scans.values()) < 200  # of 2000 facts


def test_a_search_of_a_space_with_an_index_of_its_own_reads_that_alone(sql: Sql) -> None:
    with sql.transaction(force_rollback=True):
        sql.execute(f"""
            create index {OWN} on embedding_1 using hnsw (vector halfvec_cosine_ops)
            with (m = 4, ef_construction = 8) where space_id = 1""")
        alone = count_scans(sql, "common word3 rarename12", spaces=[1])
        both = count_scans(sql, "common word3 rarename12", spaces=[1, 2])
        rare = count_scans(sql, "common word1", spaces=[1], entity_types=["location"])

    assert alone[OWN] == 1
    assert alone.keys() <= {WORDS, OWN, *BY_KEY}
    assert VECTORS in both
    assert OWN not in both.keys() | rare.keys()


def test_a_search_of_a_rare_type_compares_its_own_vectors(sql: Sql) -> None:
    scans = count_scans(sql, "common word1", spaces=[1], entity_types=["location"])

    assert BY_TYPE in scans
    assert scans.keys() <= {WORDS, BY_TYPE, BY_DAY, BY_BEGIN, *BY_KEY}


def test_a_search_of_all_spaces_by_meaning_alone_reads_the_index_of_vectors(sql: Sql) -> None:
    scans = count_scans(sql, "whatever", semantic=True)

    assert scans.keys() <= {VECTORS, *BY_KEY}


def test_words_that_stand_in_every_fact_do_not_read_them_all(sql: Sql) -> None:
    fetched = "select sum(pg_stat_get_xact_tuples_fetched(oid)) from pg_class where relname = %s"
    with sql.transaction():
        [[before]] = sql.execute(fetched, ("observation",)).fetchall()
        scans = count_scans(sql, "common", model=None, vector=None)
        [[after]] = sql.execute(fetched, ("observation",)).fetchall()

    assert after - before < FACTS / 20
    assert scans.keys() <= {NEWEST, *BY_KEY}


def test_of_facts_that_all_have_the_word_the_newest_are_found(sql: Sql) -> None:
    [(newest,)] = sql.execute("select max(ordinal) from observation").fetchall()

    found = sql.execute(
        "select ordinal from search_memory('common') join observation on id = observation_id"
    ).fetchall()

    assert len(found) == 10
    assert min(found)[0] > newest - 2000


def test_a_word_that_nobody_knows_does_not_hide_those_that_many_facts_have(sql: Sql) -> None:
    found = sql.execute("select content from search_memory('unheard word3')").fetchall()

    assert len(found) == 10
    assert all("word3" in content for (content,) in found)


def test_of_words_that_thousands_of_facts_have_those_with_both_are_all_looked_at(sql: Sql) -> None:
    both = {"word3", "kind7"}

    found = sql.execute("select content from search_memory('word3 kind7', max_rows => 800)")

    assert sum(both <= set(content.split()) for (content,) in found) == 800


def test_words_that_many_facts_have_elsewhere_select_in_a_space_where_few_do(sql: Sql) -> None:
    with sql.transaction(force_rollback=True):
        for fact in ("kind5 alone", "kind6 alone"):
            sql.execute("select remember_fact('name1', 'person', %s, space => 2)", (fact,))
        sql.execute("select refresh_search_statistics(true)")
        search = "select content from search_memory('kind5 kind6', spaces => array[2])"
        found = {content for (content,) in sql.execute(search)}

    assert found == {"kind5 alone", "kind6 alone"}


def test_a_list_of_entities_at_a_time_does_not_look_up_the_facts_of_each(sql: Sql) -> None:
    query = "select total from list_entities(as_of => %(as_of)s)"

    assert call_counted(sql, query, {"as_of": "infinity"})[0] == [(2000,)]
    rows, scans = call_counted(sql, query, {"as_of": "2001-01-01"})

    assert rows == [(0,)]
    assert sum(scans.values()) < 100  # of 2000 entities
