"""The shards of a cell: what they need beyond what Citus keeps on them.

Citus creates a shard with columns, indexes and most keys. Triggers, row-level security, rights and
the keys that Citus refuses are added on the node itself, again after each move.
"""

import re
from typing import LiteralString, cast

from psycopg import AsyncConnection, sql

from textrawl.distribution.content import ForeignKey, list_keys
from textrawl.distribution.layout import CONTENT, MEMORY, move_into
from textrawl.distribution.map import Cell

_VECTORS = re.compile(r"embedding_[0-9]+")


async def own_shards(connection: AsyncConnection, cell: Cell, owner: str) -> None:
    """Give the shards to the owner of the memory. After a move they belong to the superuser."""
    for table, shard in (await list_shards(connection, cell)).items():
        await connection.execute(
            sql.SQL("alter table {} owner to {}").format(
                sql.Identifier(CONTENT, f"{table}_{shard}"), sql.Identifier(owner)
            )
        )


async def complete_shards(connection: AsyncConnection, cell: Cell) -> None:
    """Add triggers and keys to the shards of `cell`. Its functions of triggers must exist."""
    shards = await list_content_shards(connection, cell)
    await _add_triggers(connection, cell, shards)
    for key in await list_keys(connection):
        if not key.suits_citus:
            await _add_key(connection, key, shards)


async def protect_shards(connection: AsyncConnection, cell: Cell) -> None:
    """Give the shards the row-level security and the rights of the ordinary tables."""
    shards = await list_content_shards(connection, cell)
    for table, shard in shards.items():
        await _secure(connection, table, sql.Identifier(CONTENT, f"{table}_{shard}"))
    cursor = await connection.execute(
        """select tablename::text, policyname::text, permissive, roles::text[], cmd, qual,
                  with_check
           from pg_policies where schemaname = %s and tablename = any(%s)""",
        (MEMORY, list(shards)),
    )
    for table, name, *policy in await cursor.fetchall():
        shard = sql.Identifier(CONTENT, f"{table}_{shards[table]}")
        drop = sql.SQL("drop policy if exists {} on {}")
        await connection.execute(drop.format(sql.Identifier(name), shard))
        await connection.execute(
            sql.SQL("create policy {} on {} {}").format(
                sql.Identifier(name), shard, _compose_policy(cell, *policy)
            )
        )


async def list_content_shards(connection: AsyncConnection, cell: Cell) -> dict[str, int]:
    """Return the shard of each table of content in `cell`, without tables of vectors."""
    shards = await list_shards(connection, cell)
    return {table: shard for table, shard in shards.items() if not _VECTORS.fullmatch(table)}


async def list_shards(connection: AsyncConnection, cell: Cell) -> dict[str, int]:
    """Return the shard of each table of content and of vectors in `cell`."""
    cursor = await connection.execute(
        """select c.relname::text, s.shardid from pg_dist_shard s
           join pg_class c on c.oid = s.logicalrelid
           where c.relnamespace = to_regnamespace(%s) and s.shardminvalue::integer = %s
             and s.shardmaxvalue::integer = %s""",
        (CONTENT, cell.low, cell.high),
    )
    return dict(await cursor.fetchall())


async def _add_triggers(connection: AsyncConnection, cell: Cell, shards: dict[str, int]) -> None:
    cursor = await connection.execute(
        """select c.relname::text, t.tgname::text, pg_get_triggerdef(t.oid)
           from pg_trigger t join pg_class c on c.oid = t.tgrelid
           where c.relnamespace = to_regnamespace(%s) and not t.tgisinternal
             and t.tgname <> 'rows_are_refused'""",
        (MEMORY,),
    )
    for table, name, definition in await cursor.fetchall():
        shard = f"{CONTENT}.{table}_{shards[table]}"
        drop = sql.SQL("drop trigger if exists {} on {}")
        await connection.execute(
            drop.format(sql.Identifier(name), sql.Identifier(*shard.split(".")))
        )
        text = cast("LiteralString", definition.replace(f"ON {MEMORY}.{table} ", f"ON {shard} "))
        await connection.execute(move_into(cell.schema, text))


async def _add_key(connection: AsyncConnection, key: ForeignKey, shards: dict[str, int]) -> None:
    shard = sql.Identifier(CONTENT, f"{key.table}_{shards[key.table]}")
    name = sql.Identifier(f"{key.name}_{shards[key.table]}")
    definition = key.definition.replace(
        f"REFERENCES {MEMORY}.{key.target}(",
        f"REFERENCES {CONTENT}.{key.target}_{shards[key.target]}(",
    )
    await connection.execute(
        sql.SQL("alter table {} drop constraint if exists {}").format(shard, name)
    )
    await connection.execute(
        sql.SQL("alter table {} add constraint {} {}").format(
            shard, name, sql.SQL(cast("LiteralString", definition))
        )
    )


async def _secure(connection: AsyncConnection, table: str, shard: sql.Identifier) -> None:
    """Enable row-level security, and copy the rights of the ordinary table."""
    cursor = await connection.execute(
        """select relrowsecurity, (
               select array_agg(distinct x.grantee::regrole::text) from aclexplode(c.relacl) x
               where x.privilege_type = 'SELECT' and x.grantee <> c.relowner)
           from pg_class c where oid = %s::regclass""",
        (f"{MEMORY}.{table}",),
    )
    secured, readers = cast("tuple[bool, list[str] | None]", await cursor.fetchone())
    if secured:
        await connection.execute(sql.SQL("alter table {} enable row level security").format(shard))
        await connection.execute(sql.SQL("alter table {} force row level security").format(shard))
    for reader in readers or []:
        await connection.execute(
            sql.SQL("grant select on {} to {}").format(shard, sql.Identifier(reader))
        )


def _compose_policy(
    cell: Cell,
    permissive: LiteralString,
    roles: list[str],
    command: LiteralString,
    using: LiteralString | None,
    check: LiteralString | None,
) -> sql.Composed:
    names = [sql.SQL("public") if role == "public" else sql.Identifier(role) for role in roles]
    policy = sql.SQL("as {} for {} to {}").format(
        sql.SQL(permissive), sql.SQL(command), sql.SQL(", ").join(names)
    )
    if using is not None:
        policy += sql.SQL(" using ({})").format(sql.SQL(move_into(cell.schema, using)))
    if check is not None:
        policy += sql.SQL(" with check ({})").format(sql.SQL(move_into(cell.schema, check)))
    return policy
