"""One memory twice: on one Postgres, and distributed with the same rows."""

from collections.abc import Sequence
from typing import LiteralString, cast

import anyio
import psycopg
from psycopg import sql

from benchmarks.support.citus import Server, create_database
from benchmarks.support.place import enrol
from benchmarks.support.synthetic import World, fill
from textrawl import migrate
from textrawl.cluster.migration import migrate_distributed
from textrawl.embedded.postmaster import OWNER, SUPERUSER
from textrawl.models.active_model import describe_model
from textrawl.models.local import LocalEmbedder

LARGE = "large"  # a space with a fifth of the facts. The other spaces share the rest.
# Tables of content that a synthetic memory has rows in, in the order of their keys.
_CONTENT = ("entity", "observation", "embedding_1")
_DIRECTORY = ("actor", "embedding_model", "space")
_INDEXES = (("observation", "fts"), ("embedding_1", "vector"))


def share(spaces: int) -> dict[str, float]:
    """Return the names of the spaces and their shares of the facts."""
    small = {f"small-{number}": 0.8 / (spaces - 1) for number in range(spaces - 1)}
    return {LARGE: 0.2} | small


def make_plain(server: Server, name: str, facts: int, spaces: int) -> str:
    """Fill an ordinary database, and return a token that reads and writes all its spaces."""
    create_database([server], name)
    anyio.run(migrate, server.dsn(OWNER, name))
    token = _prepare(server.dsn(OWNER, name), spaces)
    fill(server.dsn(OWNER, name), facts, World(shares=share(spaces)))
    return token


def make_distributed(
    servers: Sequence[Server], name: str, cells: int, token: str, spaces: int, plain: str
) -> None:
    """Create a distributed memory with the rows of the ordinary database `plain`."""
    create_database(servers, name)
    coordinator, *workers = servers
    anyio.run(lambda: migrate_distributed(coordinator.dsn(SUPERUSER, name), cells=cells))
    _prepare(coordinator.dsn(OWNER, name), spaces, token)
    _share_model(coordinator, workers, name)
    with (
        psycopg.connect(coordinator.dsn(SUPERUSER, plain), autocommit=True) as source,
        psycopg.connect(coordinator.dsn(SUPERUSER, name), autocommit=True) as target,
    ):
        for table in _DIRECTORY:
            query = sql.SQL("select id, name from textrawl.{} order by id").format(
                sql.Identifier(table)
            )
            assert source.execute(query).fetchall() == target.execute(query).fetchall()
        definitions = [_take_index(target, *index) for index in _INDEXES]
        for table in _CONTENT:
            _copy(source, target, table)
        for definition in definitions:
            target.execute(sql.SQL(cast("LiteralString", definition)))
    for worker in workers:
        _finish(worker, name)


def _prepare(owner: str, spaces: int, token: str | None = None) -> str:
    """Create the spaces, the model and a token. The same steps give the same ids."""
    token = enrol(owner, token)
    with psycopg.connect(owner, autocommit=True) as connection:
        for name in share(spaces):
            connection.execute("insert into textrawl.space (name) values (%s)", (name,))
            connection.execute(
                "select textrawl.grant_access('bench', %s, array['read', 'write'])", (name,)
            )
        model = describe_model(LocalEmbedder())
        named = sql.SQL(", ").join(
            sql.SQL("{} => {}").format(sql.Identifier(key), sql.Literal(value))
            for key, value in model.items()
        )
        connection.execute(sql.SQL("select textrawl.register_embedding_model({})").format(named))
    return token


def _share_model(coordinator: Server, workers: Sequence[Server], name: str) -> None:
    """Give the cells the table of the model, after the workers have copied the directory."""
    with psycopg.connect(coordinator.dsn(SUPERUSER, name), autocommit=True) as connection:
        row = connection.execute("select textrawl_content.mark_directory()").fetchone()
        connection.execute("select textrawl_content.distribute_models()")
    for worker in workers:
        with psycopg.connect(worker.dsn(SUPERUSER, name), autocommit=True) as connection:
            mark = "select textrawl_content.read_mark()"
            while connection.execute(mark).fetchone() != row:
                connection.execute("select pg_sleep(0.02)")
            connection.execute("select textrawl_content.match_models()")


def _take_index(target: psycopg.Connection, table: str, column: str) -> LiteralString:
    """Drop the index of a column, and return the statement that creates it again."""
    query = """
        select indexrelid::regclass::text, pg_get_indexdef(indexrelid) from pg_index
        join pg_class on oid = indexrelid join pg_am a on a.oid = relam
        where indrelid = %s::regclass and amname in ('gin', 'hnsw')
          and pg_get_indexdef(indexrelid) ~ %s"""
    [(name, definition)] = target.execute(
        query, (f"textrawl_content.{table}", rf"\m{column}\M")
    ).fetchall()
    target.execute(sql.SQL("drop index {}").format(sql.Identifier(*name.split("."))))
    return cast("LiteralString", definition)


def _copy(source: psycopg.Connection, target: psycopg.Connection, table: str) -> None:
    query = """
        select attname::text from pg_attribute where attrelid = %s::regclass and attnum > 0
        and not attisdropped and attgenerated = '' order by attnum"""
    names = source.execute(query, (f"textrawl.{table}",)).fetchall()
    columns = sql.SQL(", ").join(sql.Identifier(name) for (name,) in names)
    parts = {"table": sql.Identifier(table), "columns": columns}
    read = sql.SQL("copy textrawl.{table} ({columns}) to stdout (format binary)").format(**parts)
    write = sql.SQL("copy textrawl_content.{table} ({columns}) from stdin (format binary)")
    with (
        source.cursor().copy(read) as rows,
        target.cursor().copy(write.format(**parts)) as stored,
    ):
        for row in rows:
            stored.write(row)


def _finish(worker: Server, name: str) -> None:
    """Compute what searches of each cell need, as after the filling of an ordinary memory."""
    with psycopg.connect(worker.dsn(SUPERUSER, name), autocommit=True) as connection:
        connection.execute("vacuum analyze")
        query = "select nspname::text from pg_namespace where nspname ~ '^textrawl_cell_'"
        for (cell,) in connection.execute(query).fetchall():
            refresh = sql.SQL("select {}.refresh_search_statistics(true)")
            connection.execute(refresh.format(sql.Identifier(cell)))
