"""Decisions about proposals of several cells: one call decides those of one cell."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from tests.cluster.settlers import Settlers
from tests.support.cluster import ClusterMemory
from textrawl.access.access_token import hash_token
from textrawl.cluster.opening import open_connection
from textrawl.embedded.postmaster import OWNER
from textrawl.errors import ArgumentInvalid
from textrawl.postgres.database import Database

pytestmark = pytest.mark.anyio
PIP = hash_token("pip")


@dataclass(frozen=True)
class Proposed:
    proposal_id: UUID


@dataclass(frozen=True)
class Decided:
    id: UUID
    state: str


async def propose(database: Database, space: int) -> str:
    fact = {"entity": "Ana", "type": "person", "observation": "drinks tea", "tool": "test"}
    [row] = await database.call("remember_fact", Proposed, space=space, credential=PIP, **fact)
    return str(row.proposal_id)


async def test_a_decision_about_two_cells_asks_for_one_space(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    one = settlers.spaces[0]
    other = next(each for each in settlers.spaces if settlers.cells[each] != settlers.cells[one])
    with memory.open(OWNER) as owner:
        owner.execute("set search_path = textrawl, public")
        query = "select create_token(%s, 'trl_pip', 'pip', %s, array['read', 'propose'])"
        owner.execute(query, (PIP, settlers.names[one]))
        query = "select grant_access('pip', %s, array['read', 'propose'])"
        owner.execute(query, (settlers.names[other],))
    memory.send_directory()
    async with open_connection(memory.dsn(), timeout=20) as database:
        proposals = [await propose(database, space) for space in (one, other)]

        async def decide(*chosen: str) -> list[Decided]:
            arguments: dict[str, Any] = {"proposals": list(chosen), "credential": settlers.ana}
            return await database.call("decide_proposals", Decided, decision="accept", **arguments)

        with pytest.raises(ArgumentInvalid, match="about whole spaces of one cell"):
            await decide(*proposals)
        for proposal in proposals:
            assert [str(row.id) for row in await decide(proposal)] == [proposal]
