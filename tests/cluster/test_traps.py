"""What fails silently on a cluster: rights of analysts on workers, and workers that are away."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import make_dataclass
from typing import Any, LiteralString, cast

import psycopg
import pytest
from psycopg import sql

from tests.cluster.settlers import Settlers
from tests.cluster.test_placement import run
from tests.support.cluster import ClusterMemory
from textrawl.access.access_token import hash_token
from textrawl.cluster.cluster import ClusterDatabase
from textrawl.cluster.layout import Cell
from textrawl.embedded.postmaster import APP, OWNER, SUPERUSER

LOGIN = "ana_of_cluster"
_SCOPES = ["read", "write", "forget"]

# Each of them asks for rights of the owner, or of the grants of the session.
_REFUSED: tuple[LiteralString, ...] = (
    "select refresh_search_statistics(true)",
    "select embedding_progress()",
    "select create_space('x')",
    "delete from observation",
    "insert into entity (space_id, name, name_key, entity_type, fts) values (1, 'a', 'a', 'a', '')",
    "select hash from token",
)


@pytest.fixture
def analyst(memory: ClusterMemory, settlers: Settlers) -> Iterator[str]:
    """A login that reads the first space, as `textrawl analyst create` makes it."""
    run(memory, "analyst", "create", LOGIN, "--actor", "ana_reads", "--space", "space-00")
    memory.send_directory()
    yield LOGIN
    with memory.open(SUPERUSER) as superuser:
        superuser.execute("update textrawl.actor set role_name = null")
        superuser.execute(sql.SQL("drop role if exists {}").format(sql.Identifier(LOGIN)))


def test_an_analyst_does_not_become_the_owner_on_a_worker(
    memory: ClusterMemory, settlers: Settlers, analyst: str
) -> None:
    """Neither in a cell, nor in the ordinary schema, nor in a shard, nor on the coordinator."""
    for space in settlers.spaces:
        settlers.remember(space, "Ada", f"likes tea of place{space}")
    first = settlers.spaces[0]
    own = [(f"likes tea of place{first}",)]
    for cell in memory.cells.values():
        inside = cell == settlers.cells[first]
        with memory.enter(cell, analyst) as session:
            asked = "select owns_memory(), textrawl.owns_memory()"
            assert session.execute(asked).fetchall() == [(False, False)]
            shown = session.execute("select content from observation").fetchall()
            assert shown == (own if inside else [])
            found = session.execute("select content from search_memory('tea')").fetchall()
            assert found == (own if inside else [])
            shard = _find_shard(memory, cell)
            query = sql.SQL("select content from textrawl_content.{}")
            rows = session.execute(query.format(sql.Identifier(shard))).fetchall()
            assert rows == (own if inside else [])
            session.execute("set default_transaction_read_only = off")
            for statement in _REFUSED:
                with pytest.raises(psycopg.Error):
                    session.execute(statement)
    with memory.open(analyst) as session:
        asked = "select textrawl.owns_memory()"
        assert session.execute(asked).fetchall() == [(False,)]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.execute("select count(*) from textrawl_content.observation")


def _find_shard(memory: ClusterMemory, cell: Cell) -> str:
    with memory.enter(cell, OWNER) as owner:
        [(name,)] = owner.execute("select stored_table('observation')::text").fetchall()
    return str(name).removeprefix("textrawl_content.")


@pytest.mark.anyio
async def test_a_worker_that_is_away_stops_no_login_and_no_other_space(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    """Tokens are used, made and revoked; others write, also for the first time, and read."""
    lost = settlers.spaces[0]
    there = settlers.pick(away_from=lost)
    node = memory.cluster.find_node(settlers.cells[lost].node)
    async with AsyncExitStack() as stack:
        database, administration = [
            await stack.enter_async_context(_open(memory.dsn(role))) for role in (APP, OWNER)
        ]
        node.stop()
        stack.callback(node.start)
        for _ in range(2):
            # The note of the last use is older than a minute, so that each login writes it.
            with memory.open(SUPERUSER) as superuser:
                superuser.execute("update textrawl.token set last_used_at = now() - interval '1 h'")
            assert await _ask(database, "authenticate", "actor", credential=settlers.ana)
        newcomer, where = hash_token("newcomer"), settlers.names[there]
        token = {"hash": newcomer, "prefix": "trl_new", "actor": "newcomer", "space": where}
        await _ask(administration, "create_token", "create_token", scopes=_SCOPES, **token)
        for who in (newcomer, settlers.ana):
            await _use(database, there, who)
        revoked = {"actor": "newcomer", "space": where}
        await _ask(administration, "revoke_access", "revoke_access", **revoked)


async def _use(database: ClusterDatabase, space: int, who: bytes) -> None:
    """Remember, find and forget a fact."""
    given: dict[str, Any] = {"space": space, "credential": who, "tool": "test", "entity": "Ada"}
    text = f"likes tea {who.hex()}"
    await _ask(database, "remember_fact", "entity_id", type="person", observation=text, **given)
    asked = {"query": "tea", "spaces": [space], "credential": who}
    found = await _ask(database, "search_memory", "content", **asked)
    assert text in {row.content for row in found}
    await _ask(database, "forget_entity", "facts", fact=text, **given)


@asynccontextmanager
async def _open(conninfo: str) -> AsyncGenerator[ClusterDatabase]:
    database = ClusterDatabase(conninfo, timeout=10)
    await database.open()
    yield database
    await database.close()


async def _ask(
    database: ClusterDatabase, function: str, column: str, **arguments: Any
) -> list[Any]:
    row = make_dataclass(function, [column])
    return await database.call(cast("LiteralString", function), row, **arguments)
