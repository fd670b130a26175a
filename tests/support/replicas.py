"""A primary and its standby, made with Postgres' own programs, which tests kill and promote."""

import os
import signal
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
import psycopg
from anyio import to_thread
from psycopg import pq
from psycopg.conninfo import make_conninfo
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

from tests.conftest import enrol
from textrawl import migrate
from textrawl.embedded.cluster import DATABASE, run_embedded
from textrawl.embedded.paths import ClusterPaths, find_account
from textrawl.embedded.postmaster import (
    APP,
    OWNER,
    SUPERUSER,
    find_postmaster,
    kill_orphans,
    ping,
    read_pid_file,
    spawn,
    stop,
)
from textrawl.postgres.database import Database


async def probe_both(pool: Database) -> None:
    """Ask both servers once, which a server does each second."""
    assert pool.probe is not None
    assert pool.standby is not None
    await pool.probe.ask()
    await pool.standby.probe()


@dataclass(frozen=True)
class Node:
    """One server of a pair."""

    paths: ClusterPaths
    programs: Path
    address: tuple[str, int]

    def dsn(self, role: str = APP, database: str = DATABASE) -> str:
        """Its connection string."""
        host, port = self.address
        return make_conninfo(host=host, port=port, user=role, dbname=database)

    def execute(self, statement: str) -> list[tuple[object, ...]]:
        """Rows of a statement of the superuser."""
        with psycopg.connect(self.dsn(SUPERUSER), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the postmaster and to all its children, as `kill` of a machine does."""
        pid = find_postmaster(self.paths.pgdata)
        assert pid is not None
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
        for process in (pid, *map(int, children)):
            with suppress(ProcessLookupError):
                os.kill(process, number)

    async def kill(self) -> None:
        """Kill it with -9, and wait until it is gone."""
        self.signal(signal.SIGKILL)
        async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.01)):
            with attempt:
                assert find_postmaster(self.paths.pgdata) is None
        await to_thread.run_sync(kill_orphans, self.paths.pgdata)

    @contextmanager
    def freeze(self) -> Generator[None]:
        """Let none of its processes run, as on a machine without network."""
        self.signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.signal(signal.SIGCONT)

    async def start(self) -> None:
        """Start it, and wait until it answers."""
        await to_thread.run_sync(spawn, self.paths, self.programs, find_account())
        async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.02)):
            with attempt:
                assert ping(read_pid_file(self.paths.pgdata)) is pq.Ping.OK

    def pause_replay(self) -> None:
        """Let it fall behind, as a standby."""
        self.execute("select pg_wal_replay_pause()")

    def follow(self, primary: "Node | None") -> None:
        """Let a standby get its WAL from another server, or from none."""
        source = ""
        if primary is not None:
            host, port = primary.address
            source = f"host={host} port={port} user={SUPERUSER}"
        self.execute(f"alter system set primary_conninfo = '{source}'")
        self.execute("select pg_reload_conf()")

    def promote(self) -> None:
        """Make it a primary, and wait until it is."""
        assert self.execute("select pg_promote()") == [(True,)]


@dataclass(frozen=True)
class Pair:
    """A primary with a migrated memory, and a standby."""

    primary: Node
    standby: Node

    def both(self, attributes: str = "read-write") -> str:
        """The connection string with both hosts, of which libpq takes the fitting one."""
        nodes = (self.primary, self.standby)
        return make_conninfo(
            host=",".join(node.address[0] for node in nodes),
            port=",".join(str(node.address[1]) for node in nodes),
            user=APP,
            dbname=DATABASE,
            target_session_attrs=attributes,
        )

    def pause_replay(self) -> None:
        """Let the standby fall behind."""
        self.standby.pause_replay()

    def resume_replay(self) -> None:
        """Let the standby catch up."""
        self.standby.execute("select pg_wal_replay_resume()")

    def make_synchronous(self) -> None:
        """Let the primary acknowledge only what the standby has replayed."""
        self.primary.execute("alter system set synchronous_standby_names = '*'")
        self.primary.execute("alter system set synchronous_commit = 'remote_apply'")
        self.primary.execute("select pg_reload_conf()")


async def let_replicas_in(data_dir: Path) -> None:
    """Make a cluster whose login rules have a line for them."""
    async with run_embedded(data_dir) as cluster:
        rules = cluster.data / "rules.conf"
    account = find_account()
    for path, text in {
        rules: "local all,replication all peer map=textrawl\n",
        cluster.data / "local.conf": f"hba_file = '{rules}'\n",
    }.items():
        path.write_text(text, encoding="utf-8")
        account.chown(path)


@asynccontextmanager
async def replicate(primary: Node, data_dir: Path) -> AsyncGenerator[Node]:
    """A standby that follows."""
    account, paths = find_account(), ClusterPaths(data_dir, 18)
    await to_thread.run_sync(data_dir.mkdir)
    account.chown(data_dir)
    copy = [
        primary.programs / "pg_basebackup", f"--pgdata={paths.pgdata}", "--write-recovery-conf",
        "--checkpoint=fast", f"--dbname={primary.dsn(SUPERUSER, 'postgres')}",
    ]  # fmt: skip
    done = await to_thread.run_sync(lambda: account.run(copy, limit=60))
    assert done.returncode == 0, done.stderr
    node = Node(paths, primary.programs, ("", 0))
    try:
        await node.start()
        found = read_pid_file(paths.pgdata)
        assert found is not None
        yield Node(paths, primary.programs, (str(found.socket_dir), found.port))
    finally:
        with anyio.CancelScope(shield=True):
            await stop(paths.pgdata)


@asynccontextmanager
async def run_pair(folder: Path) -> AsyncGenerator[Pair]:
    """A primary and a standby in `folder`; both end with the block."""
    await let_replicas_in(folder / "primary")
    async with run_embedded(folder / "primary") as cluster:
        await migrate(cluster.dsn(OWNER))
        enrol(cluster.dsn(OWNER))
        paths = ClusterPaths(folder / "primary", 18)
        address = (str(cluster.socket_dir), cluster.port)
        primary = Node(paths, cluster.bin_path, address)
        async with replicate(primary, folder / "standby") as standby:
            yield Pair(primary, standby)
