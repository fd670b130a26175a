"""A standby of one server of a cluster, which replaces the server."""

import socket
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tenacity import Retrying, stop_after_delay, wait_fixed

from tests.support.cluster import ClusterNode
from tests.support.folders import open_folder
from textrawl.embedded.paths import find_account
from textrawl.embedded.postmaster import SUPERUSER


@contextmanager
def run_standby(node: ClusterNode) -> Generator[ClusterNode]:
    """A standby that follows a server. At the end, the server itself is back if it crashed."""
    with open_folder() as folder, socket.create_server(("127.0.0.1", 0)) as free:
        standby = ClusterNode(folder / "standby", node.programs, node.host, free.getsockname()[1])
        free.close()
        _copy(node, standby)
        standby.start()
        try:
            _wait_until_equal(node, standby)
            yield standby
        finally:
            standby.stop()
            node.start()


def replace_by(node: ClusterNode, standby: ClusterNode) -> None:
    """Let a server crash, and promote its standby when the standby has all of it."""
    _wait_until_equal(node, standby)
    node.stop()
    with standby.open() as session:
        session.execute("select pg_promote()")


@contextmanager
def promote_standby(node: ClusterNode) -> Generator[ClusterNode]:
    """The promoted standby of a server that crashed. At the end, the server itself is back."""
    with run_standby(node) as standby:
        replace_by(node, standby)
        yield standby


def _copy(node: ClusterNode, standby: ClusterNode) -> None:
    standby.data.mkdir(mode=0o700)
    files = node.data.stat()
    owner = replace(find_account(), uid=files.st_uid, gid=files.st_gid)
    owner.chown(standby.data)
    source = f"host={node.host} port={node.port} user={SUPERUSER}"
    program: Sequence[str | Path] = [node.programs / "pg_basebackup", f"--dbname={source}"]
    done = owner.run(
        [*program, f"--pgdata={standby.data}", "--write-recovery-conf", "--checkpoint=fast"],
        limit=60,
    )
    assert done.returncode == 0, done.stderr
    with (standby.data / "postgresql.auto.conf").open("a", encoding="utf-8") as file:
        file.write(f"port = {standby.port}\n")


def _wait_until_equal(node: ClusterNode, standby: ClusterNode) -> None:
    with node.open() as primary, standby.open() as copy:
        [(end,)] = primary.execute("select pg_current_wal_flush_lsn()").fetchall()
        for attempt in Retrying(stop=stop_after_delay(60), wait=wait_fixed(0.01)):
            with attempt:
                query = "select pg_last_wal_replay_lsn() >= %s::pg_lsn"
                assert copy.execute(query, (end,)).fetchall() == [(True,)]
