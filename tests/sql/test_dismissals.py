"""Candidates that somebody dismissed: out of all lists, until an undo."""

from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.support.sql_team import Team

pytestmark = pytest.mark.follows


@pytest.fixture
def team(sql: psycopg.Connection) -> Team:
    team = Team(sql)
    for entity, text in (
        ("Jeff Miller", "lives in Oslo"), ("Jeff Miller", "lives in Rome"),
        ("jmiller", "lives in Oslo"),
    ):  # fmt: skip
        team.remember("ana", entity, text)
    sql.execute("update observation set created_at = created_at - interval '40 days'")
    return team


LISTS = {
    "same": "select entity_id, other_id from find_same_entities() where score > 0.5",
    "close": "select one, other from conflicting_facts()",
    "stale": "select id, null::uuid from memory_stale where content like '%%Rome'",
}  # fmt: skip


def look(team: Team) -> dict[str, list[Any]]:
    """What each list has."""
    return {kind: team.sql.execute(query.encode()).fetchall() for kind, query in LISTS.items()}


def dismiss(team: Team, actor: str, kind: str, *ids: object) -> int:
    call = "select dismiss_candidates(%s, %s::uuid[], credential => %s, space => %s)"
    return team.fetch(call, kind, [*filter(None, ids)], team.credential(actor), team.space)


def test_a_dismissed_candidate_leaves_its_list_and_an_undo_brings_it_back(team: Team) -> None:
    before, since = look(team), team.now()
    assert {kind: len(rows) for kind, rows in before.items()} == dict.fromkeys(LISTS, 1)
    for kind, [pair] in before.items():
        again = pair if kind == "stale" else reversed(pair)
        assert [dismiss(team, "bob", kind, *pair), dismiss(team, "ana", kind, *again)] == [1, 0]
    after = look(team)
    listed = team.sql.execute("select kind, author from list_dismissals()").fetchall()
    done = team.undo("bob", since)
    back = look(team)
    team.revert(done["undo_id"])

    assert after == {kind: [] for kind in LISTS}
    assert sorted(listed) == [(kind, "bob") for kind in sorted(LISTS)]
    assert (done["removed"], back, look(team)) == (3, before, after)


def test_only_what_exists_is_dismissed_by_who_may_write_and_goes_with_its_entity(
    team: Team,
) -> None:
    [[one, other]] = look(team)["same"]
    [[fact, _]] = look(team)["stale"]
    [pair] = look(team)["close"]
    for kind, *ids in (
        ("same", one, one), ("same", one, fact), ("close", fact, fact), ("close", one, other),
        ("stale", one), ("stale", fact, other), ("stale", *pair, uuid4()), ("stale",),
        ("odd", one, other), ("close", *pair, one),
    ):  # fmt: skip
        with pytest.raises(psycopg.Error) as refused:
            dismiss(team, "bob", kind, *ids)
        assert refused.value.sqlstate == "TR113", (kind, ids)
    assert team.fetch("select count(*) from dismissal") == 0
    given = ([one, other], team.credential("rita", "read"), team.space)
    call = "select dismiss_candidates('same', %s, credential => %s, space => %s)"
    with pytest.raises(psycopg.Error) as reading:
        team.sql.execute(call, given)
    assert reading.value.sqlstate == "TR011"
    dismiss(team, "bob", "same", one, other)
    assert dismiss(team, "bob", "stale", fact, *pair) == 2
    details = "select count(distinct detail ->> 'dismissal') from event where action = 'dismissed'"
    assert team.fetch(details) == 3
    team.forget("Jeff Miller")
    assert team.fetch("select count(*) from dismissal") == 0


def test_pairs_are_merged_all_or_none(team: Team) -> None:
    for name in ("Ada", "A. Lovelace"):
        team.remember("ana", name, "writes")
    ids = dict(team.sql.execute("select name, id::text from entity").fetchall())
    good = [[ids["Jeff Miller"], ids["jmiller"]], [ids["Ada"], ids["A. Lovelace"]]]
    merge = "select kept_name, facts from merge_pairs(%s, %s, credential => %s, space => %s)"

    def run(pairs: object, *, dry_run: bool = False) -> list[Any]:
        given = (Jsonb(pairs), dry_run, team.credential("ana"), team.space)
        return team.sql.execute(merge, given).fetchall()

    before = team.rows()
    assert run(good, dry_run=True) == [("Jeff Miller", 1), ("Ada", 1)]
    with pytest.raises(psycopg.Error):
        run([*good, [ids["Ada"], ids["Ada"]]])
    assert team.rows() == before
    run(good)
    names = team.sql.execute("select name from entity order by 1").fetchall()
    assert names == [("Ada",), ("Jeff Miller",)]
