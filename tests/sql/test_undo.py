"""Taking back what one author wrote, or what one event or call wrote, exactly that."""

from datetime import datetime
from typing import Any, LiteralString

import psycopg
import pytest

from tests.support.sql_team import Team

pytestmark = pytest.mark.follows


def test_a_fact_goes_with_its_author_and_what_it_replaced_is_valid_again(team: Team) -> None:
    true = team.remember(
        "ana", "Jeff", "drinks tea", valid_until=datetime.fromisoformat("2999-01-01T00:00Z")
    )
    before, since = team.state(true), team.now()
    team.remember("eve", "Jeff", "drinks coffee", true.id)

    plan = team.plan("eve", since)
    done = team.undo("eve", since)

    assert [(row["action"], row["content"]) for row in plan] == [
        ("remove", "drinks coffee"), ("revive", "drinks tea"),
    ]  # fmt: skip
    assert (done["removed"], done["revived"]) == (1, 1)
    assert team.state(true) == before
    assert team.valid("Jeff") == {"drinks tea": "ana"}
    assert team.plan("eve", since) == []


def test_a_fact_that_another_said_too_stays_with_its_author_and_the_plan_says_why(
    team: Team,
) -> None:
    since = team.now()
    fact = team.remember("eve", "Jeff", "drinks coffee")
    assert team.remember("bob", "Jeff", "drinks coffee.").duplicate
    before = team.rows()

    plan = team.plan("eve", since)
    team.undo_if_any("eve", since)

    [kept] = [row for row in plan if row["kind"] == "observation"]
    said = team.fetch("select at from event where action = 'repeated'")
    assert {row["action"] for row in plan} == {"kept"}
    assert (kept["id"], kept["later_author"], kept["later_at"]) == (fact.id, "bob", said)
    assert team.rows() == before


def test_a_fact_goes_once_all_who_repeated_it_were_taken_back(team: Team) -> None:
    since = team.now()
    team.remember("eve", "Jeff", "drinks coffee")
    team.remember("bob", "Jeff", "drinks coffee")
    before = team.rows()

    team.undo_if_any("eve", since)
    second = team.undo("bob", since)
    third = team.undo("eve", since)

    assert team.rows() == {}
    team.revert(third["undo_id"])
    team.revert(second["undo_id"])
    assert team.rows() == before


def test_what_was_corrected_by_another_stays_as_it_is(team: Team) -> None:
    tea = team.remember("ana", "Jeff", "drinks tea")
    since = team.now()
    coffee = team.remember("eve", "Jeff", "drinks coffee", tea.id)
    team.remember("eve", "Jeff", "hates tea")
    team.remember("bob", "Jeff", "drinks water", coffee.id)
    before = team.rows()

    plan = team.plan("eve", since)
    done = team.undo("eve", since)

    assert [(row["action"], row["content"], row["later_author"]) for row in plan] == [
        ("kept", "drinks tea", "bob"), ("kept", "drinks coffee", "bob"),
        ("remove", "hates tea", None),
    ]  # fmt: skip
    assert (done["removed"], done["kept"]) == (1, 2)
    assert team.valid("Jeff") == {"drinks water": "bob"}
    team.revert(done["undo_id"])
    assert team.rows() == before


def test_the_calls_of_one_author_are_taken_back_in_turn(team: Team) -> None:
    before, since = team.rows(), team.now()
    tea = team.remember("eve", "Jeff", "drinks tea")
    coffee = team.remember("eve", "Jeff", "drinks coffee", tea.id)
    team.remember("eve", "Jeff", "drinks coffee", confidence=0.5)
    team.remember("eve", "Jeff", "drinks water", coffee.id)

    team.check_undo("eve", since, before)


def test_what_was_said_again_while_it_was_replaced_is_not_there_twice(team: Team) -> None:
    tea = team.remember("ana", "Jeff", "drinks tea")
    since = team.now()
    team.remember("eve", "Jeff", "drinks coffee", tea.id)
    again = team.remember("bob", "Jeff", "drinks tea")
    before = team.rows()

    done = team.undo("eve", since)

    state = team.state(tea)
    assert state
    assert state[1] == again.id
    assert team.valid("Jeff") == {"drinks tea": "bob"}
    team.revert(done["undo_id"])
    assert team.rows() == before


def test_a_fact_that_stayed_ended_because_of_an_equal_one_is_valid_again_without_it(
    team: Team,
) -> None:
    since = team.now()
    first = team.remember("cal", "Bob", "likes tea")
    before = team.state(first)
    team.remember("ben", "Bob", "runs daily", first.id)
    team.remember("ana", "Bob", "likes tea")

    stayed = team.undo("ben", since)
    plan = team.plan("ana", since)
    undone = team.undo("ana", since)
    after = team.state(first)
    team.revert(undone["undo_id"])

    assert (stayed["revived"], stayed["kept"]) == (0, 1)
    assert ("revive", first.id) in [(row["action"], row["id"]) for row in plan]
    assert after == before
    assert team.valid("Bob") == {"likes tea": "ana"}


def test_the_trail_tells_an_undo_from_its_revert(team: Team) -> None:
    since = team.now()
    team.remember("eve", "Jeff", "drinks coffee")
    undone = team.undo("eve", since)
    team.revert(undone["undo_id"])

    rows = team.sql.execute(
        "select action, detail ->> 'what' from event where detail ? 'undo' order by id"
    ).fetchall()

    assert [action for action, _ in rows] == ["undone"] * 2 + ["restored"] * 2
    assert {what for _, what in rows} == {"remove", "drop entity"}


def test_what_was_ended_by_a_fact_forgotten_since_is_valid_again(team: Team) -> None:
    tea = team.remember("ana", "Jeff", "drinks tea")
    since = team.now()
    coffee = team.remember("eve", "Jeff", "drinks coffee", tea.id)
    team.sql.execute(
        "select forget_entity('Jeff', %s, credential => %s)",
        (str(coffee.id), team.credential("eve")),
    )

    plan = team.plan("eve", since)
    team.undo("eve", since)

    assert [row["action"] for row in plan] == ["lost", "revive"]
    assert team.valid("Jeff") == {"drinks tea": "ana"}


def test_a_call_is_taken_back_whole_from_the_time_of_any_fact_of_it(team: Team) -> None:
    team.sql.execute(
        """select build_knowledge(
            '[{"entity": "Jeff", "type": "person", "observation": "drinks coffee"},
              {"entity": "Jeff", "type": "person", "observation": "hates tea"}]',
            '[{"from": "Jeff", "relation": "knows", "to": "Eve"}]', credential => %s)""",
        (team.credential("eve"),),
    )
    since = team.fetch("select max(created_at) from fact")

    team.undo("eve", since)

    assert team.rows() == {}


def test_relations_go_unless_another_said_them_too(team: Team) -> None:
    team.remember("ana", "Jeff", "drinks tea")
    since = team.now()
    team.relate("eve", "Jeff", "owes", "Eve")
    shared = team.relate("eve", "Jeff", "knows", "Bob")
    team.relate("bob", "Jeff", "knows", "Bob")
    before = team.rows()

    plan = team.plan("eve", since)
    done = team.undo("eve", since)

    assert {(row["action"], row["content"] or row["entity_name"]) for row in plan} == {
        ("remove", "owes Eve"), ("kept", "knows Bob"), ("kept", "Bob"), ("drop entity", "Eve"),
    }  # fmt: skip
    author = "select a.name from relation r join actor a on a.id = author_id where r.id = %s"
    assert team.fetch(author, shared) == "eve"
    team.revert(done["undo_id"])
    assert team.rows() == before


def test_undo_reaches_only_spaces_that_the_caller_administers(sql: psycopg.Connection) -> None:
    ours, theirs = Team(sql, "ours"), Team(sql, "theirs")
    since = ours.now()
    ours.remember("eve", "Jeff", "drinks coffee")
    theirs.remember("eve", "Jeff", "drinks coffee")
    admin = ours.credential("root", "read", "admin")
    before = theirs.rows()

    done = sql.execute(
        "select space_name from undo_author('eve', %s, credential => %s)", (since, admin)
    ).fetchall()

    assert done == [("ours",)]
    assert theirs.rows() == before
    writer = ours.credential("ana")
    calls: list[tuple[LiteralString, tuple[object, ...]]] = [
        ("select plan_undo('eve', %s, credential => %s)", (since, writer)),
        ("select undo_author('eve', %s, credential => %s)", (since, writer)),
        ("select undo_author('eve', %s, %s, %s)", (since, theirs.space, admin)),
        ("select revert_undo(1, credential => %s)", (writer,)),
        ("select purge_undone(credential => %s)", (writer,)),
        ("select list_events(credential => %s)", (writer,)),
        ("select read_events(credential => %s)", (writer,)),
        ("select read_events('0', 0, 10, %s, %s)", (theirs.space, admin)),
    ]
    for query, values in calls:
        with pytest.raises(psycopg.Error) as refused:
            sql.execute(query, values)
        assert refused.value.sqlstate == "TR011", query


def test_an_author_nobody_knows_is_no_empty_undo(team: Team) -> None:
    with pytest.raises(psycopg.Error) as refused:
        team.undo("evee", team.now())
    assert refused.value.sqlstate == "TR030"


def test_no_function_that_stores_takes_an_author(team: Team) -> None:
    taking = team.sql.execute(
        """select proname from pg_proc, unnest(proargnames) as argument
           where pronamespace = 'textrawl'::regnamespace
             and has_function_privilege('textrawl_app', pg_proc.oid, 'execute')
             and argument in ('author', 'author_id', 'actor', 'actor_id', 'origin', 'created_at')
             and proname ~ 'remember|build|relate|forget|undo'"""
    ).fetchall()
    # Whose writes are taken back, not who does it.
    assert {name for (name,) in taking} == {"plan_undo", "undo_author"}


def test_a_relation_that_was_ended_twice_comes_back_once_as_its_newest(team: Team) -> None:
    def end(relation: object) -> None:
        team.sql.execute(
            "select end_edge(node_number(%s), credential => %s, space => %s)",
            (relation, team.credential("eve"), team.space),
        )

    first = team.relate("ana", "Jeff", "works at", "Acme")
    since = team.now()
    end(first)
    again = team.relate("ana", "Jeff", "works at", "Acme")
    end(again)
    before = team.rows()

    undone = team.undo("eve", since)

    live = "select id from relation where space_id = %s and valid_until is null"
    assert team.sql.execute(live, (team.space,)).fetchall() == [(again,)]
    team.revert(undone["undo_id"])
    assert team.rows() == before


def test_a_relation_that_was_ended_early_gets_its_own_end_back(team: Team) -> None:
    def end(relation: object) -> str:
        return team.fetch(
            "select outcome from end_edge(node_number(%s), credential => %s, space => %s)",
            relation,
            team.credential("eve"),
            team.space,
        )

    job = team.relate("ana", "Jeff", "works at", "Acme")
    team.sql.execute("update relation set valid_until = now() + interval '1 year'")
    planned, since = team.rows(), team.now()
    assert [end(job), end(job)] == ["ended", "known"]

    team.check_undo("eve", since, planned)


def test_a_reference_by_text_finds_the_fact_that_is_valid(team: Team) -> None:
    valid = team.remember("ana", "Jeff", "likes tea", valid_until="2999-01-01")
    team.remember("ana", "Jeff", "likes tea", valid_until="2001-01-01")

    water = team.remember("ana", "Jeff", "likes water", replaces="likes tea")

    state = team.state(valid)
    assert state is not None
    assert state[1] == water.id


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
    "a description": ("set_description('Ada', 'a countess')",),
    "a type": ("retype_entity('Ada', 'project')",),
}
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
    admin = team.credential("boss", "read", "admin")
    undo = "select removed, undo_id from undo_event(%s, credential => %s, space => %s)"
    [(removed, number)] = team.sql.execute(undo, (first, admin, team.space)).fetchall()

    assert (removed, team.valid("Ada")) == (1, {})
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
