"""Recalls are logged: as much of them as the settings say, whatever happens, in nobody's way."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import psycopg
import pytest
from mcp import Client
from mcp.types import CallToolResult, Implementation

from tests.conftest import TOKEN, Era
from tests.support.databases import choose_database
from tests.support.gateway import Gateway
from tests.support.tool_calls import count, remember
from textrawl import Settings, create_server, errors
from textrawl.access.access_token import hash_token
from textrawl.access.principal import Directory
from textrawl.memory.store import Store
from textrawl.models.active_model import Models
from textrawl.postgres.database import Database
from textrawl.server.lifespan import Upkeep
from textrawl.tools.call import App, Identity
from textrawl.wire.replies import Recall, RecallLog, Renderer
from textrawl.wire.token_counter import choose_counter

pytestmark = pytest.mark.anyio

MakeSettings = Callable[..., Settings]
RENDERER = Renderer("compact", True, choose_counter(), 2_000)
COLUMNS = "client, mode, format, structured, tokens, budget, items, dropped"
CLIENT = Implementation(name="tester", version="3")


@asynccontextmanager
async def visit(
    settings: Settings, era: Era = "auto", client: Implementation = CLIENT
) -> AsyncGenerator[Client]:
    """A client; once it is gone, so is the server, and everything was recorded."""
    async with Client(create_server(settings), mode=era, client_info=client) as visitor:
        yield visitor


async def recall(client: Client, **arguments: Any) -> CallToolResult:
    result = await client.call_tool("query_memory", arguments)
    assert not result.is_error, result.content
    return result


def read_recalls(owner: psycopg.Connection) -> list[tuple[Any, ...]]:
    return owner.execute(f"select {COLUMNS} from recall order by id".encode()).fetchall()  # noqa: S608


def make(tokens: int) -> Recall:
    return Recall(
        credential=hash_token(TOKEN),
        space=None,
        client=None,
        mode="list",
        format="lines",
        structured=False,
        tokens=tokens,
        budget=50,
        items=0,
        dropped=0,
    )


@asynccontextmanager
async def open_database(conninfo: str, timeout: float = 10) -> AsyncGenerator[Database]:
    database = await choose_database(conninfo, timeout=timeout, max_size=5)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


async def test_every_recall_is_recorded_with_what_it_cost(
    settings: MakeSettings, owner: psycopg.Connection, era: Era
) -> None:
    async with visit(settings(), era) as client:
        await remember(client, "Jeff", "likes tea")
        results = [
            await recall(client, query="tea"),
            await recall(client, entityName="Jeff", maxTokens=900),
            await recall(client, mode="list"),
        ]

    costs = [RENDERER.measure(result) for result in results]
    assert read_recalls(owner) == [
        ("tester 3", "search", "compact", True, costs[0], 2000, 1, 0),
        ("tester 3", "entity", "compact", True, costs[1], 900, 1, 0),
        ("tester 3", "list", "compact", True, costs[2], 2000, 1, 0),
    ]
    lately = "at between now() - interval '1 minute' and now()"
    assert owner.execute(f"select bool_and({lately}) from recall".encode()).fetchone() == (True,)  # noqa: S608


async def test_only_text_is_counted_where_nothing_else_is_sent(
    settings: MakeSettings, owner: psycopg.Connection
) -> None:
    async with visit(settings(structured_content="off", compact_responses="false")) as client:
        result = await recall(client, mode="list")

    assert read_recalls(owner) == [
        ("tester 3", "list", "verbose", False, RENDERER.measure(result), 2000, 0, 0)
    ]


async def test_neither_questions_nor_facts_are_recorded_unless_a_setting_says_so(
    settings: MakeSettings, owner: psycopg.Connection
) -> None:
    async with visit(settings()) as client:
        await remember(client, "Zaphod", "keeps marmosets")
        await recall(client, query="who keeps marmosets?")
        await recall(client, entityName="Zaphod")
        await recall(client, entityName="Zaphodd")

    rows = owner.execute("select lower(to_jsonb(recall)::text) from recall").fetchall()
    assert len(rows) == 3
    assert [row for (row,) in rows if "marmoset" in row or "zaphod" in row] == []


async def test_questions_are_recorded_as_text_where_the_settings_say_so(
    settings: MakeSettings, owner: psycopg.Connection
) -> None:
    async with visit(settings(record_recalls="text")) as client:
        await remember(client, "Jeff", "likes tea")
        await recall(client, query="who likes TEA?")
        await recall(client, entityName="jeff")
        await recall(client, mode="list")

    assert owner.execute("select mode, query, hits from recall order by id").fetchall() == [
        ("search", "who likes TEA?", 1),
        ("entity", "jeff", 1),
        ("list", None, 0),
    ]


async def test_the_hash_of_a_question_is_the_same_whatever_its_case_and_white_space(
    settings: MakeSettings, owner: psycopg.Connection
) -> None:
    for kept, query in (("hash", "Who likes tea?"), ("text", "who  LIKES tea?")):
        async with visit(settings(record_recalls=kept)) as client:
            await recall(client, query=query)

    rows = owner.execute("select distinct query_hash from recall").fetchall()
    assert len(rows) == 1
    assert len(rows[0][0]) == 16


async def test_a_recall_tells_how_good_its_best_fact_was_by_each_arm_and_how_long_it_took(
    settings: MakeSettings, owner: psycopg.Connection
) -> None:
    async with visit(settings()) as client:
        await remember(client, "Jeff", "likes tea")
        found = await recall(client, query="tea")
        await recall(client, query="zeppelin", searchMode="hybrid")

    [best, _] = owner.execute(
        "select score, cosine, coverage, milliseconds from recall order by id"
    ).fetchall()
    answer: Any = found.structured_content
    score = answer["entities"][0]["memories"][0]["score"]
    assert best[0] == pytest.approx(score, abs=0.01)
    assert 0 < best[1] < 1
    assert best[2] == 1
    assert 0 < best[3] < 60_000


async def test_a_recall_that_was_cut_is_recorded_as_it_told_it_with_the_facts_in_the_answer(
    settings: MakeSettings, owner: psycopg.Connection
) -> None:
    facts = [
        {"entityName": "Jeff", "entityType": "person", "observation": f"likes tea number {n}"}
        for n in range(30)
    ]
    async with visit(settings(compact_responses="lines")) as client:
        await client.call_tool("build_knowledge", {"facts": facts})
        result = await recall(client, query="tea", limit=30, maxTokens=300)
        await recall(client, query="tea", limit=2)

    answer: Any = result.structured_content
    dropped, items = answer["dropped"], 30 - answer["dropped"]
    cut = ("tester 3", "search", "lines", True, answer["usedTokens"], 300, items, dropped)
    assert read_recalls(owner)[0] == cut
    assert 2 < items < 30
    assert owner.execute("select hits from recall order by id limit 1").fetchall() == [(30,)]
    assert owner.execute("select cardinality(facts) from recall order by id").fetchall() == [
        (items,),
        (2,),
    ]
    assert owner.execute("select count(*), sum(recalls) from recalled").fetchone() == (
        items,
        items + 2,
    )


async def test_what_verbose_text_would_have_cost_is_counted_for_one_answer_of_a_batch(
    settings: MakeSettings, owner: psycopg.Connection
) -> None:
    async with visit(settings(structured_content="off")) as client:
        await remember(client, "Jeff", "likes tea")
        await recall(client, query="tea")
        await recall(client, query="tea")

    [(_, first), (tokens, last)] = owner.execute(
        "select tokens, verbose_tokens from recall order by id"
    ).fetchall()
    assert first is None
    assert last > tokens


async def test_calls_that_write_or_fail_are_no_recalls(
    settings: MakeSettings, owner: psycopg.Connection
) -> None:
    async with visit(settings()) as client:
        await remember(client, "Jeff", "likes tea")
        await client.call_tool("forget_entity", {"entityName": "Jeff", "confirm": True})
        failed = await client.call_tool("query_memory", {"mode": "search"})

    assert failed.is_error
    assert read_recalls(owner) == []


async def test_nothing_is_recorded_where_the_settings_say_so(
    settings: MakeSettings, owner: psycopg.Connection
) -> None:
    for change in ({"record_recalls": "off"}, {"read_only": True}):
        async with visit(settings(**change)) as client:
            await recall(client, mode="list")

        assert read_recalls(owner) == []


async def test_a_client_whose_name_postgres_cannot_store_is_served_and_recorded(
    settings: MakeSettings, owner: psycopg.Connection
) -> None:
    strange = Implementation(name="te\x00st\x1ber\u202e", version="9" * 300)
    async with visit(settings(), client=strange) as client:
        await remember(client, "Jeff", "likes tea")
        await recall(client, query="tea")

    [(name, *_)] = read_recalls(owner)
    assert name.startswith("tester 999")
    assert len(name) <= 200
    assert owner.execute("select client from observation").fetchone() == (name,)


async def test_rounds_record_while_the_server_runs(
    settings: MakeSettings, owner: psycopg.Connection, database_url: str
) -> None:
    recalls = RecallLog()
    async with open_database(database_url) as database:
        memory = Store(database, Models(database, None))
        identity = Identity(Directory(database), hash_token(TOKEN))
        app = App(settings(), memory, identity, recalls)
        async with Client(create_server(settings(), app=app)) as client:
            for expected in (1, 2):
                await recall(client, mode="list")
                await Upkeep(memory, recalls).do_round()
                assert count(owner, "recall") == expected
            await Upkeep(memory, recalls).do_round()
            assert count(owner, "recall") == 2


async def test_recalls_wait_for_a_database_that_is_away(
    gateway: Gateway, owner: psycopg.Connection
) -> None:
    recalls = RecallLog()
    recalls.add(make(1))
    async with open_database(gateway.conninfo, timeout=0.5) as database:
        upkeep = Upkeep(Store(database, Models(database, None)), recalls)
        await gateway.close()
        with pytest.raises(errors.DatabaseUnavailable):
            await upkeep.do_round()
        recalls.add(make(2))
        await gateway.open()
        with anyio.fail_after(60):
            while count(owner, "recall") < 2:
                await recalls.flush(database)

    assert [row[4] for row in read_recalls(owner)] == [1, 2]


async def test_a_server_ends_in_time_though_the_database_is_away(
    settings: MakeSettings, gateway: Gateway, owner: psycopg.Connection
) -> None:
    with anyio.fail_after(20):
        async with visit(settings(database_url=gateway.conninfo)) as client:
            await recall(client, mode="list")
            await gateway.close()

    assert read_recalls(owner) == []


async def test_recalls_of_a_flush_that_was_cancelled_are_kept(
    gateway: Gateway, owner: psycopg.Connection
) -> None:
    recalls = RecallLog()
    recalls.add(make(1))
    async with open_database(gateway.conninfo) as database:
        gateway.freeze()
        with anyio.move_on_after(0.1) as patience:
            await recalls.flush(database)
        assert patience.cancelled_caught
        gateway.thaw()
        recalls.add(make(2))
        await recalls.flush(database)

    assert [row[4] for row in read_recalls(owner)] == [1, 2]


async def test_recalls_that_are_refused_do_not_keep_others_back(
    database_url: str, owner: psycopg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    recalls = RecallLog()
    async with open_database(database_url) as database:
        recalls.add(make(-1))
        await recalls.flush(database)
        recalls.add(make(2))
        await recalls.flush(database)

    assert [row[4] for row in read_recalls(owner)] == [2]
    assert "1 recalls are lost" in caplog.text


async def test_the_newest_thousand_wait_and_no_more(
    database_url: str, owner: psycopg.Connection
) -> None:
    recalls = RecallLog()
    for tokens in range(1_200):
        recalls.add(make(tokens))
    async with open_database(database_url) as database:
        await recalls.flush(database)

    kept = owner.execute("select count(*), min(tokens), max(tokens) from recall").fetchone()
    assert kept == (1000, 200, 1199)
