"""Twenty clients at once: what was acknowledged is stored, and a name is one entity."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import anyio
import psycopg
import pytest
from mcp import Client, StdioServerParameters

from tests.support.folders import open_folder
from tests.support.listening import find_port, wait_for_answer
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import OWNER

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.usefixtures("uncovered")]

CLIENTS = 20
SINGLE, BATCHED = 40, 10  # facts of each client
NAMES = ["Ada", "ada", " ADA ", "Grace Hopper", "grace hopper", "Grace  Hopper", "Zoë", "Zoe\u0308"]
ENTITIES = 3


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    with open_folder() as folder:
        yield {**os.environ, "DATA_DIR": str(folder / "data")}


@pytest.fixture
async def owner(environment: dict[str, str]) -> AsyncIterator[psycopg.Connection]:
    """The owner's connection to the embedded Postgres that all servers share."""
    async with run_embedded(Path(environment["DATA_DIR"])) as cluster:
        with psycopg.connect(cluster.dsn(OWNER), autocommit=True) as connection:
            yield connection


@pytest.fixture
async def url(environment: dict[str, str], owner: psycopg.Connection) -> AsyncIterator[str]:
    """One of the servers, over HTTP."""
    del owner  # Postgres has to be there first, and to go last
    port = find_port()
    command = [sys.executable, "-m", "textrawl", "serve", "--http", "--port", str(port)]
    command.append("--insecure")
    async with await anyio.open_process(
        command, env=environment, stderr=subprocess.DEVNULL
    ) as http:
        await wait_for_answer(f"http://127.0.0.1:{port}/healthz")
        yield f"http://127.0.0.1:{port}/mcp"
        http.terminate()
        await http.wait()


def make_facts(client: int) -> list[dict[str, Any]]:
    return [
        {
            "entityName": NAMES[(client + number) % len(NAMES)],
            "entityType": "person",
            "observation": f"bought {1000 * client + number} stamps in shop {client}",
        }
        for number in range(SINGLE + BATCHED)
    ]


async def store(target: Any, number: int, acknowledged: list[str]) -> None:
    facts = make_facts(number)
    # Opposite orders, so that batches meet in each other's way.
    batch = facts[SINGLE:] if number % 2 else facts[: SINGLE - 1 : -1]
    relation = {"fromEntity": NAMES[0], "relation": "knows", "toEntity": NAMES[3]}
    async with Client(target, mode="legacy" if number % 4 < 2 else "auto") as client:
        for fact in facts[:SINGLE]:
            result = await client.call_tool("remember_fact", fact)
            assert not result.is_error, result.content
            assert "duplicate" not in (result.structured_content or {})
            acknowledged.append(fact["observation"])
        result = await client.call_tool(
            "build_knowledge", {"facts": batch, "relations": [relation]}
        )
        assert result.structured_content is not None, result.content
        assert result.structured_content["factsCreated"] == BATCHED
        acknowledged += [fact["observation"] for fact in batch]


async def test_a_thousand_facts_of_twenty_clients_are_all_stored_once(
    environment: dict[str, str], url: str, owner: psycopg.Connection
) -> None:
    acknowledged: list[str] = []
    async with anyio.create_task_group() as group:
        for number in range(CLIENTS):
            stdio = StdioServerParameters(
                command=sys.executable, args=["-m", "textrawl"], env=environment
            )
            group.start_soon(store, url if number % 2 else stdio, number, acknowledged)

    assert len(acknowledged) == 1000
    stored = owner.execute("select content from textrawl.fact").fetchall()
    assert sorted(content for (content,) in stored) == sorted(acknowledged)
    names = owner.execute("select count(*), count(distinct name_key) from textrawl.entity")
    assert names.fetchone() == (ENTITIES, ENTITIES)
    assert owner.execute("select count(*) from textrawl.relation").fetchone() == (1,)
    assert owner.execute("select count(*) from textrawl.embedding_1").fetchone() == (1001,)
