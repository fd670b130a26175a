"""forget and stats."""

from uuid import uuid4

import psycopg
import pytest

from tests.conftest import Connect
from tests.support.tool_calls import read, read_error
from tests.toolsets.corpus.conftest import Ask, Refuse

pytestmark = pytest.mark.anyio

LONG = "\n\n".join(
    f"# Plant {n}\n\n" + f"The plant {n} needs water and light. " * 40 for n in range(4)
)


async def test_a_source_is_deleted_with_all_its_chunks(ask: Ask, owner: psycopg.Connection) -> None:
    stored = await ask("remember", text=LONG, graphId="work")

    answer = await ask("forget", sourceId=stored["sourceId"])

    assert answer == {
        "deleted": True,
        "chunksRemoved": stored["nodeCount"],
        "sourceRemoved": True,
    }
    assert owner.execute("select count(*) from document_version").fetchone() == (0,)
    assert owner.execute("select count(*) from event where action = 'erased'").fetchone() == (1,)


async def test_a_chunk_is_deleted_and_the_others_stay(ask: Ask) -> None:
    stored = await ask("remember", text=LONG, graphId="work")

    answer = await ask("forget", chunkId=f"{stored['sourceId']}:2")

    assert (answer["deleted"], answer["sourceRemoved"]) == (True, False)
    assert 1 <= answer["chunksRemoved"] < stored["nodeCount"]
    found = await ask("recall", query="plant", topK=32, minScore=0)
    assert len(found["results"]) == stored["nodeCount"] - answer["chunksRemoved"]


async def test_a_chunk_and_its_source_are_deleted_together(ask: Ask) -> None:
    source = (await ask("remember", text=LONG, graphId="work"))["sourceId"]

    answer = await ask("forget", sourceId=source, chunkId=f"{source}:1")

    assert answer["sourceRemoved"] is True


async def test_what_is_wrong_is_said_and_nothing_is_deleted(
    ask: Ask, refuse: Refuse, owner: psycopg.Connection
) -> None:
    source = (await ask("remember", text=LONG, graphId="work"))["sourceId"]

    assert (await refuse("forget"))[0] == "Nothing to forget"
    assert (await refuse("forget", chunkId="", sourceId=None))[0] == "Nothing to forget"
    assert "there is no chunk with the id" in (await refuse("forget", chunkId=source))[1]
    assert "there is no source with the id" in (await refuse("forget", sourceId=source[:8]))[1]
    assert (await refuse("forget", sourceId=str(uuid4())))[0] == "Source not found"
    assert (await refuse("forget", chunkId=f"{source}:99999"))[0] == "The source has no chunk 99999"
    error = await refuse("forget", sourceId=str(uuid4()), chunkId=f"{source}:1")
    assert error[0] == "Two different sources"
    assert owner.execute("select count(*) from source").fetchone() == (1,)


async def test_stats_count_what_the_caller_can_read(ask: Ask) -> None:
    stored = await ask("remember", text=LONG, graphId="work")
    await ask("remember", text="A clip.", graphId="book-notes")

    answer = await ask("stats")

    tokens = [graph.pop("estimatedTokens") for graph in answer["graphs"]]
    chunks = stored["nodeCount"]
    assert answer["graphs"] == [
        {"name": "book-notes", "tier": "personal", "sources": 1, "chunks": 1},
        {"name": "work", "tier": "public", "sources": 1, "chunks": chunks},
    ]
    assert (answer["totalSources"], answer["totalChunks"]) == (2, chunks + 1)
    assert tokens[0] == 3
    assert tokens[1] > 1000
    assert answer["embeddingModel"].startswith("local")
    assert answer["embeddingDimensions"] == 256
    assert answer["cortexDbSizeBytes"] > 4 * sum(tokens)
    assert answer["cortexPath"].startswith("test_")


async def test_more_graphs_than_fit_are_counted(
    connect: Connect, owner: psycopg.Connection
) -> None:
    for number in range(40):
        owner.execute("select create_space(%s, tier => 'public')", (f"graph-{number}",))
        owner.execute(
            "select grant_access('ada', %s, array['read', 'write'])", (f"graph-{number}",)
        )
    client = await connect(toolsets=["corpus"], max_graph_tokens=300)

    answer = read(await client.call_tool("stats", {}))
    title, fix = read_error(await client.call_tool("remember", {"text": "x", "graphId": "zoo"}))

    assert 1 <= len(answer["g"]) == 40 - answer["cut"]
    assert (title, fix.count("graph-")) == ("No graph 'zoo'", 40)
