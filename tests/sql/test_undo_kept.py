"""What an undo keeps: put back, forgotten with its entity, or purged."""

from itertools import product
from typing import LiteralString

import psycopg
import pytest

from tests.support.sql_team import Team

_EVERY_TABLE: LiteralString = """
    select table_name from information_schema.tables
    where table_schema = 'textrawl' and table_type = 'BASE TABLE'"""


def find_tables_that_hold(sql: psycopg.Connection, text: str) -> list[str]:
    """Where a text stands, in any column of any table, as a dump would have it."""
    tables = [name for (name,) in sql.execute(_EVERY_TABLE).fetchall()]
    return [
        name for name in tables
        if sql.execute(
            f"select 1 from {name} t where t::text ilike '%%' || %s || '%%' limit 1",  # pyright: ignore[reportArgumentType, reportCallIssue]  # noqa: S608
            (text,),
        ).fetchone()
    ]  # fmt: skip


def refuse(team: Team, undo: int) -> str:
    """The event that stands in the way of a revert, which changes nothing."""
    before = team.rows()
    with pytest.raises(psycopg.Error) as refused:
        team.revert(undo)
    assert (refused.value.sqlstate, team.rows()) == ("TR111", before)
    return (refused.value.diag.message_detail or "").partition(" at ")[0]


def test_a_revert_is_refused_if_the_same_was_stored_since(team: Team) -> None:
    since = team.now()
    team.remember("bob", "Jeff", "is tall")
    team.remember("eve", "Jeff", "drinks coffee")
    team.relate("eve", "Jeff", "knows", "Bob")
    before = team.rows()
    done = team.undo("eve", since)
    for tell in (
        lambda: team.remember("ana", "JEFF", "drinks coffee.") and None,
        lambda: team.relate("ana", "jeff", "knows", "bob") and None,
        lambda: team.remember("ana", "Bob", "sings") and None,
    ):
        tell()
        assert refuse(team, done["undo_id"]).endswith(") by ana")
        team.undo("ana", since)

    assert team.revert(done["undo_id"]) == 3
    assert team.rows() == before


def test_a_revert_is_refused_if_somebody_built_on_what_the_undo_restored(team: Team) -> None:
    tea = team.remember("ana", "Jeff", "drinks tea")
    since = team.now()
    team.remember("eve", "Jeff", "drinks coffee", tea.id)
    done = team.undo("eve", since)
    team.remember("bob", "Jeff", "drinks tea")

    event = team.fetch("select max(id) from event")
    found = f"Jeff 'drinks tea' repeated (event {event}) by bob"
    assert refuse(team, done["undo_id"]) == found
    team.remember("bob", "Jeff", "drinks water", tea.id)
    assert refuse(team, done["undo_id"]).endswith("by bob")
    assert team.valid("Jeff") == {"drinks water": "bob"}


def test_a_revert_is_refused_if_the_entity_was_merged_since(team: Team) -> None:
    team.remember("ana", "Jeff", "is tall")
    team.remember("ana", "JM", "is tall, too")
    since = team.now()
    team.remember("eve", "JM", "drinks coffee")
    done = team.undo("eve", since)
    merge = "select merge_id from merge_entities('Jeff', 'JM', credential => %s, space => %s)"
    team.fetch(merge, team.credential("bob"), team.space)

    assert "merged" in refuse(team, done["undo_id"])


def test_an_undo_is_reverted_once(team: Team) -> None:
    since = team.now()
    team.remember("eve", "Jeff", "drinks coffee")
    done = team.undo("eve", since)
    team.revert(done["undo_id"])

    with pytest.raises(psycopg.Error) as refused:
        team.revert(done["undo_id"])

    assert (refused.value.sqlstate, refused.value.diag.message_detail) == ("TR031", "reverted")
    assert len(team.plan("eve", since)) == 2


def test_an_undo_that_never_was_cannot_be_reverted(team: Team) -> None:
    with pytest.raises(psycopg.Error) as refused:
        team.revert(1)

    assert refused.value.sqlstate == "TR031"


def test_forgetting_reaches_what_an_undo_keeps(team: Team) -> None:
    since = team.now()
    team.remember("eve", "Jefferson", "keeps the zanzibar key")
    team.relate("eve", "Jefferson", "loathes", "Ozymandias")
    team.remember("ana", "Ozymandias", "drinks tea")
    done = team.undo("eve", since)
    assert find_tables_that_hold(team.sql, "zanzibar") == ["undone"]

    assert team.forget("JEFFERSON") == ("Jefferson", 1, 1)

    assert find_tables_that_hold(team.sql, "zanzibar") == []
    assert find_tables_that_hold(team.sql, "jefferson") == []
    assert find_tables_that_hold(team.sql, "loathes") == []
    team.revert(done["undo_id"])
    assert find_tables_that_hold(team.sql, "zanzibar") == []
    assert team.valid("Ozymandias") == {"drinks tea": "ana"}


def test_forgetting_one_fact_reaches_what_an_undo_keeps(sql: psycopg.Connection) -> None:
    for number, case in enumerate(product(("id", "text"), (True, False))):
        named_by, entity_lives = case
        team = Team(sql, f"team-{number}")
        if entity_lives:
            team.remember("ana", "Jeff", "drinks tea")
        since = team.now()
        secret = team.remember("eve", "Jeff", "keeps the zanzibar key")
        team.remember("eve", "Jeff", "hates tea")
        done = team.undo("eve", since)

        answer = team.forget("Jeff", secret.id if named_by == "id" else "Keeps the zanzibar key.")

        assert answer == ("Jeff", 1, 0), case
        assert find_tables_that_hold(team.sql, "zanzibar") == [], case
        team.revert(done["undo_id"])
        assert team.valid("Jeff").keys() >= {"hates tea"}, case


def test_forgetting_a_fact_forgets_the_same_words_that_an_undo_keeps(team: Team) -> None:
    since = team.now()
    team.remember("eve", "Jeff", "keeps the zanzibar key")
    team.undo("eve", since)
    again = team.remember("ana", "Jeff", "keeps the zanzibar key")

    team.forget("Jeff", again.id)

    assert find_tables_that_hold(team.sql, "zanzibar") == []


def test_what_is_purged_is_gone_for_good(team: Team) -> None:
    since = team.now()
    team.remember("eve", "Jeff", "keeps the zanzibar key")
    done = team.undo("eve", since)

    kept = team.sql.execute("select * from purge_undone('1 hour')").fetchall()
    purged = team.sql.execute("select * from purge_undone()").fetchall()

    assert kept == []
    assert purged == [("team", 1, 2)]
    assert find_tables_that_hold(team.sql, "zanzibar") == []
    with pytest.raises(psycopg.Error) as refused:
        team.revert(done["undo_id"])
    assert refused.value.diag.message_detail == "purged"


def test_a_type_that_nobody_said_is_a_guess_again_after_a_revert(
    team: Team, sql: psycopg.Connection
) -> None:
    since = team.now()
    team.relate("eve", "Jeff", "uses", "Vim")
    done = team.undo("eve", since)

    team.revert(done["undo_id"])

    kept = sql.execute("select name, type_guessed from textrawl.entity order by name").fetchall()
    assert kept == [("Jeff", True), ("Vim", True)]
