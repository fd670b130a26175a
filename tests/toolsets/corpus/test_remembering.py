"""remember, forget and stats: a text is stored once, in the graph that the caller means."""

import random
from typing import Any
from uuid import uuid4

import anyio
import psycopg
import pytest
from mcp import Client
from mcp.types import CallToolResult

from tests.conftest import Connect
from tests.support.tool_calls import AN_ID, read, read_error, refuse, text_of
from tests.toolsets.corpus.conftest import Ask, Refuse

pytestmark = pytest.mark.anyio

TEXT = (
    "Decided to use PostgreSQL for the new service. SQLite was ruled out due to concurrent write "
    "requirements."
)


async def test_the_example_of_the_seed_is_stored_and_recalled(ask: Ask) -> None:
    stored = await ask("remember", text=TEXT, target_engram="Work", label="DB choice", kind="clip")

    assert stored == {"sourceId": AN_ID, "graphId": "work", "nodeCount": 1}
    [result] = (await ask("recall", query="which database for the new service"))["results"]
    assert (result["sourceId"], result["sourceName"], result["text"]) == (
        stored["sourceId"],
        "DB choice",
        TEXT,
    )


async def test_the_text_has_other_names_too(ask: Ask) -> None:
    first = await ask("remember", text=TEXT, graphId="work")

    for alias in ("note", "content", "body"):
        again = await ask("remember", **{alias: TEXT}, graphId="work", targetEngram="work")
        assert again == {**first, "duplicate": True}, alias


async def test_a_text_is_stored_once_in_each_graph(
    ask: Ask, owner: psycopg.Connection, connect: Connect
) -> None:
    for graph in ("work", "work", "book-notes"):
        await ask("remember", text=f"  {TEXT}\r\n", graphId=graph)
    other = await connect(toolsets=["corpus"])
    read(await other.call_tool("remember", {"text": TEXT, "graphId": "work"}))

    assert owner.execute("select count(*) from source").fetchone() == (2,)


async def test_a_text_without_a_label_is_called_by_its_first_words(
    ask: Ask, owner: psycopg.Connection
) -> None:
    labels = {
        "# Plans for May\n\nPlant roses.": "Plans for May",
        "one " * 30: f"{'one ' * 14}one…",
        "---\n***\n": "ai-conversation",
    }
    for text in labels:
        await ask("remember", text=text, graphId="work", kind="ai-conversation")

    stored = owner.execute("select label, source_kind from source").fetchall()
    assert sorted(stored) == sorted((label, "ai-conversation") for label in labels.values())


async def test_a_long_text_is_stored_in_chunks(ask: Ask) -> None:
    text = "\n\n".join(f"Paragraph {n} is about the plant number {n}." * 9 for n in range(40))

    stored = await ask("remember", text=text, graphId="work")

    assert stored["nodeCount"] > 5


async def test_spelling_a_name_differently_is_exact(ask: Ask) -> None:
    for given in ("Book Notes", "book-notes", "booknotes", "BOOK_NOTES"):
        assert (await ask("remember", text=TEXT, target_engram=given))["graphId"] == "book-notes"


async def test_a_name_that_is_not_exact_is_not_guessed(
    refuse: Refuse, owner: psycopg.Connection
) -> None:
    reasons = {
        "notes": "contains your text",
        "NotesBook": "same words",
        "bok-notse": "close spelling",
    }
    for given, reason in reasons.items():
        title, fix = await refuse("remember", text=TEXT, target_engram=given)

        assert title == f"No graph {given!r}"
        assert fix == (
            f"Close matches: book-notes ({reason}). Ask the user which one, or whether to create "
            "one; do not retry before. Nothing was stored"
        )
        assert owner.execute("select count(*) from source").fetchone() == (0,)


async def test_a_name_without_a_match_lists_the_graphs_and_creates_none(
    refuse: Refuse, owner: psycopg.Connection
) -> None:
    title, fix = await refuse("remember", text=TEXT, target_engram="Recipes")

    assert title == "No graph 'Recipes'"
    assert "The graphs are: book-notes, work." in fix
    assert owner.execute("select count(*) from space").fetchone() == (4,)


async def test_a_slug_is_not_resolved(refuse: Refuse) -> None:
    assert (await refuse("remember", text=TEXT, graphId="Work"))[0] == "No graph 'Work'"


async def test_two_names_of_different_graphs_are_refused(refuse: Refuse) -> None:
    error = await refuse("remember", text=TEXT, graphId="work", target_engram="Book Notes")

    assert error[0] == "Two different graphs"


async def test_without_a_name_several_graphs_are_listed(refuse: Refuse) -> None:
    title, fix = await refuse("remember", text=TEXT)

    assert (title, "book-notes, work" in fix) == ("Missing target_engram", True)


async def test_without_a_name_the_only_graph_is_used(
    client: Client, owner: psycopg.Connection
) -> None:
    owner.execute("select create_space('only', tier => 'personal')")
    owner.execute("select grant_access('ada', 'only', array['read', 'write'])")

    stored = read(await client.call_tool("remember", {"text": TEXT}))

    assert stored["g"] == "only"


CHUNK = {"chunkId": "00000000-0000-4000-8000-000000000000:1"}
WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("remember", {"text": " "}, "must not be empty"),
    ("remember", {"text": "x", "kind": "poem"}, "kind (given 'poem'): must be one of clip"),
    ("remember", {"text": "x" * 200_001}, "text (given"),
    ("remember", {"text": "\u202e"}, "must not be empty"),
    ("remember", {"text": "x", "label": "y" * 201}, "label (given"),
    ("remember", {}, "text: required"),
    ("recall", {}, "query: required"),
    ("recall", {"query": "x", "topK": 33}, "from 1 to 32"),
    ("recall", {"query": "x", "minScore": 2}, "from 0 to 1"),
    ("recall", {"query": "x", "q": "y"}, "Unknown argument 'q'"),
    ("correct", CHUNK, "proposal: required"),
    ("correct", CHUNK | {"proposal": ""}, "must not be empty"),
    ("correct", CHUNK | {"proposal": "x" * 10_001}, "at most 10000"),
    ("apply", {}, "correctionId: required"),
]


async def test_a_wrong_argument_is_named(refuse: Refuse) -> None:
    for tool, arguments, part in WRONG:
        assert part in ". ".join(await refuse(tool, **arguments))


async def test_a_text_is_stored_only_under_a_name_that_is_equal_to_that_of_a_graph(
    client: Client, graphs: psycopg.Connection[Any]
) -> None:
    dice = random.Random(5)  # noqa: S311 - no secret
    letters = "book-notes wrkBNOT_ 1é"
    names = [slug for slug in ("work", "book-notes") for _ in range(20)]
    names = [name[: dice.randint(0, 9)] + dice.choice(letters) for name in names]
    names += ["".join(dice.choices(letters, k=dice.randint(1, 12))) for _ in range(60)]
    for number, name in enumerate([*names, "WORK", "Book  Notes", "diary"]):
        text = f"Text {number}."
        result = await client.call_tool("remember", {"text": text, "target_engram": name})
        folded = "".join(filter(str.isalnum, name.lower()))
        # A name of white space counts as no name, and there are two graphs.
        assert bool(result.is_error) is (folded not in ("work", "booknotes")), name
        stored = graphs.execute(
            "select count(*) from document_version where content = %s", (text,)
        ).fetchone()
        assert stored == (int(not result.is_error),)
        assert "diary" not in text_of(result).partition(". ")[2]
    assert graphs.execute("select count(*) from space").fetchone() == (4,)


async def test_texts_that_arrive_at_once_are_one_source(
    connect: Connect, client: Client, graphs: psycopg.Connection[Any]
) -> None:
    clients = [client, *[await connect(toolsets=["corpus"]) for _ in range(3)]]
    answers = list[CallToolResult]()

    async def send(client: Client) -> None:
        answers.append(await client.call_tool("remember", {"text": TEXT, "graphId": "work"}))

    async with anyio.create_task_group() as tasks:
        for one in clients * 3:
            tasks.start_soon(send, one)

    replies = [read(answer) for answer in answers]
    assert len({reply["id"] for reply in replies}) == 1
    assert sum("dup" not in reply for reply in replies) == 1
    assert graphs.execute("select count(*) from document_version").fetchone() == (1,)


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


FACT = {"entityName": "Ada", "entityType": "person", "observation": "likes tea"}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("query_memory", {"mode": "list"}),
    ("query_memory", {"query": "tea", "sources": ["facts"]}),
    ("query_memory", {"entityName": "Ada"}),
    ("remember_fact", FACT),
    ("build_knowledge", {"facts": [FACT]}),
    ("relate_entities", {"fromEntity": "Ada", "relation": "knows", "toEntity": "Ben"}),
    ("forget_entity", {"entityName": "Ada", "confirm": True}),
    ("memory_stats", {}),
    ("search_nodes", {"query": "tea"}),
    ("graph_node_list", {}),
    ("memory_list", {}),
    ("identity_get_all", {}),
]


async def test_a_tool_for_facts_refuses_a_graph_and_changes_nothing(
    connect: Connect, graphs: psycopg.Connection[Any]
) -> None:
    client = await connect(toolsets=["all"], space="work")

    for tool, arguments in CALLS:
        title, fix = await refuse(client, tool, **arguments)
        assert title == "The space work is a graph, which holds documents", tool
        assert "recall and remember" in fix

    assert graphs.execute("select count(*) from entity").fetchone() == (0,)
