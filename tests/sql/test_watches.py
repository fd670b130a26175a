"""Watches: which entities, digests and lists have changed since the last look."""

import json
from typing import Any, LiteralString

import psycopg
import pytest

from tests.attacks.site import issue
from textrawl.access.access_token import hash_token

pytestmark = pytest.mark.follows

REMEMBER: LiteralString = "select remember_fact(%s, 'person', %s)"


class Looker:
    """A server with watches, which looks for changes like its upkeep does."""

    def __init__(self, sql: psycopg.Connection, **watches: dict[str, Any]) -> None:
        self.sql = sql
        self.watches = watches
        self.cursor: str | None = None
        self.look()

    def look(self) -> set[str]:
        """Names of the watches that have changed since the last look."""
        rows: list[tuple[str, int | None, str | None]] = self.sql.execute(
            "select cursor, place, state from changed_watches(%s, %s)",
            (json.dumps(list(self.watches.values())), self.cursor),
        ).fetchall()
        names = list(self.watches)
        changed = {names[place - 1]: state for _, place, state in rows if place}
        self.cursor = rows[0][0]
        for name, state in changed.items():
            self.watches[name]["state"] = state
        return {*changed}


@pytest.fixture
def looker(sql: psycopg.Connection) -> Looker:
    sql.execute(REMEMBER, ("Ada", "drinks tea"))
    sql.execute("select relate_entities('Bo', 'knows', 'Ada', 'person', 'person')")
    watches: dict[str, dict[str, Any]] = {
        "ada": {"entity": "ADA "}, "bo": {"entity": "Bo"}, "new": {"entity": "Cy"},
        "digest": {"digest": "default"}, "nowhere": {"digest": "nowhere"},
        "list": {"list": True, "documents": True},
    }  # fmt: skip
    return Looker(sql, **watches)


CHANGES: list[tuple[LiteralString, str]] = [
    ("select remember_fact('Ada', 'person', 'drinks coffee')", "ada digest"),
    ("select remember_fact('Ada', 'person', 'drinks tea', confidence => 0.5)", "ada digest"),
    ("select remember_fact('Ada', 'person', 'drinks tea')", ""),
    ("select remember_fact('Cy', 'person', 'is new')", "digest new"),
    ("select remember_fact('Dee', 'person', 'is new')", "digest"),
    ("select relate_entities('Cy', 'knows', 'Bo')", "bo digest new"),
    ("select end_relation('Bo', 'knows', 'Ada')", "ada bo digest"),
    ("select forget_entity('Ada', 'drinks tea')", "ada digest"),
    ("select write_identity('self', 'a.md', 'x')", "digest list"),
    ("select create_space('other')", "list"),
    ("select record_recalls('[]')", ""),
    ("select undo_author(session_user::text, '2020-01-01')", "ada bo digest list new"),
]


def test_a_change_is_seen_once_by_the_watches_that_it_concerns(looker: Looker) -> None:
    for statement, expected in CHANGES:
        assert looker.look() == set()
        looker.sql.execute(statement)
        assert looker.look() == {*expected.split()}, statement
    assert looker.look() == set()


def test_a_forgotten_entity_and_those_that_were_related_to_it_have_changed(looker: Looker) -> None:
    looker.sql.execute("select forget_entity('Ada')")

    assert {"ada", "bo", "digest"} <= looker.look()
    assert looker.look() == set()


def test_a_change_is_seen_after_its_commit_also_if_a_later_one_was_seen_before(
    looker: Looker,
) -> None:
    looker.sql.execute("select register_actor()")
    with psycopg.connect(looker.sql.info.dsn) as other:
        other.execute("set search_path = textrawl, public")
        other.execute(REMEMBER, ("Ada", "wears a hat"))
        looker.sql.execute(REMEMBER, ("Bo", "wears a hat"))
        seen = looker.look()
        other.commit()
    for _ in range(3):
        seen |= looker.look()
    assert seen == {"ada", "bo", "digest"}


@pytest.fixture
def guest(sql: psycopg.Connection) -> Looker:
    """One who reads the space red, and watches what the space default has, too."""
    sql.execute("select create_space('red')")
    credential = hash_token(issue(sql, "guest", "red", "read")).hex()
    names = {"ada": {"entity": "Ada"}, "digest": {"digest": "default"}, "red": {"digest": "red"}}
    watches = {name: {**watch, "credential": credential} for name, watch in names.items()}
    unknown = {"entity": "Ada", "credential": "00" * 32}
    return Looker(sql, **watches, list={"list": True, "credential": credential}, unknown=unknown)


def test_what_a_credential_cannot_read_never_changes_for_it(guest: Looker) -> None:
    guest.sql.execute(REMEMBER, ("Ada", "drinks tea"))
    assert guest.look() == set()

    guest.sql.execute("select grant_access('guest', 'default', '{read}')")
    assert guest.look() == {"list"}
    guest.sql.execute(REMEMBER, ("Ada", "drinks coffee"))
    assert guest.look() == {"ada", "digest"}

    guest.sql.execute("select revoke_token(prefix) from token where prefix <> 'trl_test'")
    guest.sql.execute(REMEMBER, ("Ada", "drinks milk"))
    assert guest.look() == set()


def test_a_watch_with_spaces_sees_only_these(sql: psycopg.Connection) -> None:
    sql.execute("select create_space('red')")
    red = sql.execute("select id from space where name = 'red'").fetchone()
    assert red is not None
    looker = Looker(sql, own={"entity": "Ada", "spaces": [red[0]]})

    sql.execute(REMEMBER, ("Ada", "drinks tea"))
    assert looker.look() == set()
    sql.execute("select remember_fact('Ada', 'person', 'drinks tea', space => %s)", red)
    assert looker.look() == {"own"}


def test_an_archived_space_and_a_graph_have_no_digest(sql: psycopg.Connection) -> None:
    sql.execute("select create_space('papers', tier => 'personal')")
    looker = Looker(sql, graph={"digest": "papers"}, list={"list": True})
    sql.execute("select create_space('red')")
    assert looker.look() == {"list"}
    sql.execute("select archive_space('red')")
    assert looker.look() == {"list"}


def test_a_cursor_of_another_cluster_compares_all_states(looker: Looker) -> None:
    looker.sql.execute(REMEMBER, ("Ada", "drinks coffee"))
    looker.cursor = "999999999999"
    assert "ada" in looker.look()
