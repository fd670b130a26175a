"""What archives ask of Postgres beyond the functions: of any version's schema, in one snapshot."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, LiteralString

import psycopg
from psycopg import AsyncConnection, IsolationLevel, sql
from psycopg.types.json import Jsonb

from textrawl.errors import DatabaseUnavailable, StartRefused
from textrawl.postgres.connection import Connection, lends_sessions, register_vectors
from textrawl.postgres.migrations import connect
from textrawl.postgres.place import Place

SCHEMA = "textrawl"
_FORMER = "textrawl_former"  # the empty memory that a backup is about to take the place of

_TABLES = """
    select relname::text from pg_class
    where relnamespace = to_regnamespace('textrawl') and relkind = 'r' order by 1
"""
# As restored from a dump that a role made which row security binds: whole tables without a row.
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
        or exists (select from pg_policy p where p.polrelid = c.oid and not p.polpermissive))
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
# An earlier restore was killed before what it had brought could be seen.
_LEFT = "select to_regnamespace('textrawl_former') is not null"
_PAGE = 1_000
_ATTEMPTS = 4
_REFUSAL = "TR"  # how SQLSTATEs of our own functions begin
_CONTENT: dict[str, tuple[str, LiteralString]] = {
    "observation": ("facts", "select count(*) from textrawl.observation"),
    "entity": ("entities", "select count(*) from textrawl.entity"),
    "event": ("events", "select count(*) from textrawl.event"),
    "token": ("tokens", "select count(*) from textrawl.token where kind = 'bearer'"),
}


def as_json(value: object) -> Jsonb:
    """Return `value` as an argument of type jsonb."""
    return Jsonb(value)


class BatchRefused(Exception):
    """Something in a batch is what the database does not take; its SQLSTATE."""


class Session:
    """A connection of the memory's owner; not `lasting` if nothing that it does will stay."""

    def __init__(self, connection: Connection, *, lasting: bool = True) -> None:
        self._connection = connection
        self.pooled = connection.pooled
        self.lasting = lasting
        self.major = connection.info.server_version // 10_000

    async def find_owner(self) -> str | None:
        """The role that owns the memory; None where there is no memory.

        Raises StartRefused for a login that is not its.
        """
        rows = await self._fetch(_OWNER)
        if rows and not rows[0][1]:
            raise StartRefused(
                f"The login of TEXTRAWL_DATABASE_URL does not own this memory, {rows[0][0]} does: "
                "run this with the TEXTRAWL_DATABASE_URL that you run `textrawl migrate` with"
            )
        return str(rows[0][0]) if rows else None

    async def refuse_hidden(self) -> None:
        """Raises StartRefused where row security would hide rows of any table."""
        if hidden := [str(name) for (name,) in await self._fetch(_HIDDEN)]:
            raise StartRefused(
                f"Row-level security hides rows of {', '.join(hidden)} from this login: run this "
                "with the TEXTRAWL_DATABASE_URL that you run `textrawl migrate` with, after that "
                "command"
            )

    async def count_rows(self) -> dict[str, int]:
        """Rows of every table. Raises StartRefused where row security would hide any."""
        await self.refuse_hidden()
        counts = dict[str, int]()
        for (name,) in await self._fetch(_TABLES):
            query = sql.SQL("select count(*) from {}").format(sql.Identifier(SCHEMA, str(name)))
            counts[str(name)] = (await self._fetch(query))[0][0]
        return counts

    async def export_snapshot(self) -> str:
        """The name under which other sessions see what this one sees."""
        await self._connection.execute("set local idle_in_transaction_session_timeout = 0")
        return str((await self._fetch("select pg_export_snapshot()"))[0][0])

    async def find_spaces(self) -> dict[str, int]:
        """Ids of all spaces by name, in the order of names."""
        query = 'select name, id from textrawl.space order by name collate "C"'
        return dict(await self._fetch(query))

    async def find_model(self) -> dict[str, Any] | None:
        """The model that questions are compared with, as an export's first line has it."""
        rows = await self._fetch(_MODEL)
        return rows[0][0] if rows else None

    async def read_lines(
        self, function: LiteralString, space: int | None = None, model: int | None = None
    ) -> AsyncGenerator[list[tuple[str, Any]]]:
        """Pages of JSON lines of textrawl.`function`; with a `model` beside each its vector."""
        given = sql.SQL("") if space is None else sql.Literal(space)
        # A join would be free to give the facts in another order.
        vector = sql.SQL("null") if model is None else sql.SQL(
            "(select v.vector from {} v where v.space_id = {} and v.observation_id = f.id)"
        ).format(sql.Identifier(SCHEMA, f"embedding_{model}"), given)  # fmt: skip
        query = sql.SQL("select row_to_json(f)::text, {} from {}({}) f").format(
            vector, sql.Identifier(SCHEMA, function), given
        )
        async with self._connection.cursor("export") as cursor:
            await cursor.execute(query)
            while page := await cursor.fetchmany(_PAGE):
                yield page

    async def call(self, function: LiteralString, *arguments: object) -> list[tuple[Any, ...]]:
        """Rows of textrawl.`function`, in a transaction of its own, or a part of the one around.

        Raises BatchRefused for what the database does not take.
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
        raise DatabaseUnavailable("Others write too much at once: import again in a while")

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[None]:
        """A transaction that may wait for as long as it takes."""
        async with self._connection.transaction():
            await self._connection.execute("set local idle_in_transaction_session_timeout = 0")
            yield

    async def execute(self, statement: str) -> None:
        """A statement that a function of ours wrote, outside of any transaction."""
        await self._connection.execute(statement.encode())

    async def _call(
        self, function: LiteralString, arguments: tuple[object, ...]
    ) -> list[tuple[Any, ...]]:
        places = sql.SQL(", ").join([sql.Placeholder()] * len(arguments))
        name = sql.Identifier(SCHEMA, function)
        async with self._connection.transaction():
            cursor = await self._connection.execute(
                sql.SQL("select * from {}({})").format(name, places), arguments
            )
            return await cursor.fetchall()

    async def _fetch(self, query: Any) -> list[tuple[Any, ...]]:
        return await (await self._connection.execute(query)).fetchall()


@asynccontextmanager
async def open_snapshot(place: Place) -> AsyncGenerator[Session]:
    """A session that sees one state of the memory and changes nothing.

    Raises StartRefused, DatabaseUnavailable.
    """
    async with await connect(place.conninfo, place.timeout) as connection:
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
async def open_writing(place: Place, *, dry_run: bool = False) -> AsyncGenerator[Session]:
    """A session that may write; with `dry_run` nothing of it stays.

    Raises StartRefused, DatabaseUnavailable.
    """
    async with await connect(place.conninfo, place.timeout) as connection, _translate():
        session = Session(connection, lasting=not dry_run)
        await session.find_owner()
        if not connection.pooled:  # else it would be somebody else's setting as well
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
            "use the one that you run `textrawl migrate` with"
        ) from error
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable("The connection broke: try again") from error


async def refuse_lender(place: Place) -> None:
    """Raises StartRefused where programs of Postgres would lose their sessions to others.

    They would leave settings of theirs to others, too, such as an empty search_path.
    """
    async with (
        await connect(place.conninfo, place.timeout) as one,
        await connect(place.conninfo, place.timeout) as other,
    ):
        if await lends_sessions(one, other):
            raise StartRefused(
                "TEXTRAWL_DATABASE_URL leads through a pooler that lends a session for one "
                "transaction, and pg_dump and pg_restore need it for longer: use the address of "
                "Postgres itself, or of a pooler's session mode"
            )


class Takeover:
    """Puts a memory in the place of an empty one, which comes back if that fails."""

    def __init__(self, place: Place) -> None:
        self.place = place

    async def find_holdings(self) -> dict[str, int]:
        """What would be lost, in rows by kind; nothing where there is no memory."""
        async with self._open() as connection:
            session = Session(connection)
            if await session.find_owner() is None:
                return {}
            left = await connection.execute(_LEFT)
            if (await left.fetchone()) != (True,):
                # What cannot be seen would be taken for nothing, and deleted.
                await session.refuse_hidden()
            found = dict[str, int]()
            for (table,) in await (await connection.execute(_TABLES)).fetchall():
                if table in _CONTENT:
                    kind, words = _CONTENT[table]
                    rows = await connection.execute(words)
                    found[kind] = ((await rows.fetchone()) or (0,))[0]
            return {kind: number for kind, number in found.items() if number}

    async def find_owner(self) -> tuple[str, int]:
        """The role that owns the memory, empty where there is none; the server's major version."""
        async with self._open() as connection:
            session = Session(connection)
            return await session.find_owner() or "", session.major

    async def put_aside(self, owner: str) -> None:
        """Makes room where `owner` has a memory."""
        async with self._open() as connection, connection.transaction():
            await self._act_as(connection, owner)
            await self._drop(connection, _FORMER)
            await self._rename(connection, SCHEMA, _FORMER)

    async def put_back(self, owner: str, *, keep: bool) -> None:
        """Drops what came, and brings back what was there, unless nothing is to be kept."""
        async with self._open() as connection, connection.transaction():
            await self._act_as(connection, owner)
            await self._drop(connection, SCHEMA)
            if keep:
                await self._rename(connection, _FORMER, SCHEMA)
            else:
                await self._drop(connection, _FORMER)

    async def protect(self, owner: str) -> dict[str, int]:
        """Gives what came its row-level security; returns the rows of its tables."""
        known = "select to_regproc('textrawl.protect_tables') is not null"
        async with self._open() as connection, connection.transaction():
            await self._act_as(connection, owner)
            if await (await connection.execute(known)).fetchone() == (True,):
                await connection.execute("select textrawl.protect_tables()")
            return await Session(connection).count_rows()

    async def finish(self, owner: str) -> None:
        """Deletes what was there, and counts for the planner what is there now."""
        async with self._open() as connection, connection.transaction():
            await self._act_as(connection, owner)
            await self._drop(connection, _FORMER)
            for name in await Session(connection).count_rows():
                table = sql.Identifier(SCHEMA, name)
                await connection.execute(sql.SQL("analyze {}").format(table))

    @asynccontextmanager
    async def _open(self) -> AsyncGenerator[Connection]:
        connected = await connect(self.place.conninfo, self.place.timeout)
        async with _translate(), connected as connection:
            yield connection

    @staticmethod
    async def _act_as(connection: AsyncConnection[Any], owner: str) -> None:
        await connection.execute(sql.SQL("set local role {}").format(sql.Identifier(owner)))

    @staticmethod
    async def _drop(connection: AsyncConnection[Any], schema: str) -> None:
        drop = sql.SQL("drop schema if exists {} cascade").format(sql.Identifier(schema))
        await connection.execute(drop)

    @staticmethod
    async def _rename(connection: AsyncConnection[Any], schema: str, name: str) -> None:
        words = sql.SQL("alter schema {} rename to {}")
        await connection.execute(words.format(sql.Identifier(schema), sql.Identifier(name)))
