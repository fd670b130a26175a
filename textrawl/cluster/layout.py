"""The layout of a cluster: its tables, cells and nodes."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import LiteralString, cast

from psycopg import AsyncConnection, sql

from textrawl.errors import StartRefused
from textrawl.postgres.connection import change, read_conninfo, write_conninfo

MEMORY = "textrawl"
CONTENT = "textrawl_content"
WORKER_REFUSED = "This node is a worker: set TEXTRAWL_DATABASE_URL to the coordinator"
CELLS = "textrawl_cell_"

# Every node has these tables. The coordinator changes them, and the workers follow.
DIRECTORY = ("actor", "embedding_model", "receipt_secret", "space", "space_grant", "token")
# Each cell has these tables for itself: they are made from its content, or lock a part of it.
OF_CELLS = (
    "ranking_weight",
    "removal_lock",
    "search_statistics",
    "vector_index_claim",
    "word_form",
)
# These tables have no row-level security, because their rows belong to no space.
OPEN = ("actor", "code", "embedding_model", "migration", "receipt_secret")
# Each node has these tables for itself.
OF_NODES = ("code", "migration")


# A move gives the shards of a cell new placements. Each placement has room for as many transactions
# as a node makes in decades.
_TRANSACTIONS = 2**40
_NUMBER = re.compile(r"pg_current_xact_id\(\)|pg_snapshot_(?:xmin|xmax)\(pg_current_snapshot\(\)\)")


def number_transactions(text: LiteralString, placement: int) -> LiteralString:
    """Return code of a cell whose numbers of transactions belong to one placement.

    Each node counts its own transactions. With the placement before the number, the transactions
    after a move come after those before it, so followers of the trail keep their place.
    """
    number = rf"((\g<0>)::text::bigint + {placement * _TRANSACTIONS})::text::xid8"
    return cast("LiteralString", _NUMBER.sub(number, text))


def move_into(schema: str, text: LiteralString) -> LiteralString:
    """Return a statement for the schema textrawl, changed for `schema`."""
    changed = re.sub(r"\btextrawl\.", f"{schema}.", text)
    changed = re.sub(r"'textrawl'(?=::regnamespace)", f"'{schema}'", changed)
    changed = re.sub(r"(?<=nspname = )'textrawl'", f"'{schema}'", changed)
    # The text comes from files of the package or from the catalogue, so it is as safe as before.
    return cast("LiteralString", changed)


@dataclass(frozen=True)
class CitusNode:
    """A worker. Servers reach it at `host` and `port`."""

    id: int
    host: str
    port: int

    @property
    def address(self) -> str:
        """Host and port, as commands write and accept them."""
        return f"{self.host}:{self.port}"

    def find(self, conninfo: str) -> str:
        """Return `conninfo` with the address of this node in place of that of the coordinator."""
        parts = read_conninfo(conninfo)
        for name in ("hostaddr", "target_session_attrs", "load_balance_hosts"):
            parts.pop(name, None)
        return write_conninfo(**parts | {"host": self.host, "port": str(self.port)})


@dataclass(frozen=True)
class Cell:
    """The spaces whose hashes are from `low` to `high`, and the node that they are on.

    `shard` is the id of the cell's shard of the table `entity`. A move gives the shard another
    `placement`, with a higher number.
    """

    shard: int
    low: int
    high: int
    node: CitusNode
    placement: int

    @cached_property
    def schema(self) -> str:
        """The name of the schema of the cell."""
        return f"{CELLS}{self.shard}"


@dataclass(frozen=True)
class CellMap:
    """All cells, in the order of their shards."""

    cells: tuple[Cell, ...]

    def find_cell(self, shard: int) -> Cell | None:
        """Return the cell with this shard, or None if this map is too old to have it."""
        return self._by_shard.get(shard)

    @cached_property
    def nodes(self) -> tuple[CitusNode, ...]:
        """The workers that have cells, in the order of their ids."""
        return tuple(sorted({cell.node for cell in self.cells}, key=lambda node: node.id))

    @cached_property
    def _by_shard(self) -> dict[int, Cell]:
        return {cell.shard: cell for cell in self.cells}


async def read_map(connection: AsyncConnection) -> CellMap:
    """Read the map from the coordinator."""
    cursor = await connection.execute(
        "select shard, low, high, placement, node, host, port from textrawl_content.list_cells()"
    )
    return CellMap(
        tuple(
            Cell(shard, low, high, CitusNode(*node), placement)
            for shard, low, high, placement, *node in await cursor.fetchall()
        )
    )


async def find_shards(connection: AsyncConnection, spaces: list[int]) -> dict[int, int]:
    """Return the shard of each space, asked from the coordinator."""
    query = "select space, shard from textrawl_content.find_shards(%s)"
    return dict(await (await connection.execute(query, (spaces,))).fetchall())


async def mark_directory(connection: AsyncConnection) -> int:
    """Give the present state of the directory a number on the coordinator, and return it.

    Raises StartRefused on a worker, which numbers nothing.
    """
    query = "select textrawl_content.mark_directory()"
    row = cast("tuple[int | None]", await (await connection.execute(query)).fetchone())
    if row[0] is None:
        raise StartRefused(WORKER_REFUSED)
    return row[0]


async def read_mark(connection: AsyncConnection) -> int:
    """Return the number of the newest state of the directory that a node has."""
    query = "select textrawl_content.read_mark()"
    return cast("tuple[int]", await (await connection.execute(query)).fetchone())[0]


DEFAULT_CELLS = 32  # of a new memory, if nothing else is said


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
    await change(connection, "set citus.shard_count = {}", sql.Literal(cells))
    for table in await list_tables(connection):
        await distribute_table(connection, table)
    for key in await list_keys(connection):
        if key.suits_citus:
            await _add_key(connection, key)


async def distribute_table(connection: AsyncConnection, table: str) -> None:
    """Create a table like the one of the ordinary schema, and distribute it."""
    copy = CONTENT, table
    # Cells number their rows themselves, so the column gets no sequence.
    create = "create table {} (like {} including all excluding identity)"
    await change(connection, create, copy, (MEMORY, table))
    cursor = await connection.execute(
        "select reloptions from pg_class where oid = %s::regclass", (f"{MEMORY}.{table}",)
    )
    (options,) = cast("tuple[list[LiteralString] | None]", await cursor.fetchone())
    for option in options or []:
        # The options come from the catalogue, so they are as safe as the files of sql/.
        await change(connection, "alter table {} set ({})", copy, sql.SQL(option))
    await change(connection, "alter table {} owner to {}", copy, await find_owner(connection))
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
        await change(connection, "alter table {} owner to {}", (CONTENT, table), owner)


async def _add_key(connection: AsyncConnection, key: ForeignKey) -> None:
    definition = key.definition.replace(
        f"REFERENCES {MEMORY}.{key.target}", f"REFERENCES {CONTENT}.{key.target}"
    )
    constraint = sql.SQL(cast("LiteralString", definition))
    add = "alter table {} add constraint {} {}"
    await change(connection, add, (CONTENT, key.table), key.name, constraint)


# Views of cells find their spaces by the first function. Citus adds the second one to queries of
# the catalogue.
OPEN_TO_ALL = ("citus_table_is_visible", "worker_hash")
_GRANTED = """
    select p.oid::regprocedure::text from pg_proc p
    join pg_depend d on d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
    join pg_extension e on e.oid = d.refobjid and e.extname = 'citus'
    where p.proname <> all(%s) and has_function_privilege('public', p.oid, 'execute')
"""


async def restrict_citus(node: AsyncConnection) -> None:
    """Let only the owner of the memory call the functions of Citus on a node.

    Citus itself calls some of them on other nodes with the login of a session that uses a
    distributed table. Only the owner may use one.
    """
    rows = await (await node.execute(_GRANTED, (list(OPEN_TO_ALL),))).fetchall()
    if not rows:
        return
    names = sql.SQL(", ").join(sql.SQL(name) for (name,) in rows)
    await change(node, "grant execute on routine {} to {}", names, await find_owner(node))
    await change(node, "revoke execute on routine {} from public", names)
