"""The trail: nothing is changed in it, nothing missing from it, and nothing passed over."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, LiteralString

import anyio
import psycopg
import pytest

from tests.sql.sessions import Three
from tests.support.sql_team import Team
from textrawl.errors import ArgumentInvalid
from textrawl.memory.command_results import EventRow
from textrawl.memory.trail import Trail
from textrawl.postgres.database import Database

pytestmark = pytest.mark.follows


@pytest.fixture
def other(sql: psycopg.Connection) -> Any:
    """Another connection, whose transactions end when they are told to."""
    sql.execute("select register_actor()")  # else the first writers wait for each other
    with psycopg.connect(sql.info.dsn) as connection:
        connection.execute("set search_path = textrawl, public")
        connection.commit()
        yield connection


REMEMBER: LiteralString = "select remember_fact(%s, 'person', 'likes tea')"


def read(sql: psycopg.Connection, after: str = "0:0", limit: int = 500) -> list[tuple[str, str]]:
    """Cursors and entities of what read_events gives."""
    transaction, _, number = after.partition(":")
    return sql.execute(
        "select cursor, entity_name from read_events(%s, %s, %s) where action = 'remembered'",
        (transaction, int(number), limit),
    ).fetchall()


def test_the_trail_cannot_be_changed_by_its_owner_either(team: Team) -> None:
    team.remember("eve", "Jeff", "drinks coffee")
    lines = "select md5(string_agg(event::text, '' order by id)) from event"
    before = team.fetch(lines)
    for statement in (
        "update event set actor_id = 1",
        "delete from event",
        "truncate event",
        "update event set transaction = '0', at = now()",
        "delete from event where action = 'created'",
    ):
        with pytest.raises(psycopg.Error, match="append-only"):
            team.sql.execute(statement)

        assert team.fetch(lines) == before


def test_the_log_tells_who_did_what_and_never_what_was_said(team: Team) -> None:
    team.remember("ana", "Jeff", "drinks tea")
    team.sql.execute(
        """select remember_fact('Jeff', 'person', 'hates rain', credential => %s,
            client => 'claude 1', tool => 'remember_fact', request => 'r-1')""",
        (team.credential("bob"),),
    )
    team.relate("ana", "Kim", "knows", "Jeff")

    def log(given: LiteralString, *values: object) -> list[tuple[Any, ...]]:
        query: LiteralString = (
            "select author_name, client, tool, request, action, entity_name from list_events("
        )
        return team.sql.execute(query + given + ")", values).fetchall()

    assert log("author => 'bob'") == [
        ("bob", "claude 1", "remember_fact", "r-1", "remembered", "Jeff")
    ]
    assert [row[4] for row in log("entity => 'JEFF'")] == [
        "related", "remembered", "remembered", "created",
    ]  # fmt: skip
    assert [row[4] for row in log("doing => 'created', max_rows => 1")] == ["created"]
    assert log("since => %s", team.now()) == []
    ends: LiteralString = "select (entity_name, other_name)::text from list_events(doing => %s)"
    assert team.fetch(ends, "related") == "(Kim,Jeff)"
    everything = team.fetch("select string_agg(l::text, ' ') from list_events() l")
    assert "drinks" not in everything
    assert "rain" not in everything


def test_what_commits_late_is_read_before_what_came_after_it(
    sql: psycopg.Connection, other: psycopg.Connection
) -> None:
    other.execute(REMEMBER, ("Early",))  # draws its number first,
    sql.execute(REMEMBER, ("Late",))  # and is overtaken

    held_back = read(sql)
    other.commit()

    assert held_back == []
    assert [name for _, name in read(sql)] == ["Early", "Late"]


def test_a_cursor_gives_every_event_once_page_by_page(sql: psycopg.Connection) -> None:
    names = [f"Person {number}" for number in range(5)]
    for name in names:
        sql.execute(REMEMBER, (name,))

    found: list[str] = []
    cursor = "0:0"
    while page := sql.execute(
        "select cursor, entity_name, action from read_events(%s, %s, 3)",
        (cursor.partition(":")[0], int(cursor.partition(":")[2])),
    ).fetchall():
        found += [name for _, name, action in page if action == "remembered"]
        cursor = page[-1][0]

    assert found == names


def test_from_now_on_means_all_that_is_not_committed_yet(
    sql: psycopg.Connection, other: psycopg.Connection
) -> None:
    sql.execute(REMEMBER, ("Before",))
    other.execute(REMEMBER, ("Running",))
    row = sql.execute("select trail_end()").fetchone()
    other.commit()
    sql.execute(REMEMBER, ("After",))

    assert row
    assert [name for _, name in read(sql, row[0])] == ["Running", "After"]


def test_from_now_on_means_nothing_of_before_where_nobody_else_writes(
    sql: psycopg.Connection,
) -> None:
    sql.execute(REMEMBER, ("Before",))
    row = sql.execute("select trail_end()").fetchone()

    assert row
    assert read(sql, row[0]) == []
    sql.execute(REMEMBER, ("After",))
    assert [name for _, name in read(sql, row[0])] == ["After"]


def test_what_is_committed_while_a_follower_begins_to_look_is_read_later(
    sql: psycopg.Connection, three: Three
) -> None:
    gate, one, _ = three
    sql.execute(REMEMBER, ("Before",))
    [(cursor, _)] = read(sql)
    gate.hold("lock table event in access exclusive mode")

    transaction, _, number = cursor.partition(":")
    one.start("select entity_name from read_events(%s, %s)", transaction, int(number))
    gate.do(REMEMBER, "After")
    gate.release()

    seen = [name for (name,) in one.end()] + [name for _, name in read(sql, cursor)]
    assert "After" in seen


def test_events_restored_from_another_cluster_are_read_and_hide_nothing(
    sql: psycopg.Connection,
) -> None:
    sql.execute(REMEMBER, ("Restored",))
    # As pg_restore leaves it: the numbers of a cluster that had come much further.
    sql.execute("alter table event disable trigger user")
    sql.execute("update event set transaction = '5000000000'::xid8 where action = 'created'")
    sql.execute("update event set transaction = '5000000001'::xid8 where action = 'remembered'")
    sql.execute("alter table event enable trigger user")

    [(cursor, name)] = read(sql)
    sql.execute(REMEMBER, ("New",))

    assert name == "Restored"
    assert [name for _, name in read(sql, cursor)] == ["New"]
    # A follower who came with a cursor of the other cluster.
    assert [name for _, name in read(sql, f"5000000001:{cursor.split(':')[1]}")] == ["New"]


@pytest.fixture
async def trail(sql: psycopg.Connection) -> AsyncIterator[Trail]:
    database = Database(sql.info.dsn, timeout=30, max_size=1)
    await database.open()
    yield Trail(database, None, None)
    await database.close()


async def take(events: AsyncGenerator[EventRow], count: int) -> list[str | None]:
    """Entities of the next so many facts."""
    found: list[str | None] = []
    with anyio.fail_after(30):
        while len(found) < count:
            row = await anext(events)
            if row.action == "remembered":
                found.append(row.entity_name)
    return found


@pytest.mark.anyio
async def test_a_follower_misses_nothing_of_writers_who_overtake_each_other(
    sql: psycopg.Connection, other: psycopg.Connection, trail: Trail
) -> None:
    async with aclosing(trail.follow("0:0")) as events:
        sql.execute(REMEMBER, ("First",))
        assert await take(events, 1) == ["First"]
        for round_ in range(5):
            other.execute(REMEMBER, (f"Slow {round_}",))
            sql.execute(REMEMBER, (f"Quick {round_}",))
            other.commit()
            assert await take(events, 2) == [f"Slow {round_}", f"Quick {round_}"]


@pytest.mark.anyio
async def test_a_follower_whose_connections_are_killed_misses_nothing_and_repeats_nothing(
    sql: psycopg.Connection, trail: Trail
) -> None:
    kill = """
        select count(pg_terminate_backend(pid)) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()
          and application_name = 'textrawl'"""
    async with aclosing(trail.follow("0:0")) as events:
        sql.execute(REMEMBER, ("First",))
        found = await take(events, 1)
        for round_ in range(2):
            assert sql.execute(kill).fetchone() == (1,)
            sql.execute(REMEMBER, (f"Unheard {round_}",))
            found += await take(events, 1)
            sql.execute(REMEMBER, (f"Heard {round_}",))
            found += await take(events, 1)
        sql.execute(REMEMBER, ("Last",))
        found += await take(events, 1)

    assert found == ["First", "Unheard 0", "Heard 0", "Unheard 1", "Heard 1", "Last"]


@pytest.mark.anyio
async def test_what_is_no_cursor_is_refused(trail: Trail) -> None:
    with pytest.raises(ArgumentInvalid, match="cursor"):
        await anext(trail.follow("yesterday"))
