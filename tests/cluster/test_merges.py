"""The few calls that several cells answer find what one Postgres with the same content finds."""

import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import make_dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

import numpy as np
import psycopg
import pytest

from tests.cluster.settlers import Settlers
from tests.support.cluster import ClusterMemory
from textrawl.access.access_token import hash_token
from textrawl.cluster.merging import MERGES
from textrawl.cluster.opening import open_connection
from textrawl.embedded.postmaster import OWNER
from textrawl.errors import ArgumentInvalid
from textrawl.postgres.database import Database

pytestmark = pytest.mark.anyio

BOSS, PIP = hash_token("boss"), hash_token("pip")
SCOPES = ["read", "write", "forget", "review", "admin", "propose"]
GRAPHS = ["papers", "letters", "recipes", "songs"]
SINCE = datetime(2020, 1, 1, tzinfo=UTC)

Case = tuple[dict[str, Any], Callable[..., Any]]


def pick(*columns: str) -> Callable[[list[Any]], Any]:
    """Some columns of all rows, in their order."""
    return lambda rows: [tuple(getattr(row, name) for name in columns) for row in rows]


def pick_set(*columns: str) -> Callable[[list[Any]], Any]:
    """Some columns of all rows, each once. Their order differs between cells."""
    return lambda rows: sorted(set(pick(*columns)(rows)))


def name_items(column: str, *names: str) -> Callable[[list[Any]], Any]:
    """The names of the items in a column of JSON, and the total of the first row."""
    return lambda rows: [
        [tuple(item[name] for name in names) for item in getattr(row, column)] for row in rows
    ]


# Arguments beside the credential, and what is compared. A model is 1 in both memories.
CASES: dict[str, Case] = {
    "claim_extraction": ({"lease": 60}, pick_set("content")),
    "claim_webhooks": ({"claim": UUID(int=1), "hosts": ["hook.example:443"], "max_rows": 9}, len),
    "complete_name": ({"beginning": "a"}, pick_set("entity_name")),
    "count_waiting": ({}, pick("count_waiting")),
    "describe_entity": (
        {"entity": "Ana", "max_observations": 7, "skip": 3},
        name_items("observations", "content", "space"),
    ),
    "digest_memory": ({"max_rows": 20}, pick_set("section", "content")),
    "embedding_progress": ({}, pick("name", "vectors", "pending")),
    "entity_proposals": ({"entity": "Ana", "max_rows": 5}, pick("space", "content")),
    "entity_spaces": ({"entity": "Ana"}, pick_set("space", "name")),
    "expire_proposals": ({}, pick("expire_proposals")),
    "find_documents": ({"spaces": ["songs", "papers"], "paths": 2 * ["file/a"]}, pick_set("space")),
    "known_names": ({"keys": ["ana", "nobody"]}, pick_set("name_key")),
    "known_types": ({"words": ["person", "team"]}, pick_set("word")),
    "list_entities": ({"max_rows": 5, "skip": 2}, name_items("entities", "name", "space")),
    "list_graphs": ({}, pick("name", "chunks", "tokens")),
    "list_repository_facts": ({"everywhere": True}, pick_set("content")),
    "list_spaces": ({}, pick("name", "facts", "chunks")),
    "list_webhooks": ({}, pick("space_name", "url")),
    "mark_matches": (
        {"query": "teas", "facts": [UUID(int=1)], "texts": ["green tea"], "spaces": ["default"]},
        pick("marked"),
    ),
    "measure_graphs": ({}, len),
    "missing_words": ({"query": "is there tea for a zebra?"}, pick_set("word")),
    "named_entities": ({"query": "does Ana know tea?"}, pick_set("mention")),
    "pending_embeddings": ({"model": 1}, pick("pending_embeddings")),
    "prune_documents": ({}, pick("snapshots", "versions")),
    "prune_llm_use": ({}, pick("prune_llm_use")),
    "prune_recalls": ({}, pick("prune_recalls")),
    "queue_embeddings": ({"model": 1}, pick("queue_embeddings")),
    "rebuild_documents": ({}, pick("rebuild_documents")),
    "recall_chunks": ({"query": "tea", "max_rows": 9}, pick_set("content")),
    "refresh_search_statistics": ({"force": True}, pick("refresh_search_statistics")),
    "release_all_embeddings": ({"model": 1}, len),
    "sample_facts": ({"max_rows": 999, "min_length": 1}, pick_set("entity_name", "content")),
    "search_memory": (
        {"query": "tea", "sources": ["facts", "documents"], "neighbours": False, "max_rows": 99},
        pick_set("space", "content"),
    ),
    "search_proposals": ({"query": "coffee", "max_rows": 99}, pick_set("space", "content")),
    "similar_names": ({"name": "Anna"}, pick_set("entity_name")),
    "suggest_entities": ({"typed": "Anna"}, pick_set("name", "match")),
}
# The arguments of some functions that work on the spaces of one cell.
REFUSED: dict[LiteralString, dict[str, Any]] = {
    "entity_history": {"entity": "Ana"},
    "explain_search": {"query": "tea"},
    "find_same_entities": {},
    "list_events": {},
    "list_proposals": {},
    "memory_statistics": {},
    "plan_undo": {"author": "ana", "since": SINCE},
    "read_events": {"after_transaction": "0", "after_id": 0},
    "set_own_entity": {"entity": "Ana"},
    "trail_end": {},
    "undo_author": {"author": "ana", "since": SINCE},
}


def test_each_merge_is_compared() -> None:
    """Except the state of writers, which is a text of each cell, and functions of ids."""
    # The two memories have different ids.
    of_ids = {"facts_from_authors", "fetch_entity", "fetch_fact", "find_ids"}
    assert CASES.keys() >= MERGES.keys() - {"write_state", *of_ids}


async def test_several_cells_find_what_one_postgres_finds(
    memory: ClusterMemory, settlers: Settlers, owner: psycopg.Connection
) -> None:
    ids = {name: space for space, name in settlers.names.items()}
    plain_ids = {name: space for space, name in settlers.enrol(owner).items()}
    with memory.open(OWNER) as coordinator:
        for session in (coordinator, owner):
            add_callers(session, [*ids])
    memory.send_directory()
    async with AsyncExitStack() as stack:
        cells = await stack.enter_async_context(open_connection(memory.dsn(OWNER), timeout=20))
        plain = await stack.enter_async_context(open_connection(owner.info.dsn, timeout=20))
        await fill(cells, ids)
        await fill(plain, plain_ids)
        differing = dict[str, Any]()
        for function, (arguments, look) in CASES.items():
            given = [look(await call(each, function, arguments)) for each in (cells, plain)]
            if given[0] != given[1]:
                differing[function] = given
    assert differing == {}, json.dumps(differing, indent=1, default=str)


async def test_other_calls_ask_for_one_space(memory: ClusterMemory, settlers: Settlers) -> None:
    with memory.open(OWNER) as coordinator:
        add_callers(coordinator, [*settlers.names.values()])
    memory.send_directory()
    async with open_connection(memory.dsn(OWNER), timeout=20) as cells:
        for function, arguments in REFUSED.items():
            with pytest.raises(ArgumentInvalid, match="about whole spaces of one cell"):
                await call(cells, function, arguments)


def add_callers(owner: psycopg.Connection[Any], names: list[str]) -> None:
    """Somebody who may do everything, and somebody who proposes."""
    owner.execute("set search_path = textrawl, public")
    for graph in GRAPHS:
        owner.execute("select create_space(%s, tier => 'personal')", (graph,))
    for name in (*names, *GRAPHS):
        owner.execute("select grant_access('ana', %s, %s)", (name, SCOPES))
        owner.execute("select grant_access('pip', %s, %s)", (name, ["read", "propose"]))
    for token, actor in ((BOSS, "ana"), (PIP, "pip")):
        query = "select create_token(%s, %s, actor => %s, space => %s, scopes => %s)"
        owner.execute(query, (token, f"trl_{actor}2", actor, names[0], SCOPES))


async def fill(database: Database, ids: dict[str, int]) -> None:
    """The same content, written in the same order."""
    await call(database, "register_embedding_model", {"name": "test:model", "dimensions": 3})
    for number, (_, space) in enumerate(sorted(ids.items())):
        vectors = [np.array([1, number / 9, n / 900], np.float32) for n in range(2)]
        for entity, text, more in (
            ("Ana", f"drinks tea of kind {number}", {"model": 1, "embedding": vectors[0]}),
            ("Ana", f"drinks teas of kind {number}", {"model": 1, "embedding": vectors[1]}),
            ("Anna", f"likes coffee and cake {number}", {}),
        ):
            said = SINCE + timedelta(days=number % 5)
            fact = {"entity": entity, "type": "person", "observation": text, "said_at": said}
            await write(database, "remember_fact", space, BOSS, {**fact, **more})
        knows = {"from_entity": "Ana", "relation": "knows", "to_entity": "Anna"}
        await write(database, "relate_entities", space, BOSS, knows)
        name = {"entity": "Ana", "alias": f"Annie {number}"}
        await write(database, "name_entity", space, BOSS, name)
        proposed = {"entity": "Ana", "type": "person", "observation": f"sells coffee {number}"}
        await write(database, "remember_fact", space, PIP, proposed)
    for number, graph in enumerate(GRAPHS):
        text = f"The {graph} are about tea" + number * " indeed"
        source = {"graph": graph, "path": "file/a", "label": graph, "content": text}
        chunks = json.dumps([[1, 0, len(text), 6]])
        await call(database, "store_source", {**source, "chunks": chunks, "sha256": "0" * 64})


async def write(
    database: Database,
    function: LiteralString,
    space: int,
    credential: bytes,
    arguments: dict[str, Any],
) -> None:
    await call(database, function, {"space": space, "tool": "test", **arguments}, credential)


async def call(
    database: Database, function: Any, arguments: dict[str, Any], credential: bytes = BOSS
) -> list[Any]:
    """All columns of the rows of a function."""
    async with database.lend() as connection:
        cursor = await connection.execute(
            "select proargnames, proargmodes::text[] from pg_proc"
            " where pronamespace = 'textrawl'::regnamespace and proname = %s",
            (function,),
        )
        names, modes = (await cursor.fetchall())[0]
    columns = [name for name, mode in zip(names or [], modes or [], strict=False) if mode in "ot"]
    row: type[Any] = make_dataclass("Row", columns or [function])
    given = {"credential": credential} if "credential" in (names or []) else {}
    return await database.call(function, row, **given, **arguments)
