"""Calls of the functions that let people in, and sessions of other logins."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from hashlib import sha256
from typing import Any, LiteralString
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql as query
from psycopg.conninfo import make_conninfo

from textrawl.access.access_token import hash_token, make_token, shorten_token
from textrawl.embedded.postmaster import SUPERUSER

ALL = ["read", "write", "forget", "admin"]
HASH = sha256(b"any").digest()


def call(sql: psycopg.Connection, function: str, **given: Any) -> list[Any]:
    arguments = query.SQL(", ").join(
        query.SQL("{} => {}").format(query.Identifier(name), query.Placeholder(name))
        for name in given
    )
    statement = query.SQL("select * from {}({})").format(
        query.Identifier("textrawl", function), arguments
    )
    return sql.execute(statement, given).fetchall()


def refuse(sql: psycopg.Connection, function: str, **given: Any) -> str | None:
    """SQLSTATE of the error that the call ends with."""
    with pytest.raises(psycopg.Error) as refused:
        call(sql, function, **given)
    return refused.value.sqlstate


def issue(
    sql: psycopg.Connection, actor: str, space: str, scopes: list[str], end: datetime | None = None
) -> bytes:
    """A new token's hash."""
    text = make_token()
    call(
        sql,
        "create_token",
        hash=hash_token(text),
        prefix=shorten_token(text),
        actor=actor,
        space=space,
        scopes=scopes,
        expires_at=end,
    )
    return hash_token(text)


def find_prefix(sql: psycopg.Connection, credential: bytes) -> str:
    row = sql.execute("select prefix from token where hash = %s", (credential,)).fetchone()
    assert row is not None
    return row[0]


def list_access(sql: psycopg.Connection, credential: bytes) -> dict[str, set[str]] | None:
    """Scopes by space, as authenticate tells a server; None for nobody."""
    row = sql.execute("select spaces from authenticate(%s)", (credential,)).fetchone()
    return None if row is None else {entry["name"]: set(entry["scopes"]) for entry in row[0]}


def search(sql: psycopg.Connection, credential: bytes) -> list[str]:
    rows = sql.execute(
        "select content from search_memory('tea', credential => %s)", (credential,)
    ).fetchall()
    return [content for (content,) in rows]


@contextmanager
def log_in(sql: psycopg.Connection, role: str) -> Generator[psycopg.Connection]:
    """A session of a role that has no password and no peer on this machine."""
    dsn = make_conninfo(sql.info.dsn, user=SUPERUSER)
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute(query.SQL("set session authorization {}").format(query.Identifier(role)))
        session.execute("set search_path = textrawl, public")
        yield session


@contextmanager
def create_login(sql: psycopg.Connection, attributes: LiteralString) -> Generator[str]:
    """A login of this name alone; roles belong to all databases of a cluster."""
    role = f"login_{uuid4().hex}"
    dsn = make_conninfo(sql.info.dsn, user=SUPERUSER)
    with psycopg.connect(dsn, autocommit=True) as administrator:
        made = query.SQL("create role {} login " + attributes)
        administrator.execute(made.format(query.Identifier(role)))
        yield role
        administrator.execute(query.SQL("drop role {}").format(query.Identifier(role)))
