"""A cluster of Citus on this machine: a coordinator, workers, and databases that span them.

The program `cluster.py` in a folder outside the project starts the servers.
"""

import re
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from textrawl.embedded.paths import find_account
from textrawl.embedded.postmaster import OWNER, SUPERUSER

# Each database has a maintenance process of Citus and a subscription on each of its servers.
_SETTINGS = """
max_worker_processes = 64
max_logical_replication_workers = 32
max_replication_slots = 32
max_wal_senders = 32
maintenance_work_mem = 512MB
"""
_FIRST = "unused"  # the database that the program makes


@dataclass(frozen=True)
class Server:
    """One Postgres server of the cluster."""

    data: Path
    programs: Path
    port: int

    def dsn(self, role: str, database: str) -> str:
        """Return the conninfo of a role in one database."""
        return make_conninfo(host="127.0.0.1", port=self.port, user=role, dbname=database)

    def execute(self, database: str, *statements: sql.SQL | sql.Composed) -> None:
        """Execute statements as the superuser."""
        with psycopg.connect(self.dsn(SUPERUSER, database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    def configure(self) -> None:
        """Start the server again, with settings for several databases."""
        with (self.data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(_SETTINGS)
        self.control("restart", f"--log={self.data / 'log'}")

    def control(self, *words: str) -> None:
        """Start or stop the server."""
        command = [self.programs / "pg_ctl", f"--pgdata={self.data}", "--wait", *words]
        done = find_account().run(command, limit=60)
        assert done.returncode == 0, done.stderr


@contextmanager
def run_servers(program: Path, folder: Path, workers: int) -> Generator[list[Server]]:
    """Start a coordinator and `workers` workers in `folder`, and stop them at the end."""
    account = find_account()
    start = [sys.executable, program, "start", folder, "--workers", str(workers)]
    started = subprocess.run(
        [*start, "--database", _FIRST, *(["--user", account.name] if account.foreign else [])],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert started.returncode == 0, started.stderr
    [programs] = folder.glob("site/*/pginstall18/bin")
    ports = [int(port) for port in re.findall(r":(\d+)/", started.stdout)]
    servers = [
        Server(folder / f"node{number}", programs, port) for number, port in enumerate(ports)
    ]
    try:
        for server in servers:
            server.configure()
        yield servers
    finally:
        for server in servers:
            server.control("stop", "--mode=immediate")


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
        host = sql.SQL("select citus_set_coordinator_host('127.0.0.1', {})")
        node = sql.SQL("select citus_add_node('127.0.0.1', {})")
        coordinator.execute(
            name,
            host.format(coordinator.port),
            *(node.format(server.port) for server in workers),
        )
