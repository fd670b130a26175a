"""A cluster of Citus on this machine: a coordinator, workers, and databases that span them."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from tests.support.citus_servers import HOST, CitusServer, start_servers
from textrawl.embedded.postmaster import OWNER, SUPERUSER


class Server(CitusServer):
    """One Postgres server of the cluster."""

    def execute(self, database: str, *statements: sql.SQL | sql.Composed) -> None:
        """Execute statements as the superuser."""
        with psycopg.connect(self.dsn(SUPERUSER, database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)


@contextmanager
def run_servers(pg_config: Path, folder: Path, workers: int) -> Generator[list[Server]]:
    """Start a coordinator and `workers` workers in `folder`, and stop them at the end."""
    with start_servers(pg_config, folder, workers) as servers:
        yield [Server(each.data, each.programs, each.host, each.port) for each in servers]


def create_database(servers: Sequence[Server], name: str) -> None:
    """Create a database on each server. If there are several, they become a cluster for it."""
    create = sql.SQL("create database {} owner {}")
    names = ["vector", "citus"] if len(servers) > 1 else ["vector"]
    for server in servers:
        server.execute("postgres", create.format(sql.Identifier(name), sql.Identifier(OWNER)))
        for extension in names:
            statement = sql.SQL("create extension {}").format(sql.Identifier(extension))
            server.execute(name, statement)
    if len(servers) > 1:
        coordinator, *workers = servers
        host = sql.SQL("select citus_set_coordinator_host({}, {})")
        node = sql.SQL("select citus_add_node({}, {})")
        coordinator.execute(
            name,
            host.format(HOST, coordinator.port),
            *(node.format(HOST, server.port) for server in workers),
        )
