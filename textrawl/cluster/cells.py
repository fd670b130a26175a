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
from textrawl.postgres.connection import change, compose_names
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
        await change(connection, "alter table {} owner to {}", (CONTENT, f"{table}_{shard}"), owner)


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
        await _secure(connection, table, (CONTENT, f"{table}_{shard}"))
    cursor = await connection.execute(
        """select tablename::text, policyname::text, permissive, roles::text[], cmd, qual,
                  with_check
           from pg_policies where schemaname = %s and tablename = any(%s)""",
        (MEMORY, list(shards)),
    )
    for table, name, *policy in await cursor.fetchall():
        shard = CONTENT, f"{table}_{shards[table]}"
        await change(connection, "drop policy if exists {} on {}", name, shard)
        composed = _compose_policy(cell, *policy)
        await change(connection, "create policy {} on {} {}", name, shard, composed)


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
        drop = "drop trigger if exists {} on {}"
        await change(connection, drop, name, (CONTENT, f"{table}_{shards[table]}"))
        text = cast("LiteralString", definition.replace(f"ON {MEMORY}.{table} ", f"ON {shard} "))
        await connection.execute(move_into(cell.schema, text))


async def _add_key(connection: AsyncConnection, key: ForeignKey, shards: dict[str, int]) -> None:
    shard = CONTENT, f"{key.table}_{shards[key.table]}"
    name = f"{key.name}_{shards[key.table]}"
    definition = key.definition.replace(
        f"REFERENCES {MEMORY}.{key.target}(",
        f"REFERENCES {CONTENT}.{key.target}_{shards[key.target]}(",
    )
    await change(connection, "alter table {} drop constraint if exists {}", shard, name)
    constraint = sql.SQL(cast("LiteralString", definition))
    await change(connection, "alter table {} add constraint {} {}", shard, name, constraint)


async def _secure(connection: AsyncConnection, table: str, shard: tuple[str, str]) -> None:
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
        await change(connection, "alter table {} enable row level security", shard)
        await change(connection, "alter table {} force row level security", shard)
    for reader in readers or []:
        await change(connection, "grant select on {} to {}", shard, reader)


def _compose_policy(
    cell: Cell,
    permissive: LiteralString,
    roles: list[str],
    command: LiteralString,
    using: LiteralString | None,
    check: LiteralString | None,
) -> sql.Composed:
    names = [sql.SQL("public") if role == "public" else sql.Identifier(role) for role in roles]
    policy = compose_names(
        "as {} for {} to {}", sql.SQL(permissive), sql.SQL(command), sql.SQL(", ").join(names)
    )
    if using is not None:
        policy += compose_names(" using ({})", sql.SQL(move_into(cell.schema, using)))
    if check is not None:
        policy += compose_names(" with check ({})", sql.SQL(move_into(cell.schema, check)))
    return policy


_STEP = 65_536  # between two numbers of one cell, so that each cell has numbers of its own
# The spaces of a cell are those whose hash is in its range.
_SPACE_COLUMN = {"space": "id", "space_grant": "space_id"}


async def build_cell(connection: AsyncConnection, cell: Cell, vector_schema: str) -> None:
    """Build `cell` on its node in one transaction. A cell that stands there is replaced."""
    async with connection.transaction():
        await connection.execute("set local citus.enable_manual_changes_to_shards = on")
        # Shards have to be visible in the catalogue.
        await connection.execute("set local citus.override_table_visibility = off")
        await drop_cell(connection, cell.schema)
        owner = await find_owner(connection)
        await own_shards(connection, cell, owner)
        await change(connection, "create schema {} authorization {}", cell.schema, owner)
        await change(connection, "set local role {}", owner)
        path = "set local search_path = {}, {}, pg_temp"
        await change(connection, path, cell.schema, vector_schema)
        await _create_tables(connection, cell)
        await complete_shards(connection, cell)
        await _create_code(connection, cell)
        await protect_shards(connection, cell)
        for function in read_folder("cells").values():  # the few that differ in a cell
            await connection.execute(move_into(cell.schema, function))
        await change(
            connection,
            "create trigger model_is_queued instead of update on {cell}.embedding_model "
            "for each row execute function {cell}.note_queued()",
            cell=cell.schema,
        )
        revoke = "revoke execute on function {}.note_queued() from public"
        await change(connection, revoke, cell.schema)


async def drop_cell(connection: AsyncConnection, schema: str) -> None:
    """Drop a cell, such as one that has been moved away, so that nobody reads what it was."""
    await change(connection, "drop schema if exists {} cascade", schema)


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
        await _replace_table(connection, cell, table, (CONTENT, f"{table}_{shards[table]}"))
    for table in {*DIRECTORY, *OF_NODES} - {"embedding_model"}:
        await _replace_table(connection, cell, table, (MEMORY, table))
    await _queue_models(connection, cell)
    await _number_rows(connection, cell)


async def _replace_table(
    connection: AsyncConnection, cell: Cell, table: str, target: tuple[str, str]
) -> None:
    """Replace a table of the cell by a view of `target`, with the same columns and defaults."""
    columns = await _list_columns(connection, table)
    view = cell.schema, table
    condition: sql.Composable = sql.SQL("")
    if table in _SPACE_COLUMN:
        least, most = sql.Literal(cell.low), sql.Literal(cell.high)
        condition = compose_names(
            "where worker_hash({}) between {} and {}", _SPACE_COLUMN[table], least, most
        )
    await change(connection, "drop table if exists {} cascade", view)
    # Policies of the rows apply to analysts only if the view has the rights of its caller. Without
    # policies, the view has the rights of its owner, because analysts can read some columns only.
    await change(
        connection,
        "create view {} with (security_invoker = {}) as select {} from {} {}",
        view,
        sql.Literal(table not in OPEN),
        sql.SQL(", ").join(map(sql.Identifier, columns)),
        target,
        condition,
    )
    setting = "alter view {} alter column {} set default {}"
    for name, default in columns.items():
        if default is not None:
            value = sql.SQL(number_transactions(default, cell.placement))
            await change(connection, setting, view, name, value)


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
    names = {"cell": cell.schema, "memory": MEMORY}
    columns = await _list_columns(connection, "embedding_model")
    state = ("queued", "queued_space", "queued_observation")
    shown = [
        compose_names(
            "(select q.{0} from {cell}.model_queue q where q.model = m.id) as {0}", name, **names
        )
        if name in state
        else compose_names("m.{}", name)
        for name in columns
    ]
    await change(connection, "drop table {cell}.embedding_model cascade", **names)
    await change(
        connection,
        "create table {cell}.model_queue (model integer primary key, queued boolean not null, "
        "queued_space integer, queued_observation uuid)",
        **names,
    )
    view = (
        "create view {cell}.embedding_model with (security_invoker = true) "
        "as select {} from {memory}.embedding_model m"
    )
    await change(connection, view, sql.SQL(", ").join(shown), **names)


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
        sequence, view = (cell.schema, f"{table}_{column}_seq"), (cell.schema, table)
        name, step = sql.Literal(".".join(sequence)), sql.Literal(_STEP)
        own = sql.Literal(cell.shard % _STEP)
        await change(connection, "create sequence {} increment {}", sequence, step)
        start = "select setval({}, (coalesce(max({}), 0) / {} + 1) * {} + {}, false) from {}"
        await change(connection, start, name, column, step, step, own, view)
        default = "alter view {} alter column {} set default nextval({})"
        await change(connection, default, view, column, name)
        # Functions ask for the number of the last row by the name of the column.
        await change(connection, "alter sequence {} owned by {}.{}", sequence, view, column)


async def _create_code(connection: AsyncConnection, cell: Cell) -> None:
    functions, views = read_folder(*list_folders()), read_folder("views")
    texts = [functions[name] for name in order_functions(functions)]
    # One message to the server for all of them takes half the time.
    code = cast("LiteralString", "\n".join((*texts, *views.values())))
    code = number_transactions(code, cell.placement)
    await connection.execute(move_into(cell.schema, code))
    schema = cell.schema
    await change(connection, "revoke execute on all functions in schema {} from public", schema)
    await change(connection, "grant usage on schema {} to textrawl_app, textrawl_analyst", schema)
    await connection.execute(move_into(schema, read_grants()))
    await change(connection, "comment on schema {} is {}", schema, sql.Literal(write_state(cell)))
