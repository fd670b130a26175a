"""Positions of servers in the WAL, and what tells one server from another."""

from dataclasses import dataclass
from typing import cast

import psycopg

from textrawl.postgres.connection import Connection

# The end of everything that is committed. If `synchronous_commit` is off, a commit is acknowledged
# before it is flushed. Otherwise the flushed part is enough, and it reaches a standby sooner.
END_OF_WAL = b"""
    select pg_wal_lsn_diff(case when current_setting('synchronous_commit') = 'off'
        then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end, '0/0')::bigint
"""
# The id of the cluster is the same on a primary and its standbys, and on no other servers. Another
# database has other memories, and another login can have other rights.
# The condition fails where a provider does not offer the positions in the WAL.
_SYSTEM = b"""
    select concat_ws(' ', system_identifier, (
               select oid from pg_database where datname = current_database()), session_user)
    from pg_control_system()
    where case when pg_is_in_recovery() then pg_last_wal_replay_lsn()
          else pg_current_wal_flush_lsn() end is not null
"""
# Each promotion begins a new timeline. A standby has none of its own.
_TIMELINE = b"""
    select case when pg_is_in_recovery() then 0
           else ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::integer end
"""
# The control file of a standby has the timelines of its last restartpoint and last flushed commit.
# Postgres tells only monitors which timeline a standby replays now.
_FOLLOWED = b"""
    select greatest((pg_control_checkpoint()).timeline_id,
                    (pg_control_recovery()).min_recovery_end_timeline)
"""
_NOT_OFFERED = (
    psycopg.errors.FeatureNotSupported,
    psycopg.errors.InsufficientPrivilege,
    psycopg.errors.InternalError_,
    psycopg.errors.UndefinedFunction,
)
POSITION = b"""
    select pg_is_in_recovery(),
           coalesce(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), 0)::bigint
"""


@dataclass(frozen=True)
class Position:
    """The state of a server. `replayed` is the end of the replayed WAL, 0 if it replays none."""

    in_recovery: bool
    replayed: int


async def find_end(connection: Connection) -> int:
    """Return the end of the WAL of a primary. Raises psycopg.Error on a standby."""
    row = await (await connection.execute(END_OF_WAL)).fetchone()
    return cast("tuple[int]", row)[0]


async def find_system(connection: Connection) -> str | None:
    """Return the cluster, the database and the login, which a standby shares with its primary.

    Return None if the server does not offer its id or its position in the WAL.
    """
    try:
        row = await (await connection.execute(_SYSTEM)).fetchone()
    except _NOT_OFFERED:
        return None
    return row[0] if row else None


async def find_timeline(connection: Connection) -> int:
    """Return the timeline of a primary, or 0 if the server has none or does not offer it."""
    return await _find_number(connection, _TIMELINE)


async def find_followed_timeline(connection: Connection) -> int:
    """Return the last timeline that a standby is known to replay, or 0 if nobody can know it.

    After a promotion, the new timeline is known at the next restartpoint at the latest.
    """
    return await _find_number(connection, _FOLLOWED)


async def _find_number(connection: Connection, query: bytes) -> int:
    try:
        row = await (await connection.execute(query)).fetchone()
    except _NOT_OFFERED:
        return 0
    return cast("tuple[int]", row)[0]


async def find_position(connection: Connection) -> Position:
    """Return the position of a standby."""
    row = await (await connection.execute(POSITION)).fetchone()
    return Position(*cast("tuple[bool, int]", row))
