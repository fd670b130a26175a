"""The undo of one event, or of all that one call wrote: by its author, or by an administrator."""

from typing import Any

import psycopg
import pytest

from tests.support.sql_team import Team

pytestmark = pytest.mark.follows


@pytest.fixture
def team(sql: psycopg.Connection) -> Team:
    return Team(sql)


def call(team: Team, actor: str, statement: str, *given: object, request: str = "") -> Any:
    """Call a function as `actor`, in a transaction of its own, and return the row."""
    function = statement.rstrip(")") + ("" if statement.endswith("(") else ", ")
    query = f"select * from {function}credential => %s, space => %s, request => %s)"  # noqa: S608 - ours
    values = (*given, team.credential(actor), team.space, request or None)
    return team.sql.execute(query.encode(), values).fetchone()


def look(team: Team) -> Any:
    """All rows, the aliases and the wrong facts."""
    aliases = team.sql.execute("select alias, entity_name, merged from list_aliases()").fetchall()
    return team.rows(), sorted(aliases), team.fetch("select count(*) from revision")


CALLS = {
    "a new fact about a new entity": ("remember_fact('Zoe', 'person', 'sings')",),
    "a new relation to a new entity": ("relate_entities('Ada', 'knows', 'Zoe')",),
    "a correction": ("remember_fact('Ada', 'person', 'is here', replaces => 'lives in Oslo')",),
    "a revision": ("revise_fact('Ada', 'lives in Oslo', 'a mistake', 'lives in Bern')",),
    "a revision without a successor": ("revise_fact('Ada', 'lives in Oslo', 'a mistake')",),
    "another end": ("remember_fact('Ada', 'person', 'likes tea', valid_until => '2999-01-01')",),
    "the end of a relation": ("end_relation('Ada', 'works at', 'Acme')",),
    "an alias": ("name_entity('Ada', 'Countess')",),
    "an alias less": ("unname_entity('AL')",),
    "a merge": ("merge_entities('Ada', 'Ben')",),
    "a description": ("set_description('Ada', 'a countess')",),
    "a type": ("retype_entity('Ada', 'project')",),
    "a name": ("rename_entity('Ada', 'Ada King')",),
    "a name that was an alias": ("rename_entity('Ada', 'AL')",),
    "a name, and the former name again": (
        "rename_entity('Ada', 'Ada King')", "rename_entity('Ada King', 'Ada')",
    ),
}  # fmt: skip
"""What a person changes, each as one call."""


def test_a_call_is_undone_by_its_author_and_nothing_else_is(team: Team) -> None:
    for text in ("lives in Oslo", "likes tea"):
        team.remember("bob", "Ada", text)
    team.remember("bob", "Ben", "likes tea")
    team.relate("bob", "Ada", "works at", "Acme")
    call(team, "bob", "name_entity('Ada', 'AL')")
    faults: list[str] = []
    before = look(team)
    for what, statements in CALLS.items():
        for statement in statements:
            call(team, "ana", statement, request=what)
        changed = look(team) != before
        call(team, "ana", "undo_event(call => %s)", what)
        if not changed or look(team) != before:
            faults.append(what)

    assert faults == []


def newest(team: Team, action: str) -> int:
    query = "select max(id) from event where action = %s and space_id = %s"
    return team.fetch(query, action, team.space)


def refuse(team: Team, actor: str, event: object) -> tuple[str | None, str | None]:
    """The code and the detail of the error for an undo."""
    before = look(team)
    with pytest.raises(psycopg.Error) as refused:
        call(team, actor, "undo_event(%s)", event)
    assert look(team) == before
    return refused.value.sqlstate, refused.value.diag.message_detail


def test_a_later_event_or_another_author_stands_in_the_way_of_an_undo(team: Team) -> None:
    team.remember("ana", "Ada", "lives in Oslo")
    first = newest(team, "remembered")
    second = team.remember("bob", "Ada", "lives in Rome", "lives in Oslo")
    later = newest(team, "replaced")
    other = Team(team.sql, "other")

    assert refuse(team, "ana", first) == ("TR111", f"replaced (event {later}) by bob")
    assert refuse(team, "ana", later) == ("TR011", "admin")
    assert refuse(team, "ana", 10**12)[0] == "TR110"
    with pytest.raises(psycopg.Error) as elsewhere:
        call(other, "bob", "undo_event(%s)", later)
    assert elsewhere.value.sqlstate == "TR110"
    call(team, "bob", "undo_event(%s)", later)
    assert refuse(team, "bob", later)[0] == "TR110"
    assert team.state(second) is None
    team.forget("Ada", "lives in Oslo")
    assert refuse(team, "clerk", newest(team, "forgotten")) == ("TR112", "forgotten")


def test_an_administrator_undoes_an_event_of_somebody_else_and_puts_it_back(team: Team) -> None:
    team.remember("ana", "Ada", "lives in Oslo")
    first = newest(team, "remembered")
    team.remember("zoe", "Ada", "lives in Oslo")
    admin = team.credential("boss", "read", "admin")
    undo = "select handed_over, undo_id from undo_event(%s, credential => %s, space => %s)"
    [(handed_over, number)] = team.sql.execute(undo, (first, admin, team.space)).fetchall()

    assert (handed_over, team.valid("Ada")) == (1, {"lives in Oslo": "zoe"})
    team.revert(number)
    assert team.valid("Ada") == {"lives in Oslo": "ana"}


def test_one_event_of_a_call_with_many_is_undone_alone_and_a_proposal_by_who_proposed_it(
    team: Team,
) -> None:
    facts = '[{"entity": "Ada", "observation": "sings"}, {"entity": "Ben", "observation": "swims"}]'
    call(team, "ana", "build_knowledge(%s, '[]')", facts)
    call(team, "ana", "undo_event(%s)", newest(team, "remembered"))
    assert (team.valid("Ada"), team.valid("Ben")) == ({"sings": "ana"}, {})
    assert team.fetch("select count(*) from entity where name = 'Ben'") == 0
    clerk = team.credential("clerk", "read", "propose")
    propose = "select remember_fact('Ada', 'person', 'runs', credential => %s, space => %s)"
    team.sql.execute(propose, (clerk, team.space))
    undo = "select from undo_event(%s, credential => %s, space => %s)"
    team.sql.execute(undo, (newest(team, "proposed"), clerk, team.space))
    assert team.fetch("select decision from proposal") == "withdrawn"
    with pytest.raises(psycopg.Error) as refused:
        team.sql.execute(undo, (newest(team, "remembered") - 1, clerk, team.space))
    assert refused.value.sqlstate in ("TR010", "TR011", "TR110")
