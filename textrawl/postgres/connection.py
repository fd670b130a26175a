"""Connections to Postgres, directly or through a pooler.

A pooler such as PgBouncer lends one session of Postgres to many clients. The state of a session
(`set`, `listen`, prepared statements, advisory locks) can be lost at the next statement, or apply
to another client. Most poolers also refuse options at login. Therefore textrawl sets options of a
session, such as time limits, only on a direct connection.
"""

import base64
import hashlib
import hmac
import secrets
import socket
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, LiteralString, cast

import anyio
from pgvector import HalfVector
from pgvector.psycopg.halfvec import register_halfvec_info
from pgvector.psycopg.vector import register_vector_info
from psycopg import AsyncConnection, Error, OperationalError, ProgrammingError, sql
from psycopg.adapt import Dumper
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Format
from psycopg.types import TypeInfo

from textrawl.errors import DatabaseUnavailable, StartRefused, TextrawlError

if TYPE_CHECKING:  # numpy is loaded only when there are vectors
    import numpy as np
    from numpy.typing import NDArray

_LISTS = ("host", "hostaddr", "port")  # each can have one value for each host
HOST_ATTEMPTS = 4  # hosts that can be tried within the time limit of a call


class ConninfoInvalid(ValueError):
    """The error for a text that is not a connection string of libpq."""


def read_conninfo(conninfo: str) -> dict[str, str]:
    """Return the parts of a connection string or URL. Raises ConninfoInvalid."""
    try:
        parts = conninfo_to_dict(conninfo)
    except ProgrammingError as error:
        raise ConninfoInvalid(str(error)) from error
    return {name: str(value) for name, value in parts.items() if value is not None}


HIDDEN = "(set, not shown)"
_TARGET = ("user", "host", "hostaddr", "port", "dbname")


def show_target(conninfo: str) -> str:
    """Return the parts of a connection string that are not secret."""
    try:
        parts = read_conninfo(conninfo)
    except ConninfoInvalid:
        return HIDDEN
    return " ".join(f"{part}={parts[part]}" for part in _TARGET if parts.get(part)) or HIDDEN


def write_conninfo(conninfo: str = "", **parts: str) -> str:
    """Return `conninfo` with some parts replaced."""
    return make_conninfo(conninfo, **parts)


def has_several_hosts(conninfo: str) -> bool:
    """Return whether `conninfo` names several servers, of which one is the primary."""
    try:
        parts = read_conninfo(conninfo)
    except ConninfoInvalid:
        return False
    return "," in parts.get("host", "") + parts.get("hostaddr", "") + parts.get("port", "")


def limit_attempt(conninfo: str, timeout: float) -> float:
    """Return the part of a time limit that each host gets for a login, in seconds."""
    return timeout / HOST_ATTEMPTS if has_several_hosts(conninfo) else timeout


def split_hosts(conninfo: str) -> list[str]:
    """Return a conninfo for each host that `conninfo` names, which leads to any kind of server."""
    parts = read_conninfo(conninfo)
    lists = {name: parts.pop(name).split(",") for name in _LISTS if name in parts}
    parts["target_session_attrs"] = "any"
    return [
        write_conninfo(**parts, **{name: one[place % len(one)] for name, one in lists.items()})
        for place in range(max(map(len, lists.values()), default=1))
    ]


def put_first(conninfo: str, place: int) -> str:
    """Return `conninfo` with the host at `place` as the first that is tried."""
    parts = read_conninfo(conninfo)
    for name in _LISTS:
        values = parts.get(name, "").split(",")
        if len(values) > 1:
            values.insert(0, values.pop(place))
            parts[name] = ",".join(values)
    return write_conninfo(**parts)


def describe_failure(error: BaseException | None) -> str | None:
    """Return the first line of libpq's message for a failed connection, or None."""
    lines = str(error).splitlines() if isinstance(error, OperationalError) else []
    return lines[0] if lines else None


def describe_error(error: StartRefused | TextrawlError) -> str:
    """Return the message of `error`. If libpq caused the error, its message is added."""
    reason = describe_failure(error.__cause__)
    return f"{error} ({reason})" if reason else str(error)


PostgresError = Error
"""Any error of Postgres or of the connection, for modules that do not import the driver."""


def is_broken(error: Exception) -> bool:
    """Return True if the connection ended, False if only a statement failed."""
    if not isinstance(error, Error):
        return isinstance(error, DatabaseUnavailable)
    ended = error.sqlstate is None or error.sqlstate.startswith(("08", "57P"))
    return ended and isinstance(error, OperationalError)


_CANCELLATION = 1.0  # seconds that Postgres gets to accept a request to cancel
# Transient: FATAL messages with these words mean "retry later".
_TRANSIENT = ("too many", "remaining connection slots", "the database system is")


class Connection(AsyncConnection[Any]):
    """A connection. `pooled` is true if it goes through a pooler.

    `system` and `timeline` are those of the server at the login, if somebody asked for them.
    `followed` is the last timeline that the server is known to replay, if it is a standby.
    """

    pooled = False
    system: str | None = None
    timeline = 0
    followed = 0

    async def cancel_safe(self, *, timeout: float = 30.0) -> None:
        """Cancel the current statement, also in a cancelled task. psycopg calls this method there.

        anyio interrupts every wait in a cancelled task. Without the shield, psycopg would leave
        after half of the request, and such a client ends PgBouncer 1.18. A database that does not
        answer the request in time is left alone.
        """
        with anyio.CancelScope(shield=True):
            await super().cancel_safe(timeout=min(timeout, _CANCELLATION))

    def break_off(self) -> None:
        """End the connection on this side only, for a server that may never answer again.

        A statement that waits for its answer fails at once, as if the server had died.
        """
        if self.closed:
            return
        own = socket.socket(fileno=self.fileno())
        try:
            with suppress(OSError):  # the server has already ended the connection
                own.shutdown(socket.SHUT_RDWR)
        finally:
            own.detach()  # libpq closes it


async def connect(conninfo: str, timeout: float) -> Connection:
    """Connect within `timeout` seconds, and detect a pooler.

    Raises StartRefused, or DatabaseUnavailable with the error of libpq as its cause.
    """
    if not _is_readable(conninfo):
        # Do not show the message of libpq. It repeats the invalid part, which can be the password.
        raise StartRefused(
            "TEXTRAWL_DATABASE_URL cannot be read: write "
            "postgresql://user:password@host:5432/database, with special characters of the "
            "password percent-encoded"
        )
    try:
        async with AsyncExitStack() as stack:
            connection = await Connection.connect(
                conninfo,
                autocommit=True,
                connect_timeout=max(1, round(limit_attempt(conninfo, timeout))),
                application_name="textrawl migrate",
            )
            stack.push_async_callback(connection.close)
            await detect_pooler(connection)  # a pooler may connect to Postgres at the first query
            stack.pop_all()
            return connection
    except OperationalError as error:
        if refusal := _find_refusal(error):
            raise refusal from None
        raise DatabaseUnavailable(
            "Start Postgres, or check TEXTRAWL_DATABASE_URL (host, port, database, user, password)"
        ) from error


def _is_readable(conninfo: str) -> bool:
    """Return False if libpq reads a part of an unencoded password as host, database or port."""
    try:
        parts = conninfo_to_dict(conninfo)
    except ProgrammingError:
        return False
    ports = str(parts.get("port") or "").split(",")
    names = f"{parts.get('host')}{parts.get('dbname')}"
    return "@" not in names and all(port.isdecimal() for port in ports if port)


def _find_refusal(error: OperationalError) -> StartRefused | None:
    """Return the error if a retry cannot help, else None."""
    # Read the message, because PQping would block all threads of this process while it waits.
    _, fatal, message = str(error).rpartition("FATAL:")
    if not fatal or any(words in message for words in _TRANSIENT):
        return None
    reason = message.strip().splitlines()[0]
    return StartRefused(
        f"Postgres answers, but refuses the login of TEXTRAWL_DATABASE_URL: {reason}"
    )


def compose_settings(settings: Mapping[str, str], *, local: bool) -> sql.Composed:
    """Return the columns of a `select` that sets `settings`.

    If `local`, the settings last for the transaction, otherwise for the session.
    """
    columns = [
        sql.SQL("set_config({}, {}, {})").format(
            sql.Literal(name), sql.Literal(value), sql.Literal(local)
        )
        for name, value in settings.items()
    ]
    return sql.SQL(", ").join(columns or [sql.SQL("true")])


Name = str | tuple[str, ...] | sql.Composable
"""A name in a statement, with its schema in a tuple; or another part that is composed already."""


def compose_names(statement: LiteralString, *names: Name, **named: Name) -> sql.Composed:
    """Return a statement with `names` in place of each {}, and `named` in place of each {name}."""
    parts = {key: _compose_name(name) for key, name in named.items()}
    return sql.SQL(statement).format(*map(_compose_name, names), **parts)


def _compose_name(name: Name) -> sql.Composable:
    if isinstance(name, sql.Composable):
        return name
    return sql.Identifier(*(name if isinstance(name, tuple) else (name,)))


async def change(
    connection: AsyncConnection[Any], statement: LiteralString, *names: Name, **named: Name
) -> None:
    """Execute a statement that changes objects of the database: see `compose_names`."""
    await connection.execute(compose_names(statement, *names, **named))


async def detect_pooler(connection: AsyncConnection[Any], **settings: str) -> bool:
    """Return True if `connection` goes through a pooler. If not, its session gets `settings`.

    This takes one round trip. For a pooler, turn prepared statements off, because older poolers
    lose them.
    """
    # Postgres sends the id of its process at login, but a pooler sends an invented id. Because of
    # the condition, the query changes nothing in the session of a pooler, which other clients use.
    query = sql.SQL("select {} where pg_backend_pid() = {}").format(
        compose_settings(settings, local=False), sql.Literal(connection.info.backend_pid)
    )
    pooled = await (await connection.execute(query)).fetchone() is None
    cast("Connection", connection).pooled = pooled
    if pooled:
        connection.prepare_threshold = None
    return pooled


# Look for the types in the schema of the extension, because the search_path may not contain it.
_TYPES = """
    select t.typname, t.oid, t.typarray from pg_type t
    join pg_extension e on e.extnamespace = t.typnamespace and e.extname = 'vector'
    where t.typname in ('vector', 'halfvec')
"""
_REGISTER = {"vector": register_vector_info, "halfvec": register_halfvec_info}
_POOLING_ATTEMPTS = 3  # one is not enough, because another client can take the session meanwhile


class _VectorDumper(Dumper):
    """Sends an array of numpy as a halfvec, which has half the size of a vector."""

    format = Format.BINARY

    def dump(self, obj: "NDArray[np.float32]") -> bytes:
        """Return the bytes of a halfvec."""
        return HalfVector(obj).to_binary()


async def register_vectors(connection: AsyncConnection[Any]) -> None:
    """Let `connection` send and receive vectors. Raises ProgrammingError if pgvector is missing."""
    types = await (await connection.execute(_TYPES)).fetchall()
    if len(types) < len(_REGISTER):
        raise ProgrammingError("this database has no pgvector")
    for name, oid, array_oid in types:
        _REGISTER[name](connection, TypeInfo(name, oid, array_oid))
    [oid] = [oid for name, oid, _ in types if name == "halfvec"]
    connection.adapters.register_dumper("numpy.ndarray", type("", (_VectorDumper,), {"oid": oid}))


async def find_vector_schema(connection: AsyncConnection[Any]) -> str:
    """Return the schema of pgvector."""
    cursor = await connection.execute(
        """select nspname::text from pg_extension e join pg_namespace n on n.oid = e.extnamespace
           where extname = 'vector'"""
    )
    row = await cursor.fetchone()
    return row[0] if row else "public"


async def detect_transaction_pooling(first: Connection, second: Connection) -> bool:
    """Return True if a pooler lends a session for only one transaction.

    Both connections must lead to the same database and be outside a transaction. Such a pooler
    gives the second connection the session that the first connection has just used.
    """
    if not first.pooled:
        return False
    for _ in range(_POOLING_ATTEMPTS):
        before = await _find_session(first)
        async with second.transaction():
            if before == await _find_session(second) or before != await _find_session(first):
                return True
    return False


async def _find_session(connection: Connection) -> int:
    row = await (await connection.execute("select pg_backend_pid()")).fetchone()
    return cast("tuple[int]", row)[0]


async def is_distributed(connection: AsyncConnection[Any]) -> bool:
    """Return whether the memory behind `connection` is distributed by Citus."""
    query = "select to_regproc('textrawl_content.list_cells') is not null"
    return await (await connection.execute(query)).fetchone() == (True,)


_BYTES = 24
_SALT = 16
_ROUNDS = 4096  # the default of Postgres


def make_password() -> str:
    """Return a new password of 192 random bits. Its characters never need quotes or encoding."""
    return secrets.token_urlsafe(_BYTES)


def write_verifier(password: str, salt: bytes | None = None) -> str:
    """Return the SCRAM-SHA-256 verifier (RFC 5803) of an ASCII `password`.

    Postgres accepts a verifier instead of a password. Postgres can log statements, so no statement
    contains the password.
    """
    salt = salt or secrets.token_bytes(_SALT)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode("ascii"), salt, _ROUNDS)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    texts = [base64.b64encode(part).decode("ascii") for part in (salt, stored, server)]
    return f"SCRAM-SHA-256${_ROUNDS}:{texts[0]}${texts[1]}:{texts[2]}"


@dataclass(frozen=True)
class OwnerLogin:
    """The conninfo of a memory's owner.

    `programs` is the folder with the programs of Postgres, or None if it is unknown. `timeout` is
    the time limit for connecting, in seconds.
    """

    conninfo: str
    programs: Path | None
    timeout: float
