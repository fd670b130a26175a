"""cluster_memories and consolidate_memories: similar memories become one, and undo divides them."""

from itertools import combinations
from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.conftest import ACTOR, Connect
from tests.support.tool_calls import read, structured

pytestmark = pytest.mark.anyio

DEPLOY = [
    "the deployment pipeline of the shop runs every night at ten",
    "the deployment pipeline of the shop runs every night at eleven",
    "the deployment pipeline of the shop always runs every night at ten",
]


async def save(client: Client, content: str, **more: Any) -> str:
    arguments: dict[str, Any] = {"content": content, "entities": [], "strength": 1, **more}
    return read(await client.call_tool("save_memory", arguments))["id"]


def jaccard(one: str, other: str) -> float:
    a, b = ({word for word in text.split() if len(word) > 2} for text in (one, other))
    return len(a & b) / len(a | b)


async def test_clusters_by_words_are_those_of_an_independent_calculation(connect: Connect) -> None:
    client = await connect(toolsets=["decay"], embedding_provider="none")
    ids = [await save(client, text) for text in DEPLOY]
    await save(client, "ada likes green tea in the morning")

    found = await structured(client, "cluster_memories", threshold=0.7)

    cohesion = sum(jaccard(*pair) for pair in combinations(DEPLOY, 2)) / 3
    [cluster] = found["clusters"]
    assert (found["clusters_found"], found["mode"]) == (1, "clustering")
    assert found["message"] == "Found 1 clusters using similarity strategy"
    assert cluster["memory_ids"] == ids
    assert cluster["cohesion"] == pytest.approx(cohesion, abs=1e-4)
    assert cluster["suggested_action"] == "llm-review"
    assert cluster["content_previews"] == DEPLOY


async def test_pairs_are_the_most_similar_first(connect: Connect) -> None:
    client = await connect(toolsets=["decay"], embedding_provider="none")
    ids = [await save(client, text) for text in DEPLOY]

    found = await structured(
        client, "cluster_memories", find_duplicates=True, duplicate_threshold=0.75
    )

    pairs = sorted(
        (
            (round(jaccard(a, b), 4), ids[DEPLOY.index(a)], ids[DEPLOY.index(b)])
            for a, b in combinations(DEPLOY, 2)
            if jaccard(a, b) >= 0.75
        ),
        key=lambda pair: (-pair[0], pair[1:]),
    )
    assert found["duplicates_found"] == len(pairs)
    assert [(p["similarity"], p["id1"], p["id2"]) for p in found["duplicates"]] == pairs


async def test_vectors_are_compared_if_every_memory_has_one(
    client: Client, owner: psycopg.Connection[Any]
) -> None:
    ids = [await save(client, text) for text in DEPLOY]

    found = await structured(
        client, "cluster_memories", find_duplicates=True, duplicate_threshold=0.5
    )

    expected = owner.execute(
        "select 1 - (a.vector <=> b.vector) from embedding_1 a, embedding_1 b"
        " where a.observation_id = %s and b.observation_id = %s",
        ids[:2],
    ).fetchone()
    assert expected
    pair = next(p for p in found["duplicates"] if {p["id1"], p["id2"]} == set(ids[:2]))
    assert pair["similarity"] == pytest.approx(expected[0], abs=1e-4)


async def test_a_cluster_is_never_larger_than_its_limit(connect: Connect) -> None:
    client = await connect(toolsets=["decay"], embedding_provider="none")
    for number in range(7):
        await save(client, f"the very same words about the garden wall {number}")
    for most in (2, 3, 12):
        found = await structured(client, "cluster_memories", max_cluster_size=most)

        sizes = [cluster["size"] for cluster in found["clusters"]]
        assert max(sizes) == min(most, 7)
        assert len({one for cluster in found["clusters"] for one in cluster["memory_ids"]}) == sum(
            sizes
        )


async def test_an_id_of_a_cluster_is_known_in_a_later_call_on_another_server(
    connect: Connect, owner: psycopg.Connection[Any]
) -> None:
    client = await connect(toolsets=["decay"], embedding_provider="none")
    ids = [await save(client, f"{DEPLOY[0]} precisely {number}") for number in range(3)]
    other = await connect(toolsets=["decay"], embedding_provider="none")
    for arguments in ({}, {"threshold": 0.6, "max_cluster_size": 5}):
        [cluster] = (await structured(client, "cluster_memories", **arguments))["clusters"]
        # Uses change the order of last_used, and not the clusters.
        owner.execute("update retention set last_used = now() where observation_id = %s", ids[:1])

        [again] = (await structured(other, "cluster_memories", **arguments))["clusters"]
        preview = await structured(
            other, "consolidate_memories", cluster_id=cluster["id"], mode="dry_run"
        )

        assert again["id"] == cluster["id"]
        assert preview["clusters"][0]["memory_ids"] == ids
        assert preview["message"] == "Would consolidate 1 clusters"
        assert owner.execute("select count(*) from observation").fetchone() == (3,)


def read_memory(owner: psycopg.Connection[Any], memory: str) -> Any:
    return owner.execute(
        "select o.content, r.tags, r.entities, r.strength, r.use_count, r.context,"
        " o.created_at, r.last_used"
        " from retention r join observation o on o.id = r.observation_id where o.id = %s",
        [memory],
    ).fetchone()


async def test_members_become_one_memory_with_all_that_they_had(
    connect: Connect, owner: psycopg.Connection[Any]
) -> None:
    client = await connect(toolsets=["memory", "decay"], embedding_provider="none")
    ids = [
        await save(client, text, tags=[f"t{n}"], entities=[f"E{n}"], context="c" if n else None)
        for n, text in enumerate((DEPLOY[0], DEPLOY[0] + " sharp", DEPLOY[2]))
    ]
    owner.execute("update retention set use_count = 2, last_used = now() - interval '1 day'")
    owner.execute("update retention set strength = 1.3 where observation_id = %s", ids[:1])
    first = owner.execute(
        "select min(created_at), max(last_used) from observation, retention"
    ).fetchone()
    [cluster] = (await structured(client, "cluster_memories", threshold=0.7))["clusters"]

    done = await structured(client, "consolidate_memories", cluster_id=cluster["id"], mode="apply")

    [part] = done["clusters"]
    row = read_memory(owner, part["new_memory_id"])
    text = f"{DEPLOY[0]} sharp\n\n{DEPLOY[2]}"
    strength = min(2, 1.3 + min(0.1 * cluster["cohesion"] * 3, 0.5))
    assert row is not None
    assert row[:3] == (text, ["t0", "t1", "t2"], ["E0", "E1", "E2"])
    assert row[3] == pytest.approx(strength, abs=1e-4)
    assert row[4:6] == (6, "c")
    assert row[6:] == first
    assert part["merged_content"] == text
    links = owner.execute("select to_id::text from memory_link order by 1").fetchall()
    assert links == [(one,) for one in sorted(ids)]
    found = read(await client.call_tool("query_memory", {"mode": "search", "query": "pipeline"}))
    assert [fact["c"] for entity in found["e"] for fact in entity["m"]] == [text]


async def test_a_text_that_holds_the_others_is_the_merged_text(
    connect: Connect, owner: psycopg.Connection[Any]
) -> None:
    client = await connect(toolsets=["decay"], embedding_provider="none")
    for text in (DEPLOY[0], f"{DEPLOY[0]} sharp"):
        await save(client, text)

    done = await structured(client, "consolidate_memories", auto_detect=True, mode="apply")

    assert done["clusters"][0]["merged_content"] == f"{DEPLOY[0]} sharp"
    assert done["message"] == "Consolidated 1 clusters"
    valid = owner.execute("select content from observation where valid_until is null").fetchall()
    assert valid == [(f"{DEPLOY[0]} sharp",)]


async def test_undo_makes_consolidated_memories_valid_again(
    connect: Connect, owner: psycopg.Connection[Any]
) -> None:
    client = await connect(toolsets=["decay"], embedding_provider="none")
    before = sorted([await save(client, text) for text in (DEPLOY[0], f"{DEPLOY[0]} sharp")])
    [moment] = owner.execute("select clock_timestamp()").fetchone() or [None]
    await structured(client, "consolidate_memories", auto_detect=True, mode="apply")

    owner.execute("select undo_author(%s, %s)", [ACTOR, moment])

    rows = owner.execute("select observation_id::text from memory_decay order by 1").fetchall()
    assert rows == [(one,) for one in before]
    found = await structured(client, "cluster_memories")
    assert found["clusters"][0]["memory_ids"]


async def test_a_reverted_undo_consolidates_again(
    connect: Connect, owner: psycopg.Connection[Any]
) -> None:
    client = await connect(toolsets=["decay"], embedding_provider="none")
    ids = sorted(
        [await save(client, text, tags=["t"]) for text in (DEPLOY[0], f"{DEPLOY[0]} sharp")]
    )
    [moment] = owner.execute("select clock_timestamp()").fetchone() or [None]
    arguments = {"auto_detect": True, "mode": "apply"}
    done = await structured(client, "consolidate_memories", **arguments)
    merged = done["clusters"][0]["new_memory_id"]
    owner.execute("select undo_author(%s, %s)", [ACTOR, moment])

    owner.execute("select revert_undo(id) from undo")

    rows = owner.execute("select observation_id::text, tags from memory_decay").fetchall()
    assert rows == [(merged, "t")]
    links = owner.execute("select to_id::text from memory_link order by 1").fetchall()
    assert links == [(one,) for one in ids]


async def test_linked_memories_stay_and_point_at_each_other(
    connect: Connect, owner: psycopg.Connection[Any]
) -> None:
    client = await connect(toolsets=["decay"], embedding_provider="none")
    ids = [await save(client, f"{DEPLOY[0]} precisely {number}") for number in range(3)]
    [cluster] = (await structured(client, "cluster_memories"))["clusters"]

    done = await structured(client, "consolidate_memories", cluster_id=cluster["id"], mode="link")
    again = await structured(client, "consolidate_memories", cluster_id=cluster["id"], mode="link")

    assert done["clusters"][0]["links_created"] == 6
    assert again["clusters"][0]["links_created"] == 0
    pairs = owner.execute("select from_id::text, to_id::text from memory_link").fetchall()
    assert set(pairs) == {(a, b) for a in ids for b in ids if a != b}


async def test_a_wrong_call_consolidates_nothing(
    connect: Connect, owner: psycopg.Connection[Any]
) -> None:
    client = await connect(toolsets=["decay"], embedding_provider="none")
    for text in DEPLOY:
        await save(client, text)
    for arguments in (
        {},
        {"cluster_id": "x"},
        {"cluster_id": "00000000-0000-4000-8000-000000000000"},
        {"cluster_id": "00000000-0000-4000-8000-000000000000", "auto_detect": True},
        {"auto_detect": True, "mode": "delete"},
        {"auto_detect": True, "cohesion_threshold": 2},
    ):
        result = await client.call_tool("consolidate_memories", {"mode": "apply", **arguments})

        assert result.is_error
        assert owner.execute(
            "select count(*) from observation where valid_until is null"
        ).fetchone() == (3,)


async def test_facts_of_other_tools_are_never_consolidated(connect: Connect) -> None:
    client = await connect(toolsets=["memory", "decay"], embedding_provider="none")
    for text in DEPLOY:
        fact = {"entityName": "Shop", "entityType": "project", "observation": text}
        await client.call_tool("remember_fact", fact)

    assert (await structured(client, "cluster_memories", threshold=0.5))["clusters_found"] == 0
