"""Roles, database and extension: looked at on every start, so an interrupted one heals."""

from typing import Final, LiteralString

import psycopg

from textrawl.embedded.configuration import ANALYST, APP, OWNER

DATABASE: Final = "textrawl"

_PATIENCE = 10  # seconds for a connection to a server that has just answered

_ROLE_IS_PLAIN = """
    select rolcanlogin and not (rolsuper or rolcreaterole or rolcreatedb or rolreplication
                                or rolbypassrls)
    from pg_roles where rolname = %s
"""
_PLAIN: LiteralString = "login nosuperuser nocreaterole nocreatedb noreplication nobypassrls"
_IS_MEMBER = "select pg_has_role(%s, %s, 'set')"
_MAY_CONNECT = "select has_database_privilege(%s, %s, 'connect')"
_VECTOR = """
    select installed_version, default_version from pg_available_extensions where name = 'vector'
"""


def prepare_server(conninfo: str) -> None:
    """Make the roles and the database; `conninfo` is the superuser's for database postgres."""
    with psycopg.connect(conninfo, autocommit=True, connect_timeout=_PATIENCE) as connection:
        for role in (OWNER, APP):
            _prepare_role(connection, role)
        if (
            connection.execute("select from pg_roles where rolname = %s", [ANALYST]).fetchone()
            is None
        ):
            connection.execute(f"create role {ANALYST} nologin")
        if not _holds(connection, _IS_MEMBER, OWNER, ANALYST):
            # For `textrawl psql`: a session that only reads, of whoever owns everything anyway.
            connection.execute(f"grant {ANALYST} to {OWNER} with inherit false")
        known = "select from pg_database where datname = %s"
        if connection.execute(known, [DATABASE]).fetchone() is None:
            # template0, since nobody can be connected to it, which would make this fail
            connection.execute(f"create database {DATABASE} owner {OWNER} template template0")
        if _holds(connection, _MAY_CONNECT, "public", DATABASE):
            connection.execute(f"revoke connect on database {DATABASE} from public")
        if not _holds(connection, _MAY_CONNECT, APP, DATABASE):
            connection.execute(f"grant connect on database {DATABASE} to {OWNER}, {APP}")
        if not _holds(connection, _MAY_CONNECT, ANALYST, DATABASE):
            connection.execute(f"grant connect on database {DATABASE} to {ANALYST}")


def prepare_extension(conninfo: str) -> None:
    """Install pgvector, or bring it to the version of the programs.

    `conninfo` is the superuser's for the textrawl database.
    """
    with psycopg.connect(conninfo, autocommit=True, connect_timeout=_PATIENCE) as connection:
        installed, available = connection.execute(_VECTOR).fetchone() or (None, None)
        if installed is None:
            connection.execute("create extension vector")
        elif installed != available:
            connection.execute("alter extension vector update")


def _prepare_role(connection: psycopg.Connection, role: LiteralString) -> None:
    row = connection.execute(_ROLE_IS_PLAIN, [role]).fetchone()
    if row is None:
        connection.execute(f"create role {role} {_PLAIN}")
    elif not row[0]:
        connection.execute(f"alter role {role} {_PLAIN}")


def _holds(connection: psycopg.Connection, query: LiteralString, *values: str) -> bool:
    row = connection.execute(query, values).fetchone()
    return row is not None and bool(row[0])
