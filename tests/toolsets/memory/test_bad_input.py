"""What bad input gets: a clear error or a correct answer, never a traceback or a partial write."""

import unicodedata

import psycopg
import pytest
from mcp import Client, MCPError
from toktok import batch_count  # pyright: ignore[reportMissingTypeStubs]

from tests.conftest import Connect, Era
from tests.support.tool_calls import (
    ask,
    count,
    forget,
    keep,
    read,
    read_error,
    read_tables,
    refuse,
    relate,
    remember,
    text_of,
)
from tests.toolsets.memory.wrong_arguments import FACT, WRONG

pytestmark = pytest.mark.anyio


async def test_a_wrong_argument_gets_an_error_that_repairs_it(
    client: Client, owner: psycopg.Connection
) -> None:
    before = read_tables(owner)

    for tool, arguments, title, fix in WRONG:
        result = await client.call_tool(tool, arguments)
        assert read_error(result) == (title, fix)
        assert batch_count([text_of(result)], "o200k_base", threads=1)[0] <= 70

    assert read_tables(owner) == before


NO_DATES: list[object] = [
    "infinity", "-infinity", "tomorrow", "now", "epoch", "2026-02-30", "10000-01-01",
    "0000-01-01", "0044-03-15 BC", "2026-13-01", "20261231", "12/31/2026", "2026-12-31T25:00Z",
    "2026-12-31T10:00+99:00", "٢٠٢٦-١٢-٣١", "Dec 31 2026", 1798675200, True, ["2026-12-31"],
]  # fmt: skip


async def test_a_date_that_is_none_is_refused(client: Client, owner: psycopg.Connection) -> None:
    for tool in ("remember_fact", "query_memory", "build_knowledge"):
        for date in NO_DATES:
            arguments = {
                "remember_fact": FACT | {"validUntil": date},
                "query_memory": {"mode": "list", "asOf": date},
                "build_knowledge": {"facts": [FACT | {"validUntil": date}]},
            }
            title, fix = await refuse(client, tool, **arguments[tool])
            assert title == "Invalid argument"
            assert fix.endswith("must be ISO 8601, such as 2026-12-31 or 2026-12-31T18:00Z")
        assert count(owner, "entity") == 0


async def test_no_date_or_the_last_one_is_fine(client: Client) -> None:
    for number, date in enumerate(("", " ", "null", None, "9999-12-31", "never", "None")):
        assert (await remember(client, "Jeff", f"likes tea {number}", validUntil=date))["ok"]


HIDDEN = [
    "\x00", "\x07", "\x1b", "\x1b[31m", "\u202e", "\u2066", "\u200b", "\ufeff", "\u00ad", "\u200e",
    "\U000e0041", "\u200d", "\ufe00\ufe01",
]  # fmt: skip


async def test_hidden_characters_refuse_nothing_and_the_reply_says_that_they_are_gone(
    client: Client,
) -> None:
    facts = [FACT | {"observation": f"likes {n}{hidden} tea"} for n, hidden in enumerate(HIDDEN)]
    facts.append(FACT | {"observation": "likes\r\x85\u2028tea"})
    told = read(await client.call_tool("build_knowledge", {"facts": facts}))
    named = await remember(client, "Je\u200bff", "is\u00ad tall")

    assert told["facts"] == {"new": len(facts), "dup": 0}
    assert told["cleaned"] == len(facts)
    assert named["cleaned"] == 2
    found = set((await ask(client, mode="entity", entityName="Jeff", maxObs=100))["o"])
    assert found == {f"likes {n} tea" for n in range(len(HIDDEN))} | {"is tall", "likes\n\n\ntea"}


async def test_a_secret_is_stored_masked_or_refused_and_the_reply_names_it(
    connect: Connect, owner: psycopg.Connection
) -> None:
    said = "has the door code 1, and the password is Tulpe!42"
    fact = {"entityName": "Ann", "entityType": "person", "observation": said}
    clients = {mode: await connect(secrets=mode) for mode in (None, "mask", "refuse")}
    told = {
        mode or "allow": text_of(await client.call_tool("build_knowledge", {"facts": [fact]}))
        for mode, client in clients.items()
    }
    forgotten = await forget(clients["refuse"], "Ann", fact=said, confirm=True)

    assert '"secrets":["password"]' in told["allow"]
    assert '"secrets":["password (masked)"]' in told["mask"]
    assert "looks like a secret" in told["refuse"]
    assert "password (line 1)" in told["refuse"]
    assert forgotten["ok"]
    stored = owner.execute("select content from observation order by content").fetchall()
    assert stored == [("has the door code 1, and the password is [masked password]",)]


async def test_joiners_that_carry_meaning_stay(client: Client) -> None:
    facts = ["family: 👨‍👩‍👧‍👦", "flag 🏴󠁧󠁢󠁥󠁮󠁧󠁿 and 🏳️‍🌈", "می‌خواهم", "क्‍ष", "tab\tand\nline", "naïve café"]
    for fact in facts:
        await remember(client, fact[:6], fact)

        stored = (await ask(client, entityName=fact[:6]))["o"]
        assert stored == [unicodedata.normalize("NFC", fact)]


async def test_a_lone_surrogate_breaks_nothing(connect: Connect) -> None:
    client = await connect("auto")  # passes objects on without making text of them
    surrogates = (chr(0xD800), chr(0xDFFF))
    for surrogate in surrogates:
        name = f"Je{surrogate}ff"
        absent = {"n": 0, "e": [], "no": ["tea"]}
        assert await ask(client, query=f"tea {surrogate}", entityName=name) == absent
        assert await ask(client, mode="entity", entityName=name) == {"found": False}
        assert await keep(client, name, confirm=True) == {"ok": False, "err": "not_found"}
        await refuse(client, "forget_entity", entityName="Jeff", confirm=surrogate)
        await refuse(client, "forget_entity", **{"entityName": "Jeff", surrogate: 1})
    for surrogate in surrogates:
        await remember(client, f"Je{surrogate}ff", f"likes tea {surrogate}")
        assert (await ask(client, entityName="Jeff"))["o"] == ["likes tea"]


QUERIES = [
    "the and of to", "who are they", "!!! ... ???", "'; drop table textrawl.entity; --", "a & | !",
    "foo:* <-> bar", "\"unclosed 'quote", "\\", "%_%", "(((", "<|endoftext|>", "東京タワー",
    "나는 학생입니다", "😀🎉", "مرحبا", "x" * 1000, "a " * 499, "-1", "null null", "{}", "\u0301",
    "NaN", "tea:A & !(coffee | 'milk')",
]  # fmt: skip


async def test_no_query_breaks_a_search(client: Client) -> None:
    await remember(client, "Jeff", "likes tea")
    for mode in ("hybrid", "semantic"):
        for query in QUERIES:
            answer = await ask(client, mode="search", query=query, searchMode=mode)
            assert answer["n"] == sum(len(entity["m"]) for entity in answer["e"])
        assert (await ask(client, mode="list"))["n"] == 1


async def test_other_scripts_and_signs_are_found(client: Client) -> None:
    for query, fact in (
        ("東京タワー", "東京タワーが好き"),
        ("🎉", "throws 🎉 parties"),
        ("C++", "writes C++ daily"),
        ("müller", "knows Muller well"),
        ("the who", "listens to The Who"),
    ):
        await remember(client, "Jeff", fact)

        assert (await ask(client, query=query, limit=1))["e"][0]["m"][0]["c"] == fact


async def test_names_that_differ_in_case_or_composition_are_one_entity(client: Client) -> None:
    for one, other in (
        ("Straße", "STRASSE"),
        ("Zoë", "Zoe\u0308"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("Jeff", " jeff\u200b "),
        ("Acme  Corp", "acme\ncorp"),
        ("İstanbul", "i̇stanbul"),
        ("ǅ", "ǆ"),
        ("Ⅷ", "ⅷ"),
    ):
        first = await remember(client, one, "likes tea")
        await relate(client, other, "knows", "Ada")

        second = await remember(client, other, "lives in Oslo")

        assert second["entity"] == first["entity"]
        assert (await ask(client, entityName=other))["o"] == ["lives in Oslo", "likes tea"]
        assert (await ask(client, mode="list"))["n"] == 2
        assert (await forget(client, other, confirm=True))["id"] == first["entity"]


async def test_the_longest_texts_are_stored_whole(client: Client) -> None:
    for character in ("x", "語", "🦄", "ﬃ", "ΐ", "\u0958"):
        name = unicodedata.normalize("NFC", character * 200)[:200]
        fact = unicodedata.normalize("NFC", character * 2000)[:2000]

        await remember(client, name, fact)
        await relate(client, name, unicodedata.normalize("NFC", character * 30), "B" * 200)

        assert (await ask(client, entityName=name, maxTokens=25_000))["o"] == [fact]


async def test_an_unknown_tool_is_a_protocol_error(client: Client) -> None:
    for name in ("recall_memories", "", "x" * 500, "query_memory\u202e"):
        with pytest.raises(MCPError) as caught:
            await client.call_tool(name, {})
        assert caught.value.error.code == -32602


async def test_a_database_that_cannot_be_reached_is_an_error_in_time(
    connect: Connect, era: Era
) -> None:
    client = await connect(
        era, database_url="postgresql://nobody@127.0.0.1:1/none", database_timeout=0.5
    )
    for tool, arguments in (
        ("query_memory", {"query": "tea"}), ("query_memory", {"mode": "list"}),
        ("remember_fact", FACT), ("forget_entity", {"entityName": "Jeff", "confirm": True}),
    ):  # fmt: skip
        title, fix = await refuse(client, tool, **arguments)

        assert title == "Database unavailable"
        assert "nothing was changed, so the call can be repeated" in fix


async def test_two_facts_of_one_punctuation_are_one(client: Client) -> None:
    assert read(await client.call_tool("remember_fact", FACT | {"observation": "C++"}))["ok"]
    assert "dup" not in await remember(client, "Jeff", "C")
