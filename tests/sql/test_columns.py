"""No column of a fact is lost silently: each one goes every way that a fact goes, or says why not.

The columns are those of the database's own catalogue, so a new column is held to the same.
"""

from typing import Any, LiteralString

import psycopg
from psycopg.types.json import Jsonb

from tests.support.sql_team import Team
from textrawl.archive.lines import read_line

Fact = dict[str, Any]

_PLACED = {
    "space_id": "the place of the copy",
    "id": "a copy has its own",
    "entity_id": "the entity of the copy",
    "entity_type": "that of the entity",
    "ordinal": "each space numbers its facts",
    "fts": "made from the text in the language of the space",
    "claim": "made from the text in the language of the space",
    "period": "read again from the text: fact_is_told, test_named_periods",
    "relation_id": "null for a fact",
    "replaced_by": "another fact, which has an id of its own: test_sharing, test_round_trips",
}
_WRITTEN = {
    "content_hash": "made from the text",
    "closed_at": "the time at which the end was written",
    "confirmed_at": "the time at which it was repeated",
    "created_at": "the time at which it was written",
    "tool": "of the call",
    "origin": "of the call, and of the decision: test_origins",
    "whole": "of a long text, which no caller divides",
    "part": "of a long text, which no caller divides",
}
_SHOWN = {
    "author_id": "shown as a name",
    "closed_at": "shown as `valid`",
    "confirmed_at": "no date of what is said",
    "content_hash": "made from the text",
    "whole": "shown as the whole text",
    "part": "shown as the whole text",
    "request": "in the trail",
}
_EXCEPTIONS: dict[str, dict[str, str]] = {
    "copy": _PLACED,
    "export": _PLACED,
    "undo": {"fts": "made again from the text", "claim": "made again from the text"},
    "proposal": _PLACED | _WRITTEN,
    "history": _PLACED | _SHOWN,
    "view": _PLACED
    | _SHOWN
    | {"evidence": "shown by the history", "evidence_start": "shown by the history"},
}
# Values of types, and of columns that not every value fits.
_VALUES: dict[str, object] = {
    "text": "so it is",
    "integer": 7,
    "bigint": 7,
    "smallint": 1,
    "real": 0.25,
    "boolean": True,
    "text[]": ["src/parse.py:40-52 0123456789abcdef"],
    "jsonb": Jsonb({"so": 1}),
    "uuid": "0190d3c8-0000-7000-8000-000000000001",
    "source": "note",
    "content": "was red",
    "origin": "external",
    "valid_from": "2024-01-01",
    "valid_until": "2024-06-01",
    "closed_at": "2024-06-02",
}
_COLUMNS: LiteralString = """
    select attname::text, format_type(atttypid, null) from pg_attribute
    where attrelid = %s::regclass and attnum > 0 and not attisdropped"""
_ARGUMENTS: LiteralString = """
    select unnest(proargnames[:pronargs]) from pg_proc where oid = 'remember_fact'::regproc"""


def list_columns(sql: psycopg.Connection, table: str = "observation") -> dict[str, str]:
    return dict(sql.execute(_COLUMNS, (table,)).fetchall())


def read_fact(sql: psycopg.Connection, space: int, way: str) -> Fact:
    """Return the only fact of a space, without the columns that do not go this way."""
    query = "select to_jsonb(o) from observation o where space_id = %s"
    [(fact,)] = sql.execute(query, (space,)).fetchall()
    return {name: value for name, value in fact.items() if name not in _EXCEPTIONS[way]}


def fill_fact(sql: psycopg.Connection, team: Team) -> None:
    """Store a fact with a value in every column that can have one."""
    team.remember("eve", "Acme", "was red")
    for name, kind in list_columns(sql).items():
        if name in _PLACED or name in {"author_id", "content_hash", "whole", "part"}:
            continue
        value = _VALUES.get(name, _VALUES.get(kind, "2024-05-06 07:08:09Z"))
        change = f"update observation set {name} = %s where space_id = %s"  # noqa: S608
        sql.execute(change, (value, team.space))  # pyright: ignore[reportArgumentType, reportCallIssue]
    pair = "update observation set whole = %s, part = 1 where space_id = %s"
    sql.execute(pair, (_VALUES["uuid"], team.space))


def test_a_copy_has_every_column_of_its_fact(sql: psycopg.Connection) -> None:
    fill_fact(sql, home := Team(sql, "home"))
    away = Team(sql, "away")

    sql.execute(
        "select share_memories('Acme', %s, space => %s, ended => true)", (away.space, home.space)
    )

    copy = read_fact(sql, away.space, "copy")
    assert copy == read_fact(sql, home.space, "copy")
    assert [name for name, value in copy.items() if value is None] == []


def test_an_export_has_every_column_of_a_fact(sql: psycopg.Connection) -> None:
    fill_fact(sql, team := Team(sql))
    exported = team.fetch("select to_json(f)::text from export_facts(%s) f", team.space)
    line, _ = read_line(exported.encode())
    values = line.model_dump(mode="json") | {"place": 0, "space": team.space}
    before = read_fact(sql, team.space, "export")
    sql.execute("delete from observation")

    sql.execute("select import_facts(%s)", (Jsonb([values]),))

    assert read_fact(sql, team.space, "export") == before


def test_a_revert_brings_every_column_of_a_fact_back(sql: psycopg.Connection) -> None:
    team = Team(sql)
    since = team.now()
    fill_fact(sql, team)
    before = read_fact(sql, team.space, "undo")
    done = team.undo("eve", since)
    assert team.fetch("select count(*) from observation") == 0

    team.revert(done["undo_id"])

    assert read_fact(sql, team.space, "undo") == before


def give_values(sql: psycopg.Connection) -> Fact:
    """Return a value for each argument of remember_fact() that is a column of a fact."""
    columns = list_columns(sql)
    names = [name for (name,) in sql.execute(_ARGUMENTS) if name in columns]
    given = {name: _VALUES.get(name, _VALUES.get(columns[name])) for name in names}
    return given | {"said_at": "2024-05-06 07:08:09Z", "valid_until": "2999-01-01"}


def read_given(sql: psycopg.Connection, team: Team, given: Fact) -> Fact:
    """Return the values of the only fact as Postgres writes them, beside those that were given."""
    query = "select to_jsonb(o) from jsonb_populate_record(null::observation, %s) o"
    [(wanted,)] = sql.execute(query, (Jsonb(given),)).fetchall()
    fact = read_fact(sql, team.space, "undo")
    return {name: (fact[name], wanted[name]) for name in given if fact[name] != wanted[name]}


def test_what_a_caller_gives_is_stored_proposed_and_stated_again(sql: psycopg.Connection) -> None:
    given = give_values(sql)
    [direct, again, proposed] = [Team(sql, name) for name in ("direct", "again", "proposed")]
    direct.remember("eve", "Acme", "was red", **given)
    again.remember("eve", "Acme", "was red", valid_from=given["valid_from"])
    before, since = read_fact(sql, again.space, "undo"), again.now()
    again.remember("eve", "Acme", "was red", **given)
    values = {"pat": proposed.credential("pat", "propose"), "space": proposed.space, **given}
    options = "".join(f", {name} => %({name})s" for name in given)
    proposal = proposed.sql.execute(
        "select proposal_id from remember_fact('Acme', 'person', 'was red',"  # pyright: ignore[reportArgumentType, reportCallIssue]  # noqa: S608
        f" credential => %(pat)s, space => %(space)s{options})",
        values,
    ).fetchone()
    sql.execute("select decide_proposals(array[%s], 'accept')", (str(proposal and proposal[0]),))

    assert {"source", "confidence", "valid_until", "said_at"} < given.keys()
    assert read_given(sql, direct, given) == {}
    assert read_given(sql, proposed, given) == {}
    # The call that stored the fact is its origin.
    origin = {"client", "tool", "request"}
    assert read_given(sql, again, given).keys() <= origin
    again.undo("eve", since)
    assert read_fact(sql, again.space, "undo") == before


def import_fact(team: Team, *more: Fact, **given: object) -> list[str]:
    """Import a fact about the only entity of a space, and equal ones with other values.

    Return the outcomes.
    """
    begin = Jsonb([{"space": team.space, "system": "rules", "command": None}])
    run = team.fetch("select run from begin_import(%s)", begin)
    entity = team.fetch("select id from entity where space_id = %s", team.space)
    line = {"place": 0, "space": team.space, "id": _VALUES["uuid"], "entity": str(entity)}
    line |= {"text": "was red", "created_at": given["said_at"], "author": "eve", **given}
    lines = Jsonb([line | other for other in ({}, *more)])
    query = "select outcome from import_items(%s, 'fact', %s) order by place"
    return [outcome for (outcome,) in team.sql.execute(query, (lines, run))]


def test_an_imported_fact_that_is_reviewed_loses_no_value(sql: psycopg.Connection) -> None:
    evidence = {"evidence": "It was red.", "evidence_start": 7}
    given = give_values(sql) | evidence | {"repository": "github.com/acme/api"}
    team = Team(sql)
    sql.execute(
        "select claim_entity('Acme', 'project', row(%s, 1, null, 'sql', null, false)::origin)",
        (team.space,),
    )
    sql.execute("select change_review('team', true, only_external => true)")

    outcomes = import_fact(
        team,
        {"place": 1},
        {"place": 2, "text": "was blue", "client": "another", "author": "ann"},
        {"place": 3, "entity": _VALUES["uuid"]},
        **given,
    )

    assert outcomes == ["proposed", "waiting", "proposed", "homeless"]
    query = "select p.content, p.client, a.name from proposal p join actor a on a.id = p.author_id"
    assert sorted(sql.execute(query)) == [
        ("was blue", "another", "ann"),
        ("was red", "so it is", "eve"),
    ]
    assert team.fetch("select count(*) from event where action = 'proposed'") == 2
    sql.execute("delete from proposal where content = 'was blue'")
    sql.execute("select decide_proposals(array(select id::text from proposal), 'accept')")

    assert read_given(sql, team, given).keys() <= {"tool", "request"}


def test_proposals_histories_and_views_have_every_column_of_a_fact(sql: psycopg.Connection) -> None:
    columns = set(list_columns(sql))
    query = "select proargnames[pronargs + 1:] from pg_proc where oid = 'entity_history'::regproc"
    [(history,)] = sql.execute(query).fetchall()
    found = {
        "proposal": {*list_columns(sql, "proposal")},
        "history": {*history},
        "view": {*list_columns(sql, "memory_observations")},
    }

    assert {name for reasons in _EXCEPTIONS.values() for name in reasons} <= columns
    assert {way: columns - held - set(_EXCEPTIONS[way]) for way, held in found.items()} == {
        "proposal": set(),
        "history": set(),
        "view": set(),
    }
