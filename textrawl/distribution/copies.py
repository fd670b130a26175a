"""The copies of the directory: the rows of the coordinator on each worker, and their changes.

A new copy of Postgres itself would be empty for a moment, and calls would be refused meanwhile. So
the rows are replaced in one transaction, and only later changes come by logical replication.
"""

from typing import Any, LiteralString

import anyio
from psycopg import AsyncConnection, sql

from textrawl.distribution.layout import CONTENT, DIRECTORY, MEMORY
from textrawl.errors import StartRefused

PUBLICATION = "textrawl_directory"  # each worker has a subscription of this name, too
TABLES = (*((MEMORY, name) for name in DIRECTORY), (CONTENT, "directory_mark"))
_LONGEST_END = 30.0  # seconds that the connection of a former subscription may need to end
_PAUSE = 0.02
_COLUMNS = """
    select array_agg(attname::text order by attnum) from pg_attribute
    where attrelid = %s::regclass and attnum > 0 and not attisdropped and attgenerated = ''
"""


async def copy_directory(
    coordinator: AsyncConnection, worker: AsyncConnection, *, slot: str, dsn: str
) -> None:
    """Give a worker the rows of the directory, and let it follow their changes from now on.

    A copy that exists is replaced, and readers see no state between the two. `slot` is the name of
    the worker's replication slot on the coordinator, and `dsn` leads the worker there.
    """
    former = await find_slot(worker)
    if former is not None:
        await _unsubscribe(worker)
    await _drop_slots(coordinator, {slot, former or slot})
    # The slot keeps all changes from here on, and the lock lets nobody change rows while they are
    # copied. Without this order, the creation of the slot would wait for calls that wait for it.
    await _subscribe(worker, slot, dsn)
    async with coordinator.transaction():
        await coordinator.execute(sql.SQL("lock table {} in share mode").format(_list_tables()))
        await _skip_changes(coordinator, slot)
        await _replace_rows(coordinator, worker)
    await worker.execute(
        sql.SQL("alter subscription {} enable").format(sql.Identifier(PUBLICATION))
    )


async def find_slot(worker: AsyncConnection) -> str | None:
    """Return the slot of a worker's copy, or None if it has no copy.

    The name is empty if an interrupted migration has taken the slot from the copy.
    """
    query = """
        select coalesce(s.subslotname::text, '') from pg_subscription s
        join pg_database d on d.oid = s.subdbid
        where s.subname = %s and d.datname = current_database()"""
    row = await _fetch(worker, query, PUBLICATION)
    return row[0] if row else None


async def _unsubscribe(worker: AsyncConnection) -> None:
    """End the former subscription, whose coordinator can be gone."""
    for change in (
        "alter subscription {} disable",
        "alter subscription {} set (slot_name = none)",
        "drop subscription {}",
    ):
        await worker.execute(sql.SQL(change).format(sql.Identifier(PUBLICATION)))


async def _drop_slots(coordinator: AsyncConnection, names: set[str]) -> None:
    """Drop replication slots when they are free: the connection of a worker takes a while to end.

    Raises StartRefused if a slot stays in use.
    """
    drop = """
        select pg_drop_replication_slot(slot_name) from pg_replication_slots
        where slot_name = any(%s) and not active"""
    left = "select slot_name from pg_replication_slots where slot_name = any(%s)"
    slots = (sorted(names),)
    with anyio.move_on_after(_LONGEST_END):
        while True:
            await coordinator.execute(drop, slots)
            if not await _fetch(coordinator, left, *slots):
                return
            await anyio.sleep(_PAUSE)
    raise StartRefused(
        f"A replication slot of the coordinator is still in use ({', '.join(slots[0])}): end the "
        "server that uses it, such as a former worker, then repeat this"
    )


async def _skip_changes(coordinator: AsyncConnection, slot: str) -> None:
    """Let a slot begin with the changes after this moment."""
    # A slot advances only over flushed changes. The switch also flushes commits that were
    # acknowledged without `synchronous_commit`.
    [position] = await _fetch(coordinator, "select pg_switch_wal()")
    await coordinator.execute("select pg_replication_slot_advance(%s, %s)", (slot, position))


async def _subscribe(worker: AsyncConnection, slot: str, dsn: str) -> None:
    # The owner of the subscription is a superuser, who may write to tables with row-level security.
    await worker.execute(
        sql.SQL(
            "create subscription {} connection {} publication {} "
            "with (slot_name = {}, run_as_owner, copy_data = false, enabled = false)"
        ).format(
            sql.Identifier(PUBLICATION),
            sql.Literal(dsn),
            sql.Identifier(PUBLICATION),
            sql.Literal(slot),
        )
    )


async def _replace_rows(coordinator: AsyncConnection, worker: AsyncConnection) -> None:
    async with worker.transaction():
        # As in a subscription, triggers and keys do not act: the coordinator has checked the rows.
        await worker.execute("set local session_replication_role = replica")
        for table in TABLES:
            await worker.execute(sql.SQL("delete from {}").format(sql.Identifier(*table)))
        for table in TABLES:
            await _copy_rows(coordinator, worker, sql.Identifier(*table))


async def _copy_rows(
    coordinator: AsyncConnection, worker: AsyncConnection, table: sql.Identifier
) -> None:
    [names] = await _fetch(coordinator, _COLUMNS, table.as_string())
    columns = sql.SQL(", ").join(map(sql.Identifier, names))
    read = sql.SQL("copy {table} ({columns}) to stdout (format binary)").format(
        table=table, columns=columns
    )
    write = sql.SQL("copy {table} ({columns}) from stdin (format binary)").format(
        table=table, columns=columns
    )
    async with coordinator.cursor().copy(read) as rows, worker.cursor().copy(write) as stored:
        async for part in rows:
            await stored.write(part)


def _list_tables() -> sql.Composed:
    return sql.SQL(", ").join(sql.Identifier(*table) for table in TABLES)


async def _fetch(
    connection: AsyncConnection, query: LiteralString, *values: object
) -> tuple[Any, ...]:
    return await (await connection.execute(query, values)).fetchone() or ()
