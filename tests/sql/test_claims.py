"""Each fact has its claim, and the claim decides which of two facts holds now."""

from typing import Any

import psycopg

from tests.sql.story import ask, tell
from tests.sql.test_search import add_space, fetch, search

Sql = psycopg.Connection[Any]

_WRONG = """
    select content, claim from observation where whole is null
    and claim is distinct from make_claim(content, space_language(space_id)::text)"""


def test_a_fact_has_its_claim_whichever_way_it_came_in(sql: Sql) -> None:
    ask(sql, "select register_actor('Bo')")
    tell(sql, "Ada", "lives in Oslo")
    tell(sql, "Ada", "moved to Riga", replaces="lives in Oslo")
    ask(sql, """select build_knowledge('[{"entity": "Bo", "observation": "has 2 cats"}]')""")
    ask(sql, "select relate_entities('Bo', 'works at', 'Acme')")
    ask(
        sql,
        """select add_observations('[{"entity": "Bo", "observations": ["prefers tabs"]}]')""",
    )
    ask(sql, "select share_memories('Ada', %s)", add_space(sql, "team"))
    ask(sql, "select merge_entities('Acme', 'Bo')")
    ask(sql, "select split_entity('Bo')")
    author = fetch(sql, "select author from memory_observations limit 1")
    undo = fetch(sql, "select undo_id from undo_author(%s, now() - interval '1 hour', 1)", author)
    ask(sql, "select revert_undo(%s, 1)", undo)

    assert ask(sql, _WRONG) == []
    topics = dict(ask(sql, "select content, claim ->> 'topic' from observation"))
    assert topics == {
        "lives in Oslo": "home", "moved to Riga": "home", "has 2 cats": "has # cat",
        "works at Acme": "work", "prefers tabs": "prefer indent",
    }  # fmt: skip


def test_facts_of_an_older_version_get_their_claims_in_the_background(sql: Sql) -> None:
    tell(sql, "Ada", "lives in Oslo")
    tell(sql, "Ada", "wohnt in Rom")
    sql.execute("update observation set claim = null")
    sql.execute("insert into document_rebuild (space_id, former_languages) values (1, '{english}')")

    while fetch(sql, "select rebuild_documents(1)"):
        assert fetch(sql, "select count(*) from observation") == 2

    assert ask(sql, _WRONG) == []


def test_what_holds_now_comes_before_what_is_over_and_what_has_not_begun(sql: Sql) -> None:
    tell(sql, "Archive", "is based in Mill Lane", valid_from="2019-01-01", valid_until="2024-01-01")
    tell(sql, "Archive", "is based in the annex", valid_from="2999-01-01")
    tell(sql, "Archive", "is based in Dock Street", valid_from="2024-01-01")

    asked = "where is the archive based?"
    assert search(sql, asked)[0] == "is based in Dock Street"
    assert search(sql, asked, as_of="2999-06-01")[0] == "is based in the annex"
    assert search(sql, asked, as_of="2020-06-01") == ["is based in Mill Lane"]
    every = search(sql, asked, as_of="infinity")
    assert every == ["is based in Dock Street", "is based in Mill Lane", "is based in the annex"]
