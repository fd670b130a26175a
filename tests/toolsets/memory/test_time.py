"""What was true when: the truth table of docs/time.md, wrong times, and each step undone."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.conftest import ACTOR, Connect, Era
from tests.support.tool_calls import read, read_error, read_tables, text_of

pytestmark = pytest.mark.anyio

PAGE = Path(__file__).parents[3] / "docs" / "time.md"
TABLE = [
    [cell.strip() for cell in line.strip("|\n").split("|")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("|") and not line.startswith("|---")
]
TIMES = [*TABLE[0][1:-1], "ever"]
# An undo keeps a past end in closed_at, which says nothing while valid_until differs from it.
STATE = """
    select to_jsonb(t) - 'closed_at', closed_at = valid_until from {table} t order by t.id"""


async def call(client: Client, who: str, words: str) -> Any:
    """The answer to a call of the table, such as `Initech saidAt=2021-03-01`."""
    relation = words.startswith("→ ")
    text, *rest = words.removeprefix("→ ").split()
    given = dict(word.split("=") for word in rest)
    if relation:
        arguments = {"fromEntity": who, "relation": "works_at", "toEntity": text, **given}
        return read(await client.call_tool("relate_entities", arguments))
    arguments = {"entityName": who, "entityType": "person", "observation": text, **given}
    return read(await client.call_tool("remember_fact", arguments))


async def list_valid(client: Client, who: str, as_of: str) -> list[str]:
    """What a look-up finds, newest first, with periods for all times."""
    given = {} if as_of == "today" else {"asOf": as_of}
    answer = await client.call_tool("query_memory", {"mode": "entity", "entityName": who, **given})
    found = read(answer)
    today = datetime.now(UTC).date().isoformat()
    facts = found.get("o", [])
    edges = found.get("r", {}).get("out", [])
    if as_of == "ever":
        assert all(isinstance(item, dict) for item in facts + edges), found
        texts: list[str] = [
            f"{item['c']} {item['p'].replace(today, 'today')}" for item in facts + edges
        ]
    else:
        texts = [item["c"] if isinstance(item, dict) else item for item in facts + edges]
    return [text.replace("works_at→", "→ ") for text in texts]


def read_state(owner: psycopg.Connection) -> list[Any]:
    """All facts and relations, with all columns."""
    return [
        owner.execute(STATE.replace("{table}", table)).fetchall()  # pyright: ignore
        for table in ("observation", "relation")
    ]


async def check_row(
    client: Client, owner: psycopg.Connection, who: str, row: list[str]
) -> AsyncIterator[str]:
    """Make the calls of a row, and yield what is wrong then and after each undo."""
    calls, *columns = row
    states: list[tuple[datetime, list[Any]]] = []
    for words in calls.split("; "):
        [[moment]] = owner.execute("select clock_timestamp()").fetchall()
        states.append((moment, read_state(owner)))
        await call(client, who, words)
    for as_of, expected in zip(TIMES, columns, strict=True):
        found = ", ".join(await list_valid(client, who, as_of))
        if found != expected:
            yield f"{as_of}: {found!r} instead of {expected!r}"
    for moment, before in reversed(states):
        after = read_state(owner)
        undone = owner.execute("select undo_id from undo_author(%s, %s)", (ACTOR, moment))
        numbers = [number for (number,) in undone.fetchall()]
        if read_state(owner) != before:
            yield f"the undo since {moment} leaves something else"
        # A repetition within a day leaves nothing to undo.
        if numbers:
            owner.execute("select revert_undo(%s)", (numbers[0],))
        if read_state(owner) != after:
            yield f"the revert since {moment} leaves something else"
        owner.execute("select undo_author(%s, %s)", (ACTOR, moment))


async def test_each_row_of_the_truth_table_holds_and_each_undo_restores_the_state_before(
    client: Client, owner: psycopg.Connection
) -> None:
    faults: list[str] = []
    for number, row in enumerate(TABLE[1:]):
        faults += [f"{row[0]}: {it}" async for it in check_row(client, owner, f"R {number}", row)]
    assert not faults, "\n".join(faults)


FACT = {"entityName": "Rosa", "entityType": "person", "observation": "works at Initech"}
EDGE = {"fromEntity": "Rosa", "relation": "works_at", "toEntity": "Initech"}
BACKWARDS = {"validFrom": "2024-05-01", "validUntil": "2024-04-30"}
EMPTY = {"validFrom": "2024-05-01T12:00Z", "validUntil": "2024-05-01T12:00Z"}
FORMER = FACT | {"replaces": "worked at Hooli"}
HOOLI = EDGE | {"toEntity": "Hooli", "ended": True}
WRONG_TIMES: list[tuple[str, dict[str, Any], str]] = [
    ("remember_fact", FACT | BACKWARDS, "validUntil: must lie after"),
    ("remember_fact", FACT | EMPTY, "validUntil: must lie after"),
    ("remember_fact", FACT | {"validFrom": "2023-02-29"}, "validFrom (given '2023-02-29'): must"),
    ("remember_fact", FACT | {"validFrom": "0000-01-01"}, "validFrom (given '0000-01-01'): must"),
    ("remember_fact", FACT | {"validFrom": "May 2024"}, "validFrom (given 'May 2024'): must be"),
    ("remember_fact", FACT | {"validFrom": "ever"}, "validFrom (given 'ever'): must be ISO 8601"),
    ("remember_fact", FACT | {"validUntil": 2024}, "validUntil (given '2024'): must be ISO 8601"),
    ("remember_fact", FORMER, "replaces: names a fact that is no longer valid"),
    ("remember_fact", FORMER | {"saidAt": "2019-01-01"}, "replaces: names a fact that is no"),
    ("build_knowledge", {"facts": [FACT, FACT | BACKWARDS], "relations": [EDGE | BACKWARDS]},
     "Nothing was stored. facts[1].validUntil, relations[0].validUntil: must lie after"),
    ("relate_entities", EDGE | BACKWARDS, "validUntil: must lie after"),
    ("relate_entities", HOOLI | {"validUntil": "2019-01-01"}, "validUntil: must lie after"),
    ("relate_entities", HOOLI | {"validFrom": "2019-01-01"}, "validFrom: with ended give only"),
    ("query_memory", {"mode": "list", "asOf": "forever"}, "asOf (given 'forever'): must be"),
]  # fmt: skip


async def test_wrong_times_get_an_error_that_says_so_and_change_nothing(
    client: Client, owner: psycopg.Connection
) -> None:
    await call(client, "Rosa", "→ Hooli validFrom=2020-01-01")
    former = FACT | {"observation": "worked at Hooli", "validUntil": "2021-06-30"}
    assert read(await client.call_tool("remember_fact", former))["ended"] is True
    before = read_tables(owner)

    faults: list[str] = []
    for tool, arguments, expected in WRONG_TIMES:
        _, fix = read_error(await client.call_tool(tool, arguments))
        if not fix.startswith(expected) or read_tables(owner) != before:
            faults.append(f"{tool} {arguments}: {fix}")
    assert not faults, "\n".join(faults)


async def test_history_has_periods_in_all_formats_and_a_begin_ahead_is_told_at_once(
    connect: Connect, era: Era, client: Client
) -> None:
    await call(client, "Rosa", "Initech saidAt=2021-03-01")
    await call(client, "Rosa", "Globex saidAt=2024-05-01 replaces=Initech")
    await call(client, "Rosa", "Hooli validFrom=2999-01-01")
    ever = {"mode": "search", "query": "Rosa Initech", "asOf": "ever"}
    lines = await connect(era, compact_responses="lines")

    [found] = read(await client.call_tool("query_memory", ever))["e"]
    periods = {fact["c"]: fact["p"] for fact in found["m"]}
    assert periods == {
        "Initech": "2021-03-01/2024-05-01", "Globex": "2024-05-01/", "Hooli": "2999-01-01/",
    }  # fmt: skip
    text = text_of(await lines.call_tool("query_memory", ever))
    assert "Initech (2021-03-01 to 2024-05-01)" in text
    assert "Globex (from 2024-05-01)" in text
    entity = {"mode": "entity", "entityName": "Rosa"}
    answer = await client.call_tool("query_memory", entity | {"asOf": "ever"})
    assert answer.structured_content is not None
    times = [
        (o["validFrom"][:10], o.get("validUntil", "")[:10])
        for o in answer.structured_content["observations"]
    ]
    assert times == [("2999-01-01", ""), ("2024-05-01", ""), ("2021-03-01", "2024-05-01")]
    now = read(await client.call_tool("query_memory", entity))
    assert now["o"] == [{"c": "Hooli", "p": "2999-01-01/"}, "Globex"]


async def test_a_fact_put_before_another_says_so_and_changes_nothing_else(
    client: Client, owner: psycopg.Connection
) -> None:
    globex = await call(client, "Rosa", "Globex saidAt=2024-05-01")
    before = owner.execute("select to_jsonb(o) from observation o").fetchall()

    initech = await call(client, "Rosa", "Initech saidAt=2021-03-01 replaces=Globex")
    again = await call(client, "Rosa", "Initech saidAt=2021-03-01 replaces=Globex")

    assert (initech["ended"], initech["before"]) == (True, globex["obs"])
    assert again == initech | {"dup": True}
    assert (
        owner.execute("select to_jsonb(o) from observation o where o.content = 'Globex'").fetchall()
        == before
    )


async def test_a_repetition_confirms_the_fact_at_most_once_a_day_and_an_undo_takes_it_back(
    client: Client, owner: psycopg.Connection
) -> None:
    await call(client, "Rosa", "Initech")
    stored = "select confirmed_at, (select count(*) from event) from observation"
    fresh = owner.execute(stored).fetchall()
    await call(client, "Rosa", "Initech")
    assert owner.execute(stored).fetchall() == fresh

    owner.execute("update observation set created_at = created_at - interval '2 years'")
    [[moment]] = owner.execute("select clock_timestamp()").fetchall()
    await call(client, "Rosa", "Initech")
    [[confirmed, events]] = owner.execute(stored).fetchall()
    assert confirmed >= moment
    assert events == fresh[0][1] + 1
    await call(client, "Rosa", "Initech")
    assert owner.execute(stored).fetchall() == [(confirmed, events)]
    assert owner.execute("select id from memory_stale where reasons like '%old%'").fetchall() == []
    owner.execute("select undo_author(%s, %s)", (ACTOR, moment))
    assert owner.execute("select confirmed_at from observation").fetchall() == [(None,)]
