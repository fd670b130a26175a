"""Identity files in SQL: bytes that come back, undo, and the age at which texts are deleted."""

from dataclasses import dataclass, field
from typing import Any, LiteralString

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import DatabaseError

from tests.support.sql_team import Team

Sql = psycopg.Connection[Any]

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0") | st.sampled_from("\r\n #-"))


def fetch(sql: Sql, statement: LiteralString, *given: Any) -> Any:
    """The first value of the first row, or None."""
    row = sql.execute(statement, given).fetchone()
    return row[0] if row else None


def write(sql: Sql, content: str, placement: str = "replace", name: str = "a.md") -> None:
    sql.execute("select write_identity('self', %s, %s, %s)", (name, content, placement))


def look(sql: Sql, name: str = "a.md") -> str | None:
    return fetch(sql, "select content from read_identity('self', %s)", name)


@given(one=TEXTS, two=TEXTS)
def test_a_restore_brings_back_every_byte(sql: Sql, one: str, two: str) -> None:
    write(sql, one)
    snapshot = fetch(sql, "select id from create_snapshots()")
    write(sql, two)

    sql.execute("select restore_snapshot(%s)", (snapshot,))

    assert look(sql) == (one if one.strip(" \t\r\n") else two)


@given(one=TEXTS, two=TEXTS, placement=st.sampled_from(["append", "prepend", "replace"]))
def test_an_undo_of_an_addition_brings_back_every_byte(
    sql: Sql, one: str, two: str, placement: str
) -> None:
    write(sql, one)
    since = fetch(sql, "select clock_timestamp()")
    author = fetch(sql, "select name from actor join event on actor_id = actor.id limit 1")
    write(sql, two, placement)

    sql.execute("select undo_author(%s, %s)", (author, since))

    assert look(sql) == one


@given(one=TEXTS, two=TEXTS)
def test_an_addition_keeps_the_text_that_was_there(sql: Sql, one: str, two: str) -> None:
    for placement in ("append", "prepend"):
        write(sql, one)
        write(sql, two, placement)
        text = look(sql) or ""
        assert one.strip(" \t\r\n") in text
        assert two.strip(" \t\r\n") in text


def test_what_cannot_be_stored_is_refused_and_changes_nothing(sql: Sql) -> None:
    for call, code in (
        ("write_identity('self', '../a.md', 'x')", "TR090"),
        ("write_identity('others', 'a.md', 'x')", "TR090"),
        ("write_identity('self', null, 'x')", "TR090"),
        ("write_identity('self', 'a.md', 'x', known => 99)", "TR091"),
        ("write_identity('self', 'a.md', repeat('x', 1000001))", "TR092"),
        ("label_identity('self', 'a.md', 'a b')", "TR093"),
        ("label_identity('self', 'a.md', '</a>')", "TR093"),
        ("delete_identity('a/b.md')", "TR090"),
    ):
        with pytest.raises(DatabaseError) as refused:
            sql.execute(f"select {call}".encode())

        assert refused.value.sqlstate == code
        assert fetch(sql, "select count(*) from document") == 0


@dataclass
class _Kept:
    """Versions and snapshots with their ages in days. Time passes, so each is a little older."""

    versions: dict[int, tuple[str, int]] = field(default_factory=dict[int, tuple[str, int]])
    snapshots: dict[str, tuple[int, int, bool]] = field(
        default_factory=dict[str, tuple[int, int, bool]]
    )

    def find_due(self, days: int) -> tuple[set[int], set[str]]:
        """The versions and the snapshots to delete."""
        gone = {
            name for name, (_, age, pinned) in self.snapshots.items() if age >= days and not pinned
        }
        held = {version for name, (version, _, _) in self.snapshots.items() if name not in gone}
        current = {path: version for version, (path, _) in self.versions.items()}
        due = {
            version
            for version, (path, _) in self.versions.items()
            if version not in held and version != current[path]
            if any(
                path == later and other > version and age >= days
                for other, (later, age) in self.versions.items()
            )
        }
        return due, gone


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["write", "append", "snapshot", "pin", "delete"]),
        st.sampled_from(["a.md", "b.md"]),
        st.integers(0, 25),  # days until the next step
    ),
    max_size=12,
)


@given(steps=STEPS, days=st.integers(1, 60))
def test_retention_deletes_what_is_due_and_nothing_else(
    sql: Sql, steps: list[tuple[str, str, int]], days: int
) -> None:
    sql.execute("truncate document cascade")
    kept = _Kept()
    for place, (action, name, _) in enumerate(steps):
        _act(sql, action, name)
        _grow_older(sql, kept, sum(gap for _, _, gap in steps[place:]))
    due, gone = kept.find_due(days)

    counts = sql.execute("select * from prune_documents(%s)", (days,)).fetchone()

    assert counts == (len(gone), len(due))
    left = sql.execute("select version from document_version").fetchall()
    assert {version for (version,) in left} == kept.versions.keys() - due
    names = sql.execute("select id from identity_snapshot").fetchall()
    assert {name for (name,) in names} == kept.snapshots.keys() - gone


def _act(sql: Sql, action: str, name: str) -> None:
    match action:
        case "write" | "append":
            write(sql, f"text {action}", "replace" if action == "write" else "append", name)
        case "delete":
            sql.execute("select delete_identity(%s, 'self')", (name,))
        case _:
            sql.execute("select create_snapshots(pinned => %s)", (action == "pin",))


def _grow_older(sql: Sql, kept: _Kept, age: int) -> None:
    """Give what the last step stored its age, and remember it."""
    for version, path in sql.execute(
        "update document_version v set created_at = clock_timestamp() - make_interval(days => %s)"
        " from document d where d.id = v.document_id and not v.version = any(%s)"
        " returning v.version, d.path",
        (age, [*kept.versions]),
    ).fetchall():
        kept.versions[version] = (path, age)
    for name, version, pinned in sql.execute(
        "update identity_snapshot set created_at = clock_timestamp() - make_interval(days => %s)"
        " where not id = any(%s) returning id, version, pinned",
        (age, [*kept.snapshots]),
    ).fetchall():
        kept.snapshots[name] = (version, age, pinned)


def test_retention_spares_what_an_undo_took_back_until_it_is_purged(sql: Sql) -> None:
    since = fetch(sql, "select clock_timestamp()")
    for text in ("one", "two"):
        write(sql, text)
    author = fetch(sql, "select name from actor join event on actor_id = actor.id limit 1")
    sql.execute("select undo_author(%s, %s)", (author, since))
    write(sql, "three")
    later = "clock_timestamp() + interval '90 days'"

    spared = fetch(sql, f"select versions from prune_documents(30, moment => {later})")  # noqa: S608
    purged = sql.execute("select * from purge_undone()").fetchall()

    assert spared == 0
    assert purged
    assert [*sql.execute("select content from document_version")] == [("three",)]


def test_purging_an_undo_deletes_the_texts_that_it_took_back(sql: Sql) -> None:
    write(sql, "mine", name="kept.md")
    since = fetch(sql, "select clock_timestamp()")
    author = fetch(sql, "select name from actor join event on actor_id = actor.id limit 1")
    write(sql, "secret one")
    write(sql, "secret two", name="kept.md")
    sql.execute("select undo_author(%s, %s)", (author, since))

    sql.execute("select purge_undone()")

    assert [*sql.execute("select content from document_version")] == [("mine",)]
    assert [*sql.execute("select path from document")] == [("self/kept.md",)]
    assert (look(sql), look(sql, "kept.md")) == (None, "mine")


def test_texts_are_deleted_only_where_the_caller_may_forget(owner: Sql) -> None:
    team = Team(owner)
    for text in ("one", "two"):
        write(owner, text)
    later = "clock_timestamp() + interval '90 days'"

    counts = [
        fetch(
            owner,
            f"select versions + snapshots from prune_documents(1, %s, moment => {later})",  # noqa: S608
            credential,
        )
        for credential in (team.credential("ana", "read", "write"), None)
    ]

    assert counts == [0, 2]
