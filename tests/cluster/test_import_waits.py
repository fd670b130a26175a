"""The wait of an import until the workers have the directory, with functions in place of Citus."""

from typing import LiteralString

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.conftest import Databases
from textrawl.cluster.layout import CellMap, CitusNode
from textrawl.cluster.owner_session import DistributedSession
from textrawl.embedded.postmaster import OWNER
from textrawl.errors import StartRefused
from textrawl.postgres.connection import connect

pytestmark = [pytest.mark.anyio, pytest.mark.ordinary("functions stand in for Citus")]
_WORKER = CitusNode(1, "worker", 5432)


def number_directory(
    owner: psycopg.Connection, *, coordinator: LiteralString, worker: LiteralString
) -> None:
    """Let a coordinator give this number to the directory, and a worker have that one."""
    owner.execute(f"""
        create schema textrawl_content;
        create function textrawl_content.mark_directory() returns bigint return {coordinator};
        create function textrawl_content.read_mark() returns bigint return {worker};
    """)


async def import_spaces(dsn: str) -> None:
    """Import no space in a session that is both that of the coordinator and that of its worker."""
    async with await connect(dsn, 10) as connection:
        session = DistributedSession(connection, CellMap(()), {_WORKER: connection})
        await session.call("import_spaces", Jsonb([]))


async def test_an_import_does_not_wait_for_a_number_that_the_worker_has_passed(
    databases: Databases, database: str, owner: psycopg.Connection
) -> None:
    number_directory(owner, coordinator="7", worker="8")  # another server has counted meanwhile

    await import_spaces(databases.cluster.dsn(OWNER, database))


async def test_an_import_through_a_worker_is_refused(
    databases: Databases, database: str, owner: psycopg.Connection
) -> None:
    number_directory(owner, coordinator="null::bigint", worker="8")

    with pytest.raises(StartRefused, match="This node is a worker"):
        await import_spaces(databases.cluster.dsn(OWNER, database))
