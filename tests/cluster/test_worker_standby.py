"""The standby of a worker replaces the worker, and servers find it."""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.cluster.settlers import Settlers
from tests.support.cluster import ClusterMemory, ClusterNode
from tests.support.cluster_standby import promote_standby
from tests.support.pages import ROOT, read_commands
from textrawl.access.access_token import hash_token
from textrawl.cluster.cluster import ClusterDatabase
from textrawl.cluster.layout import CitusNode
from textrawl.cluster.opening import open_connection
from textrawl.embedded.postmaster import OWNER, SUPERUSER
from textrawl.postgres.database import Database

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Stored:
    observation_id: Any


@dataclass(frozen=True)
class Hit:
    content: str


async def search(database: Database, credential: bytes, space: int) -> set[str]:
    ask: dict[str, Any] = {"query": "tea", "spaces": [space], "credential": credential}
    return {hit.content for hit in await database.call("search_memory", Hit, **ask)}


async def remember(database: Database, credential: bytes, space: int, text: str) -> None:
    fact = {"entity": "Ana", "type": "person", "observation": text, "tool": "test"}
    await database.call("remember_fact", Stored, space=space, credential=credential, **fact)


def read_statement(former: CitusNode, promoted: ClusterNode) -> bytes:
    """The statement of docs/scale.md for a promoted worker, with its addresses."""
    command = read_commands(ROOT / "docs/scale.md")[11]
    statement = command.removeprefix('psql -d textrawl -c "').removesuffix('"')
    statement = statement.replace("'10.0.0.5', 5432", f"'{promoted.host}', {promoted.port}")
    return statement.replace(
        "nodename = '10.0.0.2'", f"nodename = '{former.host}' and nodeport = {former.port}"
    ).encode()


async def test_servers_find_the_standby_that_replaces_a_worker(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    """Reads continue in their calls, and nothing acknowledged is lost or stored twice."""
    space, later = settlers.spaces[0], hash_token("later")
    former = settlers.cells[space].node
    async with open_connection(memory.dsn(), timeout=20) as database:
        assert isinstance(database, ClusterDatabase)
        await remember(database, settlers.ana, space, "drinks tea")
        assert await search(database, settlers.ana, space) == {"drinks tea"}
        with promote_standby(memory.cluster.find_node(former)) as promoted:
            with memory.open(SUPERUSER) as coordinator:
                coordinator.execute(read_statement(former, promoted))

            assert await search(database, settlers.ana, space) == {"drinks tea"}
            await remember(database, settlers.ana, space, "drinks green tea")
            found = {"drinks tea", "drinks green tea"}
            assert await search(database, settlers.ana, space) == found
            with memory.open(OWNER) as owner:  # the new worker still copies the directory
                owner.execute(
                    "select textrawl.create_token(%s, 'trl_later', 'later', %s, array['read'])",
                    (later, settlers.names[space]),
                )
            memory.send_directory(promoted)
            assert await search(database, later, space) == found
