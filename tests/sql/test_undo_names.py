"""Aliases and merges are undone and reverted like everything that an author writes."""

from typing import Any

import psycopg
import pytest

from tests.support.sql_team import Team


@pytest.fixture
def team(sql: psycopg.Connection) -> Team:
    return Team(sql)


def do(team: Team, actor: str, function: str, *names: str) -> Any:
    """Call a function of names as `actor`."""
    marks = ", ".join(["%s"] * len(names))
    query = f"select {function}({marks}, credential => %s, space => %s)".encode()
    return team.sql.execute(query, (*names, team.credential(actor), team.space)).fetchone()


def look(team: Team) -> Any:
    """All rows, and the aliases that are in use."""
    query = "select alias, entity_name, author, created_at, merged from list_aliases()"
    return team.rows(), sorted(team.sql.execute(query).fetchall())


def tell_two(team: Team, actor: str) -> None:
    for entity, text in [
        ("Jeff", "drinks tea"), ("Jeff", "is tall"), ("JM", "Drinks tea."), ("JM", "sings"),
    ]:  # fmt: skip
        team.remember(actor, entity, text)
    team.relate(actor, "Jeff", "works at", "Acme")
    team.relate(actor, "JM", "works at", "Acme")
    team.relate(actor, "Bo", "knows", "JM")


@pytest.mark.parametrize("writer", ["ana", "bob"])
def test_an_undo_splits_and_a_revert_merges_again(team: Team, writer: str) -> None:
    start = team.now()
    tell_two(team, writer)
    since = start if writer == "ana" else team.now()
    before: Any = look(team) if writer == "bob" else ({}, [])
    do(team, "ana", "name_entity", "Jeff", "jeffrey")
    do(team, "ana", "merge_entities", "Jeff", "JM")
    after = look(team)

    done = team.undo("ana", since)

    assert look(team) == before
    team.revert(done["undo_id"])
    assert look(team) == after


def test_the_plan_of_an_undo_names_aliases_and_merges(team: Team) -> None:
    tell_two(team, "bob")
    since = team.now()
    do(team, "ana", "name_entity", "Jeff", "jeffrey")
    do(team, "ana", "merge_entities", "Jeff", "JM")

    plan = team.plan("ana", since)

    assert [(row["action"], row["kind"], row["content"]) for row in plan] == [
        ("remove", "alias", "jeffrey"), ("remove", "merge", "JM"),
    ]  # fmt: skip


def test_the_undo_of_a_split_merges_again_as_before(team: Team) -> None:
    tell_two(team, "bob")
    do(team, "bob", "merge_entities", "Jeff", "JM")
    before, since = look(team), team.now()
    do(team, "ana", "split_entity", "JM")
    after = look(team)

    done = team.undo("ana", since)

    assert look(team) == before
    team.revert(done["undo_id"])
    assert look(team) == after


def test_the_undo_of_a_removed_alias_uses_it_again(team: Team) -> None:
    team.remember("bob", "Jeff", "is tall")
    do(team, "bob", "name_entity", "Jeff", "jeffrey")
    before, since = look(team), team.now()
    do(team, "ana", "unname_entity", "jeffrey")

    done = team.undo("ana", since)

    assert look(team) == before
    team.revert(done["undo_id"])
    assert look(team)[1] == []


def test_merges_and_splits_of_one_author_are_undone_together(team: Team) -> None:
    tell_two(team, "bob")
    team.remember("bob", "Jeffrey", "drinks tea")
    before, since = look(team), team.now()
    do(team, "ana", "merge_entities", "Jeff", "JM")
    do(team, "ana", "split_entity", "JM")
    do(team, "ana", "merge_entities", "JM", "Jeff")
    do(team, "ana", "merge_entities", "Jeffrey", "Jeff")
    team.remember("ana", "JM", "is old")
    after = look(team)

    done = team.undo("ana", since)

    assert look(team) == before
    team.revert(done["undo_id"])
    assert look(team) == after


def test_a_fact_that_collapsed_is_valid_again_once_the_other_is_undone(team: Team) -> None:
    since = team.now()
    team.remember("eve", "Jeff", "drinks tea")
    team.relate("eve", "Jeff", "works at", "Acme")
    team.remember("bob", "Jeff", "is tall")
    tea = team.remember("bob", "JM", "drinks tea")
    team.relate("bob", "JM", "works at", "Acme")
    do(team, "ana", "merge_entities", "Jeff", "JM")

    team.undo("eve", since)

    assert team.state(tea) == (None, None, "bob")
    assert team.valid("Jeff") == {"drinks tea": "bob", "is tall": "bob"}
    valid = "select count(*) from relation where valid_until is null"
    assert team.fetch(valid) == 1


def test_what_was_undone_before_a_split_comes_back_to_its_own_entity(team: Team) -> None:
    tell_two(team, "bob")
    since = team.now()
    team.remember("eve", "JM", "is odd")
    team.relate("eve", "JM", "owns", "Rex")
    before = look(team)
    do(team, "ana", "merge_entities", "Jeff", "JM")
    done = team.undo("eve", since)
    do(team, "ana", "split_entity", "JM")

    team.revert(done["undo_id"])

    assert look(team) == before


def test_what_was_undone_before_a_merge_comes_back_and_is_split_with_its_entity(
    team: Team,
) -> None:
    tell_two(team, "bob")
    since = team.now()
    team.remember("eve", "JM", "is odd")
    before = look(team)
    done = team.undo("eve", since)
    do(team, "ana", "merge_entities", "Jeff", "JM")
    team.revert(done["undo_id"])
    assert "is odd" in team.valid("Jeff")

    do(team, "ana", "split_entity", "JM")

    assert look(team) == before
