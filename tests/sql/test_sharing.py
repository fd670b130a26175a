"""Sharing: copies keep what they were, moves lose nothing, and undo takes both back exactly."""

from itertools import product
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg.rows import dict_row

from tests.support.sql_team import Said, Team

_STATE: LiteralString = """
    select s.name, e.name, o.content, a.name, o.client, o.tool, o.source, o.confidence,
        o.valid_from, o.valid_until, o.created_at, o.said_at, n.content, v.reason,
        o.evidence, o.evidence_start
    from fact o join entity e on e.space_id = o.space_id and e.id = o.entity_id
    join space s on s.id = o.space_id join actor a on a.id = o.author_id
    left join observation n on n.space_id = o.space_id and n.id = o.replaced_by
    left join revision v on v.space_id = o.space_id and v.observation_id = o.id
    union all
    select s.name, f.name, r.relation_type || ' ' || t.name, a.name, r.client, r.tool, null,
        r.strength, r.valid_from, r.valid_until, r.created_at, null, o.content, null,
        null, null
    from relation r join space s on s.id = r.space_id join actor a on a.id = r.author_id
    join entity f on f.space_id = r.space_id and f.id = r.from_entity
    join entity t on t.space_id = r.space_id and t.id = r.to_entity
    left join observation o on o.space_id = r.space_id and o.relation_id = r.id
    union all
    select s.name, e.name, null, e.entity_type, null, null, null, null, null, null, null, null,
        null, null, null, null
    from entity e join space s on s.id = e.space_id
    order by 1, 2, 3, 11"""


@pytest.fixture
def home(sql: psycopg.Connection) -> Team:
    return Team(sql, "home")


@pytest.fixture
def team(sql: psycopg.Connection, home: Team) -> Team:
    assert home.space
    return Team(sql, "team")


def open_both(home: Team, team: Team, actor: str, *scopes: str) -> bytes:
    """The credential of somebody with these scopes, else all but admin, in both spaces."""
    token = home.credential(actor, *(scopes or ("read", "write", "forget")))
    team.credential(actor, *(scopes or ("read", "write", "forget")))
    return token


def share(
    home: Team, team: Team, actor: str, entity: str = "Jeff", **options: Any
) -> dict[str, Any]:
    """Shares an entity of `home` with `team`."""
    names = {"credential": open_both(home, team, actor), "space": home.space, **options}
    given = "".join(f", {name} => %({name})s" for name in names)
    query = f"select * from share_memories(%(entity)s, %(target)s{given})"  # noqa: S608
    with home.sql.cursor(row_factory=dict_row) as cursor:
        values = {"entity": entity, "target": team.space, **names}
        [row] = cursor.execute(query.encode(), values).fetchall()
    return row


def read_state(team: Team) -> list[tuple[Any, ...]]:
    """Both spaces, as people see them."""
    return team.sql.execute(_STATE).fetchall()


def undo_both(team: Team, author: str, since: Any) -> list[int]:
    rows = team.sql.execute("select undo_id from undo_author(%s, %s)", (author, since)).fetchall()
    return [undo for (undo,) in rows]


def revert(team: Team, undo: int) -> None:
    team.sql.execute("select * from revert_undo(%s)", (undo,))


def tell_story(home: Team) -> Said:
    """Jeff of two authors, with history and relations."""
    oslo = home.remember("ana", "Jeff", "lives in Oslo", confidence=0.5, source="note")
    home.remember("ana", "Jeff", "lives in Bergen", oslo.id)
    home.sql.execute("update observation set (evidence, evidence_start) = ('So: Bergen.', 3)")
    home.remember("bob", "Jeff", "drinks tea")
    home.relate("bob", "Jeff", "works at", "Acme")
    home.relate("ana", "Kim", "knows", "Jeff")
    return oslo


def test_shared_facts_are_numbered_after_those_of_the_target(home: Team, team: Team) -> None:
    for fact in ("likes tea", "owns a boat"):
        team.remember("ana", "Jeff", fact)
    tell_story(home)

    share(home, team, "ana")

    numbers = team.sql.execute(
        "select count(distinct ordinal), count(*), max(ordinal) from observation"
        " where space_id = %s",
        (team.space,),
    ).fetchone()
    assert numbers == (6, 6, 6)


def test_a_shared_entity_keeps_authors_origins_and_dates(home: Team, team: Team) -> None:
    tell_story(home)
    before = [row[1:] for row in read_state(team)]

    row = share(home, team, "cleo")

    assert (row["shared_facts"], row["duplicate_facts"], row["relations"]) == (2, 0, 2)
    assert (row["moved_facts"], row["moved_relations"]) == (0, 0)
    there = [row[1:] for row in read_state(team) if row[0] == "team"]
    assert [r for r in before if r[1] != "lives in Oslo"] == there
    assert team.valid("Jeff") == {"lives in Bergen": "ana", "drinks tea": "bob"}


def test_with_ended_facts_the_history_comes_too(home: Team, team: Team) -> None:
    oslo = tell_story(home)
    home.sql.execute(
        "select revise_fact('Jeff', 'drinks tea', 'a joke', 'drinks coffee', space => %s)",
        (home.space,),
    )
    before = [row[1:] for row in read_state(team)]

    share(home, team, "cleo", ended=True)

    assert [row[1:] for row in read_state(team) if row[0] == "team"] == before
    assert oslo


def test_a_text_that_is_there_already_is_not_doubled(home: Team, team: Team) -> None:
    home.remember("ana", "Jeff", "drinks tea")
    team.remember("bob", "jeff", "drinks tea.")

    first = share(home, team, "cleo")
    again = share(home, team, "cleo")

    assert (first["shared_facts"], first["duplicate_facts"]) == (0, 1)
    assert (again["shared_facts"], again["duplicate_facts"]) == (0, 1)
    assert team.valid("jeff") == {"drinks tea.": "bob"}


def test_two_relations_that_are_one_in_the_target_are_stored_once(home: Team, team: Team) -> None:
    home.remember("ana", "Jeff", "drinks tea")
    for other in ("Acme", "Acme Corp", "Bo"):
        home.relate("ana", "Jeff", "works at", other)
    team.remember("bob", "Acme", "makes anvils")
    team.sql.execute("select name_entity('Acme', 'Acme Corp', space => %s)", (team.space,))

    row = share(home, team, "eve", move=True)

    assert (row["relations"], row["moved_relations"]) == (2, 3)
    events = """
        select array_agg(action order by id) from event
        where space_id = %s and relation_id is not null and action in ('shared', 'repeated')"""
    assert team.fetch(events, team.space) == ["shared", "repeated", "shared"]


def test_a_dry_run_tells_what_would_happen_and_changes_nothing(home: Team, team: Team) -> None:
    tell_story(home)
    before = read_state(team)

    row = share(home, team, "cleo", move=True, dry_run=True)

    assert (row["shared_facts"], row["relations"], row["moved_facts"]) == (2, 2, 2)
    assert row["sample"] == ["drinks tea", "lives in Bergen"]
    assert read_state(team) == before


def test_sharing_is_undone_and_reverted_exactly(sql: psycopg.Connection) -> None:
    for number, case in enumerate(product((False, True), repeat=2)):
        ended, known = case
        home, team = Team(sql, f"home-{number}"), Team(sql, f"team-{number}")
        tell_story(home)
        if known:
            team.remember("bob", "Jeff", "drinks tea")
            team.relate("bob", "Jeff", "works at", "Acme")
        before, since = read_state(team), team.now()
        share(home, team, "eve", ended=ended)
        after = read_state(team)

        undos = undo_both(team, "eve", since)

        assert read_state(team) == before, case
        for undo in undos:
            revert(team, undo)
        assert read_state(team) == after, case


def test_a_move_stays_and_another_move_takes_it_back(home: Team, team: Team) -> None:
    tell_story(home)
    known, since = home.valid("Jeff"), team.now()
    home.remember("eve", "Jeff", "sings")
    share(home, team, "eve", move=True)
    before = read_state(team)

    for space in (home, team):
        plan = space.plan("eve", since)
        assert {row["action"] for row in plan} <= {"kept"}
        assert {row["later_author"] for row in plan if row["kind"] == "observation"} <= {"eve"}
        space.undo_if_any("eve", since)

    assert read_state(team) == before
    share(team, home, "eve", move=True)
    assert home.valid("Jeff") == {**known, "sings": "eve"}
    assert team.valid("Jeff") == {}
    assert team.fetch("select count(*) from undone") == 0


def test_forgetting_the_source_keeps_the_moved_copies(home: Team, team: Team) -> None:
    tell_story(home)
    share(home, team, "eve", move=True)
    home.forget("Jeff")

    assert home.valid("Jeff") == {}
    assert team.valid("Jeff") == {"lives in Bergen": "ana", "drinks tea": "bob"}


def test_forgetting_a_copy_leaves_the_original(home: Team, team: Team) -> None:
    tell_story(home)
    share(home, team, "cleo")

    team.forget("Jeff")

    assert home.valid("Jeff") == {"lives in Bergen": "ana", "drinks tea": "bob"}


NEEDS = [
    (("write", "forget"), ("write",), False, "read"),
    (("read",), ("read", "forget"), False, "write"),
    (("read", "write"), ("write",), True, "forget"),
    (("write", "forget"), ("write",), True, "read"),
]


def test_sharing_needs_scopes_in_both_spaces(home: Team, team: Team) -> None:
    tell_story(home)
    before = read_state(team)
    for number, (in_home, in_team, move, missing) in enumerate(NEEDS):
        actor = f"mel {number}"
        token = home.credential(actor, *in_home)
        team.credential(actor, *in_team)
        home.sql.execute(
            "update token set scopes = '{read,write,forget}' where actor_id = register_actor(%s)",
            (actor,),
        )

        with pytest.raises(psycopg.Error) as refused:
            home.sql.execute(
                "select * from share_memories('Jeff', %s, move => %s, credential => %s,"
                " space => %s)",
                (team.space, move, token, home.space),
            )

        assert (refused.value.sqlstate, refused.value.diag.message_detail) == ("TR011", missing)
        assert read_state(team) == before


def test_a_space_that_reviews_external_facts_takes_none_by_sharing(home: Team, team: Team) -> None:
    tell_story(home)
    home.remember("bob", "Jeff", "signs all releases", source="document")
    home.sql.execute("select change_review('team', true, only_external => true)")
    before = read_state(team)

    for dry_run in (True, False):
        with pytest.raises(psycopg.Error) as refused:
            share(home, team, "ana", dry_run=dry_run)
        assert refused.value.sqlstate == "TR136"

    assert read_state(team) == before
    assert share(home, team, "ana", facts=["drinks tea"])["shared_facts"] == 1


def test_who_cannot_read_the_target_does_not_learn_what_is_there(home: Team, team: Team) -> None:
    tell_story(home)
    team.remember("ana", "Jeff", "drinks tea")
    team.relate("ana", "Jeff", "works at", "Acme")
    token = home.credential("mel", "read")
    team.credential("mel", "write")
    home.sql.execute(
        "update token set scopes = '{read,write}' where actor_id = register_actor('mel')"
    )

    for dry_run in (True, False):
        row = home.sql.execute(
            "select shared_facts, duplicate_facts, relations from share_memories('Jeff', %s,"
            " dry_run => %s, credential => %s, space => %s)",
            (team.space, dry_run, token, home.space),
        ).fetchone()

        assert row == (2, None, 2), dry_run


def test_vectors_of_all_models_come_with_a_copy(home: Team, team: Team) -> None:
    home.sql.execute("select register_embedding_model('test:model', 3)")
    home.remember("ana", "Jeff", "drinks tea", model=1, embedding="[1, 0, 0]")
    home.remember("ana", "Jeff", "lives in Oslo")

    share(home, team, "cleo")

    vectors = "select vector::text from embedding_1 where space_id = %s"
    assert team.fetch(vectors, team.space) == "[1,0,0]"
    pending = "select count(*) from embedding_pending where space_id = %s"
    assert team.fetch(pending, team.space) == 1
