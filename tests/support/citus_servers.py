"""Servers of an installed PostgreSQL with Citus on this machine, for tests and benchmarks.

The installation is the given one, or the one whose pg_config is on the PATH. It needs pgvector too.
"""

import shutil
import socket
import subprocess
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from textrawl.embedded.paths import Account, find_account
from textrawl.embedded.postmaster import ANALYST, APP, OWNER, SUPERUSER

HOST = "127.0.0.1"
MISSING = (
    "no PostgreSQL with Citus is installed: install one, or give the path of its pg_config "
    "with --citus"
)
# Each database has a maintenance process of Citus, and a subscription on each worker. Nothing has
# to survive the machine. Citus connects the nodes without TLS, because they are on one machine.
_SETTINGS = f"""
listen_addresses = '{HOST}'
unix_socket_directories = ''
shared_preload_libraries = 'citus'
citus.node_conninfo = 'sslmode=prefer'
wal_level = logical
max_prepared_transactions = 200
max_connections = 300
max_worker_processes = 64
max_logical_replication_workers = 32
max_replication_slots = 32
max_wal_senders = 32
maintenance_work_mem = 512MB
fsync = off
full_page_writes = off
jit = off
timezone = 'UTC'
default_text_search_config = 'pg_catalog.english'
lc_messages = 'C'
"""
_INITDB = (
    "--encoding=UTF8", "--locale=C", "--lc-ctype=C.UTF-8", "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8", "--auth=trust", f"--username={SUPERUSER}",
)  # fmt: skip
_ROLES = (
    f"create role {OWNER} login",
    f"create role {APP} login",
    f"create role {ANALYST} nologin",
    f"grant {ANALYST} to {OWNER} with inherit false",
    f"grant pg_signal_backend to {OWNER}",
)


@dataclass(frozen=True)
class CitusServer:
    """One server. Nobody needs a password."""

    data: Path
    programs: Path
    host: str
    port: int

    def dsn(self, role: str = APP, database: str = "postgres") -> str:
        """Return its connection string."""
        return make_conninfo(host=self.host, port=self.port, user=role, dbname=database)

    def control(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run pg_ctl with these words, and wait until it is done."""
        command = [self.programs / "pg_ctl", f"--pgdata={self.data}", "--wait", *words]
        return find_account().run(command, limit=60)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        done = self.control(f"--log={self.data / 'log'}", "start")
        assert done.returncode == 0, done.stderr

    def stop(self) -> None:
        """Stop it as a crash does, if it runs."""
        self.control("--mode=immediate", "stop")


def find_pg_config(given: str | None = None) -> Path | None:
    """Return the pg_config of a PostgreSQL with Citus, or None if there is none.

    Raises FileNotFoundError if the given one is not of such a PostgreSQL.
    """
    found = given or shutil.which("pg_config")
    if found is not None and (_ask(found, "--sharedir") / "extension/citus.control").is_file():
        return Path(found)
    if given is not None:
        raise FileNotFoundError(f"{given} is not the pg_config of a PostgreSQL with Citus")
    return None


@contextmanager
def start_servers(
    pg_config: Path, folder: Path, workers: int
) -> Generator[tuple[CitusServer, ...]]:
    """Start a coordinator and workers in a new folder, with the roles and without a database."""
    account, programs = find_account(), _ask(pg_config, "--bindir")
    folder.mkdir()
    account.chown(folder)
    with ExitStack() as stack:
        servers: list[CitusServer] = []
        for number, port in enumerate(_find_ports(1 + workers)):
            server = CitusServer(folder / f"node{number}", programs, HOST, port)
            _create(server, account)
            stack.callback(server.stop)
            server.start()
            with psycopg.connect(server.dsn(SUPERUSER), autocommit=True) as session:
                for statement in _ROLES:
                    session.execute(statement)
            servers.append(server)
        yield tuple(servers)


def _create(server: CitusServer, account: Account) -> None:
    done = account.run([server.programs / "initdb", f"--pgdata={server.data}", *_INITDB], limit=120)
    assert done.returncode == 0, done.stderr
    with (server.data / "postgresql.conf").open("a", encoding="utf-8") as file:
        file.write(f"{_SETTINGS}port = {server.port}\n")


def _find_ports(number: int) -> list[int]:
    """Return free ports. The sockets are open at the same time, so that no port comes twice."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server((HOST, 0))) for _ in range(number)]
        return [each.getsockname()[1] for each in sockets]


def _ask(pg_config: str | Path, option: str) -> Path:
    done = subprocess.run([pg_config, option], capture_output=True, text=True, check=False)
    return Path(done.stdout.strip() or "/nonexistent")
