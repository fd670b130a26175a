"""The tables of content, which Citus distributes over the workers."""

from dataclasses import dataclass
from typing import LiteralString, cast

from psycopg import AsyncConnection, sql

from textrawl.distribution.layout import CONTENT, DIRECTORY, MEMORY, OF_CELLS, OF_NODES

CELLS = 32  # of a new memory, if nothing else is said


@dataclass(frozen=True)
class ForeignKey:
    """A foreign key of a table of content, with its definition for the schema textrawl."""

    name: str
    table: str
    target: str
    definition: LiteralString

    @property
    def suits_citus(self) -> bool:
        """False if Citus refuses the key. Cells then add it to their shards."""
        return "SET NULL" not in self.definition


async def find_owner(connection: AsyncConnection) -> str:
    """Return the role that owns the memory on a node."""
    cursor = await connection.execute(
        "select nspowner::regrole::text from pg_namespace where nspname = %s", (MEMORY,)
    )
    return str(cast("tuple[str]", await cursor.fetchone())[0])


async def list_tables(connection: AsyncConnection) -> list[str]:
    """Return the names of the tables of content, in the ordinary schema of a node.

    Tables of vectors are not among them, because match_models() shows them to cells.
    """
    cursor = await connection.execute(
        """select relname::text from pg_class
           where relnamespace = to_regnamespace(%s) and relkind = 'r' and relname <> all(%s)
             and relname !~ '^embedding_[0-9]+$'
           order by relname <> 'entity', relname""",
        (MEMORY, [*DIRECTORY, *OF_CELLS, *OF_NODES]),
    )
    return [str(name) for (name,) in await cursor.fetchall()]


async def list_keys(connection: AsyncConnection) -> list[ForeignKey]:
    """Return the foreign keys between tables of content, in the ordinary schema of a node."""
    cursor = await connection.execute(
        """select k.conname::text, t.relname::text, f.relname::text, pg_get_constraintdef(k.oid)
           from pg_constraint k
           join pg_class t on t.oid = k.conrelid
           join pg_class f on f.oid = k.confrelid
           where k.contype = 'f' and k.connamespace = to_regnamespace(%s)
             and t.relname <> all(%s) and f.relname <> all(%s)
             and t.relname !~ '^embedding_[0-9]+$'
           order by t.relname, k.conname""",
        (MEMORY, others := [*DIRECTORY, *OF_CELLS, *OF_NODES], others),
    )
    return [ForeignKey(*row) for row in await cursor.fetchall()]


async def distribute_content(connection: AsyncConnection, cells: int) -> None:
    """Create the tables of content on the coordinator, and distribute them over `cells` shards.

    The session must let Citus repeat its DDL on the workers.
    """
    shards = sql.SQL("set citus.shard_count = {}").format(sql.Literal(cells))
    await connection.execute(shards)
    for table in await list_tables(connection):
        await distribute_table(connection, table)
    for key in await list_keys(connection):
        if key.suits_citus:
            await _add_key(connection, key)


async def distribute_table(connection: AsyncConnection, table: str) -> None:
    """Create a table like the one of the ordinary schema, and distribute it."""
    copy = sql.Identifier(CONTENT, table)
    original = sql.Identifier(MEMORY, table)
    # Cells number their rows themselves, so the column gets no sequence.
    await connection.execute(
        sql.SQL("create table {} (like {} including all excluding identity)").format(copy, original)
    )
    cursor = await connection.execute(
        "select reloptions from pg_class where oid = %s::regclass", (f"{MEMORY}.{table}",)
    )
    (options,) = cast("tuple[list[LiteralString] | None]", await cursor.fetchone())
    for option in options or []:
        # The options come from the catalogue, so they are as safe as the files of sql/.
        setting = sql.SQL(option)
        await connection.execute(sql.SQL("alter table {} set ({})").format(copy, setting))
    owner = await find_owner(connection)
    await connection.execute(
        sql.SQL("alter table {} owner to {}").format(copy, sql.Identifier(owner))
    )
    beside = "none" if table == "entity" else f"{CONTENT}.entity"
    await connection.execute(
        "select create_distributed_table(%s, 'space_id', colocate_with => %s)",
        (f"{CONTENT}.{table}", beside),
    )


async def give_tables(connection: AsyncConnection, owner: str) -> None:
    """Give the tables of content of a node to `owner`, but not their shards.

    To move shards, Citus logs in to workers as the owner of the table of the coordinator. This must
    be the superuser, because the owner of the memory cannot log in. On a worker the owner of the
    memory needs the table, to enter cells. The session must not let Citus repeat its DDL.
    """
    cursor = await connection.execute(
        """select c.relname::text from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
           where c.relnamespace = to_regnamespace(%s)
             and c.relowner <> %s::regrole order by 1""",
        (CONTENT, owner),
    )
    for (table,) in await cursor.fetchall():
        alter = sql.SQL("alter table {} owner to {}")
        names = sql.Identifier(CONTENT, table), sql.Identifier(owner)
        await connection.execute(alter.format(*names))


async def _add_key(connection: AsyncConnection, key: ForeignKey) -> None:
    definition = key.definition.replace(
        f"REFERENCES {MEMORY}.{key.target}", f"REFERENCES {CONTENT}.{key.target}"
    )
    await connection.execute(
        sql.SQL("alter table {} add constraint {} {}").format(
            sql.Identifier(CONTENT, key.table),
            sql.Identifier(key.name),
            sql.SQL(cast("LiteralString", definition)),
        )
    )
