"""Sessions of the memory's owner, for backups, restores, exports, imports and indexes.

A backup can also be made of a memory with the schema of another version.
"""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, LiteralString

import psycopg
from psycopg import IsolationLevel, sql
from psycopg.types.json import Jsonb

from textrawl.errors import DatabaseUnavailable, StartRefused
from textrawl.postgres.connection import (
    Connection,
    OwnerLogin,
    change,
    compose_names,
    connect,
    detect_transaction_pooling,
    register_vectors,
)

SCHEMA = "textrawl"
_FORMER = "textrawl_former"  # the empty memory while a backup is restored

_TABLES = """
    select relname::text from pg_class
    where relnamespace = to_regnamespace('textrawl') and relkind = 'r' order by 1
"""
# If row-level security restricts a role, its dump would contain tables without rows.
_HIDDEN = """
    select relname::text from pg_class c
    where relnamespace = to_regnamespace('textrawl') and relkind = 'r'
    and row_security_active(c.oid)
    and (not exists (
            select from pg_policy p
            where p.polrelid = c.oid and p.polpermissive and p.polcmd in ('*', 'r')
            and pg_get_expr(p.polqual, p.polrelid) = 'true'
            and exists (select from unnest(p.polroles) role
                        where role = 0 or pg_has_role(current_user, role, 'usage')))
        or exists (
            select from pg_policy p
            where p.polrelid = c.oid and not p.polpermissive
            and exists (select from unnest(p.polroles) role
                        where role = 0 or pg_has_role(current_user, role, 'usage'))))
    order by 1
"""
_OWNER = """
    select nspowner::regrole::text, pg_has_role(current_user, nspowner, 'usage')
    from pg_namespace where nspname = 'textrawl'
"""
_MODEL = """
    select jsonb_build_object('id', id, 'name', name, 'dimensions', dimensions, 'trust', trust,
        'cosine_floor', cosine_floor, 'cosine_ceiling', cosine_ceiling)
    from textrawl.embedding_model where status = 'active'
"""
# True if an earlier restore was killed before row-level security was set up.
_IS_UNFINISHED = "select to_regnamespace('textrawl_former') is not null"
_PARTS = """
    select count(*) from {schema}.observation o
    where exists (select from {schema}.document d where d.space_id = o.space_id and d.id = o.whole)
"""
_DROP, _RENAME = "drop schema if exists {} cascade", "alter schema {} rename to {}"
_PAGE = 1_000
_ATTEMPTS = 4
_REFUSAL = "TR"  # prefix of the SQLSTATEs of textrawl's functions
_CONTENT: dict[str, tuple[str, LiteralString]] = {
    "observation": (
        "facts",
        "select count(*) - (select count(*) from textrawl.relation) from textrawl.observation",
    ),
    "entity": ("entities", "select count(*) from textrawl.entity"),
    "event": ("events", "select count(*) from textrawl.event"),
    "token": ("tokens", "select count(*) from textrawl.token where kind = 'bearer'"),
}


def as_json(value: object) -> Jsonb:
    """Return `value` as a SQL argument of type jsonb."""
    return Jsonb(value)


class BatchRefused(Exception):
    """The error for a batch that the database refuses. Its text is the SQLSTATE."""


class Session:
    """A connection of the memory's owner. `lasting` is false if its writes are rolled back.

    `schema` has the tables and functions of the memory.
    """

    def __init__(
        self, connection: Connection, *, lasting: bool = True, schema: str = SCHEMA
    ) -> None:
        self.connection = connection
        self._schema = schema
        self.pooled = connection.pooled
        self.lasting = lasting
        self.major = connection.info.server_version // 10_000

    async def find_owner(self) -> str | None:
        """Return the role that owns the memory, or None if there is no memory.

        Raises StartRefused if the login does not own it.
        """
        rows = await self._fetch(_OWNER)
        if rows and not rows[0][1]:
            raise StartRefused(
                "The login of TEXTRAWL_DATABASE_URL does not own this memory; its owner is "
                f"{rows[0][0]}: run this command with the TEXTRAWL_DATABASE_URL that you use for "
                "`textrawl migrate`"
            )
        return str(rows[0][0]) if rows else None

    async def refuse_hidden(self) -> None:
        """Raise StartRefused if row-level security would hide rows of a table."""
        if hidden := [str(name) for (name,) in await self._fetch(_HIDDEN)]:
            raise StartRefused(
                f"Row-level security hides rows of {', '.join(hidden)} from this login: run "
                "`textrawl migrate`, then run this command with the same TEXTRAWL_DATABASE_URL"
            )

    async def count_rows(self) -> dict[str, int]:
        """Return the row count of each table. Raises StartRefused if rows would be hidden."""
        await self.refuse_hidden()
        counts = dict[str, int]()
        for (name,) in await self._fetch(_TABLES):
            counts[str(name)] = await self.count_table(str(name))
        return counts

    async def count_table(self, name: str) -> int:
        """Return the row count of one table."""
        query = compose_names("select count(*) from {}", (self._schema, name))
        return (await self._fetch(query))[0][0]

    async def count_parts(self) -> int:
        """Return the number of facts that are parts of a journal entry or a source."""
        return (await self._fetch(compose_names(_PARTS, schema=self._schema)))[0][0]

    async def export_snapshot(self) -> str:
        """Return the name by which another session can read the same state of the database."""
        await self.connection.execute("set local idle_in_transaction_session_timeout = 0")
        return str((await self._fetch("select pg_export_snapshot()"))[0][0])

    async def read_receipts(self) -> list[Any]:
        """Return the receipts of all erasures, the oldest first."""
        query = "select receipt from textrawl.erasure order by receipt ->> 'at', space_id, id"
        return [receipt for (receipt,) in await self._fetch(query)]

    async def find_spaces(self) -> dict[str, int]:
        """Return the ids of all spaces by name, sorted by name."""
        query = 'select name, id from textrawl.space order by name collate "C"'
        return dict(await self._fetch(query))

    async def find_graphs(self) -> dict[str, str]:
        """Return the tiers of all graphs, which are the spaces with sources, by their names."""
        rows = await self._fetch("select name, tier from textrawl.space where tier is not null")
        return {str(name): str(tier) for name, tier in rows}

    async def find_model(self) -> dict[str, Any] | None:
        """Return the active model as in the first line of an export, or None."""
        rows = await self._fetch(_MODEL)
        return rows[0][0] if rows else None

    async def read_lines(
        self, function: LiteralString, *arguments: int | str, model: int | None = None
    ) -> AsyncGenerator[list[tuple[str, Any]]]:
        """Yield pages of JSON lines from textrawl.`function`, each line with its vector or None.

        The first argument, if there is one, is the number of a space. The vectors are from the
        table of `model`. If `model` is None, every vector is None.
        """
        literals = [sql.Literal(argument) for argument in arguments]
        vector: sql.Composable = sql.SQL("null")
        if model is not None:
            # Do not use a join, because it could change the order of the facts.
            vector = compose_names(
                "(select v.vector from {} v where v.space_id = {} and v.observation_id = f.id)",
                (self._schema, f"embedding_{model}"),
                literals[0],
            )
        lines = "select to_json(f)::text, {} from {}({}) f"
        given = sql.SQL(", ").join(literals)
        query = compose_names(lines, vector, (self._schema, function), given)
        async with self.connection.cursor("export") as cursor:
            await cursor.execute(query)
            while page := await cursor.fetchmany(_PAGE):
                yield page

    async def call(self, function: LiteralString, *arguments: object) -> list[tuple[Any, ...]]:
        """Call textrawl.`function` in a transaction or a savepoint, and return its rows.

        Raises BatchRefused if the database refuses the arguments.
        """
        for _ in range(_ATTEMPTS):
            try:
                return await self._call(function, arguments)
            except (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure):
                continue
            except (psycopg.DataError, psycopg.IntegrityError) as error:
                raise BatchRefused(error.sqlstate or "") from None
            except psycopg.DatabaseError as error:
                if (error.sqlstate or "").startswith(_REFUSAL):
                    raise BatchRefused(error.sqlstate or "") from None
                raise
        raise DatabaseUnavailable(
            "Each attempt met a conflict with other writes: import the file again later"
        )

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[None]:
        """Open a transaction that can be idle without a time limit."""
        async with self.connection.transaction():
            await self.connection.execute("set local idle_in_transaction_session_timeout = 0")
            yield

    async def execute(self, statement: str) -> None:
        """Run a statement that a function of textrawl returned, outside of a transaction."""
        await self.connection.execute(statement.encode())

    async def _call(
        self, function: LiteralString, arguments: tuple[object, ...]
    ) -> list[tuple[Any, ...]]:
        placeholders = sql.SQL(", ").join([sql.Placeholder()] * len(arguments))
        query = compose_names("select * from {}({})", (self._schema, function), placeholders)
        async with self.connection.transaction():
            await self._prepare_call()
            return await (await self.connection.execute(query, arguments)).fetchall()

    async def _prepare_call(self) -> None:
        """Prepare the transaction of a call."""

    async def _fetch(self, query: Any) -> list[tuple[Any, ...]]:
        return await (await self.connection.execute(query)).fetchall()


@asynccontextmanager
async def open_snapshot(login: OwnerLogin) -> AsyncGenerator[Session]:
    """Open a read-only session that sees one state of the memory.

    Raises StartRefused, DatabaseUnavailable.
    """
    async with await connect(login.conninfo, login.timeout) as connection:
        await register_vectors(connection)
        await connection.set_isolation_level(IsolationLevel.REPEATABLE_READ)
        await connection.set_read_only(True)
        async with _translate(), connection.transaction():
            session = Session(connection)
            if await session.find_owner() is None:
                raise StartRefused("This database has no memory yet: run `textrawl migrate`")
            await connection.execute("set local timezone to 'UTC'")
            yield session


@asynccontextmanager
async def open_writing(login: OwnerLogin, *, dry_run: bool = False) -> AsyncGenerator[Session]:
    """Open a session that can write. With `dry_run`, roll everything back at the end.

    Raises StartRefused, DatabaseUnavailable.
    """
    async with await connect(login.conninfo, login.timeout) as connection, _translate():
        session = Session(connection, lasting=not dry_run)
        await session.find_owner()
        if not connection.pooled:  # a pooler would pass the setting on to other clients
            await connection.execute("set idle_in_transaction_session_timeout = 0")
        await register_vectors(connection)
        async with AsyncExitStack() as stack:
            if dry_run:
                await stack.enter_async_context(connection.transaction(force_rollback=True))
            yield session


@asynccontextmanager
async def _translate() -> AsyncGenerator[None]:
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        raise StartRefused(
            f"The login of TEXTRAWL_DATABASE_URL may not do this ({error.diag.message_primary}): "
            "use the login that you use for `textrawl migrate`"
        ) from error
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable("The connection broke: try again") from error


async def refuse_transaction_pooling(login: OwnerLogin) -> None:
    """Raise StartRefused if the connection leads through a pooler in transaction mode.

    Through such a pooler, pg_dump and pg_restore would lose their session. Other clients would get
    the settings of that session, such as an empty search_path.
    """
    async with (
        await connect(login.conninfo, login.timeout) as first,
        await connect(login.conninfo, login.timeout) as second,
    ):
        if await detect_transaction_pooling(first, second):
            raise StartRefused(
                "TEXTRAWL_DATABASE_URL leads through a pooler that lends a session for only one "
                "transaction, but pg_dump and pg_restore need a session for longer: use the "
                "address of Postgres itself, or of a pooler in session mode"
            )


class SchemaSwap:
    """The replacement of an empty memory by a restored memory. It can be reverted."""

    def __init__(self, login: OwnerLogin) -> None:
        self.login = login

    async def find_holdings(self) -> dict[str, int]:
        """Return the row counts that a restore would delete, by kind."""
        async with self._open() as connection:
            session = Session(connection)
            if await session.find_owner() is None:
                return {}
            unfinished = await connection.execute(_IS_UNFINISHED)
            if (await unfinished.fetchone()) != (True,):
                # Hidden rows would not be counted, and then they would be deleted.
                await session.refuse_hidden()
            counts = dict[str, int]()
            for (table,) in await (await connection.execute(_TABLES)).fetchall():
                if table in _CONTENT:
                    kind, query = _CONTENT[table]
                    cursor = await connection.execute(query)
                    counts[kind] = ((await cursor.fetchone()) or (0,))[0]
            return {kind: count for kind, count in counts.items() if count}

    async def find_owner(self) -> tuple[str, int]:
        """Return the memory's owner ("" without a memory) and the server's major version."""
        async with self._open() as connection:
            session = Session(connection)
            return await session.find_owner() or "", session.major

    async def set_aside(self, owner: str) -> None:
        """Rename the schema of the empty memory of `owner`."""
        async with self._act_as(owner) as connection:
            await change(connection, _DROP, _FORMER)
            await change(connection, _RENAME, SCHEMA, _FORMER)

    async def put_back(self, owner: str, *, keep: bool) -> None:
        """Drop the restored memory. With `keep`, put the empty memory back, else drop it too."""
        async with self._act_as(owner) as connection:
            await change(connection, _DROP, SCHEMA)
            if keep:
                await change(connection, _RENAME, _FORMER, SCHEMA)
            else:
                await change(connection, _DROP, _FORMER)

    async def protect(self, owner: str) -> dict[str, int]:
        """Set up row-level security in the restored memory, and return its row counts."""
        query = "select to_regproc('textrawl.protect_tables') is not null"
        async with self._act_as(owner) as connection:
            if await (await connection.execute(query)).fetchone() == (True,):
                await connection.execute("select textrawl.protect_tables()")
            return await Session(connection).count_rows()

    async def erase_again(self, owner: str, receipt: object, *, unsigned: bool) -> str:
        """Apply the receipt of an erasure, and return what apply_erasure() says about it."""
        query = "select textrawl.apply_erasure(%s, 'textrawl restore', %s)"
        async with self._act_as(owner) as connection:
            cursor = await connection.execute(query, [as_json(receipt), unsigned])
            return str((await cursor.fetchone() or ("",))[0])

    async def finish(self, owner: str) -> None:
        """Drop the empty memory, and analyze the tables of the restored memory."""
        async with self._act_as(owner) as connection:
            await change(connection, _DROP, _FORMER)
            for name in await Session(connection).count_rows():
                await change(connection, "analyze {}", (SCHEMA, name))

    @asynccontextmanager
    async def _open(self) -> AsyncGenerator[Connection]:
        connected = await connect(self.login.conninfo, self.login.timeout)
        async with _translate(), connected as connection:
            yield connection

    @asynccontextmanager
    async def _act_as(self, owner: str) -> AsyncGenerator[Connection]:
        """Open a transaction with the rights of `owner`."""
        async with self._open() as connection, connection.transaction():
            await change(connection, "set local role {}", owner)
            yield connection
