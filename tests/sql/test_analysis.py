"""Functions that analysts ask, and logins made for them."""

from collections.abc import Generator
from contextlib import contextmanager

import psycopg
import pytest
from psycopg import sql as query
from psycopg.conninfo import make_conninfo

from tests.sql.story import Ids, ask, recall, tell
from tests.support.sharing import log_in
from textrawl.embedded.postmaster import SUPERUSER


def test_facts_like_one_are_found_by_its_id_the_front_of_it_or_its_text(
    sql: psycopg.Connection, vectors: Ids
) -> None:
    known = {
        "id": vectors["riga"],
        "front": vectors["riga"][:8],
        "text": "lives in Riga since 2024",
    }
    sql.execute("update observation set valid_until = null where id = %s", (vectors["oslo"],))
    for way in ("id", "front", "text"):
        [first, *_] = ask(
            sql, "select observation_id::text, cosine from similar_to(%s)", known[way]
        )
        assert first == (vectors["oslo"], pytest.approx(0.995, abs=0.01))


def test_facts_like_one_are_found_by_words_where_there_are_no_vectors(
    sql: psycopg.Connection, story: Ids
) -> None:
    tell(sql, "Cy", "lives in Riga")
    [(content, cosine)] = ask(
        sql, "select content, cosine from similar_to('lives in Riga since 2024', 1)"
    )
    assert (content, cosine) == ("lives in Riga", None)


def test_facts_like_one_that_is_not_there_are_an_error(sql: psycopg.Connection) -> None:
    with pytest.raises(psycopg.Error) as refused:
        sql.execute("select * from similar_to('lives on the moon')")
    assert refused.value.sqlstate == "TR001"


def test_the_context_of_an_entity_reads_from_top_to_bottom(
    sql: psycopg.Connection, story: Ids
) -> None:
    assert ask(sql, "select kind, told from entity_context('  ADA ')") == [
        ("entity", "Ada (person)"),
        ("fact", "drinks tea"),
        ("fact", "lives in Riga since 2024"),
        ("relation", "<-knows- Bo"),
        ("former", "lives in Oslo since 2019 (now: lives in Riga since 2024)"),
    ]
    assert ask(sql, "select * from entity_context('nobody')") == []


def test_neighbours_are_told_once_with_a_shortest_way_also_in_circles(
    sql: psycopg.Connection, story: Ids
) -> None:
    sql.execute(
        "select relate_entities('Ada', 'likes', 'Cy'), relate_entities('Cy', 'asks', 'Ada')"
    )
    assert ask(sql, "select depth, entity_name, way from neighbours('Ada', depth => 6)") == [
        (1, "Bo", "Ada <-knows- Bo"),
        (1, "Cy", "Ada -likes-> Cy"),
    ]


def test_depth_and_rows_bound_the_neighbours(sql: psycopg.Connection, story: Ids) -> None:
    assert ask(sql, "select entity_name from neighbours('Ada')") == [("Bo",)]
    assert ask(sql, "select entity_name from neighbours('Ada', 2)") == [("Bo",), ("Cy",)]
    assert ask(sql, "select entity_name from neighbours('Ada', 2, max_rows => 1)") == [("Bo",)]


def test_relations_that_ended_lead_nowhere(sql: psycopg.Connection, story: Ids) -> None:
    sql.execute("update relation set valid_until = now() where relation_type = 'knows'")
    assert ask(sql, "select * from neighbours('Ada')") == []
    assert ask(sql, "select * from path_between('Ada', 'Bo')") == []


def test_a_path_is_a_shortest_one_and_tells_which_way_each_relation_points(
    sql: psycopg.Connection, story: Ids
) -> None:
    sql.execute("select relate_entities('Cy', 'drives', 'Dacia', null, 'concept')")
    sql.execute("select relate_entities('Dacia', 'made_in', 'Romania', null, 'location')")
    query = "select step, entity_name, relation_type, leads, next_entity from path_between(%s, %s)"
    assert ask(sql, query, "Ada", "Romania") == [
        (1, "Ada", "knows", False, "Bo"),
        (2, "Bo", "works_with", True, "Cy"),
        (3, "Cy", "drives", True, "Dacia"),
        (4, "Dacia", "made_in", True, "Romania"),
    ]
    sql.execute("select relate_entities('Romania', 'home_of', 'Ada')")
    assert ask(sql, query, "Ada", "Romania") == [(1, "Ada", "home_of", False, "Romania")]
    assert ask(sql, query, "Ada", "nobody") == []


def test_a_path_longer_than_asked_for_is_not_found(sql: psycopg.Connection) -> None:
    for number in range(9):
        sql.execute(
            "select relate_entities(%s, 'next', %s, 'concept', 'concept')",
            (f"N{number}", f"N{number + 1}"),
        )
    for longest in (3, 4, 7, 8):
        for steps in (longest, longest + 1):
            found = ask(
                sql, "select count(*) from path_between('N0', %s, %s)", f"N{steps}", longest
            )
            assert found == [(steps if steps <= longest else 0,)], (longest, steps)


def test_a_moment_in_the_past_shows_what_was_valid_then(
    sql: psycopg.Connection, story: Ids
) -> None:
    query = "select content from as_of(now() - %s * interval '1 day') order by 1"
    assert ask(sql, query, 400) == []
    assert ask(sql, query, 100) == [("lives in Oslo since 2019",)]
    assert ask(sql, "select content from as_of(now()) order by 1") == [
        ("drinks tea",), ("lives in Riga since 2024",)
    ]  # fmt: skip


def test_two_moments_differ_by_what_came_and_what_went(sql: psycopg.Connection, story: Ids) -> None:
    rows = ask(
        sql,
        "select change, content, instead from memory_diff(now() - interval '100 days')"
        " order by change, content",
    )
    assert rows == [
        ("+", "drinks tea", None),
        ("+", "lives in Riga since 2024", None),
        ("-", "lives in Oslo since 2019", "lives in Riga since 2024"),
    ]
    assert ask(sql, "select * from memory_diff(now(), now())") == []


def test_a_report_sums_up_what_the_views_tell(sql: psycopg.Connection, story: Ids) -> None:
    now = sql.execute("select now()").fetchone()
    assert now is not None
    at = now[0].isoformat()
    recall(
        sql,
        at=at,
        query="a?",
        query_hash="a",
        score=0.2,
        hits=1,
        milliseconds=4,
        tokens=30,
        verbose_tokens=60,
    )
    recall(sql, at=at, query="b?", query_hash="b", score=0.9, hits=1, milliseconds=8, tokens=10)
    [row] = ask(
        sql, "select growth, sources, recalls, slowest, stale, unanswered from memory_report(365)"
    )
    growth, sources, recalls, slowest, stale, unanswered = row

    assert sum(week["facts"] for week in growth) == 3
    assert len(growth) in (53, 54)
    assert sources == {"conversation": 3}
    assert (recalls["calls"], recalls["tokens"], recalls["verbose_tokens"]) == (2, 40, 80)
    assert [item["asked"] for item in slowest] == ["b?", "a?"]
    assert stale["reasons"] == {"low confidence": 1}
    assert [item["asked"] for item in unanswered["most"]] == ["a?"]


def test_a_report_of_an_empty_memory_is_empty(sql: psycopg.Connection) -> None:
    [row] = ask(sql, "select authors, recalls, stale, unanswered from memory_report(7)")
    authors, recalls, stale, unanswered = row
    assert (authors, recalls["calls"], recalls["verbose_tokens"]) == ([], 0, None)
    assert (stale["facts"], unanswered["questions"]) == (0, 0)


@contextmanager
def make_analyst(sql: psycopg.Connection, actor: str, *spaces: str) -> Generator[str]:
    """A login that an administrator made; it is gone afterwards."""
    role = f"analyst_{sql.info.backend_pid}"
    dsn = make_conninfo(sql.info.dsn, user=SUPERUSER)
    with psycopg.connect(dsn, autocommit=True) as superuser:
        superuser.execute("set search_path = textrawl, public")
        superuser.execute("select create_analyst(%s, %s, %s)", (role, actor, list(spaces)))
        try:
            yield role
        finally:
            superuser.execute("update actor set role_name = null")
            superuser.execute(query.SQL("drop role {}").format(query.Identifier(role)))


def test_an_analyst_reads_the_given_spaces_alone(sql: psycopg.Connection) -> None:
    sql.execute("insert into space (name) values ('other')")
    tell(sql, "Ada", "drinks tea")
    with make_analyst(sql, "ana", "other") as role, log_in(sql, role) as analyst:
        assert [row[1] for row in ask(analyst, "select * from space")] == ["other"]
        assert ask(analyst, "select * from memory_observations") == []
        for secret in ("secret from receipt_secret", "receipt_key(1)"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), analyst.transaction():
                ask(analyst, f"select {secret}")


def test_an_analyst_has_limits(sql: psycopg.Connection) -> None:
    with make_analyst(sql, "ana", "default") as role:
        [(connections, settings)] = ask(
            sql,
            "select rolconnlimit, array_to_string(rolconfig, ' ') from pg_roles where rolname = %s",
            role,
        )
    assert connections == 5
    for setting in ("default_transaction_read_only=on", "statement_timeout=60s", "lock_timeout=5s"):
        assert setting in settings


def test_an_analyst_that_cannot_be_made_leaves_no_login(sql: psycopg.Connection) -> None:
    roles = ask(sql, "select rolname from pg_roles order by 1")
    dsn = make_conninfo(sql.info.dsn, user=SUPERUSER)
    for login, space, code in (
        ("drop table", "default", "TR070"), ("pg_mine", "default", "TR070"),
        ("textrawl_app", "default", "TR071"), ("nobody_yet", "nowhere", "TR020"),
    ):  # fmt: skip
        with (
            psycopg.connect(dsn, autocommit=True) as superuser,
            pytest.raises(psycopg.Error) as refused,
        ):
            superuser.execute("select textrawl.create_analyst(%s, 'ana', %s)", (login, [space]))
        assert refused.value.sqlstate == code
        assert ask(sql, "select rolname from pg_roles order by 1") == roles


def test_an_analyst_who_also_writes_by_a_token_keeps_that_grant(sql: psycopg.Connection) -> None:
    sql.execute("select grant_access('ana', 'default', array['write', 'forget'])")
    with make_analyst(sql, "ana", "default"):
        [(scopes,)] = ask(sql, "select scopes from list_grants() where actor_name = 'ana'")
    assert sorted(scopes) == ["forget", "read", "write"]


def test_an_owner_who_may_not_make_logins_is_told_so(sql: psycopg.Connection) -> None:
    with pytest.raises(psycopg.Error) as refused:
        sql.execute("select create_analyst('somebody', 'ana', array['default'])")
    assert refused.value.sqlstate == "TR072"
