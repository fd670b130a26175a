"""What merges, undo, forgetting and time do to entries and to the facts that are their parts."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, LiteralString

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
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
async def test_the_parts_of_an_entry_are_its_text(client: Client, owner: Sql) -> None:
    await record(client, LONG)

    parts = read_parts(owner)
    assert (len(parts), "".join(parts)) == (3, LONG)
    [(dates,)] = owner.execute(
        "select array_agg(distinct said_at::date::text) from fact"
    ).fetchall()
    assert dates == [DAY]


@pytest.mark.anyio
async def test_a_merge_keeps_the_parts_that_did_not_change_with_their_vectors(
    client: Client, owner: Sql
) -> None:
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
    client: Client, owner: Sql
) -> None:
    """The names of both entities differ only by case, so both entries have the same entity."""
    await record(client, "- One", instanceId="Laptop")
    await record(client, "- Two")

    await delete(client)

    assert (await look_up(client, instanceId="Laptop"))["content"] == "- One"
    assert read_parts(owner) == ["- One"]


@pytest.mark.anyio
async def test_a_caller_without_a_scope_writes_reads_and_deletes_nothing(
    owner: Sql, client: Client
) -> None:
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
async def test_an_analyst_reads_entries_in_sql(client: Client, owner: Sql) -> None:
    await fill_two_days(client)

    rows = owner.execute(
        "select granularity, date, first_day::text, content, version from memory_journal"
        " order by first_day"
    ).fetchall()

    assert rows == [
        ("daily", "2026-05-11", "2026-05-11", "- One", 1),
        ("daily", "2026-05-12", "2026-05-12", "- Two", 1),
    ]


FIRST = "# May 12\n\n- Met Ben [chat:1]\n- Tea with Ada [chat:2] [via:laptop]"

_WORDS = st.sampled_from(["tea", "rain", "Ben", "a walk"])
_MARKS = st.sampled_from(["- ", "- ", "- ", "* ", "  ", "# ", "## ", "", "\t- "])
_TAGS = st.sampled_from(["", " [chat:1]", " [chat:2]", " [chat:3] [chat:1]", " [chat:4]"])
_LINES = st.tuples(_MARKS, _WORDS, _TAGS).map("".join) | st.just("")
TEXTS = st.lists(_LINES, min_size=1, max_size=8).map("\n".join).filter(lambda text: text.strip())


def merge_texts(sql: Sql, existing: str, incoming: str) -> str:
    [row] = sql.execute("select merge_entries(%s, %s)", (existing, incoming)).fetchall()
    return row[0]


def test_what_is_new_is_added_and_the_day_keeps_its_words(owner: Sql) -> None:
    for incoming, added in (
        ("- Met Ben once more [chat:1]", ""),
        ("- A walk [chat:3]", "\n- A walk [chat:3]"),
        ("# Another title\n\n- A walk [chat:3]", "\n- A walk [chat:3]"),
        ("- All of it [chat:2] [chat:3]", ""),
        ("- One [chat:3]\n- Two [chat:3]", "\n- One [chat:3]\n- Two [chat:3]"),
        ("- No tag", "\n- No tag"),
        ("- Rain [chat:4]\n  - all day\n  - and night", None),
        ("It was a good day.", "\n\nIt was a good day."),
        ("## Evening\n\n- Rain [chat:4]", "\n\n## Evening\n\n- Rain [chat:4]"),
        ("# Day\n## Evening\n\n- Ben again [chat:1]\n## Night\n- Owls", "\n\n## Night\n\n- Owls"),
    ):
        assert merge_texts(owner, FIRST, incoming) == FIRST + (
            f"\n{incoming}" if added is None else added
        )


def test_a_day_without_a_title_gets_the_title_of_the_second_text(owner: Sql) -> None:
    assert merge_texts(owner, "- Tea [chat:1]", "# May 12\n\n- Rain [chat:2]") == (
        "# May 12\n\n- Tea [chat:1]\n- Rain [chat:2]"
    )


@given(existing=TEXTS, incoming=TEXTS)
def test_a_merge_is_idempotent_and_loses_nothing(owner: Sql, existing: str, incoming: str) -> None:
    merged = merge_texts(owner, existing, incoming)

    assert merge_texts(owner, merged, incoming) == merged
    assert merge_texts(owner, merged, existing) == merged
    assert existing.strip() in merged
    items = owner.execute(
        "select text from entry_items(%s) where kind <> 'heading'"
        " and not chat_ids && array(select unnest(chat_ids) from entry_items(%s))",
        (incoming, existing),
    ).fetchall()
    assert [text for (text,) in items if text not in merged] == []


@pytest.mark.anyio
async def test_a_second_text_of_a_day_is_merged_with_the_first(client: Client) -> None:
    await record(client, FIRST, chatIds=["1", "2"])

    merged = await record(
        client, "- Tea [chat:2]\n- Rain [chat:3]", chatIds=["2", "3"], participatingInstances=["tv"]
    )
    again = await record(client, "- Rain [chat:3]", chatIds=["3"])

    entry = await look_up(client)
    assert (merged["v"], merged["new"], again["v"], again["new"]) == (2, True, 2, False)
    assert entry["content"] == f"{FIRST}\n- Rain [chat:3]"
    assert (entry["chatIds"], entry["participatingInstances"]) == (
        ["1", "2", "3"],
        ["laptop", "tv"],
    )


@pytest.mark.ordinary("the login of the server calls a function of one Postgres")
@pytest.mark.anyio
async def test_texts_that_are_merged_at_the_same_time_are_all_kept(
    client: Client, database_url: str
) -> None:
    def write_turns(number: int) -> None:
        with psycopg.connect(database_url, autocommit=True) as sql:
            for turn in range(5):
                bullet = f"- {number} [chat:{number}-{turn}]"
                sql.execute(
                    "select textrawl.write_entry('daily', %s, %s, 'laptop', credential => %s)",
                    (DAY, bullet, hash_token(TOKEN)),
                )

    with ThreadPoolExecutor(8) as writers:
        list(writers.map(write_turns, range(8)))

    entry = await look_up(client)
    assert entry["version"] == 40
    assert sorted(entry["content"].splitlines()) == sorted(
        f"- {number} [chat:{number}-{turn}]" for number in range(8) for turn in range(5)
    )
