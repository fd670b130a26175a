"""Cells and their shards: a cell is a schema whose functions use one range of spaces.

The ordinary schema of the node is the pattern of a cell. Each table of content becomes a view of
its shard, and each table of the directory a view of the node's copy. Functions and views are those
of sql/, with another name of the schema.
"""

import re
from typing import LiteralString, cast

from psycopg import AsyncConnection, sql

from textrawl.cluster.layout import (
    CONTENT,
    DIRECTORY,
    MEMORY,
    OF_NODES,
    OPEN,
    Cell,
    ForeignKey,
    find_owner,
    list_keys,
    list_tables,
    move_into,
    number_transactions,
)
from textrawl.postgres.sql_files import (
    list_folders,
    order_functions,
    read_fingerprint,
    read_folder,
    read_grants,
)

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


_STEP = 65_536  # between two numbers of one cell, so that each cell has numbers of its own
# Functions find out by this system column whether they stored a row or changed one.
_SYSTEM = {"memory_link": ("xmax",), "proposal": ("xmax",)}
# The spaces of a cell are those whose hash is in its range.
_SPACE_COLUMN = {"space": "id", "space_grant": "space_id"}


async def build_cell(connection: AsyncConnection, cell: Cell, vector_schema: str) -> None:
    """Build `cell` on its node in one transaction. A cell that stands there is replaced."""
    schema = sql.Identifier(cell.schema)
    async with connection.transaction():
        await connection.execute("set local citus.enable_manual_changes_to_shards = on")
        # Shards have to be visible in the catalogue.
        await connection.execute("set local citus.override_table_visibility = off")
        await connection.execute(sql.SQL("drop schema if exists {} cascade").format(schema))
        owner = await find_owner(connection)
        await own_shards(connection, cell, owner)
        await connection.execute(
            sql.SQL("create schema {} authorization {}").format(schema, sql.Identifier(owner))
        )
        await connection.execute(sql.SQL("set local role {}").format(sql.Identifier(owner)))
        await connection.execute(
            sql.SQL("set local search_path = {}, {}, pg_temp").format(
                schema, sql.Identifier(vector_schema)
            )
        )
        await _create_tables(connection, cell)
        await complete_shards(connection, cell)
        await _create_code(connection, cell)
        await protect_shards(connection, cell)
        await _create_own_code(connection, cell)


async def find_vector_schema(connection: AsyncConnection) -> str:
    """Return the schema of pgvector."""
    cursor = await connection.execute(
        "select extnamespace::regnamespace::text from pg_extension where extname = 'vector'"
    )
    row = await cursor.fetchone()
    return str(row[0]) if row else "public"


async def drop_cell(connection: AsyncConnection, schema: str) -> None:
    """Drop a cell that has been moved away, so that nobody reads what it was."""
    await connection.execute(
        sql.SQL("drop schema if exists {} cascade").format(sql.Identifier(schema))
    )


def write_state(cell: Cell) -> str:
    """Return the comment of the schema of a cell that has this code and this placement."""
    return f"{read_fingerprint()} {cell.placement}"


async def _create_tables(connection: AsyncConnection, cell: Cell) -> None:
    """Create types, functions of triggers and tables, and replace the tables by views."""
    await connection.execute(
        """create table migration (name text primary key);
           create table code (singleton boolean primary key, fingerprint text not null)"""
    )
    texts = read_folder("migrations").values()
    await connection.execute(move_into(cell.schema, "\n".join(texts)))
    shards = await list_content_shards(connection, cell)
    for table in await list_tables(connection):
        await _replace_table(connection, cell, table, f"{CONTENT}.{table}_{shards[table]}")
    for table in {*DIRECTORY, *OF_NODES} - {"embedding_model"}:
        await _replace_table(connection, cell, table, f"{MEMORY}.{table}")
    await _queue_models(connection, cell)
    await _number_rows(connection, cell)


async def _replace_table(connection: AsyncConnection, cell: Cell, table: str, target: str) -> None:
    """Replace a table of the cell by a view of `target`, with the same columns and defaults."""
    columns = await _list_columns(connection, table)
    view = sql.Identifier(cell.schema, table)
    condition = sql.SQL("")
    if table in _SPACE_COLUMN:
        condition = sql.SQL("where worker_hash({}) between {} and {}").format(
            sql.Identifier(_SPACE_COLUMN[table]), sql.Literal(cell.low), sql.Literal(cell.high)
        )
    await connection.execute(sql.SQL("drop table if exists {} cascade").format(view))
    # Policies of the rows apply to analysts only if the view has the rights of its caller. Without
    # policies, the view has the rights of its owner, because analysts can read some columns only.
    invoker = sql.Literal(table not in OPEN)
    await connection.execute(
        sql.SQL("create view {} with (security_invoker = {}) as select {} from {} {}").format(
            view,
            invoker,
            sql.SQL(", ").join(map(sql.Identifier, (*columns, *_SYSTEM.get(table, ())))),
            sql.Identifier(*target.split(".")),
            condition,
        )
    )
    setting = sql.SQL("alter view {} alter column {} set default {}")
    for name, default in columns.items():
        if default is not None:
            value = sql.SQL(number_transactions(default, cell.placement))
            await connection.execute(setting.format(view, sql.Identifier(name), value))


async def _list_columns(connection: AsyncConnection, table: str) -> dict[str, LiteralString | None]:
    """Return the columns of an ordinary table, each with its default."""
    cursor = await connection.execute(
        """select a.attname::text,
                  case when a.attgenerated = '' then pg_get_expr(d.adbin, d.adrelid) end
           from pg_attribute a
           left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
           where a.attrelid = %s::regclass and a.attnum > 0 and not a.attisdropped
           order by a.attnum""",
        (f"{MEMORY}.{table}",),
    )
    return dict(await cursor.fetchall())


async def _queue_models(connection: AsyncConnection, cell: Cell) -> None:
    """Let the cell know for itself which facts of its spaces are queued for a vector."""
    names = {"cell": sql.Identifier(cell.schema), "memory": sql.Identifier(MEMORY)}
    columns = await _list_columns(connection, "embedding_model")
    state = ("queued", "queued_space", "queued_observation")
    shown = [
        sql.SQL("(select q.{0} from {cell}.model_queue q where q.model = m.id) as {0}").format(
            sql.Identifier(name), **names
        )
        if name in state
        else sql.SQL("m.{}").format(sql.Identifier(name))
        for name in columns
    ]
    await connection.execute(sql.SQL("drop table {cell}.embedding_model cascade").format(**names))
    await connection.execute(
        sql.SQL(
            "create table {cell}.model_queue (model integer primary key, queued boolean not null, "
            "queued_space integer, queued_observation uuid)"
        ).format(**names)
    )
    view = sql.SQL(
        "create view {cell}.embedding_model with (security_invoker = true) "
        "as select {} from {memory}.embedding_model m"
    )
    await connection.execute(view.format(sql.SQL(", ").join(shown), **names))


async def _number_rows(connection: AsyncConnection, cell: Cell) -> None:
    """Let the cell number its own rows, after those that it already has.

    The numbers of two cells differ, because an undo is named by its number alone.
    """
    cursor = await connection.execute(
        """select c.relname::text, a.attname::text from pg_attribute a
           join pg_class c on c.oid = a.attrelid
           where c.relnamespace = to_regnamespace(%s) and a.attidentity <> ''
             and c.relname <> all(%s)""",
        (MEMORY, list(DIRECTORY)),
    )
    for table, column in await cursor.fetchall():
        name = f"{cell.schema}.{table}_{column}_seq"
        sequence = sql.Identifier(*name.split("."))
        view, key = sql.Identifier(cell.schema, table), sql.Identifier(column)
        step, own = sql.Literal(_STEP), sql.Literal(cell.shard % _STEP)
        create = sql.SQL("create sequence {} increment {}")
        await connection.execute(create.format(sequence, step))
        start = sql.SQL(
            "select setval({}, (coalesce(max({}), 0) / {} + 1) * {} + {}, false) from {}"
        )
        await connection.execute(start.format(sql.Literal(name), key, step, step, own, view))
        default = sql.SQL("alter view {} alter column {} set default nextval({})")
        await connection.execute(default.format(view, key, sql.Literal(name)))
        # Functions ask for the number of the last row by the name of the column.
        own_by = sql.SQL("alter sequence {} owned by {}.{}")
        await connection.execute(own_by.format(sequence, view, key))


async def _create_code(connection: AsyncConnection, cell: Cell) -> None:
    functions, views = read_folder(*list_folders()), read_folder("views")
    texts = [functions[name] for name in order_functions(functions)]
    # One message to the server for all of them takes half the time.
    code = cast("LiteralString", "\n".join((*texts, *views.values())))
    code = number_transactions(code, cell.placement)
    await connection.execute(move_into(cell.schema, code))
    schema = sql.Identifier(cell.schema)
    await connection.execute(
        sql.SQL("revoke execute on all functions in schema {} from public").format(schema)
    )
    await connection.execute(
        sql.SQL("grant usage on schema {} to textrawl_app, textrawl_analyst").format(schema)
    )
    await connection.execute(move_into(cell.schema, read_grants()))
    await connection.execute(
        sql.SQL("comment on schema {} is {}").format(schema, sql.Literal(write_state(cell)))
    )


async def _create_own_code(connection: AsyncConnection, cell: Cell) -> None:
    """Create the few functions that differ in a cell, and show it the vectors."""
    for function in read_folder("cells").values():
        await connection.execute(move_into(cell.schema, function))
    view = sql.Identifier(cell.schema, "embedding_model")
    await connection.execute(
        sql.SQL(
            "create trigger model_is_queued instead of update on {} "
            "for each row execute function {}.note_queued()"
        ).format(view, sql.Identifier(cell.schema))
    )
    revoke = sql.SQL("revoke execute on function {}.note_queued() from public")
    await connection.execute(revoke.format(sql.Identifier(cell.schema)))
