"""Each reading tool answers, whatever kinds of spaces its caller can read beside the own one."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from typing import Any, cast

import psycopg
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from tests.attacks.site import issue
from tests.conftest import Connect
from tests.support.sources import store
from tests.support.tool_calls import read, text_of
from textrawl.access.access_token import hash_token
from textrawl.tools.catalogue import find_toolsets

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

DAY = "2026-05-12"
PLACE = {"namespace": ["lab"], "key": "theremin"}
WRITTEN: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "remember_fact",
        {"entityName": "Ada", "entityType": "person", "observation": "plays the theremin"},
    ),
    ("relate_entities", {"fromEntity": "Ada", "relation": "knows", "toEntity": "Ben"}),
    ("put_item", {**PLACE, "value": "a theremin"}),
    ("append_log", {"namespace": ["log"], "values": ["the theremin hums"]}),
    ("identity_write", {"category": "user", "filename": "ada.md", "content": "Has a theremin."}),
    ("snapshot_create", {}),
    (
        "memory_create",
        {"granularity": "daily", "date": DAY, "content": "- a theremin", "instanceId": "me"},
    ),
    ("save_memory", {"content": "Ada repaired her theremin on a Monday"}),
)
ASKED = "where is my theremin?"
READINGS: dict[str, tuple[dict[str, Any], ...]] = {
    "query_memory": (
        {"mode": "search", "query": ASKED},
        {"mode": "search", "query": "what do you know about me?"},
        {"mode": "search", "query": ASKED, "sources": ["facts", "documents"]},
        {"mode": "search", "query": "theremin", "sources": ["documents"]},
        {"mode": "search", "query": ASKED, "searchMode": "semantic"},
        {"mode": "search", "query": ASKED, "entityName": "Ada"},
        {"mode": "search", "query": ASKED, "entityTypes": ["person"]},
        {"mode": "search", "query": ASKED, "asOf": "2099-01-01"},
        {"mode": "search", "query": ASKED, "since": "2020-01-01"},
        {"mode": "search", "query": "and my Zelda?"},
        {"mode": "entity", "entityName": "Ada", "includeRelated": True},
        {"mode": "list"},
    ),
    "read_graph": ({},),
    "search_nodes": ({"query": "theremin"},),
    "open_nodes": ({"names": ["Ada"]},),
    "search_semantic": ({"query": ASKED},),
    "search_reflections": ({"query": "theremin"},),
    "analyze_entity_split": ({"entity_name": "Ada"},),
    "propose_entity_split": ({"entity_name": "Ada"},),
    "find_split_candidates": ({},),
    "find_duplicate_observations": ({"entity_name": "Ada"},),
    "consolidation_report": ({},),
    "search": ({"query": ASKED},),
    "fetch": ({"id": "entity:{entity}"},),
    "recall": ({"query": ASKED}, {"query": "when is tea served?"}),
    "stats": ({},),
    "search_memory": ({"query": ASKED}, {}),
    "search_unified": ({"query": ASKED}, {}),
    "analyze_message": ({"message": "Remember that my theremin hums"},),
    "analyze_for_recall": ({"message": ASKED},),
    "cluster_memories": ({}, {"find_duplicates": True}),
    "open_memories": ({"memory_ids": ["{memory}"]},),
    "find_same_entities": ({}, {"entityName": "Ada"}),
    "identity_get_all": ({},),
    "identity_get_meta": ({},),
    "snapshot_list": ({},),
    "snapshot_get": ({"snapshotId": "{snapshot}"},),
    "get_item": (PLACE,),
    "search_items": ({"query": ASKED}, {}),
    "list_namespaces": ({},),
    "item_history": (PLACE,),
    "read_log": ({"namespace": ["log"]},),
    "memory_read": ({"granularity": "daily", "date": DAY},),
    "memory_list": ({},),
    "memory_search": ({"query": ASKED},),
    "graph_node_get": ({"id": "{entity}"},),
    "graph_node_search": ({"query": ASKED},),
    "graph_node_list": ({},),
    "graph_edge_get": ({"fromId": "{entity}"},),
    "graph_traverse": ({"startNodeId": "{entity}"},),
    "graph_subgraph": ({"nodeId": "{entity}"},),
    "graph_insights": ({},),
    "graph_stats": ({},),
    "list_proposals": ({}, {"state": "any", "entityName": "Ada"}),
    "memory_stats": ({},),
    "get_stats": ({}, {"scope": "memory"}, {"scope": "knowledge"}),
    "sync_pull": ({"instanceId": "me"},),
    "sync_status": ({},),
}
"""At least one call of each tool that reads, with ids in braces."""

PROMPTS: dict[str, dict[str, str]] = {
    "recall": {"question": ASKED}, "digest": {}, "wrap-up": {}, "identity": {}
}  # fmt: skip
RESOURCES = (
    "memory://entity/Ada", "memory://space/default/digest", "memory://knowledge-graph",
    "memory://identity/user/ada.md",
)  # fmt: skip
FINDING = (
    f"query_memory {READINGS['query_memory'][0]}", f"search {READINGS['search'][0]}",
    f"search_memory {READINGS['search_memory'][0]}", "prompt recall", "prompt digest",
)  # fmt: skip
"""Readings that find the theremin."""

KINDS = {
    "public": "create_space('public', tier => 'public')",
    "personal": "create_space('personal', tier => 'personal')",
    "sensitive": "create_space('sensitive', tier => 'sensitive')",
    "german": "create_space('german', 'german')",
    "reviewed": "create_space('reviewed'); select change_review('reviewed', true)",
    "archived": "create_space('archived'); select archive_space('archived')",
}
"""Kinds of spaces. The function makes a space with the name of its kind."""
GRAPHS = ("public", "personal", "sensitive")
SCOPES = ["read", "write", "forget", "admin"]
IS_GRAPH = "is a graph, which holds documents"


def list_readings() -> set[str]:
    """Return the names of all tools that only read."""
    specs = (spec for toolset in find_toolsets().values() for spec in toolset.every_tool.values())
    built = (spec.build(structured=False) for spec in specs)
    return {tool.name for tool in built if tool.annotations and tool.annotations.read_only_hint}


Share = Callable[[str], None]


@pytest.fixture
def share(owner: psycopg.Connection) -> Share:
    """Let ada use the spaces of one kind beside the default space, or of "all" kinds."""
    for made in KINDS.values():
        owner.execute(f"select {made}".encode())
    for graph in GRAPHS:
        store(owner, graph)

    def go(kind: str) -> None:
        owner.execute("delete from space_grant where space_id <> default_space()")
        for name in KINDS if kind == "all" else [kind]:
            owner.execute(
                "insert into space_grant (space_id, actor_id, scopes)"
                " select s.id, a.id, %s from space s, actor a where s.name = %s and a.name = 'ada'",
                ([*SCOPES, "propose"], name),
            )

    return go


@pytest.fixture
def tokens(owner: psycopg.Connection) -> dict[bool, str]:
    """The tokens of ada, by whether they can propose."""
    owner.execute("select grant_access('ada', 'default', %s)", ([*SCOPES, "propose"],))
    scopes = {False: SCOPES, True: [*SCOPES, "propose"]}
    return {proposing: issue(owner, "ada", "default", *scopes[proposing]) for proposing in scopes}


@pytest.fixture
async def ids(connect: Connect, owner: psycopg.Connection) -> dict[str, str]:
    """Something for each tool to read, with its ids."""
    client = await connect(toolsets=["all"])
    made = {tool: read(await client.call_tool(tool, given)) for tool, given in WRITTEN}
    [(entity,)] = owner.execute("select id::text from entity where name = 'Ada'").fetchall()
    return {
        "entity": entity,
        "snapshot": made["snapshot_create"]["snaps"][0],
        "memory": made["save_memory"]["id"],
    }


def fill_in(value: Any, ids: Mapping[str, str]) -> Any:
    """Return an argument with the ids for what is in braces."""
    if isinstance(value, list):
        return [fill_in(one, ids) for one in cast("list[Any]", value)]
    return value.format(**ids) if isinstance(value, str) else value


async def read_all(client: Client, ids: Mapping[str, str]) -> dict[str, tuple[bool, str]]:
    """Return whether each reading was refused, and its text."""
    answers = dict[str, tuple[bool, str]]()
    for tool, calls in READINGS.items():
        for given in calls:
            arguments = {name: fill_in(value, ids) for name, value in given.items()}
            result = await client.call_tool(tool, arguments)
            answers[f"{tool} {given}"] = (bool(result.is_error), text_of(result))
    others = {
        f"prompt {name}": partial(client.get_prompt, name, given) for name, given in PROMPTS.items()
    }
    others |= {uri: partial(client.read_resource, uri) for uri in RESOURCES}
    for name, ask in others.items():
        try:
            answers[name] = (False, (await ask()).model_dump_json())
        except MCPError as refusal:
            answers[name] = (True, str(refusal))
    return answers


def test_each_tool_that_reads_has_its_reading() -> None:
    assert list_readings() == set(READINGS)


async def test_own_entities_and_proposals_break_no_reading_beside_any_kind_of_space(
    connect: Connect, owner: psycopg.Connection, share: Share, tokens: dict[bool, str], ids: Any
) -> None:
    broken = list[str]()
    for kind, proposing in product([*KINDS, "all"], tokens):
        share(kind)
        client = await connect(toolsets=["all"], access_token=tokens[proposing])
        for own in ("Ada", None):
            owner.execute(
                "select set_own_entity(%s, credential => %s)", (own, hash_token(tokens[proposing]))
            )
            answers = await read_all(client, ids)
            about = f"beside {kind}, proposing {proposing}, own entity {own}"
            broken += [f"{one} {about}: {text}" for one, (bad, text) in answers.items() if bad]
            missing = [one for one in FINDING if "theremin" not in answers[one][1]]
            assert missing == [], about

    assert broken == []


async def test_a_reading_in_one_space_is_refused_only_for_the_kind_of_the_space(
    connect: Connect, share: Share, tokens: dict[bool, str], ids: Any
) -> None:
    share("all")
    for kind in KINDS:
        client = await connect(toolsets=["all"], access_token=tokens[True], space=kind)
        answers = await read_all(client, ids)
        refusals = [text for bad, text in answers.values() if bad]
        if kind in ("sensitive", "archived"):  # is like one that does not exist
            assert len(refusals) == len(answers)
            assert all(text.startswith("Space not found") for text in refusals)
            continue
        others = [text for text in refusals if f"The space {kind} {IS_GRAPH}" not in text]
        # An id or a name of the default space is not known in another space.
        assert [text for text in others if not re.search("not found|No |no |Unknown", text)] == []
        assert (len(others) < len(refusals)) is (kind in GRAPHS), kind
