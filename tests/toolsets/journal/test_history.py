"""What undo, forgetting and time do to entries and to the facts that are their parts."""

from typing import Any, LiteralString

import psycopg
import pytest
from mcp import Client
from psycopg.sql import SQL, Identifier

from tests.conftest import ACTOR, TOKEN, Connect, Databases
from tests.support.commands import Run
from tests.support.sharing import refuse as refuse_sql
from tests.support.tool_calls import ask, count, forget, refuse
from tests.toolsets.journal.entries import DAY, delete, look_up, miss, record
from textrawl.access.access_token import hash_token
from textrawl.embedded.postmaster import OWNER

Sql = psycopg.Connection[Any]

BY = ("--by", ACTOR, "--since")
ENTITY = "journal 2026-05-12 laptop"
LONG = "\n".join(f"- Point {number} of a very long day [chat:{number}]" for number in range(130))


@pytest.fixture
def url(databases: Databases, database: str) -> str:
    """Of the memory's owner."""
    return databases.cluster.dsn(OWNER, database)


def read_parts(sql: Sql) -> list[str]:
    """The facts of all entries, in order."""
    rows = sql.execute("select content from fact where part is not null order by whole, part")
    return [content for (content,) in rows.fetchall()]


def mark(sql: Sql) -> str:
    [(now,)] = sql.execute("select clock_timestamp()::text").fetchall()
    return now


def undo(run: Run, url: str, *arguments: str) -> None:
    outcome = run("undo", *arguments, "--yes", DATABASE_URL=url)
    assert outcome.code == 0, outcome.err


def write(sql: Sql, content: str, function: LiteralString = "write_entry") -> None:
    """Store a text as the actor whose changes are undone."""
    sql.execute(
        SQL("select {}('daily', %s, content => %s, instance => 'laptop', credential => %s)").format(
            Identifier(function)
        ),
        (DAY, content, hash_token(TOKEN)),
    )


def find_text(sql: Sql) -> str | None:
    rows = sql.execute("select content from read_entry('daily', %s)", (DAY,)).fetchall()
    return rows[0][0] if rows else None


@pytest.mark.anyio
async def test_the_parts_of_an_entry_are_its_text(connect: Connect, owner: Sql) -> None:
    client = await connect(toolsets=["journal"])

    await record(client, LONG)

    parts = read_parts(owner)
    assert (len(parts), "".join(parts)) == (3, LONG)
    [(dates,)] = owner.execute(
        "select array_agg(distinct said_at::date::text) from fact"
    ).fetchall()
    assert dates == [DAY]


@pytest.mark.anyio
async def test_a_merge_keeps_the_parts_that_did_not_change_with_their_vectors(
    connect: Connect, owner: Sql
) -> None:
    client = await connect(toolsets=["journal"])
    await record(client, LONG)
    before = dict(owner.execute("select id, content from fact order by part").fetchall())

    await record(client, "- One more point [chat:x]")

    after = dict(owner.execute("select id, content from fact order by part").fetchall())
    assert len(before.keys() & after.keys()) == len(before) - 1
    assert "".join(after.values()) == f"{LONG}\n- One more point [chat:x]"
    [(vectors,)] = owner.execute("select count(*) from embedding_1").fetchall()
    assert vectors == len(after)


def test_undo_gives_an_entry_its_former_text_and_its_parts(owner: Sql, run: Run, url: str) -> None:
    write(owner, LONG)
    first = mark(owner)
    write(owner, "- A merged point [chat:x]")
    write(owner, "All is different", "update_entry")
    assert read_parts(owner) == ["All is different"]

    undo(run, url, *BY, first)

    assert find_text(owner) == LONG
    assert "".join(read_parts(owner)) == LONG


def test_undo_of_the_creation_hides_the_entry_and_the_revert_brings_it_back(
    owner: Sql, run: Run, url: str
) -> None:
    start = mark(owner)
    write(owner, LONG)

    undo(run, url, *BY, start)
    assert (find_text(owner), read_parts(owner)) == (None, [])
    [(number,)] = owner.execute("select id from undo").fetchall()
    undo(run, url, "--revert", str(number))

    assert find_text(owner) == LONG
    assert "".join(read_parts(owner)) == LONG


def test_a_text_that_is_written_after_an_undo_does_not_bring_the_undone_text_back(
    owner: Sql, run: Run, url: str
) -> None:
    start = mark(owner)
    write(owner, "- Wrong [chat:1]")
    undo(run, url, *BY, start)

    write(owner, "- Right [chat:1]")

    assert find_text(owner) == "- Right [chat:1]"
    assert read_parts(owner) == ["- Right [chat:1]"]


def test_an_undo_does_not_bring_a_deleted_entry_back(owner: Sql, run: Run, url: str) -> None:
    start = mark(owner)
    write(owner, "- A secret")
    owner.execute(
        "select delete_entry('daily', %s, 'laptop', credential => %s)", (DAY, hash_token(TOKEN))
    )

    run("undo", *BY, start, "--yes", DATABASE_URL=url)

    assert (find_text(owner), read_parts(owner)) == (None, [])
    kept = owner.execute(
        "select content from document_version union all select before::text from undone"
    ).fetchall()
    assert not [text for (text,) in kept if "secret" in text]


@pytest.mark.anyio
async def test_forgetting_the_entity_of_an_entry_deletes_the_entry(
    connect: Connect, owner: Sql
) -> None:
    client = await connect(toolsets=["memory", "journal"])
    await record(client, "- A secret day")

    await forget(client, ENTITY, confirm=True)

    await miss(client)
    assert [count(owner, table) for table in ("document", "document_version")] == [0, 0]
    [(path,)] = owner.execute("select path from document_tombstone").fetchall()
    assert path == "daily/2026-05-12/laptop"


@pytest.mark.anyio
async def test_a_part_alone_is_not_forgotten(connect: Connect, owner: Sql) -> None:
    client = await connect(toolsets=["memory", "journal"])
    await record(client, LONG)
    [(part,)] = owner.execute("select id::text from fact where part = 2").fetchall()

    title, fix = await refuse(client, "forget_entity", entityName=ENTITY, fact=part, confirm=True)

    assert title == "This text is a part of the journal entry daily/2026-05-12/laptop"
    assert "memory_update" in fix
    assert "".join(read_parts(owner)) == LONG


@pytest.mark.anyio
async def test_a_query_as_of_a_moment_before_an_entry_does_not_find_it(
    connect: Connect, owner: Sql
) -> None:
    client = await connect(toolsets=["memory", "journal"])
    [(before,)] = owner.execute(
        "select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
    ).fetchall()
    await record(client, "- Ben saw Saturn")

    then = await ask(client, mode="search", query="Saturn", asOf=before)
    now = await ask(client, mode="search", query="Saturn")

    assert then.get("e", []) == []
    assert now["e"][0]["n"] == ENTITY


@pytest.mark.anyio
async def test_entries_of_two_instances_with_one_entity_do_not_lose_each_other(
    connect: Connect, owner: Sql
) -> None:
    """The names of both entities differ only by case, so both entries have the same entity."""
    client = await connect(toolsets=["journal"])
    await record(client, "- One", instanceId="Laptop")
    await record(client, "- Two")

    await delete(client)

    assert (await look_up(client, instanceId="Laptop"))["content"] == "- One"
    assert read_parts(owner) == ["- One"]


@pytest.mark.anyio
async def test_a_caller_without_a_scope_writes_reads_and_deletes_nothing(
    owner: Sql, connect: Connect
) -> None:
    client = await connect(toolsets=["journal"])
    await record(client, "- One")
    key = {"granularity": "daily", "date": DAY, "instance": "laptop"}
    missing = {"credential": b"unknown"}

    assert refuse_sql(owner, "write_entry", **key, content="x", **missing) == "TR010"
    assert refuse_sql(owner, "update_entry", **key, content="x", **missing) == "TR010"
    assert refuse_sql(owner, "delete_entry", **key, **missing) == "TR010"
    assert refuse_sql(owner, "read_entry", **key, **missing) == "TR010"
    assert refuse_sql(owner, "list_entries", **missing) == "TR010"
    assert refuse_sql(owner, "search_journal", query="x", **missing) == "TR010"


async def fill_two_days(client: Client) -> None:
    await record(client, "- One", date="2026-05-11")
    await record(client, "- Two")


@pytest.mark.anyio
async def test_an_analyst_reads_entries_in_sql(connect: Connect, owner: Sql) -> None:
    client = await connect(toolsets=["journal"])
    await fill_two_days(client)

    rows = owner.execute(
        "select granularity, date, first_day::text, content, version from memory_journal"
        " order by first_day"
    ).fetchall()

    assert rows == [
        ("daily", "2026-05-11", "2026-05-11", "- One", 1),
        ("daily", "2026-05-12", "2026-05-12", "- Two", 1),
    ]
