"""Bare servers with Citus, to which nobody logs in without a password: no roles, no memory."""

import secrets
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from tests.support.cluster import ClusterNode, on_each, run_nodes

_ROLES = ("textrawl_owner", "textrawl_app", "textrawl_analyst")
_EXTENSIONS = ("vector", "citus")


@dataclass(frozen=True)
class BareServers:
    """A coordinator and three servers, which are workers as soon as they join a database."""

    nodes: tuple[ClusterNode, ...]
    password: str

    def url(self, database: str, node: ClusterNode | None = None) -> str:
        """The connection string of the superuser, to the coordinator or to another node."""
        return make_conninfo(
            (node or self.nodes[0]).dsn("postgres", database), password=self.password
        )

    def execute(
        self, statement: str, database: str, node: ClusterNode | None = None
    ) -> list[tuple[Any, ...]]:
        """Rows of a statement of the superuser."""
        with psycopg.connect(self.url(database, node), autocommit=True) as session:
            cursor = session.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def create_database(self, name: str, workers: Sequence[ClusterNode]) -> None:
        """An empty database on all servers, with these workers."""
        coordinator = self.nodes[0]
        secret = sql.Literal(f"password={self.password}").as_string()
        # The nodes of Citus log in to each other.
        login = f"insert into pg_dist_authinfo values (0, 'postgres', {secret})"  # noqa: S608
        for node in self.nodes:
            self.execute(f"create database {name}", "postgres", node)
            for extension in _EXTENSIONS:
                self.execute(f"create extension {extension}", name, node)
            self.execute(login, name, node)
        self.execute(
            f"select citus_set_coordinator_host('{coordinator.host}', {coordinator.port})", name
        )
        for node in workers:
            self.add_worker(name, node)

    def add_worker(self, database: str, node: ClusterNode) -> None:
        """Let a server be a worker of a database."""
        self.execute(f"select citus_add_node('{node.host}', {node.port})", database)


@contextmanager
def run_bare_servers(pg_config: Path) -> Generator[BareServers]:
    """Start them."""
    with run_nodes(pg_config, workers=3) as nodes:
        servers = BareServers(nodes, secrets.token_hex(8))
        on_each(lambda node: _strip(node, servers.password), nodes)
        yield servers


def _strip(node: ClusterNode, password: str) -> None:
    with node.open() as session:
        for role in _ROLES:
            session.execute(f"drop role {role}".encode())
        session.execute(f"alter role postgres password '{password}'".encode())
        rules = node.data / "pg_hba.conf"
        text = rules.read_text("utf-8")
        rules.write_text(text.replace("trust", "scram-sha-256"), "utf-8")
        session.execute("select pg_reload_conf()")
