"""Roles, database and extension. Each start checks them and completes an interrupted setup."""

from typing import Final, LiteralString

import psycopg
from psycopg import sql

from textrawl.embedded.configuration import ANALYST, APP, OWNER
from textrawl.postgres.sql_files import read_restrictions

DATABASE: Final = "textrawl"

_CONNECT_TIMEOUT = 10  # seconds for a connection to a server that has just answered

_ROLE_IS_PLAIN = """
    select rolcanlogin and not (rolsuper or rolcreaterole or rolcreatedb or rolreplication
                                or rolbypassrls)
    from pg_roles where rolname = %s
"""
_PLAIN: LiteralString = "login nosuperuser nocreaterole nocreatedb noreplication nobypassrls"
_IS_MEMBER = "select pg_has_role(%s, %s, 'set')"
_DATABASES: tuple[LiteralString, ...] = (DATABASE, "postgres", "template1")
_IS_OPEN = "select has_database_privilege(%s, %s, 'connect, temporary')"
_MAY_CONNECT = "select has_database_privilege(%s, %s, 'connect')"
# Logins of analysts without a limit for temporary files. Only an administrator can set this limit.
_UNLIMITED = """
    select r.rolname::text from pg_roles r
    where r.rolcanlogin and not r.rolsuper and pg_has_role(r.oid, %s, 'usage')
      and not coalesce(array_to_string(r.rolconfig, ' '), '') ~ 'temp_file_limit'
"""
_VECTOR = """
    select installed_version, default_version from pg_available_extensions where name = 'vector'
"""


def prepare_server(conninfo: str) -> None:
    """Create the roles and the database, as the superuser in the database postgres."""
    with psycopg.connect(conninfo, autocommit=True, connect_timeout=_CONNECT_TIMEOUT) as connection:
        _prepare_roles(connection)
        _prepare_databases(connection)


def _prepare_roles(connection: psycopg.Connection) -> None:
    for role in (OWNER, APP):
        _prepare_role(connection, role)
    if connection.execute("select from pg_roles where rolname = %s", [ANALYST]).fetchone() is None:
        connection.execute(f"create role {ANALYST} nologin")
    if not _holds(connection, _IS_MEMBER, OWNER, ANALYST):
        # `textrawl psql` uses this role to give the owner a read-only session.
        connection.execute(f"grant {ANALYST} to {OWNER} with inherit false")
    if not _holds(connection, _IS_MEMBER, OWNER, "pg_signal_backend"):
        # With this role, a migration can end the session of an analyst that blocks it.
        connection.execute(f"grant pg_signal_backend to {OWNER}")


def _prepare_databases(connection: psycopg.Connection) -> None:
    query = "select from pg_database where datname = %s"
    if connection.execute(query, [DATABASE]).fetchone() is None:
        # Use template0, because creation fails while another session uses the template, and nobody
        # can connect to template0.
        connection.execute(f"create database {DATABASE} owner {OWNER} template template0")
    for name in _DATABASES:
        if _holds(connection, _IS_OPEN, "public", name):
            connection.execute(f"revoke connect, temporary on database {name} from public")
    if not _holds(connection, _MAY_CONNECT, APP, DATABASE):
        connection.execute(f"grant connect on database {DATABASE} to {OWNER}, {APP}")
    if not _holds(connection, _MAY_CONNECT, ANALYST, DATABASE):
        connection.execute(f"grant connect on database {DATABASE} to {ANALYST}")


def prepare_extension(conninfo: str) -> None:
    """Install or update pgvector, and restrict the storage and the locks of logins.

    `conninfo` must be for the superuser in the database textrawl.
    """
    with psycopg.connect(conninfo, autocommit=True, connect_timeout=_CONNECT_TIMEOUT) as connection:
        installed, available = connection.execute(_VECTOR).fetchone() or (None, None)
        if installed is None:
            connection.execute("create extension vector")
        elif installed != available:
            connection.execute("alter extension vector update")
        connection.execute(read_restrictions())
        for (login,) in connection.execute(_UNLIMITED, [ANALYST]).fetchall():
            connection.execute(
                sql.SQL("alter role {} set temp_file_limit = '512MB'").format(sql.Identifier(login))
            )


def _prepare_role(connection: psycopg.Connection, role: LiteralString) -> None:
    row = connection.execute(_ROLE_IS_PLAIN, [role]).fetchone()
    if row is None:
        connection.execute(f"create role {role} {_PLAIN}")
    elif not row[0]:
        connection.execute(f"alter role {role} {_PLAIN}")


def _holds(connection: psycopg.Connection, query: LiteralString, *values: str) -> bool:
    row = connection.execute(query, values).fetchone()
    return row is not None and bool(row[0])
