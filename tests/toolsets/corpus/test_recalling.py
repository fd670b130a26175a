"""recall: the best chunks, under the limits of each graph and of all, for those with the rights."""

import random
import re
from collections import Counter
from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.attacks.site import issue
from tests.conftest import Connect
from tests.support.tool_calls import A_MOMENT, AN_ID, Matching, read, read_error, text_of
from tests.toolsets.corpus.conftest import Ask, Refuse
from textrawl.wire.token_counter import choose_counter

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
    graphs.execute("select change_tier('diary', 'public')")
    graphs.execute(
        "select store_source('diary', 'clip/1', 'Monday', %s, '[[1, 0, 20, 5]]', repeat('0', 64))",
        (PIPELINE,),
    )
    graphs.execute("select change_tier('diary', 'sensitive', encrypting => true)")

    for name in ("diary", "nothing"):
        answer = await ask("recall", query="deployment pipeline", graphs=[name])
        assert answer == {**NOTHING, "unknownGraphs": [name]}
    assert await ask("recall", query="deployment pipeline") == NOTHING
    assert "diary" not in str(await ask("stats"))


async def test_a_change_of_the_tier_holds_for_the_next_call(
    ask: Ask, refuse: Refuse, graphs: psycopg.Connection[Any]
) -> None:
    stored = await ask("remember", text=PIPELINE, graphId="work")

    graphs.execute("select change_tier('work', 'sensitive', encrypting => true)")

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


STORES = 1000
GRAPHS = ("alpha", "beta", "gamma", "delta")
WORDS = ("tea", "coffee", "harbour", "ledger", "violin", "granite", "meadow", "lantern")
CEILINGS = (0, 60, 300, 8000)
LISTED = ["alpha", "beta", "gamma"]

Sql = psycopg.Connection[Any]
Store = dict[str, tuple[str, int]]
"""The tier and the limit of each graph."""


def fill(sql: Sql, dice: random.Random) -> None:
    """Store sources of one chunk in each graph."""
    for graph in GRAPHS:
        sql.execute("select create_space(%s, tier => 'public')", (graph,))
        sql.execute("select grant_access('ada', %s, array['read'])", (graph,))
        for number in range(12):
            text = f"{graph} {number}: {' '.join(dice.choices(WORDS, k=dice.randint(2, 9)))}"
            sql.execute(
                "select store_source(%s, %s, %s, %s, jsonb_build_array(jsonb_build_array("
                "1, 0, char_length(%s), 9)), encode(sha256(%s), 'hex'))",
                (graph, f"file/{number}", text[:20], text, text, text.encode()),
            )


def change(sql: Sql, dice: random.Random) -> Store:
    """Give each graph another tier and limit, and each chunk another size."""
    sizes = [dice.choice([0, 1, 9, 40, 200, 600]) for _ in range(20)]
    sql.execute(
        "update chunk set tokens = (%s::integer[])[1 + abs(hashtext(observation_id::text)) %% 20]",
        (sizes,),
    )
    store: Store = {}
    for graph in GRAPHS:
        tier = dice.choice(["public", "personal", "sensitive"])
        own = dice.choice([None, 0, 40, 500])
        row = sql.execute(
            "select cap from change_tier(%s, %s, %s, true)", (graph, tier, own)
        ).fetchone()
        assert row is not None
        store[graph] = tier, row[0]
    return store


def list_matches(sql: Sql, arguments: dict[str, Any]) -> list[tuple[str, str, int]]:
    """Id, graph and tokens of each chunk that matches, best first, whatever the limits are."""
    return sql.execute(
        "select document_id || ':' || part, graph, tokens"
        " from recall_chunks(%(query)s, %(graphs)s, %(topK)s, %(minScore)s, ceiling => 0)",
        {"graphs": LISTED, **arguments},
    ).fetchall()


def apply_limits(
    matches: list[tuple[str, str, int]], store: Store, ceiling: int
) -> list[tuple[str, str, int]]:
    """The matches that fit: from the first that does not on, its graph (or all) is left out."""
    kept, used = list[tuple[str, str, int]](), Counter[str]()
    total = 0
    for chunk, graph, tokens in matches:
        used[graph] += tokens
        if used[graph] <= store[graph][1]:
            total += tokens
            if total <= ceiling:
                kept.append((chunk, graph, tokens))
    return kept


def check(answer: dict[str, Any], sql: Sql, store: Store, ceiling: int, **asked: Any) -> None:
    """Compare an answer with the limits of the store."""
    matches = list_matches(sql, asked)
    kept = apply_limits(matches, store, ceiling)
    found = [(result["chunkId"], result["graph"]) for result in answer["results"]]
    spent = Counter[str]()
    for _, graph, tokens in kept:
        spent[graph] += tokens

    assert found == [(chunk, graph) for chunk, graph, _ in kept]
    assert all(spent[graph] <= store[graph][1] for graph in spent)
    assert answer["totalTokens"] == sum(spent.values()) <= ceiling
    assert answer["truncated"] is (len(kept) < len(matches))
    scores = [result["score"] for result in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    shown = str(answer)
    assert "delta" not in shown
    assert not any(graph in shown for graph, (tier, _) in store.items() if tier == "sensitive")


@pytest.mark.slow
async def test_no_answer_has_a_token_over_a_limit_or_a_word_of_a_hidden_graph(
    connect: Connect, owner: Sql
) -> None:
    dice = random.Random(20)  # noqa: S311 - no secret
    fill(owner, dice)
    clients: dict[int, Client] = {
        ceiling: await connect(
            toolsets=["corpus"],
            graphs=LISTED,
            max_recall_tokens=ceiling,
            embedding_provider="none",
            record_recalls="off",
        )
        for ceiling in CEILINGS
    }
    left_out = 0
    for _ in range(STORES):
        store, ceiling = change(owner, dice), dice.choice(CEILINGS)
        arguments = {
            "query": " ".join(dice.sample(WORDS, k=dice.randint(1, 3))),
            "topK": dice.randint(1, 32),
            "minScore": dice.choice([0.05, 0.3, 0.6]),
        }
        result = await clients[ceiling].call_tool("recall", arguments)
        assert result.structured_content is not None, result
        check(result.structured_content, owner, store, ceiling, **arguments)
        left_out += result.structured_content["truncated"]
    assert STORES / 10 < left_out < STORES


async def test_a_hidden_graph_changes_no_answer(connect: Connect, owner: Sql) -> None:
    dice = random.Random(21)  # noqa: S311 - no secret
    fill(owner, dice)
    # Otherwise vectors that the server makes meanwhile would change the scores.
    client = await connect(toolsets=["corpus"], graphs=LISTED, embedding_provider="none")
    owner.execute("select change_tier('alpha', 'sensitive', encrypting => true)")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("recall", {"query": "tea harbour", "topK": 32, "minScore": 0}),
        ("recall", {"query": "tea", "graphs": ["alpha", "delta", "gamma"]}),
        ("remember", {"text": "x", "target_engram": "alpa"}),
        ("remember", {"text": "x", "graphId": "delta"}),
        ("remember", {"text": "x"}),
        ("stats", {}),
    ]
    before = [await client.call_tool(*call) for call in calls]

    owner.execute("update space set name = 'gone-' || name where name in ('alpha', 'delta')")
    owner.execute("select archive_space(name) from space where name like 'gone-%'")

    assert [await client.call_tool(*call) for call in calls] == before


async def test_the_size_of_a_chunk_is_that_of_the_token_counter(ask: Ask, owner: Sql) -> None:
    paragraphs = [
        f"Paragraph {n}: " + "caf\u00e9 \u2713 \u65e5\u672c\u8a9e word " * n for n in range(1, 30)
    ]
    stored = await ask("remember", text="\n\n".join(paragraphs), graphId="work")

    rows = owner.execute(
        "select o.content, c.tokens from chunk c join observation o"
        " on o.space_id = c.space_id and o.id = c.observation_id"
    ).fetchall()

    assert len(rows) == stored["nodeCount"] > 3
    assert all(choose_counter().count(text) == tokens <= 512 for text, tokens in rows)


DEPLOYMENT = "The deployment pipeline runs on GitHub Actions."
QUERY = {"query": "deployment pipeline"}


def look(owner: psycopg.Connection[Any]) -> list[Any]:
    """Everything that is stored of sources."""
    return [
        owner.execute("select s::text from source s order by 1").fetchall(),
        owner.execute("select o.id from observation o order by 1").fetchall(),
        owner.execute("select e.id from event e order by 1").fetchall(),
    ]


async def test_each_tool_needs_its_scopes_and_changes_nothing_without_them(
    connect: Connect, ask: Ask, graphs: psycopg.Connection[Any]
) -> None:
    source = (await ask("remember", text=DEPLOYMENT, graphId="work"))["sourceId"]
    for held in ("read", "write", "forget", "admin"):
        token = issue(graphs, "sam", "work", held)
        client = await connect(toolsets=["corpus"], access_token=token)
        before = look(graphs)
        for tool, arguments, needed in (
            ("recall", QUERY, {"read"}),
            ("stats", {}, {"read"}),
            ("remember", {"text": DEPLOYMENT, "graphId": "work"}, {"write"}),
            ("forget", {"sourceId": source}, {"read", "forget"}),
        ):
            result = await client.call_tool(tool, arguments)
            if needed == {held}:
                assert not result.is_error, (tool, result)
            else:
                title = read_error(result)[0]
                assert title in ("Not allowed", "Source not found"), (tool, result)
        assert look(graphs) == before  # the remembered text was stored already


async def test_a_token_of_another_space_writes_and_forgets_in_a_graph(
    connect: Connect, graphs: psycopg.Connection[Any]
) -> None:
    token = issue(graphs, "sam", "default", "read", "write", "forget")
    graphs.execute("select grant_access('sam', 'default', array['read'])")
    graphs.execute("select grant_access('sam', 'work', array['read', 'write', 'forget'])")
    client = await connect(toolsets=["corpus", "memory"], access_token=token)

    stored = read(await client.call_tool("remember", {"text": DEPLOYMENT}))

    assert stored["g"] == "work"
    assert read(await client.call_tool("forget", {"sourceId": stored["id"]}))["ok"] is True
    fact = {"entityName": "Ada", "entityType": "person", "observation": "likes tea"}
    assert read_error(await client.call_tool("remember_fact", fact))[0] == "Not allowed"


async def test_a_graph_that_is_only_readable_is_not_written(
    connect: Connect, graphs: psycopg.Connection[Any]
) -> None:
    token = issue(graphs, "sam", "work", "read", "write")
    graphs.execute("select grant_access('sam', 'book-notes', array['read'])")
    client = await connect(toolsets=["corpus"], access_token=token)

    result = await client.call_tool("remember", {"text": DEPLOYMENT, "target_engram": "Book Notes"})

    title, fix = read_error(result)
    assert (title, "can only read book-notes" in fix) == ("Not allowed", True)


@pytest.mark.parametrize("limits", [{"graphs": ["work"]}, {"space": "work"}])
async def test_a_server_of_some_graphs_knows_no_others(
    connect: Connect, ask: Ask, limits: dict[str, Any]
) -> None:
    sources = {
        graph: (await ask("remember", text=DEPLOYMENT, graphId=graph))["sourceId"]
        for graph in ("work", "book-notes")
    }
    client = await connect(toolsets=["corpus"], **limits)

    answers = [
        read(await client.call_tool("recall", QUERY | more))
        for more in ({}, {"graphs": ["book-notes"]}, {"graphs": ["nothing"]})
    ]
    refusals = [
        read_error(await client.call_tool("remember", {"text": "x", "graphId": name}))
        for name in ("book-notes", "bood-notes")
    ]

    assert [part["g"] for part in answers[0]["m"]] == ["work"]
    assert answers[1] == {"m": [], "tok": 0, "unknown": ["book-notes"]}
    assert answers[2] == {"m": [], "tok": 0, "unknown": ["nothing"]}
    assert refusals[0][1] == refusals[1][1]
    assert "book" not in refusals[0][1]
    assert [graph["n"] for graph in read(await client.call_tool("stats", {}))["g"]] == ["work"]
    foreign = await client.call_tool("forget", {"sourceId": sources["book-notes"]})
    assert read_error(foreign)[0] == "Source not found"
    assert read(await client.call_tool("remember", {"text": "More."}))["g"] == "work"


async def test_an_empty_list_of_graphs_allows_none(connect: Connect, ask: Ask) -> None:
    await ask("remember", text=DEPLOYMENT, graphId="work")
    client = await connect(toolsets=["corpus"], graphs=",")

    assert read(await client.call_tool("recall", QUERY)) == {"m": [], "tok": 0}
    title, fix = read_error(await client.call_tool("remember", {"text": DEPLOYMENT}))
    assert (title, "textrawl space create" in fix) == ("There is no graph yet", True)


async def test_a_sensitive_or_unlisted_graph_has_no_address(
    connect: Connect, graphs: psycopg.Connection[Any]
) -> None:
    del graphs
    for space in ("diary", "nowhere"):
        client = await connect(toolsets=["corpus"], space=space)
        title, fix = read_error(await client.call_tool("stats", {}))
        assert title == "Space not found"
        assert fix == "Spaces that ada may use: book-notes, default, work"
    for space in ("book-notes", "nowhere"):
        client = await connect(toolsets=["corpus"], space=space, graphs=["work"])
        title, fix = read_error(await client.call_tool("stats", {}))
        assert (title, fix) == ("Space not found", "Spaces that ada may use: default, work")


async def test_facts_have_no_label_of_a_space_because_there_are_graphs(
    connect: Connect, graphs: psycopg.Connection[Any]
) -> None:
    del graphs
    client = await connect()
    fact = {"entityName": "Ada", "entityType": "person", "observation": "likes tea"}
    await client.call_tool("remember_fact", fact)

    result = await client.call_tool("query_memory", {"mode": "search", "query": "tea"})

    assert result.structured_content is not None
    assert "space" not in result.structured_content["entities"][0]
