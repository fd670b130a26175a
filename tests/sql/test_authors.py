"""Whether a space has several authors, and which facts are from chosen authors."""

from typing import Any

import psycopg

from tests.sql.story import ask, tell
from tests.support.sharing import call, issue, refuse

Sql = psycopg.Connection[Any]


def hand_over(sql: Sql, fact: str, author: str) -> None:
    """Let somebody else be the author of a fact."""
    sql.execute(
        "update observation set author_id = register_actor(%s) where id = %s", (author, fact)
    )


def count_authors(sql: Sql) -> dict[str, bool]:
    return dict(ask(sql, "select name, has_several_authors(id) from space"))


def test_a_space_has_several_authors_from_the_first_fact_of_another_on(sql: Sql) -> None:
    sql.execute("select create_space('other')")
    tell(sql, "Ada", "drinks tea")
    second = tell(sql, "Ada", "lives in Riga")
    before = count_authors(sql)

    hand_over(sql, second, "tom")
    tell(sql, "Ada", "lives in Oslo", replaces=second)  # facts that have ended count too

    assert before == {"default": False, "other": False}
    assert count_authors(sql) == {"default": True, "other": False}
    assert ask(sql, "select distinct several_authors from search_memory('tea Riga Oslo')") == [
        (True,)
    ]
    assert ask(sql, "select distinct several_authors from digest_memory()") == [(True,)]


def test_two_entries_of_an_index_tell_whether_there_are_several_authors(sql: Sql) -> None:
    """A space with one author has the longest row of equal entries."""
    tell(sql, "Ada", "drinks tea")
    sql.execute(
        "insert into observation (space_id, entity_id, entity_type, content, content_hash, source,"
        " author_id, tool, fts) select space_id, entity_id, entity_type, 'fact ' || n,"
        " md5('fact ' || n)::uuid, source, author_id, tool, '' from observation,"
        " generate_series(1, 5000) n"
    )
    sql.execute("vacuum analyze observation")
    count_authors(sql)  # what is read only once in a session

    [(plan,)] = sql.execute(
        "explain (analyze, buffers, timing off, costs off, format json)"
        " select has_several_authors(default_space())"
    ).fetchall()

    assert plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"] < 40
    [(uses,)] = ask(sql, "select pg_stat_get_xact_numscans('observation_author_idx'::regclass)")
    assert uses >= 2


def test_facts_of_chosen_authors_are_found_only_in_readable_spaces(sql: Sql) -> None:
    sql.execute("select create_space('other')")
    mine, theirs = tell(sql, "Ada", "drinks tea"), tell(sql, "Ada", "drinks coffee")
    hand_over(sql, theirs, "tom")
    member = issue(sql, "ada", "default", ["read", "write"])
    stranger = issue(sql, "sam", "other", ["read", "write"])
    facts = [mine, theirs]
    hand_over(sql, mine, "ada")

    def choose(**given: Any) -> list[str]:
        return [str(row[0]) for row in call(sql, "facts_from_authors", facts=facts, **given)]

    assert sorted(choose(credential=member)) == sorted(facts)
    assert choose(credential=member, authors=["tom", "nobody"]) == [theirs]
    assert choose(credential=member, members=True) == [mine]
    assert choose(credential=stranger) == []
    assert refuse(sql, "facts_from_authors", facts=facts, credential=b"x" * 32) == "TR010"


def test_many_facts_of_others_do_not_push_the_chosen_out_of_a_digest(sql: Sql) -> None:
    fact = tell(sql, "Ada", "drinks tea", type="concept")
    issue(sql, "tom", "default", ["read", "write"])
    hand_over(sql, fact, "tom")
    for number in range(60):
        hand_over(sql, tell(sql, f"Thing {number}", f"is number {number}"), "bot")
    for column in ("authors => array['tom']", "members => true"):
        found = sql.execute(f"select content from digest_memory({column})".encode()).fetchall()  # noqa: S608

        assert found == [("drinks tea",)]
