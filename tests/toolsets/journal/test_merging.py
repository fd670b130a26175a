"""A day's bullets: what a second text of the day adds to the first."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import TOKEN, Connect
from tests.toolsets.journal.entries import DAY, look_up, record
from textrawl.access.access_token import hash_token

Sql = psycopg.Connection[Any]

FIRST = "# May 12\n\n- Met Ben [chat:1]\n- Tea with Ada [chat:2] [via:laptop]"

_WORDS = st.sampled_from(["tea", "rain", "Ben", "a walk"])
_MARKS = st.sampled_from(["- ", "- ", "- ", "* ", "  ", "# ", "## ", "", "\t- "])
_TAGS = st.sampled_from(["", " [chat:1]", " [chat:2]", " [chat:3] [chat:1]", " [chat:4]"])
_LINES = st.tuples(_MARKS, _WORDS, _TAGS).map("".join) | st.just("")
TEXTS = st.lists(_LINES, min_size=1, max_size=8).map("\n".join).filter(lambda text: text.strip())


def merge(sql: Sql, existing: str, incoming: str) -> str:
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
        assert merge(owner, FIRST, incoming) == FIRST + (
            f"\n{incoming}" if added is None else added
        )


def test_a_day_without_a_title_gets_the_title_of_the_second_text(owner: Sql) -> None:
    assert merge(owner, "- Tea [chat:1]", "# May 12\n\n- Rain [chat:2]") == (
        "# May 12\n\n- Tea [chat:1]\n- Rain [chat:2]"
    )


@given(existing=TEXTS, incoming=TEXTS)
def test_a_merge_is_idempotent_and_loses_nothing(owner: Sql, existing: str, incoming: str) -> None:
    merged = merge(owner, existing, incoming)

    assert merge(owner, merged, incoming) == merged
    assert merge(owner, merged, existing) == merged
    assert existing.strip() in merged
    items = owner.execute(
        "select text from entry_items(%s) where kind <> 'heading'"
        " and not chat_ids && array(select unnest(chat_ids) from entry_items(%s))",
        (incoming, existing),
    ).fetchall()
    assert [text for (text,) in items if text not in merged] == []


@pytest.mark.anyio
async def test_a_second_text_of_a_day_is_merged_with_the_first(connect: Connect) -> None:
    client = await connect(toolsets=["journal"])
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
    connect: Connect, database_url: str
) -> None:
    client = await connect(toolsets=["journal"])

    def write(number: int) -> None:
        with psycopg.connect(database_url, autocommit=True) as sql:
            for turn in range(5):
                bullet = f"- {number} [chat:{number}-{turn}]"
                sql.execute(
                    "select textrawl.write_entry('daily', %s, %s, 'laptop', credential => %s)",
                    (DAY, bullet, hash_token(TOKEN)),
                )

    with ThreadPoolExecutor(8) as writers:
        list(writers.map(write, range(8)))

    entry = await look_up(client)
    assert entry["version"] == 40
    assert sorted(entry["content"].splitlines()) == sorted(
        f"- {number} [chat:{number}-{turn}]" for number in range(8) for turn in range(5)
    )
