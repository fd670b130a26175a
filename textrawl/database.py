"""The road to Postgres: a pool, and one way to call a SQL function by name.

Everything that a caller may see go wrong leaves here as one of `textrawl.errors`; the text of a
database error never does, since it may hold values of other rows.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, LiteralString, TypeVar

import numpy as np
import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection, sql
from psycopg.rows import class_row
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout, TooManyRequests
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random

from textrawl import errors

Row = TypeVar("Row")
_MOST_WAITING = 200  # calls that may queue for a connection before others are told to come back
_CONFLICTS = (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected)


class DataRefused(Exception):
    """A function of ours refused its arguments: `code` is its SQLSTATE (TR...), `detail` its DETAIL."""

    def __init__(self, code: str, detail: str | None) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail


class Database:
    """A pool of connections to one database. Open it before the first call, close it after the last.

    `timeout` (seconds) bounds the wait for a connection, and each statement.
    """

    def __init__(self, conninfo: str, *, timeout: float, max_size: int = 10) -> None:
        self._timeout = timeout
        self._pool = AsyncConnectionPool(
            conninfo,
            min_size=1,
            max_size=max_size,
            timeout=timeout,
            max_waiting=_MOST_WAITING,
            open=False,
            # A connection that died with a restarted server is found out before it is lent.
            check=AsyncConnectionPool.check_connection,
            configure=_teach_vectors,
            kwargs={
                "autocommit": True,
                "application_name": "textrawl",
                "connect_timeout": max(1, round(timeout)),
                "options": f"-c statement_timeout={round(timeout * 1000)}",
            },
            name="textrawl",
        )

    async def open(self) -> None:
        """Starts connecting, in the background: calls wait for a connection, not this one."""
        await self._pool.open()

    async def close(self) -> None:
        """Closes every connection."""
        await self._pool.close()

    async def call(
        self, function: LiteralString, row: type[Row], /, **arguments: object
    ) -> list[Row]:
        """Rows of the SQL function textrawl.`function`, as instances of the dataclass `row`.

        Columns are those that `row` names as fields; arguments go by name.

        Raises DatabaseUnavailable, ServerBusy, DataRefused.
        """
        query = _compose(function, row, tuple(arguments))
        given = {name: _adapt(value) for name, value in arguments.items()}
        with _translate():
            async for attempt in AsyncRetrying(
                retry=retry_if_exception_type(_CONFLICTS),
                stop=stop_after_attempt(4),
                wait=wait_random(0, 0.05),
                reraise=True,
            ):
                with attempt:
                    async with self._pool.connection() as connection:
                        cursor = connection.cursor(row_factory=class_row(row))
                        return await (await cursor.execute(query, given)).fetchall()
        raise AssertionError  # pragma: no cover - the loop returns or raises


async def _teach_vectors(connection: AsyncConnection[Any]) -> None:
    await register_vector_async(connection)


def _compose(function: LiteralString, row: type[object], names: Sequence[str]) -> sql.Composed:
    columns = sql.SQL(", ").join(sql.Identifier(field.name) for field in fields(row))  # type: ignore[arg-type]
    given = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(name)) for name in names
    )
    return sql.SQL("select {} from {}({})").format(
        columns, sql.Identifier("textrawl", function), given
    )


def _adapt(value: object) -> object:
    """Values that psycopg would not take for what they are: vectors and JSON."""
    if isinstance(value, np.ndarray):
        return HalfVector(value)
    if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
        return [None if item is None else HalfVector(item) for item in value]
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return Jsonb(value)
    return value


@contextmanager
def _translate() -> Iterator[None]:
    try:
        yield
    except TooManyRequests as error:
        raise errors.ServerBusy from error
    except (PoolTimeout, PoolClosed) as error:
        raise errors.DatabaseUnavailable from error
    except psycopg.errors.QueryCanceled as error:
        raise errors.DatabaseUnavailable(
            "The statement took longer than DATABASE_TIMEOUT and changed nothing: retry, or ask for less"
        ) from error
    except psycopg.Error as error:
        if error.sqlstate and error.sqlstate.startswith("TR"):
            raise DataRefused(error.sqlstate, error.diag.message_detail) from None
        if isinstance(error, psycopg.OperationalError):
            raise errors.DatabaseUnavailable(
                "The connection broke. Retry in a few seconds: repeating the call stores nothing twice"
            ) from error
        raise

