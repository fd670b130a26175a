"""Sessions that hold what a command waits for, named so that somebody can end them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import anyio
import psycopg
from psycopg import AsyncConnection

from textrawl.errors import ServerBusy

_PAUSE = 0.5  # seconds between two looks: a transaction seen in both did not just pass by

# Every login may read these columns, also of sessions of others.
_LOCKS = """
    select l.pid, l.virtualtransaction, a.usename::text, bool_and(l.mode = 'AccessShareLock')
    from pg_locks l
    join pg_stat_activity a on a.pid = l.pid
    where l.granted and l.pid <> pg_backend_pid()
      and l.database = (select oid from pg_database where datname = current_database())
      and l.relation in (select oid from pg_class where relnamespace = to_regnamespace('textrawl'))
    group by 1, 2, 3
"""
# Whoever has no schema yet has no analysts: their role may be missing.
_END = """
    select pg_terminate_backend(a.pid)
    from pg_stat_activity a
    where a.pid = %s
      and exists (select from pg_locks l where l.pid = a.pid and l.virtualtransaction = %s)
      and exists (select from pg_roles r where r.rolname = 'textrawl_analyst'
                  and pg_has_role(a.usesysid, r.oid, 'member'))
      and not pg_has_role(
          a.usesysid, (select nspowner from pg_namespace where nspname = 'textrawl'), 'member')
"""


@dataclass(frozen=True, order=True)
class Holder:
    """A transaction that holds locks on tables of the memory; `reads` if it reads them only."""

    pid: int
    transaction: str
    login: str
    reads: bool


async def find_holders(connection: AsyncConnection[Any]) -> list[Holder]:
    """Transactions that have held tables of the memory for a while: those that write, if any."""
    before = await _read_holders(connection)
    await anyio.sleep(_PAUSE)
    found = sorted(before & await _read_holders(connection))
    return [holder for holder in found if not holder.reads] or found


async def _read_holders(connection: AsyncConnection[Any]) -> set[Holder]:
    cursor = await connection.execute(_LOCKS)
    return {Holder(*row) for row in await cursor.fetchall()}


async def end_analysts(connection: AsyncConnection[Any], holders: list[Holder]) -> None:
    """Ends those of `holders` that are logins of analysts, where this session may do that."""
    for holder in holders:
        with suppress(psycopg.errors.InsufficientPrivilege):
            await connection.execute(_END, (holder.pid, holder.transaction))


def describe_holders(holders: list[Holder]) -> str:
    """Who holds it and what to do, as a part of a message."""
    if not holders:
        return "another session holds what this needs: run it again in a while"
    names = ", ".join(f"{holder.login} (process {holder.pid})" for holder in holders[:5])
    return (
        f"{names} holds what this needs: run it again when that is done, or end it as an "
        f"administrator with `select pg_terminate_backend({holders[0].pid})`"
    )


@asynccontextmanager
async def name_holders(conninfo: str, timeout: float) -> AsyncGenerator[None]:
    """Says in a ServerBusy that passes who holds what was waited for."""
    from textrawl.postgres.migrations import connect  # noqa: PLC0415 - which names holders itself

    try:
        yield
    except ServerBusy as error:
        async with await connect(conninfo, timeout) as connection:
            found = await find_holders(connection)
        if not found:
            raise
        raise ServerBusy(f"{describe_holders(found)}; nothing was changed") from error
