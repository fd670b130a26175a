"""A cluster from bare servers with passwords: it is set up, grows, and has two memories."""

import secrets
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

from tests.cluster.bare import BareServers, run_bare_servers
from tests.cluster.commands import execute
from tests.support.cluster import ClusterNode
from textrawl.access.access_token import hash_token, make_token
from textrawl.cluster.opening import open_connection
from textrawl.errors import DatabaseUnavailable
from textrawl.postgres.database import Database

pytestmark = [pytest.mark.anyio, pytest.mark.citus, pytest.mark.slow]

_CELLS = "4"
_SPACES = [f"team-{number}" for number in range(12)]


@dataclass(frozen=True)
class _Hit:
    content: str


@dataclass(frozen=True)
class _Stored:
    observation_id: object


@dataclass(frozen=True)
class Memory:
    """A distributed memory on two of the servers, with spaces and a token."""

    servers: BareServers
    name: str
    url: str  # of servers
    token: str
    spaces: dict[int, str]

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Database]:
        async with open_connection(self.url, timeout=20) as database:
            yield database

    async def remember(self, database: Database, space: int, text: str) -> None:
        fact = {"entity": "Ana", "type": "person", "observation": text, "tool": "test"}
        credential = hash_token(self.token)
        await database.call("remember_fact", _Stored, space=space, credential=credential, **fact)

    async def search(self, database: Database, query: str) -> set[str]:
        asked = {"credential": hash_token(self.token), "max_rows": 50, "query": query}
        return {hit.content for hit in await database.call("search_memory", _Hit, **asked)}

    def run(self, *words: str) -> str:
        """What a command of the superuser prints."""
        done = execute(self.servers.url(self.name), *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def find_spaces(self, node: ClusterNode) -> list[int]:
        """The spaces on a worker."""
        query = f"""
            select f.space from textrawl_content.find_shards(array{list(self.spaces)}) f
            join textrawl_content.list_cells() c on c.shard = f.shard
            where c.port = {node.port}"""  # noqa: S608 - numbers
        return [space for (space,) in self.servers.execute(query, self.name)]

    async def copy_directory(self) -> None:
        """Let all workers log in to the coordinator again, and copy what is new."""
        workers = [node for node in self.servers.nodes if node.port in self.count_cells()]
        end = """
            select pg_terminate_backend(pid, 10000) from pg_stat_subscription
            where subname = 'textrawl_directory' and pid is not null"""
        for node in workers:
            self.servers.execute(end, self.name, node)
        mark = self.servers.execute("select textrawl_content.mark_directory()", self.name)
        query = "select textrawl_content.read_mark()"
        for node in workers:
            async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.1)):
                with attempt:
                    assert self.servers.execute(query, self.name, node) == mark

    def drop(self) -> None:
        """Drop the memory on all servers, as an administrator does."""
        for node in self.servers.nodes[1:]:
            drop = "drop subscription if exists textrawl_directory"
            self.servers.execute(drop, self.name, node)
        for node in self.servers.nodes:
            self.servers.execute(f"drop database {self.name} with (force)", "postgres", node)

    def count_cells(self) -> dict[int, int]:
        """The number of cells on each port."""
        query = "select port, count(*) from textrawl_content.list_cells() group by 1"
        return dict(self.servers.execute(query, self.name))


@pytest.fixture(scope="module")
def servers(pg_config: Path) -> Iterator[BareServers]:
    with run_bare_servers(pg_config) as servers:
        yield servers


def make_memory(servers: BareServers, login: str | None = None) -> Memory:
    """Set up a memory as docs/scale.md says. `login` is the url of servers for another one."""
    name = f"memory_{secrets.token_hex(4)}"
    servers.create_database(name, servers.nodes[1:3])
    words = ["migrate", "--distributed", "--cells", _CELLS]
    done = execute(servers.url(name), *words, *([] if login else ["--login"]))
    assert done.returncode == 0, done.stderr
    url = make_conninfo(login or done.stdout.strip(), dbname=name)
    memory = Memory(servers, name, url, make_token(), {})
    with psycopg.connect(servers.url(name), autocommit=True) as owner:
        owner.execute("set search_path = textrawl, public")
        owner.execute("select create_space(name) from unnest(%s::text[]) name", (_SPACES,))
        create = "select create_token(%s, 'trl_', 'ana', %s, array['read', 'write'])"
        owner.execute(create, (hash_token(memory.token), _SPACES[0]))
        for space in _SPACES[1:]:
            owner.execute("select grant_access('ana', %s, array['read', 'write'])", (space,))
        rows = owner.execute("select id, name from space where name = any(%s)", (_SPACES,))
        memory.spaces.update(rows.fetchall())
    return memory


@pytest.fixture(scope="module")
def memory(servers: BareServers) -> Memory:
    return make_memory(servers)


async def test_servers_log_in_to_all_nodes_with_one_password(memory: Memory) -> None:
    """Nobody created the login, and Postgres asks for its password on each node."""
    assert conninfo_to_dict(memory.url)["password"]
    async with memory.open() as database:
        for space in memory.spaces:
            await memory.remember(database, space, f"drinks tea of {space}")
        found = await memory.search(database, "tea")
    assert found >= {f"drinks tea of {space}" for space in memory.spaces}
    assert len(memory.count_cells()) == 2


async def test_a_worker_that_refuses_a_password_is_named(memory: Memory) -> None:
    """Its spaces are away, all others can be used, and commands say which worker it is."""
    servers, worker = memory.servers, memory.servers.nodes[1]
    away, other = memory.find_spaces(worker), memory.find_spaces(servers.nodes[2])
    [(verifier,)] = servers.execute(
        "select rolpassword from pg_authid where rolname = 'textrawl_app'", "postgres", worker
    )
    servers.execute("alter role textrawl_app password 'other'", "postgres", worker)
    try:
        async with memory.open() as database:
            await memory.remember(database, other[0], "drinks coffee")
            with pytest.raises(DatabaseUnavailable, match=memory.spaces[away[0]]):
                await memory.remember(database, away[0], "drinks coffee")
        done = execute(memory.url, "doctor")
        assert f":{worker.port}" in done.stdout
        assert "password authentication failed" in done.stdout
    finally:
        statement = f"alter role textrawl_app password '{verifier}'"
        servers.execute(statement, "postgres", worker)


async def test_a_third_worker_joins_and_gets_cells(memory: Memory) -> None:
    """All spaces keep their content, and work before and after cells have moved."""
    third = memory.servers.nodes[3]
    async with memory.open() as database:
        for space in memory.spaces:
            await memory.remember(database, space, f"plays chess in {space}")
        memory.servers.add_worker(memory.name, third)
        memory.run("migrate", "--distributed")
        expected = {f"plays chess in {space}" for space in memory.spaces}
        assert await memory.search(database, "chess") >= expected
        memory.run("cluster", "rebalance", "--yes")
        memory.run("cluster", "isolate", _SPACES[0], "--yes")
        assert third.port in memory.count_cells()
        assert await memory.search(database, "chess") >= expected
        for space in memory.spaces:
            await memory.remember(database, space, f"plays piano in {space}")
        expected = {f"plays piano in {space}" for space in memory.spaces}
        assert await memory.search(database, "piano") >= expected


async def test_two_memories_of_one_cluster_copy_their_directories(memory: Memory) -> None:
    """Both use one login for it, so the second must not change its password."""
    second = make_memory(memory.servers, memory.url)
    for one in (memory, second):
        await one.copy_directory()
    second.drop()
    await memory.copy_directory()
    async with memory.open() as database:
        await memory.remember(database, next(iter(memory.spaces)), "likes the sea")
        assert "likes the sea" in await memory.search(database, "sea")
