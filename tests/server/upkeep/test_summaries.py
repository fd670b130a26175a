"""Summaries of entities: each clause quotes a fact, and is gone with it."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, LiteralString

import psycopg
import pytest
from mcp import Client
from mcp.types import TextContent

from tests.support.llm_server import LlmRequest, LlmServer
from tests.support.provider_server import Fault, LlmFault
from tests.support.tool_calls import ask
from textrawl import Settings, create_server
from textrawl.access.principal import Directory
from textrawl.errors import LlmFailed
from textrawl.memory.opening import open_memory
from textrawl.memory.summaries import Clause, EntitySummary, choose_clauses
from textrawl.server.lifespan import open_app
from textrawl.server.llm_upkeep import SummaryUpkeep

pytestmark = pytest.mark.anyio

FACTS = [
    "lives in Porto", "does not eat meat", "manages the Falcon project since March 2025",
    "pays 40 euros for the train", "knows Ada", "sails on Sundays", "owns two boats",
    "was born in Leeds", "reads maps", "plays chess", "speaks Danish", "prefers tea",
]  # fmt: skip
# The last words of a fact, and what the LLM makes of the fact.
GOOD = {"in Porto": "lives in Porto", "meat": "does not eat meat", "tea": "Ben prefers tea"}
BAD = {
    "40 euros for the train": "pays 400 euros for the train",
    "in Leeds": "was born in Leeds and reads maps",
    "reads maps": "reads maps of Ada",
    "knows Ada": "Ada knows Ben",
    "two boats": "owns boats in Porto",
}
SUM: LiteralString = "select entity_summary(space_id, id) from entity where name = 'Ben'"


def sum_up(request: LlmRequest, wanted: dict[str, str] | None = None) -> str:
    """Answer with a clause for each fact of `wanted`, and with numbers that no fact has."""
    numbers = re.findall(r"^(\d+)\. (.*)$", request.user, re.MULTILINE)
    clauses = [
        {"text": text, "fact": int(number)}
        for end, text in (wanted or {**GOOD, **BAD}).items()
        for number, content in numbers
        if content.endswith(end)
    ]
    wrong = [{"text": "lives in Porto", "fact": number} for number in (0, -1, 99)]
    return json.dumps({"clauses": [*wrong, *clauses]})


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer(sum_up) as server:
        yield server


@pytest.fixture
def given(settings: Callable[..., Settings], server: LlmServer) -> Settings:
    return settings(
        summarize_entities=True,
        llm_provider="openai",
        llm_model="m",
        llm_base_url=server.openai_url,
    )


@pytest.fixture
def ben(owner: psycopg.Connection) -> psycopg.Connection:
    for content in FACTS:
        owner.execute("select remember_fact('Ben', 'person', %s)", (content,))
    return owner


async def work(settings: Settings) -> None:
    async with open_memory(settings) as memory:
        await SummaryUpkeep(memory, Directory(memory.database)).do_round()


async def tell(settings: Settings, **arguments: Any) -> tuple[str, str]:
    """Return the summary in an answer about Ben, and the line of the digest with it."""
    quiet = settings.model_copy(update={"read_only": True})
    async with (
        open_app(quiet) as app,
        Client(create_server(quiet, app=app)) as client,
    ):
        answer = await ask(client, mode="entity", entityName="Ben", **arguments)
        prompt = await client.get_prompt("digest", {"project": "Ben", "maxTokens": "1000"})
    content = prompt.messages[0].content
    assert isinstance(content, TextContent)
    lines = re.findall(r"^- summary: (.*)$", content.text, re.MULTILINE)
    return answer.get("sum", ""), "".join(lines)


def fetch(owner: psycopg.Connection, query: LiteralString) -> list[tuple[Any, ...]]:
    return owner.execute(query).fetchall()


async def test_a_summary_quotes_its_facts_and_stands_beside_them(
    given: Settings, ben: psycopg.Connection, server: LlmServer
) -> None:
    ben.execute("select remember_fact('Ada', 'person', 'lives in Rome')")
    await work(given)
    await work(given)

    [request] = server.requests
    [(told,)] = fetch(ben, SUM)
    quoted = [tuple(clause.rsplit(" ", 1)) for clause in told.split("; ")]
    ids = {text: f"[{str(i)[:8]}]" for i, text in fetch(ben, "select id, content from fact")}
    assert ("lives in Porto" in request.user, "Rome" in request.user) == (True, False)
    assert quoted == [(text, ids[text.removeprefix("Ben ")]) for text in GOOD.values()]
    assert await tell(given, maxObs=5) == (told, told)
    assert await tell(given, maxObs=5, maxTokens=200) == ("", told)
    assert await tell(given) == ("", told)  # with all facts
    assert await tell(given, maxObs=5, asOf="2099-01-01") == ("", told)
    first = told.split("; ")[0]
    for longest, summary in ((500, told), (len(first) + 17, first), (len(first) + 16, None)):
        [(content,)] = ben.execute(
            "select max(content) from digest_memory('Ben', max_characters => %s)"
            " where section = 'summary'",
            (longest,),
        )
        assert content == (summary and f"summary: {summary}")
    assert fetch(
        ben, "select tool, detail ->> 'clauses' from event where action = 'summarized'"
    ) == [("summarize", "3")]
    assert fetch(ben, "select purpose, error from llm_use") == [("summarize", None)]


def test_a_short_name_in_other_words_is_not_that_name() -> None:
    for name, fact, text in (
        ("R", "is written in C and Fortran", "R is written in C and Fortran"),
        ("Ed", "worked in Leeds", "worked in Leeds"),
        ("Al", "always calls Alma", "always calls Alma"),
        ("Ben", "Benjamin is the name in his passport", "Benjamin is the name in his passport"),
        ("李娜", "李娜在上海工作", "李娜在上海工作"),
    ):
        answer = EntitySummary(clauses=[Clause(text=text, fact=1)])
        kept = choose_clauses(answer, name, [{"id": "1" * 8, "content": fact}])
        assert [one["content"] for one in kept] == [text]


async def test_a_forgotten_or_replaced_fact_leaves_the_summary_at_once(
    given: Settings, ben: psycopg.Connection, server: LlmServer
) -> None:
    await work(given)
    ben.execute("select forget_entity('Ben', 'does not eat meat')")
    ben.execute(
        "select remember_fact('Ben', 'person', 'lives in Faro', replaces => 'lives in Porto')"
    )

    [(stale,)] = fetch(ben, SUM)
    assert re.fullmatch(r"Ben prefers tea \[\w{8}\] \(stale\)", stale)
    assert await tell(given, maxObs=5) == (stale, stale)
    assert fetch(ben, "select count(*) from summary_clause where content ~ 'meat'") == [(0,)]
    await work(given)
    assert len(server.requests) == 1  # at most one in an hour

    server.write = lambda request: sum_up(request, {"in Faro": "lives in Faro"})
    ben.execute("update summary set due_at = now()")
    await work(given)
    assert re.fullmatch(r"lives in Faro \[\w{8}\]", fetch(ben, SUM)[0][0])
    ben.execute("select forget_entity('Ben')")
    assert fetch(ben, "select count(*) from summary") == [(0,)]


async def test_a_summary_waits_for_the_llm_and_is_made_once(
    given: Settings, ben: psycopg.Connection, server: LlmServer
) -> None:
    ben.execute("select queue_summaries()")
    fetch(ben, "select entity_id from claim_summary(60)")  # by a server that was killed then
    await work(given)
    assert server.requests == []
    server.fail(Fault.MODEL_MISSING)
    ben.execute("update summary set due_at = now()")
    with pytest.raises(LlmFailed, match="MODEL_MISSING"):
        await work(given)
    assert fetch(ben, "select attempts, due_at > now() from summary") == [(1, True)]

    server.fail(LlmFault.BLANK)
    for _ in range(4):
        ben.execute("update summary set due_at = now()")
        await work(given)
    assert fetch(
        ben,
        "select due_at, count(c) from summary left join summary_clause c"
        " using (space_id, entity_id) group by 1",
    ) == [(None, 0)]
    assert fetch(ben, SUM) == [(None,)]

    server.heal()
    ben.execute("select remember_fact('Ben', 'person', 'likes rain')")
    ben.execute("update summary set made_at = now() - interval '1 day'")
    await work(given)
    assert fetch(ben, "select count(*) from summary_clause") == [(3,)]
