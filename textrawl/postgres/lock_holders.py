"""Sessions that hold a lock which a command needs. A message names them, so a user can end them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import anyio
import psycopg
from psycopg import AsyncConnection

from textrawl.errors import ServerBusy
from textrawl.postgres.connection import connect

_PAUSE = 0.5  # seconds between two queries: a lock in both results is held for at least this time

# Every login can read these columns, also for sessions of other roles.
_LOCKS = """
    select l.pid, l.virtualtransaction, a.usename::text, bool_and(l.mode = 'AccessShareLock')
    from pg_locks l
    join pg_stat_activity a on a.pid = l.pid
    where l.granted and l.pid <> pg_backend_pid()
      and l.database = (select oid from pg_database where datname = current_database())
      and l.relation in (select oid from pg_class where relnamespace = to_regnamespace('textrawl'))
    group by 1, 2, 3
"""
# A server that was never migrated does not have the role of analysts.
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
class LockHolder:
    """A transaction with locks on tables of the memory. `reads` is true if it only reads them."""

    pid: int
    transaction: str
    login: str
    reads: bool


async def find_lock_holders(connection: AsyncConnection[Any]) -> list[LockHolder]:
    """Return the transactions that hold locks for 0.5 s: writers, or readers if no writer does."""
    before = await _read_lock_holders(connection)
    await anyio.sleep(_PAUSE)
    holders = sorted(before & await _read_lock_holders(connection))
    return [holder for holder in holders if not holder.reads] or holders


async def _read_lock_holders(connection: AsyncConnection[Any]) -> set[LockHolder]:
    cursor = await connection.execute(_LOCKS)
    return {LockHolder(*row) for row in await cursor.fetchall()}


async def end_analyst_sessions(connection: AsyncConnection[Any], holders: list[LockHolder]) -> None:
    """End the sessions of analysts among `holders`, if this login is allowed to end them."""
    for holder in holders:
        with suppress(psycopg.errors.InsufficientPrivilege):
            await connection.execute(_END, (holder.pid, holder.transaction))


def describe_lock_holders(holders: list[LockHolder]) -> str:
    """Return a part of a message that names the sessions and says what to do."""
    if not holders:
        return "another session holds a lock that this command needs: run it again later"
    names = ", ".join(f"{holder.login} (process {holder.pid})" for holder in holders[:5])
    return (
        f"{names} holds a lock that this command needs: wait until it is released and run the "
        "command again, or end that session as an administrator with "
        f"`select pg_terminate_backend({holders[0].pid})`"
    )


@asynccontextmanager
async def name_lock_holders(conninfo: str, timeout: float) -> AsyncGenerator[None]:
    """Add the sessions that hold the lock to a ServerBusy that the `with` block raises."""
    try:
        yield
    except ServerBusy as error:
        async with await connect(conninfo, timeout) as connection:
            holders = await find_lock_holders(connection)
        if not holders:
            raise
        raise ServerBusy(f"{describe_lock_holders(holders)}; nothing was changed") from error
