"""`textrawl cost` and `textrawl toolsets`: what they count is what a server sends."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from mcp.types import TextContent

from tests.conftest import TOKEN, Connect
from tests.support.commands import FACT, HELLO, Launch, Run
from tests.support.hosts import end_hosts
from textrawl.server.description import INSTRUCTIONS
from textrawl.tools.catalogue import find_toolsets
from textrawl.wire.replies import Renderer, write_json
from textrawl.wire.token_counter import choose_counter

COUNTER = choose_counter()
FORMATS = ["compact", "verbose", "lines"]
MOST_INSTRUCTIONS = 500
NOWHERE = "postgresql://127.0.0.1:1/memory"


@pytest.fixture
def stored(owner: psycopg.Connection) -> None:
    """Two facts about Ada, and what three recalls cost."""
    owner.execute(
        "select remember_fact(entity => 'Ada', type => 'person', observation => o)"
        " from (values ('likes tea'), ('drinks tea at four')) as given(o)"
    )
    recalls = [
        {"at": "2026-11-21T09:30:00Z", "mode": "search", "format": "lines", "structured": False,
         "tokens": tokens, "budget": 2000, "items": 3, "dropped": dropped}
        for tokens, dropped in ((10, 0), (1500, 7), (20, 0))
    ]  # fmt: skip
    owner.execute("select record_recalls(%s)", (json.dumps(recalls),))


def ask(run: Run, *arguments: str, **environment: object) -> Any:
    outcome = run("cost", "--json", *arguments, **environment)
    assert (outcome.code, outcome.err) == (0, "")
    return json.loads(outcome.out)


def test_the_instructions_cost_at_most_500_tokens() -> None:
    assert COUNTER.count(INSTRUCTIONS["memory"]) <= MOST_INSTRUCTIONS


def test_definitions_are_summed_up_per_toolset_and_with_the_instructions(
    run: Run, database_url: str
) -> None:
    answer = ask(run, DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN)

    [toolset] = answer["introduction"]["toolsets"]
    assert toolset["name"] == "memory"
    assert [tool["name"] for tool in toolset["tools"]] == [
        "query_memory", "remember_fact", "build_knowledge", "relate_entities", "forget_entity"
    ]  # fmt: skip
    assert toolset["tokens"] == sum(tool["tokens"] for tool in toolset["tools"]) <= 1350
    assert answer["introduction"]["instructions"] == COUNTER.count(INSTRUCTIONS["memory"])
    assert answer["introduction"]["tokens"] == toolset["tokens"] + COUNTER.count(
        INSTRUCTIONS["memory"]
    )
    assert (answer["counter"], answer["exact"]) == (COUNTER.name, True)


def test_a_read_only_server_costs_the_one_tool_that_it_offers(run: Run, database_url: str) -> None:
    answer = ask(run, DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN, READ_ONLY="true")

    [toolset] = answer["introduction"]["toolsets"]
    assert [tool["name"] for tool in toolset["tools"]] == ["query_memory"]


@pytest.mark.usefixtures("stored")
def test_the_last_recalls_are_summed_up(run: Run, database_url: str) -> None:
    answer = ask(run, DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN)["recalls"]
    last = ask(run, "--last", "1", DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN)["recalls"]
    shown = run("cost", DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN).out

    assert answer.pop("since").startswith("2026-11-21T")
    assert answer == {
        "recalls": 3, "p50": 20, "p95": 1500, "largest": 1500, "cut": 1, "dropped": 7
    }  # fmt: skip
    assert (last["recalls"], last["largest"]) == (1, 20)
    flat = " ".join(shown.split())
    assert "Tokens, counted exactly: o200k_base (splintr)." in flat
    assert "median 20 tokens 95th percentile 1,500 tokens largest 1,500 tokens" in flat
    assert "cut to the budget 1 7 items left out" in flat


@pytest.mark.anyio
@pytest.mark.parametrize("structured", ["full", "off"])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.slow
async def test_an_answer_costs_what_a_server_sends_in_that_format(
    connect: Connect,
    launch: Launch,
    owner: psycopg.Connection,
    database_url: str,
    form: str,
    structured: str,
) -> None:
    client = await connect(compact_responses=form, structured_content=structured)
    await client.call_tool("remember_fact", FACT)
    owner.execute("select refresh_search_statistics(force => true)")
    outcome = launch("cost", "tea", "--json", DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN).end()
    result = await client.call_tool("query_memory", {"mode": "search", "query": "tea"})

    answer = json.loads(outcome.out)["answer"]
    sent = Renderer("compact", True, COUNTER, 2000).measure(result)
    costs = {cost["format"]: cost for cost in answer["formats"]}
    assert list(costs) == FORMATS
    assert costs[form]["with_structured" if structured == "full" else "text"] == sent
    if form == "compact":
        [block] = result.content
        assert isinstance(block, TextContent)
        assert answer["text"] == block.text


@pytest.mark.usefixtures("stored")
def test_the_answer_is_shown_with_its_costs_side_by_side(run: Run, database_url: str) -> None:
    shown = run("cost", "who drinks tea?", DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN).out

    [text] = [line for line in shown.splitlines() if line.startswith("{")]
    assert json.loads(text)["n"] == 2
    assert "who drinks tea?: 2 facts" in shown
    rows = [line for line in shown.splitlines() if line.startswith("│")]
    assert [row.split()[1] for row in rows] == FORMATS
    assert f" {COUNTER.count(text)} " in rows[0]


@pytest.mark.usefixtures("stored")
def test_an_answer_beyond_the_budget_is_counted_whole_and_said_to_be_cut(
    run: Run, database_url: str
) -> None:
    shown = run(
        "cost", "tea", DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN, MAX_RESPONSE_TOKENS=50
    ).out

    limit = "If an answer exceeds TEXTRAWL_MAX_RESPONSE_TOKENS (50), the server leaves facts out."
    assert limit in " ".join(shown.split())
    assert '{"n":2' in shown


@pytest.mark.usefixtures("stored")
def test_counting_changes_nothing(run: Run, database_url: str, owner: psycopg.Connection) -> None:
    for arguments in ((), ("tea",)):
        assert run("cost", *arguments, DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN).code == 0

    rows = owner.execute(
        "select (select count(*) from recall), (select count(*) from embedding_model),"
        " (select count(*) from event)"
    ).fetchone()
    assert rows == (3, 0, 3)


def test_without_recalls_it_says_whether_they_are_noted(run: Run, database_url: str) -> None:
    noted = run("cost", DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN).out
    off = run("cost", DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN, RECORD_RECALLS="off").out

    assert "Recalls\nnone yet\n" in noted
    assert "none: TEXTRAWL_RECORD_RECALLS is off" in off


@pytest.mark.slow
def test_a_server_notes_the_recalls_that_are_counted(
    run: Run, launch: Launch, data_dir: Path, postmasters: Callable[[], list[int]]
) -> None:
    server = launch("serve", DATA_DIR=data_dir)
    server.say(HELLO)
    server.hear()
    server.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    answer: Any = None
    calls = [("remember_fact", FACT), ("query_memory", {"mode": "search", "query": "tea"})]
    for number, (name, arguments) in enumerate(calls, 2):
        params = {"name": name, "arguments": arguments}
        server.say({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        answer = server.hear()["result"]
    server.end()
    end_hosts(data_dir)

    reply = ask(run, "tea", DATA_DIR=data_dir)

    sent: list[str] = [answer["content"][0]["text"], write_json(answer["structuredContent"])]
    assert reply["recalls"]["recalls"] == 1
    assert reply["recalls"]["p50"] == sum(COUNTER.count(text) for text in sent)
    assert reply["answer"]["facts"] == 1
    assert postmasters() == []


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        ({"DATABASE_URL": NOWHERE}, "Database unavailable: Start Postgres, or check "),
        ({"ENABLE_MEMORY": "off"}, "Memory not enabled: Set ENABLE_MEMORY=true"),
        ({}, "There is no memory in "),
    ],
)
def test_without_a_memory_definitions_are_counted_and_a_query_is_an_error(
    run: Run, home: Path, environment: dict[str, str], reason: str
) -> None:
    environment = {"DATA_DIR": str(home / "data"), **environment}

    answer = ask(run, **environment)
    shown = run("cost", **environment)
    asked = run("cost", "tea", **environment)

    assert answer["missing"].startswith(reason)
    assert answer["recalls"] is answer["answer"] is None
    assert bool(answer["introduction"]["tokens"]) == ("ENABLE_MEMORY" not in environment)
    assert reason in shown.out
    assert (asked.code, asked.complaint[: len(reason)]) == (1, reason)
    assert not (home / "data").exists()


def test_a_query_of_nothing_is_an_error(run: Run, database_url: str) -> None:
    outcome = run("cost", " ", DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN)

    assert (outcome.code, outcome.complaint) == (1, "Missing query: Provide query")


def test_toolsets_are_listed_with_their_tools_and_tokens(run: Run) -> None:
    outcome = run("toolsets", "--json", TOOLSETS="graph", READ_ONLY="true", ENABLE_MEMORY="false")

    offers = {offer["name"]: offer for offer in json.loads(outcome.out)}
    assert {name: offer["offered"] for name, offer in offers.items() if offer["offered"]} == {
        "graph": True
    }
    for name, toolset in find_toolsets().items():
        assert [tool["name"] for tool in offers[name]["tools"]] == list(toolset.tools)
        assert offers[name]["tokens"] == sum(tool["tokens"] for tool in offers[name]["tools"]) > 0
        assert offers[name]["purpose"] == toolset.purpose


def test_toolsets_are_drawn_as_a_table(run: Run) -> None:
    shown = " ".join(run("toolsets").out.split())

    assert "│ memory │ yes │ 5 │" in shown
    assert "│ graph │ no │" in shown


def test_a_toolset_that_is_not_there_is_refused_with_those_that_are(run: Run) -> None:
    outcome = run("toolsets", TOOLSETS="poetry")

    known = ", ".join([*find_toolsets(), "all"])
    assert outcome.complaint == (f"TEXTRAWL_TOOLSETS: there is no toolset 'poetry'; known: {known}")
