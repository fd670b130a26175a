"""Calls of a server on a distributed memory: one cell, several cells, and a worker that is away."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.cluster.settlers import Settlers
from tests.support.cluster import CELLS, ClusterMemory
from textrawl.access.access_token import hash_token
from textrawl.cluster.cluster import ClusterDatabase
from textrawl.cluster.opening import open_connection
from textrawl.embedded.postmaster import OWNER
from textrawl.errors import ArgumentInvalid, DatabaseUnavailable, SpaceNotFound
from textrawl.postgres.database import Database

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class _Stored:
    observation_id: Any


@dataclass(frozen=True)
class _Hit:
    space: str
    content: str
    score: float


@dataclass(frozen=True)
class _Entity:
    name: str
    total_observations: int
    observations: list[dict[str, Any]]


@dataclass(frozen=True)
class _Page:
    total: int
    entities: list[dict[str, Any]]


@dataclass(frozen=True)
class _Registered:
    register_embedding_model: int


@dataclass(frozen=True)
class _Proposed:
    proposal_id: Any


@dataclass(frozen=True)
class _Shared:
    shared_facts: int


@asynccontextmanager
async def _open(memory: ClusterMemory) -> AsyncGenerator[ClusterDatabase]:
    async with open_connection(memory.dsn(), timeout=20) as database:
        assert isinstance(database, ClusterDatabase)
        yield database


async def _remember(
    database: Database, settlers: Settlers, space: int | None, entity: str, text: str
) -> None:
    await database.call(
        "remember_fact",
        _Stored,
        entity=entity,
        type="person",
        observation=text,
        space=space,
        credential=settlers.ana,
        tool="test",
    )


async def _search(
    database: Database, settlers: Settlers, query: str, *, neighbours: bool = True
) -> list[_Hit]:
    return await database.call(
        "search_memory",
        _Hit,
        query=query,
        credential=settlers.ana,
        max_rows=100,
        neighbours=neighbours,
    )


async def test_answers_of_cells_are_one_answer(memory: ClusterMemory, settlers: Settlers) -> None:
    """An entity of several cells has all its facts, in pages that do not overlap."""
    async with _open(memory) as database:
        for space in settlers.spaces:
            await _remember(database, settlers, space, "Ana", f"drinks tea of {space}")
        ana = {"credential": settlers.ana}
        pages = [
            await database.call(
                "describe_entity", _Entity, entity="ana", max_observations=5, skip=skip, **ana
            )
            for skip in range(0, len(settlers.spaces), 5)
        ]
        [page] = await database.call("list_entities", _Page, max_rows=3, skip=2, **ana)
    texts = [fact["content"] for [entity] in pages for fact in entity.observations]
    assert texts == [f"drinks tea of {space}" for space in reversed(settlers.spaces)]
    assert (page.total, len(page.entities)) == (len(settlers.spaces), 3)


async def test_writes_go_to_the_home_space(memory: ClusterMemory, settlers: Settlers) -> None:
    """A write without a space goes where it goes on one Postgres, also if that is an error."""
    with memory.open("postgres") as owner:
        owner.execute("update textrawl.token set home_space_id = null")
    memory.send_directory()
    async with _open(memory) as database:
        with pytest.raises(SpaceNotFound):
            await _remember(database, settlers, None, "Ana", "drinks tea")


async def test_each_undo_of_the_cluster_has_a_number_of_its_own(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    """A number names one undo, so the cells must not count alike."""
    numbers: list[int] = []
    for cell in dict.fromkeys(settlers.cells.values()):
        space = settlers.spaces_of(cell)[0]
        settlers.remember(space, "Ana", "drinks tea")
        query = "select min(id), max(id) from event where space_id = %s"
        [found] = settlers.fetch(space, query, space, role=OWNER)
        numbers += found

    assert len(numbers) == len(set(numbers)) == 2 * CELLS


async def test_a_proposal_is_stored_once(memory: ClusterMemory, settlers: Settlers) -> None:
    """Who proposes the same again gets the same proposal."""
    space, pip = settlers.spaces[1], hash_token("pip")
    with memory.open(OWNER) as owner:
        query = "select textrawl.create_token(%s, 'trl_pip', 'pip', %s, array['read', 'propose'])"
        owner.execute(query, (pip, settlers.names[space]))
    memory.send_directory()
    async with _open(memory) as database:
        proposed = {
            row.proposal_id
            for _ in range(2)
            for row in await database.call(
                "remember_fact",
                _Proposed,
                entity="Ana",
                type="person",
                observation="drinks tea",
                space=space,
                credential=pip,
                tool="test",
            )
        }
    assert len(proposed) == 1
    assert None not in proposed


async def test_facts_do_not_go_to_another_cell(memory: ClusterMemory, settlers: Settlers) -> None:
    """The error says what to do instead."""
    space = settlers.spaces[0]
    target = next(each for each in settlers.spaces if settlers.cells[each] != settlers.cells[space])
    async with _open(memory) as database:
        await _remember(database, settlers, space, "Ana", "drinks tea")
        with pytest.raises(ArgumentInvalid, match="different cells"):
            await database.call(
                "share_memories",
                _Shared,
                entity="Ana",
                target=target,
                space=space,
                credential=settlers.ana,
            )


async def test_vectors_are_searched_in_all_cells(memory: ClusterMemory, settlers: Settlers) -> None:
    """A model that is registered has its table in each cell, with the vector index."""
    spaces = [settlers.spaces_of(cell)[0] for cell in dict.fromkeys(settlers.cells.values())]
    async with _open(memory) as database:
        model = {"name": "test:model", "dimensions": 3}
        [registered] = await database.call("register_embedding_model", _Registered, **model)
        number = registered.register_embedding_model
        for space in spaces:
            await database.call(
                "remember_fact",
                _Stored,
                entity="Ana",
                type="person",
                observation=f"drinks tea of {space}",
                model=number,
                embedding=np.array([1, space, 0], np.float32),
                space=space,
                credential=settlers.ana,
                tool="test",
            )
        query = {"query": "", "model": number, "vector": np.array([1, spaces[2], 0], np.float32)}
        found = await database.call(
            "search_memory", _Hit, semantic=True, credential=settlers.ana, max_rows=100, **query
        )
    assert {hit.content for hit in found} == {f"drinks tea of {space}" for space in spaces}
    assert found[0].content == f"drinks tea of {spaces[2]}"
    for space in spaces:
        [index] = settlers.fetch(space, "select valid from vector_index(%s)", number, role=OWNER)
        assert index == (True,)


async def test_a_worker_that_is_away_stops_only_its_spaces(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    """Other spaces are read and written; a search of all says which spaces are missing."""
    lost = settlers.spaces[0]
    other = settlers.pick(away_from=lost)
    node = memory.cluster.find_node(settlers.cells[lost].node)
    async with _open(memory) as database:
        await _search(database, settlers, "tea")
        node.stop()
        try:
            await _remember(database, settlers, other, "Ana", "drinks tea")
            with pytest.raises(DatabaseUnavailable, match="space-00"):
                await _search(database, settlers, "tea")
            with pytest.raises(DatabaseUnavailable, match="cannot be reached"):
                await _remember(database, settlers, lost, "Ana", "drinks tea")
        finally:
            node.start()
        await _remember(database, settlers, lost, "Ana", "drinks coffee")
