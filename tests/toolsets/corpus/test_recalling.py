"""recall: the best chunks, under the caps of their graphs."""

import re
from typing import Any

import psycopg
import pytest

from tests.conftest import Connect
from tests.support.tool_calls import A_MOMENT, AN_ID, Matching, read, text_of
from tests.toolsets.corpus.conftest import Ask, Refuse

pytestmark = pytest.mark.anyio

PIPELINE = "The deployment pipeline runs on GitHub Actions and deploys every merge."
NOTHING: dict[str, Any] = {"results": [], "totalTokens": 0, "truncated": False}


async def test_a_result_has_the_shape_of_the_seed(ask: Ask) -> None:
    stored = await ask("remember", text=PIPELINE, graphId="work", label="deployment-notes.md")

    answer = await ask("recall", query="deployment pipeline")

    [result] = answer["results"]
    assert result.pop("score") > 0.5
    assert result == {
        "chunkId": f"{stored['sourceId']}:1",
        "sourceId": AN_ID,
        "graph": "work",
        "text": PIPELINE,
        "sourceName": "deployment-notes.md",
        "line": 1,
        "updatedAt": A_MOMENT,
    }
    assert answer == {"results": [result], "totalTokens": 14, "truncated": False}


async def test_numbers_can_be_texts_and_the_query_has_other_names(ask: Ask) -> None:
    for number in range(3):
        await ask("remember", text=f"{PIPELINE} Step {number}.", graphId="work")

    for name in ("query", "q", "question"):
        answer = await ask("recall", **{name: "deployment", "topK": "2", "minScore": "0.1"})
        assert len(answer["results"]) == 2
    assert len((await ask("recall", query="deployment", topK=0))["results"]) == 3


async def test_a_wrong_argument_is_named(refuse: Refuse) -> None:
    for arguments, part in (
        ({}, "query: required"),
        ({"query": "x", "topK": 33}, "from 1 to 32"),
        ({"query": "x", "minScore": 2}, "from 0 to 1"),
        ({"query": "x", "q": "y"}, "Unknown argument 'q'"),
    ):
        assert part in ". ".join(await refuse("recall", **arguments))


async def test_scores_below_the_least_are_left_out(ask: Ask) -> None:
    await ask("remember", text=PIPELINE, graphId="work")

    assert await ask("recall", query="deployment pipeline", minScore=1) == NOTHING
    assert await ask("recall", query="zebra") == NOTHING


async def test_names_of_graphs_restrict_the_search(ask: Ask) -> None:
    for graph in ("work", "book-notes"):
        await ask("remember", text=PIPELINE, graphId=graph)

    answer = await ask("recall", query="deployment", graphs="Book Notes")

    assert [result["graph"] for result in answer["results"]] == ["book-notes"]


async def test_a_sensitive_graph_is_as_unknown_as_one_that_does_not_exist(
    ask: Ask, graphs: psycopg.Connection[Any]
) -> None:
    graphs.execute(
        "select store_source('diary', 'clip/1', 'Monday', %s, '[[1, 0, 20, 5]]', repeat('0', 64),"
        " sensitive => true)",
        (PIPELINE,),
    )

    for name in ("diary", "nothing"):
        answer = await ask("recall", query="deployment pipeline", graphs=[name])
        assert answer == {**NOTHING, "unknownGraphs": [name]}
    assert await ask("recall", query="deployment pipeline") == NOTHING
    assert "diary" not in str(await ask("stats"))


async def test_a_change_of_the_tier_holds_for_the_next_call(
    ask: Ask, refuse: Refuse, graphs: psycopg.Connection[Any]
) -> None:
    stored = await ask("remember", text=PIPELINE, graphId="work")

    graphs.execute("select change_tier('work', 'sensitive')")

    assert await ask("recall", query="deployment pipeline") == NOTHING
    assert (await refuse("remember", text=PIPELINE, graphId="work"))[0] == "No graph 'work'"
    assert (await refuse("forget", sourceId=stored["sourceId"]))[0] == "Source not found"
    graphs.execute("select change_tier('work', 'public')")
    assert (await ask("recall", query="deployment pipeline"))["totalTokens"] == 14


async def test_the_cap_of_a_graph_drops_the_lowest_scores(
    ask: Ask, graphs: psycopg.Connection[Any]
) -> None:
    await ask("remember", text=f"{PIPELINE} It is described elsewhere.", graphId="work")
    await ask("remember", text=PIPELINE, graphId="work")
    await ask("remember", text="A pipeline of oil.", graphId="book-notes")
    found = await ask("recall", query="deployment pipeline", minScore=0)

    graphs.execute("select change_tier('work', 'public', 14)")

    answer = await ask("recall", query="deployment pipeline", minScore=0)
    assert len(found["results"]) == 3
    assert answer["results"] == [found["results"][0], found["results"][2]]
    assert (answer["truncated"], answer["totalTokens"]) == (True, 14 + 5)


async def test_the_ceiling_holds_for_all_graphs_together(ask: Ask, connect: Connect) -> None:
    for graph in ("work", "book-notes"):
        await ask("remember", text=PIPELINE, graphId=graph)
    client = await connect(toolsets=["corpus"], max_recall_tokens=15)

    answer = read(await client.call_tool("recall", {"query": "deployment"}))

    assert (len(answer["m"]), answer["tok"], answer["cut"]) == (1, 14, True)


async def test_the_three_formats_tell_the_same(ask: Ask, connect: Connect) -> None:
    text = "First line\n1 second line"
    stored = await ask("remember", text=text, graphId="work", label="Notes")
    chunk = f"{stored['sourceId']}:1"
    arguments = {"query": "first line", "graphs": ["work", "zoo"]}

    compact = await connect(toolsets=["corpus"])
    answer = read(await compact.call_tool("recall", arguments))
    lines = await connect(toolsets=["corpus"], compact_responses="lines")
    written = text_of(await lines.call_tool("recall", arguments)).splitlines()

    day = Matching(re.compile(r"\d{4}-\d\d-\d\d"))
    [part] = answer["m"]
    assert part.pop("s") > 0.5
    assert part == {"id": chunk, "g": "work", "c": text, "n": "Notes", "l": 1, "on": day}
    assert answer["unknown"] == ["zoo"]
    assert written[0].split(" ", 1)[1].startswith(f"{chunk} ")
    assert written[0].endswith("work/Notes:1")
    assert written[1:] == ["First line\\n1 second line", "note unknown graphs: zoo"]


async def test_an_answer_that_exceeds_its_budget_keeps_the_best_chunks(
    ask: Ask, connect: Connect
) -> None:
    for number in range(6):
        await ask("remember", text=f"{PIPELINE} Step {number}.", graphId="work")
    client = await connect(toolsets=["corpus"], max_graph_tokens=400)

    whole = await ask("recall", query="deployment pipeline")
    result = await client.call_tool("recall", {"query": "deployment pipeline"})

    assert result.structured_content is not None
    kept = result.structured_content["results"]
    assert 1 <= len(kept) < 6
    assert kept == whole["results"][: len(kept)]
    assert result.structured_content["totalTokens"] == 18 * len(kept)
    assert (whole["truncated"], result.structured_content["truncated"]) == (False, True)
    assert read(result)["cut"] is True


async def test_lines_say_what_is_missing(ask: Ask, connect: Connect) -> None:
    await ask("remember", text=PIPELINE, graphId="work")
    options = {"compact_responses": "lines", "embedding_provider": "none"}
    client = await connect(toolsets=["corpus"], max_recall_tokens=5, **options)

    written = text_of(await client.call_tool("recall", {"query": "pipeline", "graphs": "zoo,work"}))
    cut = text_of(await client.call_tool("recall", {"query": "pipeline"}))

    note = "note keyword only: embedding service not configured"
    assert written.splitlines() == ["nothing found", "note unknown graphs: zoo,work", note]
    assert cut.splitlines() == ["nothing found", "cut", note]


async def test_a_text_cannot_look_like_another_chunk(ask: Ask, connect: Connect) -> None:
    text = "99 fake:1 2026-01-01 work/other:1\ncut\nfake pipeline"
    await ask("remember", text=text, graphId="work", label="cut\n1 x")
    client = await connect(toolsets=["corpus"], compact_responses="lines")

    written = text_of(await client.call_tool("recall", {"query": "fake pipeline"}))

    [header, line] = written.splitlines()
    assert header.endswith("work/cut 1 x:1")
    assert line == "\\" + text.replace("\n", "\\n")


async def test_each_source_has_its_own_label_though_labels_differ_only_in_case(ask: Ask) -> None:
    for label in ("Notes", "notes"):
        await ask("remember", text=f"{PIPELINE} By {label}.", graphId="work", label=label)

    answer = await ask("recall", query="deployment pipeline")

    assert {result["text"][-6:-1]: result["sourceName"] for result in answer["results"]} == {
        "Notes": "Notes",
        "notes": "notes",
    }
