"""Searching the graph by what was looked at, thinking about it, and tidying it."""

import json
from typing import Any

import psycopg
import pytest
from mcp import Client
from toktok import batch_count  # pyright: ignore[reportMissingTypeStubs]

from tests.conftest import Connect
from tests.support.providers import EmbeddingServer
from tests.support.tool_calls import count, text_of
from tests.toolsets.graph.reference import ask, call

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def create(client: Client, name: str, *observations: str, kind: str = "Generic") -> None:
    item = {"name": name, "entityType": kind, "observations": list(observations)}
    await ask(client, "create_entities", entities=[item])


async def fail(client: Client, tool: str, **arguments: Any) -> str:
    result = await call(client, tool, **arguments)
    assert result.is_error
    return text_of(result)


async def open_with_ids(client: Client, *names: str) -> tuple[dict[str, int], list[int]]:
    answer = await ask(client, "open_nodes", names=list(names), includeIds=True)
    nodes = {node["name"]: node["id"] for node in answer["entities"]}
    return nodes, [edge["id"] for edge in answer["relations"]]


async def test_meaning_finds_entities_with_the_parts_of_their_rank(client: Client) -> None:
    await create(client, "Docs", "the site is built with a static generator", "written in Astro")
    await create(client, "Payroll", "salaries are paid on the last Friday")

    answer = await ask(client, "search_semantic", query="static site generator", limit=1)

    [docs] = answer["results"]
    assert docs["name"] == "Docs"
    assert docs["entityType"] == "Generic"
    assert docs["observations"] == [
        "the site is built with a static generator", "written in Astro"
    ]  # fmt: skip
    assert docs["scoring"] == {"importance": 0.0, "temporal_factor": 1.0, "cooc_boost": 0.0}
    assert docs["limbic_score"] == pytest.approx(1 - docs["distance"], abs=2e-4)
    assert docs["rrf_score"] == round(2 / 61, 6)


async def test_what_was_looked_at_together_ranks_higher_afterwards(
    client: Client, owner: psycopg.Connection
) -> None:
    for name in ("A", "B", "C"):
        await create(client, name, f"{name} is about nightly database backups")
    await ask(client, "open_nodes", names=["A", "B"])
    uses = owner.execute("select sum(count), count(*) from entity_use").fetchone()
    assert uses == (2, 2)
    assert count(owner, "joint_use") == 1

    answer = await ask(client, "search_semantic", query="nightly database backups")

    scoring = {found["name"]: found["scoring"] for found in answer["results"]}
    assert scoring["A"] == {"importance": 1.0, "temporal_factor": 1.0, "cooc_boost": 1.0}
    assert scoring["B"] == scoring["A"]
    assert scoring["C"]["importance"] == 0.0
    assert owner.execute("select sum(count) from entity_use").fetchone() == (5,)
    assert count(owner, "joint_use") == 3


@pytest.mark.parametrize("changes", [{"record_recalls": "off"}, {"read_only": True}])
async def test_nothing_is_noted_of_what_was_looked_at_where_that_is_off(
    connect: Connect, owner: psycopg.Connection, changes: dict[str, Any]
) -> None:
    writer = await connect(toolsets=["graph"], record_recalls="off")
    await create(writer, "A", "backs up at night")
    client = await connect(toolsets=["graph"], **changes)

    await ask(client, "open_nodes", names=["A"])
    assert (await ask(client, "search_semantic", query="backs up"))["results"]
    assert count(owner, "entity_use") == 0


async def test_without_vectors_semantic_search_says_what_is_missing(connect: Connect) -> None:
    client = await connect(toolsets=["graph"], embedding_provider="none")
    assert "Embedding service not configured" in await fail(client, "search_semantic", query="x")


async def test_a_relation_ends_and_stays_as_what_was(
    client: Client, owner: psycopg.Connection
) -> None:
    await create(client, "A")
    await create(client, "B")
    links = [
        {"from": "A", "to": "B", "relationType": "contiene"},
        {"from": "B", "to": "A", "relationType": "parte_de"},
    ]
    await ask(client, "create_relations", relations=links)
    _, [first, second] = await open_with_ids(client, "A")

    answer = await ask(client, "end_relation", relation_id=first)
    again = await ask(client, "end_relation", relation_id=first)

    assert answer == {"result": f"Relation {first} expired successfully, with its inverse {second}"}
    assert again == {"result": f"Relation {first} had expired already"}
    assert (await ask(client, "open_nodes", names=["A"]))["relations"] == []
    ended = owner.execute("select count(*) from relation where valid_until is not null")
    assert ended.fetchone() == (2,)
    assert "Relation not found" in await fail(client, "end_relation", relation_id=7)
    assert await ask(client, "create_relations", relations=links) == {"relations": links}


LESSON = "The outage taught us to test every restore."
FEEDS = {"from": "A", "to": "B", "relationType": "feeds"}


async def test_reflections_are_kept_and_found_by_words_filters_and_meaning(
    client: Client,
) -> None:
    await create(client, "A", "backs up at night")
    await create(client, "B")
    await ask(client, "create_relations", relations=[FEEDS])
    nodes, [edge] = await open_with_ids(client, "A")
    on_entity = {"target_type": "entity", "target_id": nodes["A"], "content": LESSON}
    kept = await ask(client, "add_reflection", **on_entity, author="nolan", mood="insight")
    on_relation = {"target_type": "relation", "target_id": edge}
    other = await ask(client, "add_reflection", **on_relation, content="Feeding it is tedious.")
    await ask(client, "add_reflection", target_type="global", content="All in all a good year.")

    reflection = kept["result"]
    assert reflection == {
        "id": reflection["id"], "target_type": "entity", "target_id": nodes["A"],
        "content": LESSON, "author": "ada",
        "voice": "nolan", "mood": "insight", "created_at": reflection["created_at"],
    }  # fmt: skip
    assert other["result"]["author"] == "ada"
    [best, *_] = (await ask(client, "search_reflections", query="outage"))["results"]
    assert best == reflection | {"score": round(2 / 61, 6)}
    found = await ask(client, "search_reflections", query="tedious", target_type="relation")
    assert [one["target_id"] for one in found["results"]] == [edge]
    assert (await ask(client, "search_reflections", query="outage", author="x"))["results"] == []
    unworded = await ask(client, "search_reflections", query="restoration failures", limit=1)
    assert unworded["results"][0]["id"] == reflection["id"]
    await ask(client, "delete_entities", entityNames=["A"])
    left = await ask(client, "search_reflections", query="outage year tedious")
    assert [one["target_type"] for one in left["results"]] == ["global"]


async def test_a_reflection_needs_the_target_that_its_kind_has(client: Client) -> None:
    for wrong in (
        {"target_type": "entity"}, {"target_type": "global", "target_id": 1},
        {"target_type": "entity", "target_id": 1},
    ):  # fmt: skip
        assert "target_id" in await fail(client, "add_reflection", content="x", **wrong)


TOPICS = [
    *(f"deploys to Vercel at step {n}" for n in "abcdefgh"),
    *(f"tests pass with coverage {n}" for n in "abcdefg"),
    *(f"costs of hosting in month {n}" for n in "abcdef"),
]


async def test_a_large_entity_is_split_as_it_was_proposed(
    client: Client, owner: psycopg.Connection
) -> None:
    await create(client, "Site", *TOPICS, kind="Component")
    await create(client, "Small", "one")

    analysis = (await ask(client, "analyze_entity_split", entity_name="site"))["analysis"]
    proposal = (await ask(client, "propose_entity_split", entity_name="Site"))["proposal"]
    candidates = (await ask(client, "find_split_candidates"))["candidates"]

    assert (analysis["observation_count"], analysis["threshold"]) == (21, 20)
    assert analysis["needs_split"]
    assert analysis["split_score"] == round(21 / 20 + len(analysis["topics"]) / 21, 4)
    assert sorted(map(len, analysis["topics"].values())) == [6, 7, 8]
    assert candidates == [analysis]
    splits = proposal["suggested_splits"]
    assert {one["name"]: one["observations"] for one in splits} == {
        f"Site - {topic}": texts for topic, texts in analysis["topics"].items()
    }
    assert len(proposal["relations_to_create"]) == 2 * proposal["analysis"]["num_topics"]

    done = await ask(client, "execute_entity_split", entity_name="Site", approved_splits=splits[:2])
    moved = sum(len(one["observations"]) for one in splits[:2])
    assert done["result"] == {
        "new_entities": [one["name"] for one in splits[:2]], "moved_observations": moved,
        "relations_created": 4, "original_observations_remaining": 21 - moved,
    }  # fmt: skip
    answer = await ask(client, "open_nodes", names=[splits[0]["name"]])
    assert answer["entities"][0]["observations"] == splits[0]["observations"]
    assert answer["entities"][0]["entityType"] == "Component"
    assert {edge["relationType"] for edge in answer["relations"]} == {"contiene", "parte_de"}
    assert (await ask(client, "search_nodes", query="vercel"))["entities"]
    assert owner.execute("select count(*) from event where action = 'moved'").fetchone() == (moved,)


async def test_a_split_that_cannot_be_done_changes_nothing(client: Client) -> None:
    await create(client, "Site", "one", "two")
    before = await ask(client, "read_graph")
    part = {"name": "Part", "observations": ["one"]}

    small = await call(client, "propose_entity_split", entity_name="Site")
    assert small.structured_content == {
        "proposal": None,
        "message": "Site does not need a split: it has 2 of at most 20 observations",
    }
    assert "Entity with name Nobody not found" in await fail(
        client, "execute_entity_split", entity_name="Nobody", approved_splits=[part]
    )
    itself = {"name": "site", "observations": ["two"]}
    assert "another name" in await fail(
        client, "execute_entity_split", entity_name="Site", approved_splits=[part, itself]
    )
    assert await ask(client, "read_graph") == before


async def test_tools_are_also_called_by_their_longer_names(client: Client) -> None:
    await create(client, "Site", "one")
    result = await client.call_tool("propose_entity_split_tool", {"entity_name": "Site"})
    assert not result.is_error


async def test_observations_that_say_the_same_are_paired(client: Client) -> None:
    await create(
        client,
        "Site",
        "Deployed on Vercel with custom domain",
        "FastMCP",
        "Stack: FastMCP + SQLite + ONNX Runtime for embeddings",
        "salaries are paid monthly",
        "Deployed on Vercel with a custom domain",
    )

    answer = await ask(client, "find_duplicate_observations", entity_name="site")

    assert (answer["entity_name"], answer["total_observations"]) == ("Site", 5)
    pairs = {
        (one["obs_text_a"][:8], one["obs_text_b"][:8]): one for one in answer["duplicate_pairs"]
    }
    assert pairs.keys() == {("Deployed", "Deployed"), ("FastMCP", "Stack: F")}
    assert pairs["FastMCP", "Stack: F"]["match_type"] == "containment"
    assert pairs["FastMCP", "Stack: F"]["similarity_score"] == 1.0
    assert pairs["Deployed", "Deployed"]["match_type"] == "cosine"
    assert pairs["Deployed", "Deployed"]["similarity_score"] >= 0.85
    assert "not found" in await fail(client, "find_duplicate_observations", entity_name="x")


async def test_the_report_tells_what_might_be_tidied(client: Client) -> None:
    await create(client, "Site", *TOPICS, kind="Component")
    await create(
        client,
        "Twice",
        "Deployed on Vercel with custom domain",
        "Deployed on Vercel with a custom domain",
        "x",
    )

    answer = await ask(client, "consolidation_report")

    assert answer["summary"] == {
        "total_entities": 2, "total_observations": 24, "split_candidates_count": 1,
        "flagged_observations_count": len(answer["flagged_observations"]),
        "stale_entities_count": 2, "large_entities_count": 0,
    }  # fmt: skip
    assert [one["entity_name"] for one in answer["split_candidates"]] == ["Site"]
    assert {
        "entity_name": "Twice", "observation_text": "Deployed on Vercel with a custom domain",
        "similarity_flag": 1,
    } in answer["flagged_observations"]  # fmt: skip
    assert answer["stale_entities"][0] == {
        "entity_name": "Site", "entity_type": "Component", "access_count": 0,
        "observation_count": 21,
    }  # fmt: skip
    for name in ("Site", "Twice"):
        await ask(client, "open_nodes", names=[name])
    assert (await ask(client, "consolidation_report"))["stale_entities"] == []


async def test_the_report_compares_words_while_the_model_is_away(connect: Connect) -> None:
    with EmbeddingServer(dimensions=1536) as server:
        address = server.openai_url
    client = await connect(
        toolsets=["graph"],
        embedding_provider="openai",
        openai_api_key="sk-test",
        openai_base_url=address,
    )
    await create(client, "Site", "runs on Vercel", "runs on Vercel with a domain, and so it does")

    answer = await ask(client, "consolidation_report")

    assert answer["summary"]["flagged_observations_count"] == 1
    assert answer["note"] == "Only words were compared: Embedding service unavailable"


async def test_answers_of_all_these_stay_within_the_budget(connect: Connect) -> None:
    client = await connect(toolsets=["graph"], max_graph_tokens=300)
    await create(client, "Site", *TOPICS, kind="Component")

    for tool, arguments in (
        ("analyze_entity_split", {"entity_name": "Site"}), ("find_split_candidates", {}),
        ("propose_entity_split", {"entity_name": "Site"}), ("consolidation_report", {}),
        ("find_duplicate_observations", {"entity_name": "Site", "threshold": 0}),
        ("search_semantic", {"query": "deploys"}),
    ):  # fmt: skip
        result = await call(client, tool, **arguments)
        assert not result.is_error
        text = json.dumps(result.structured_content, separators=(",", ":"), ensure_ascii=False)
        costs = batch_count([text_of(result), text], "o200k_base", threads=1)
        assert max(costs) <= 300, tool


async def test_the_report_says_when_only_a_part_was_compared(
    client: Client, owner: psycopg.Connection
) -> None:
    await create(client, "Site", "one", "two")
    assert "note" not in await ask(client, "consolidation_report")
    owner.execute(
        "select remember_fact('Log', 'concept', 'line ' || k) from generate_series(1, 301) k"
    )

    answer = await ask(client, "consolidation_report")

    assert answer["note"].startswith("Compared with each other: 302 of 303 observations")


async def test_large_entities_are_listed_with_the_topics_of_the_first_ones(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(toolsets=["graph"], max_graph_tokens=16_000)
    for name, size in (("First", 1_000), ("Second", 900), ("Third", 200)):
        owner.execute("select remember_fact(%s, 'concept', 'moon 1')", (name,))
        owner.execute(
            "insert into observation (space_id, entity_id, entity_type, content, content_hash,"
            " source, author_id, tool, fts) select space_id, entity_id, entity_type, 'moon ' || k,"
            " fact_hash('moon ' || k), source, author_id, tool, fts from observation,"
            " generate_series(2, %s) k where entity_id = (select id from entity where name = %s)",
            (size, name),
        )

    answer = await ask(client, "find_split_candidates")

    sizes = [(one["observation_count"], "topics" in one) for one in answer["candidates"]]
    assert sizes == [(1_000, True), (900, False), (200, False)]
    assert answer["candidates"][2]["split_score"] == 10.0
    assert answer["note"].startswith("Topics of the first entities only")
    assert (await ask(client, "analyze_entity_split", entity_name="Third"))["analysis"]["topics"]
