"""Changes of the directory while a worker is away: they are stored, and hold when it is back."""

import logging
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from uuid import UUID

import anyio
import numpy as np
import pytest
from anyio import to_thread

from tests.cluster.commands import find_other_node, run
from tests.cluster.settlers import Settlers
from tests.support.cluster import CitusCluster, ClusterMemory, ClusterNode
from textrawl.cluster.cluster import ClusterDatabase
from textrawl.cluster.migration import migrate_distributed
from textrawl.embedded.postmaster import OWNER, SUPERUSER
from textrawl.errors import DatabaseUnavailable, NotAuthenticated, ScopeMissing, StartRefused
from textrawl.postgres.database import Database

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class _Stored:
    observation_id: UUID


@dataclass(frozen=True)
class _Hit:
    content: str


@dataclass(frozen=True)
class _Space:
    id: int


@dataclass(frozen=True)
class _Token:
    token: int


@dataclass(frozen=True)
class _Granted:
    grant_access: list[str]


@dataclass(frozen=True)
class _Registered:
    register_embedding_model: int


@dataclass(frozen=True)
class _Revoked:
    revoke_access: list[str] | None


@pytest.fixture
async def database(memory: ClusterMemory) -> AsyncGenerator[ClusterDatabase]:
    """The calls of the owner, which do not need all workers."""
    database = ClusterDatabase(memory.dsn(OWNER), timeout=20)
    await database.open()
    yield database
    await database.close()


async def remember(
    database: Database, space: int, text: str, credential: bytes | None = None
) -> None:
    fact = {"entity": "Ana", "type": "person", "observation": text, "tool": "test"}
    await database.call("remember_fact", _Stored, space=space, credential=credential, **fact)


async def search(database: Database, space: int, credential: bytes) -> None:
    """Search in one space, as a server does that knew the rights before."""
    asked = {"query": "tea", "spaces": [space], "credential": credential}
    await database.call("search_memory", _Hit, **asked)


@contextmanager
def take_away(memory: ClusterMemory, node: ClusterNode) -> Generator[None]:
    """A worker is away during the block."""
    node.kill()
    try:
        yield
    finally:
        node.start()
        memory.send_directory()


async def test_what_is_revoked_while_a_worker_is_away_is_refused_when_it_is_back(
    memory: ClusterMemory, settlers: Settlers, database: ClusterDatabase
) -> None:
    """Also before the worker has copied the change: the coordinator is asked for each call."""
    space, granted = settlers.spaces[0], settlers.spaces[1]
    node = memory.cluster.find_node(settlers.cells[space].node)
    [granted, *_] = [
        each
        for each in settlers.spaces[1:]
        if settlers.cells[each].node == settlers.cells[space].node
    ]
    await search(database, space, settlers.ben)
    await remember(database, granted, "drinks tea", settlers.ana)
    with memory.open(SUPERUSER, node) as worker:
        worker.execute("alter subscription textrawl_directory disable")
    node.kill()
    try:
        token = {"name": "trl_ben"}
        await database.call("revoke_token", _Token, **token)
        taken = {"actor": "ana", "space": settlers.names[granted]}
        await database.call("revoke_access", _Revoked, **taken)
    finally:
        node.start()
    with memory.open(SUPERUSER, node) as worker:
        query = "select revoked_at from textrawl.token where prefix = 'trl_ben'"
        assert worker.execute(query).fetchall() == [(None,)]  # the copy is old
    with pytest.raises(NotAuthenticated):
        await search(database, space, settlers.ben)
    with pytest.raises(ScopeMissing):
        await remember(database, granted, "drinks coffee", settlers.ana)
    await remember(database, space, "drinks coffee", settlers.ana)


async def test_spaces_and_grants_made_while_a_worker_is_away_work_when_it_is_back(
    memory: ClusterMemory, settlers: Settlers, database: ClusterDatabase
) -> None:
    """The coordinator stores them at once. Spaces of the other worker can be used at once too."""
    node = memory.cluster.find_node(settlers.cells[settlers.spaces[0]].node)
    names = [f"new-{number}" for number in range(8)]
    with take_away(memory, node):
        for name in names:
            await database.call("create_space", _Space, name=name)
            scopes = ["read", "write"]
            grant = {"actor": "ana", "space": name, "scopes": scopes}
            await database.call("grant_access", _Granted, **grant)
        with memory.open(SUPERUSER) as session:
            query = "select id from textrawl.space where name = any(%s)"
            rows = session.execute(query, (names,)).fetchall()
        cells = memory.find_cells([space for (space,) in rows])
        away = [space for space, cell in cells.items() if cell.node.port == node.port]
        assert 0 < len(away) < len(cells)
        for space in cells.keys() - set(away):
            await remember(database, space, "drinks tea", settlers.ana)
        with pytest.raises(DatabaseUnavailable, match="new-"):
            await remember(database, away[0], "drinks tea", settlers.ana)
    for space in away:
        await remember(database, space, "drinks tea", settlers.ana)


async def test_commands_that_need_a_worker_that_is_away_change_nothing(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    """The refusal names the worker."""
    space = settlers.spaces[0]
    name = settlers.names[space]
    before = memory.cells
    target = await to_thread.run_sync(find_other_node, memory, name)
    [node] = [node for node in memory.cluster.workers if f"{node.host}:{node.port}" == target]
    with take_away(memory, node):
        for words in (
            ("cluster", "move", name, target, "--yes"),
            ("migrate", "--distributed"),
        ):
            said = run(memory, *words, code=1)
            assert f"{target} does not answer" in said
            assert "nothing was changed" in said
        assert f"{target} does not answer" in run(memory, "cluster")
        assert memory.cells == before
    run(memory, "cluster", "move", name, target, "--yes")


async def test_a_first_migration_needs_all_workers_and_begins_only_once(
    citus: CitusCluster,
) -> None:
    """If a worker is away, the database stays empty. The next one knows of an interruption."""
    worker = citus.workers[0]
    with citus.create_database("vector", "citus") as name:
        citus.join_workers(name)
        url = citus.coordinator.dsn(SUPERUSER, name)
        worker.kill()
        try:
            with pytest.raises(StartRefused, match="does not answer"):
                await migrate_distributed(url)
        finally:
            worker.start()
        with citus.coordinator.open(name) as session:
            rows = session.execute("select from pg_namespace where nspname like 'textrawl%'")
            assert rows.fetchall() == []
            session.execute("create schema textrawl_content")
        with pytest.raises(StartRefused, match="was interrupted: drop the database"):
            await migrate_distributed(url)


async def test_two_servers_register_a_model_at_the_same_time(
    memory: ClusterMemory, settlers: Settlers, caplog: pytest.LogCaptureFixture
) -> None:
    """Both have its vectors in all cells, and nothing fails on the way."""
    spaces = [settlers.spaces_of(cell)[0] for cell in dict.fromkeys(settlers.cells.values())]
    sizes = [(node.data / "log").stat().st_size for node in memory.cluster.nodes]
    async with AsyncExitStack() as stack, anyio.create_task_group() as tasks:
        for _ in range(4):
            server = ClusterDatabase(memory.dsn(), timeout=60)
            await server.open()
            stack.push_async_callback(server.close)
            tasks.start_soon(_use_model, server, spaces, settlers.ana)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    for node, size in zip(memory.cluster.nodes, sizes, strict=True):
        assert "ERROR" not in (node.data / "log").read_text("utf-8")[size:]


async def _use_model(server: Database, spaces: list[int], credential: bytes) -> None:
    """Register a model, and store a fact with a vector in each space."""
    model = {"name": "test:model", "dimensions": 3}
    [row] = await server.call("register_embedding_model", _Registered, **model)
    for space in spaces:
        await server.call(
            "remember_fact",
            _Stored,
            entity="Ana",
            type="person",
            observation=f"is in {space}",
            model=row.register_embedding_model,
            embedding=np.array([1, space, 0], np.float32),
            space=space,
            credential=credential,
            tool="test",
        )
