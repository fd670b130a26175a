"""A query of up to 100,000 characters is condensed, and finds what its question alone finds."""

import pytest
from mcp import Client
from mcp.types import RequestParamsMeta

from benchmarks.support.long_prompts import KNOWN, Known, list_long_prompts
from tests.conftest import Connect
from tests.support.tool_calls import ask, read, refuse, remember
from textrawl.hooks.response import write_query
from textrawl.values.word_lists import LEAST_SCORE
from textrawl.wire.program import Program

pytestmark = pytest.mark.anyio

LOG = "".join(
    f"2026-11-25 10:11:{n % 60:02d} INFO worker {n} sent a heartbeat\n" for n in range(900)
)
HOOK: RequestParamsMeta = {**Program(client="textrawl hook (claude-code)").write_meta()}  # type: ignore[typeddict-item]


async def test_a_hook_finds_the_fact_whatever_is_pasted_around_the_question(client: Client) -> None:
    for known in KNOWN:
        await remember(client, known.entity, known.fact, known.type)
    able = [known for known in KNOWN if await finds(client, known.question, known)]
    prompts = [one for one in list_long_prompts(44) if one.known in able]
    missed = [one for one in prompts if not await finds(client, one.text, one.known)]

    assert len(able) >= 18
    assert len(missed) <= len(prompts) / 20, [(one.kind, one.place) for one in missed]


async def finds(client: Client, prompt: str, known: Known) -> bool:
    """Return whether a hook gives the model the fact at this prompt."""
    arguments = {"mode": "search", "query": write_query(prompt), "minScore": LEAST_SCORE}
    answer = await client.call_tool("query_memory", arguments, meta=HOOK)
    return known.fact in str(answer.content)


async def test_a_long_text_finds_by_its_question_and_by_the_names_that_the_memory_knows(
    connect: Connect,
) -> None:
    filler = " ".join(f"The garden number {n} was green and wide." for n in range(90))
    client = await connect(compact_responses="false")
    await remember(client, "Falcon", "is deployed to the Frankfurt region", "project")
    for text, query in (
        (f"{LOG}Where is Falcon deployed?", "Where is Falcon deployed?"),
        (f"Where is Falcon deployed?\n{LOG}", "Where is Falcon deployed?"),
        (f"Falcon is next.\n{LOG} {filler} Which region was it?",
         "Falcon is next. Which region was it?"),
    ):  # fmt: skip
        answer = await ask(client, query=text)
        assert answer["query"] == query
        assert "Frankfurt" in str(answer)
    quiet = await ask(client, query=f"{filler} the falcon flies {filler}")
    assert "the falcon flies" in quiet["query"]


async def test_the_limit_is_one_hundred_thousand_characters(client: Client) -> None:
    await remember(client, "Falcon", "is deployed to the Frankfurt region", "project")
    for text in ("(" * 50_000, "x" * 100_000, "Falcon " * 14_000, "? " * 50_000):
        assert "n" in await ask(client, query=text)

    long = await refuse(client, "query_memory", query="x" * 100_001)
    empty = await refuse(client, "query_memory", query="\n" * 100_000, mode="search")
    unseen = await refuse(client, "query_memory", query="\u200b" * 5000, mode="search")

    assert "must be text of at most 100000 characters" in long[1]
    assert empty[0] == unseen[0] == "Missing query"
    assert read(await client.call_tool("query_memory", {"query": "Falcon"}))["n"] == 1
