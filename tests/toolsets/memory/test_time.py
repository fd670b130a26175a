"""What was true when: given with a fact, shown with it, and asked for by period or in words."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, time, timedelta, timezone
from pathlib import Path
from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.conftest import ACTOR, Connect, Era
from tests.support.tool_calls import (
    A_MOMENT,
    A_SHORT_ID,
    ask,
    count,
    read,
    read_error,
    read_tables,
    refuse,
    remember,
    text_of,
)

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
    assert len(TABLE) > 10
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


_FACT = {"entityName": "Jeff", "entityType": "person", "observation": "likes tea"}
_SEARCH = {"mode": "search", "query": "tea"}
_ENTITY = {"mode": "entity", "entityName": "Jeff"}
_SAID = "select nullif(said_at, created_at) from observation"


async def find(client: Client, **arguments: Any) -> set[str]:
    """Return the contents that a search for tea finds."""
    answer = await ask(client, **_SEARCH, limit=50, maxTokens=25_000, **arguments)
    return {fact["c"] for entity in answer["e"] for fact in entity["m"]}


async def look_up(client: Client, **arguments: Any) -> set[str]:
    """Return the facts of Jeff."""
    return set((await ask(client, **_ENTITY, maxObs=100, maxTokens=25_000, **arguments))["o"])


async def list_names(client: Client, **arguments: Any) -> set[str]:
    """Return the names of all entities of the list."""
    answer = await ask(client, mode="list", limit=100, maxTokens=25_000, **arguments)
    assert answer["n"] == len(answer["e"])
    return {entity["n"] for entity in answer["e"]}


async def test_a_fact_is_stored_with_the_instant_that_was_given(
    client: Client, owner: psycopg.Connection
) -> None:
    cases = [
        ("2023-05-08", datetime(2023, 5, 8, tzinfo=UTC)),
        ("2023-05-08T10:30", datetime(2023, 5, 8, 10, 30, tzinfo=UTC)),
        ("2023-05-08T01:30+02:00", datetime(2023, 5, 7, 23, 30, tzinfo=UTC)),
        ("2023-05-08T10:30:15.25Z", datetime(2023, 5, 8, 10, 30, 15, 250_000, UTC)),
        (" 2023-05-08 ", datetime(2023, 5, 8, tzinfo=UTC)),
        ("none", None),
        ("", None),
        (None, None),
    ]
    for number, (given, stored) in enumerate(cases):
        fact = _FACT | {"observation": f"tells story {number}", "saidAt": given}
        read(await client.call_tool("remember_fact", fact))
        read(await client.call_tool("build_knowledge", {"facts": [fact | {"entityName": "Ada"}]}))

        found = owner.execute(_SAID + " where content = %s", (fact["observation"],)).fetchall()
        assert found == [(stored,), (stored,)], given


async def test_today_may_have_begun_elsewhere_already(
    client: Client, owner: psycopg.Connection
) -> None:
    today = datetime.now(timezone(timedelta(hours=14))).date()
    await remember(client, "Jeff", "likes tea", saidAt=today.isoformat())
    assert owner.execute(_SAID).fetchone() == (datetime.combine(today, time.min, UTC),)

    after_tomorrow = (datetime.now(UTC) + timedelta(days=2)).date().isoformat()
    title, _ = await refuse(client, "remember_fact", **_FACT, saidAt=after_tomorrow)

    assert title == "Invalid argument"
    assert count(owner, "observation") == 1


async def test_ids_and_dates_show_the_day_that_was_given(
    connect: Connect, era: Era, client: Client
) -> None:
    await remember(client, "Jeff", "likes tea", saidAt="2023-05-08T23:30-02:00")

    for shown in ({"includeIds": True}, {"dates": True}):
        found = await client.call_tool("query_memory", {**_SEARCH, **shown})
        entity = await client.call_tool("query_memory", {**_ENTITY, **shown})
        assert read(found)["e"][0]["m"][0]["on"] == "2023-05-09"
        assert read(entity)["o"][0]["on"] == "2023-05-09"
        answers: list[Any] = [found.structured_content, entity.structured_content]
        for fact in (answers[0]["entities"][0]["memories"][0], answers[1]["observations"][0]):
            assert datetime.fromisoformat(fact["saidAt"]) == datetime(2023, 5, 9, 1, 30, tzinfo=UTC)
            assert fact["createdAt"] == A_MOMENT
    lines = await connect(era, compact_responses="lines")
    text = text_of(await lines.call_tool("query_memory", {**_ENTITY, "dates": True}))
    assert text.splitlines()[1] == "2023-05-09: likes tea"


async def test_the_same_text_of_another_day_is_another_fact(
    client: Client, owner: psycopg.Connection
) -> None:
    first = await remember(client, "Jeff", "likes tea", saidAt="2023-05-08")
    same = await remember(client, "Jeff", "likes tea", saidAt="2023-05-08")
    kept = await remember(client, "Jeff", "likes tea")
    other = await remember(client, "Jeff", "likes tea", saidAt="2023-06-01")

    assert same == kept == first | {"dup": True}
    assert other["obs"] != first["obs"]
    days = [(datetime(2023, 5, 8, tzinfo=UTC),), (datetime(2023, 6, 1, tzinfo=UTC),)]
    assert owner.execute(f"{_SAID} order by 1").fetchall() == days


async def test_the_day_is_found_by_its_words(client: Client) -> None:
    await remember(client, "Jeff", "likes tea", saidAt="2023-05-08")
    await remember(client, "Ada", "sails", saidAt="2021-11-30")

    for query in ("2021-11-30", "30 November 2021", "november"):
        answer = await ask(client, mode="search", query=query)
        assert answer["e"][0]["n"] == "Ada", query


async def test_a_date_as_bound_includes_its_whole_day(client: Client) -> None:
    instants = {"first": "2023-05-08", "last": "2023-05-08T23:59:59.999999Z",
                "before": "2023-05-07T23:59:59Z", "after": "2023-05-09"}  # fmt: skip
    for name, instant in instants.items():
        await remember(client, "Jeff", f"{name} tea", saidAt=instant)

    period = {"since": "2023-05-08", "until": "2023-05-08"}
    assert await find(client, **period) == {"first tea", "last tea"}
    assert await look_up(client, **period) == {"first tea", "last tea"}
    exact = {"since": "2023-05-08T02:00+02:00", "until": "2023-05-08T00:00Z"}
    assert await find(client, **exact) == {"first tea"}
    assert await look_up(client, until="2023-05-07") == {"before tea"}
    assert await look_up(client, since="2023-05-09", until="2999-01-01") == {"after tea"}


async def test_the_list_has_entities_with_a_valid_fact_of_the_period(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Jeff", "likes tea", saidAt="2023-05-08")
    await remember(client, "Ada", "likes tea", saidAt="2024-05-08")
    await remember(client, "Bo", "liked tea", saidAt="2023-05-08")
    owner.execute("update observation set valid_until = now() where content = 'liked tea'")

    assert await list_names(client, until="2023-12-31") == {"Jeff"}
    assert await list_names(client, since="2024-01-01") == {"Ada"}
    assert await list_names(client, since="2022-01-01") == {"Jeff", "Ada"}
    assert await list_names(client) == {"Jeff", "Ada", "Bo"}


async def test_pages_count_the_facts_of_the_period_only(client: Client) -> None:
    for number in range(5):
        await remember(client, "Jeff", f"fact {number}", saidAt=f"2023-05-0{number + 1}")

    page = await ask(client, **_ENTITY, since="2023-05-02", until="2023-05-04", maxObs=2)
    rest = await ask(client, **_ENTITY, since="2023-05-02", until="2023-05-04", offset=2)

    assert (page["o"], page["more"]) == (["fact 3", "fact 2"], 1)
    assert (rest["o"], "more" in rest) == (["fact 1"], False)


SEARCH = {"mode": "search", "query": "tea"}
ENTITY = {"mode": "entity", "entityName": "Jeff"}
DAY = "2025-03-04"


async def fill(client: Client, owner: psycopg.Connection) -> None:
    """A fact of a day that is long ago, said just before midnight in UTC."""
    fact = {"entityName": "Jeff", "entityType": "person", "observation": "likes tea"}
    await client.call_tool("remember_fact", fact)
    moment = "2025-03-04 23:59:59.5+00"
    owner.execute("update observation set created_at = %s, said_at = %s", (moment, moment))


async def test_ids_carry_it_with_the_author_as_before(
    client: Client, owner: psycopg.Connection
) -> None:
    await fill(client, owner)

    [fact] = (await ask(client, **ENTITY, includeIds=True, dates=True))["o"]

    assert fact == {"c": "likes tea", "id": A_SHORT_ID, "by": ACTOR, "on": DAY}
    assert fact == (await ask(client, **ENTITY, includeIds=True))["o"][0]


async def test_days_are_those_of_utc_wherever_postgres_stands(
    connect: Connect, era: Era, owner: psycopg.Connection, database: str
) -> None:
    owner.execute(f"alter database {database} set timezone = 'Pacific/Auckland'")  # pyright: ignore[reportArgumentType, reportCallIssue]
    client = await connect(era)
    await fill(client, owner)

    assert (await ask(client, **SEARCH, dates=True))["e"][0]["m"][0]["on"] == DAY
    assert (await ask(client, **ENTITY, dates=True))["o"][0]["on"] == DAY


async def search(client: Client, query: str, **arguments: Any) -> dict[str, float]:
    """Return the score of each fact found, best first."""
    answer = await ask(client, mode="search", query=query, **arguments)
    facts = [fact for entity in answer["e"] for fact in entity["m"]]
    return {fact["c"]: fact["s"] for fact in facts}


def days_ago(days: int) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).date().isoformat()


async def test_the_fact_of_the_time_that_is_asked_for_comes_first(client: Client) -> None:
    await remember(client, "Jeff", "ran ten kilometres", saidAt=days_ago(400))
    await remember(client, "Jeff", "ran nine kilometres", saidAt=days_ago(1))
    await remember(client, "Jeff", "ran five kilometres", saidAt=days_ago(90))

    for query, first in {
        "how far did Jeff run yesterday": "ran nine kilometres",
        "how far did Jeff run three months ago": "ran five kilometres",
        f"how far did Jeff run on {days_ago(400)}": "ran ten kilometres",
        "wie weit lief Jeff gestern": "ran nine kilometres",
    }.items():
        found = await search(client, query)
        assert next(iter(found)) == first, query
        assert len(found) >= 2, query
        assert all(0 <= score <= 1 for score in found.values())


async def test_a_time_without_facts_changes_nothing(client: Client) -> None:
    await remember(client, "Jeff", "likes tea", saidAt="2023-05-08")
    await remember(client, "Jeff", "likes coffee", saidAt="2024-05-08")

    without = await search(client, "what does Jeff like")
    assert (await search(client, "what does Jeff like", searchMode="semantic")).keys() == (
        without.keys()
    )
    assert await search(client, "what does Jeff like today") != {}
    assert (await search(client, "what did Jeff like 300 years ago")).keys() == without.keys()


async def test_a_fact_far_from_the_question_is_not_lifted_above_one_that_answers_it(
    client: Client,
) -> None:
    await remember(client, "Jeff", "ran ten kilometres in Graz", saidAt=days_ago(400))
    await remember(client, "Ada", "collects stamps of Norway", saidAt=days_ago(1))

    found = await search(client, "did Jeff run in Graz yesterday?")

    assert next(iter(found)) == "ran ten kilometres in Graz"


FACTS = [
    ("Rosa", "works at Initech", {"saidAt": "2021-03-01"}),
    ("Rosa", "works at Globex", {"saidAt": "2024-05-01", "replaces": "works at Initech"}),
    ("Rosa", "works at Umbrella", {"saidAt": "2026-02-01", "replaces": "works at Globex"}),
    ("Rosa", "commutes by bike", {"saidAt": "2026-03-11"}),
    ("Mo", "lives in Munich", {"saidAt": "2024-01-10"}),
    ("Mo", "moved to Berlin in March 2025", {"saidAt": "2025-03-20"}),
    ("Mo", "ran a marathon", {"saidAt": "2023-04-02"}),
    ("Mo", "ran a marathon", {"saidAt": "2024-04-07"}),
    ("Leo", "is 121 cm tall", {"saidAt": "2024-03-14"}),
    ("Leo", "is 133 cm tall", {"saidAt": "2025-03-14"}),
]
FIRST = {
    # now
    "Where does Rosa work now?": "works at Umbrella",
    "Wo arbeitet Rosa derzeit, works at?": "works at Umbrella",
    "Rosa works at, en ce moment ?": "works at Umbrella",
    "¿Rosa works at, actualmente?": "works at Umbrella",
    "Where is Mo living today?": "moved to Berlin in March 2025",
    "How tall is Leo?": "is 133 cm tall",  # nothing but the present tense
    # a year, a month, a season, a span, a part of a year
    "where did Rosa work in 2022": "works at Initech",
    "Where did Rosa work in July 2025?": "works at Globex",
    "where did Rosa work in autumn 2025": "works at Globex",
    "Where did Rosa work between March and May 2023?": "works at Initech",
    "Where did Rosa work in early 2023?": "works at Initech",
    "Wo hat Rosa 2022 gearbeitet, works at?": "works at Initech",
    "Wo war Rosa, works at, im Herbst 2025?": "works at Globex",
    "Où était Rosa, works at, en 2022 ?": "works at Initech",
    "Où était Rosa, works at, au printemps 2025 ?": "works at Globex",
    "¿Dónde estaba Rosa, works at, en 2022?": "works at Initech",
    "¿Rosa works at, en otoño de 2025?": "works at Globex",
    "Where did Rosa work before 2022?": "works at Initech",
    "How tall was Leo in December 2024?": "is 121 cm tall",
    # earlier
    "Where did Mo live before he moved to Berlin?": "lives in Munich",
    "What was Rosa's previous work, works at?": "works at Globex",
    "Where did Rosa use to work?": "works at Globex",
    "Rosas früherer Arbeitgeber, works at?": "works at Globex",
    "Rosa works at, auparavant ?": "works at Globex",
    "¿Rosa works at, anteriormente?": "works at Globex",
    "Rosa works at, vor Globex?": "works at Initech",
    "Rosa works at, avant Globex ?": "works at Initech",
    "¿Rosa works at, antes de Globex?": "works at Initech",
    # first and last
    "Where did Rosa work at first?": "works at Initech",
    "Rosa works at, anfangs?": "works at Initech",
    "Rosa works at, au début ?": "works at Initech",
    "¿Rosa works at, al principio?": "works at Initech",
    "What was the last place that Rosa works at?": "works at Umbrella",
    "Rosa works at, zuletzt?": "works at Umbrella",
    "Rosa works at, dernièrement ?": "works at Umbrella",
    "¿Rosa works at, por última vez?": "works at Umbrella",
    # since when
    "Since when does Rosa work at Globex?": "works at Globex",
    "Seit wann works at Umbrella Rosa?": "works at Umbrella",
    "Depuis quand Rosa works at Umbrella ?": "works at Umbrella",
    "¿Desde cuándo Rosa works at Umbrella?": "works at Umbrella",
}


async def find_facts(client: Client, question: str, **more: Any) -> list[dict[str, Any]]:
    answer = await ask(client, mode="search", query=question, **more)
    return [fact for entity in answer["e"] for fact in entity["m"]]


async def test_the_words_of_a_question_decide_which_fact_comes_first(client: Client) -> None:
    for entity, text, times in FACTS:
        await remember(client, entity, text, **times)

    wrong = {
        question: found
        for question, first in FIRST.items()
        if (found := [fact["c"] for fact in await find_facts(client, question, limit=1)]) != [first]
    }
    assert wrong == {}

    often = await find_facts(client, "How often did Mo run a marathon?", limit=2)
    assert [fact["p"] for fact in often] == ["2024-04-07/", "2023-04-02/"]
    [since] = await find_facts(client, "Since when does Rosa work at Umbrella?", limit=1)
    assert since["p"] == "2026-02-01/"
    [former] = await find_facts(client, "Where did Rosa work in 2022?", limit=1)
    assert former["p"] == "2021-03-01/2024-05-01"

    # A question about the present has no ended facts and no periods, as before.
    for question in ("Where does Rosa work?", "Where does Rosa work now?"):
        found = await find_facts(client, question)
        assert found
        assert "works at Initech" not in [fact["c"] for fact in found]
        assert all("p" not in fact for fact in found)

    # A time that the caller gives counts, and the words do not.
    [then] = await find_facts(client, "Where did Rosa work at first?", asOf="2025-01-01", limit=1)
    assert then["c"] == "works at Globex"


async def test_facts_that_were_said_at_the_time_of_the_question_are_not_lost(
    client: Client,
) -> None:
    await remember(client, "Ada", "lives in Graz", saidAt="2021-01-01")
    await remember(client, "Ada", "lives in Linz", saidAt="2024-01-01", replaces="lives in Graz")
    await remember(client, "Ada", "started to learn the cello", saidAt="2022-06-01")

    found = await find_facts(client, "Where did Ada live in 2022?")

    assert {fact["c"] for fact in found} >= {"lives in Graz", "started to learn the cello"}
    assert found[0]["c"] == "lives in Graz"
