"""An embedded Postgres under one `async with`: run_embedded.

Each user of a cluster, in any process or thread, holds `clients.lock` shared while it uses the
cluster. To start or stop the server, it holds `lifecycle.lock` exclusively. A user that leaves and
gets `clients.lock` exclusively is the last one, so it stops the server. The kernel drops the locks
of a killed process, so no cleanup is needed.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import anyio
import psycopg
from anyio import to_thread
from psycopg import pq
from psycopg.conninfo import make_conninfo

from textrawl.embedded.account import Account, find_account
from textrawl.embedded.configuration import SUPERUSER
from textrawl.embedded.creation import create_data_folder
from textrawl.embedded.database import DATABASE, prepare_extension, prepare_server
from textrawl.embedded.locks import FileLock
from textrawl.embedded.paths import (
    ClusterPaths,
    chown_new_folder,
    prepare_paths,
    refuse_closed_folder,
    refuse_full_disk,
    refuse_other_major,
)
from textrawl.embedded.postmaster import (
    find_postmaster,
    is_postmaster,
    kill_orphans,
    ping,
    read_pid_file,
    spawn,
    stop,
)
from textrawl.embedded.programs import find_programs
from textrawl.errors import StartRefused

logger = logging.getLogger("textrawl")

_PAUSE = 0.05
_PROGRESS = 5.0
_MOST_DEATHS = 20
_DEATHS_BEFORE_KILL = 4
_PAUSE_AFTER_DEATH = 0.5
_MOST_FAILURES = 5
_LONGEST_STOP = 45.0


@dataclass(frozen=True)
class Cluster:
    """A Postgres that accepts connections through a Unix socket.

    `data` is its data folder (PGDATA), `bin_path` the folder with its programs.
    """

    socket_dir: Path
    port: int
    data: Path
    bin_path: Path

    def dsn(self, role: str, database: str = DATABASE) -> str:
        """Return a conninfo for `role` on `database`. The OS user authenticates (peer)."""
        return make_conninfo(host=str(self.socket_dir), port=self.port, user=role, dbname=database)


@asynccontextmanager
async def run_embedded(
    data_dir: Path, *, postgres_version: int = 18, start_limit: float = 300.0
) -> AsyncGenerator[Cluster]:
    """Start or join the cluster in `data_dir`. At the end, stop it if nobody else uses it.

    `postgres_version` is 18 or 16. `start_limit` is the time in seconds for a start, including
    recovery from a crash. Raises StartRefused with the fix if the folder cannot be used or the
    server does not start.
    """
    account = await to_thread.run_sync(find_account)
    paths = await to_thread.run_sync(prepare_paths, data_dir, postgres_version, account)
    with (
        FileLock(paths.lifecycle, account) as lifecycle,
        FileLock(paths.clients, account) as clients,
    ):
        await lifecycle.wait_exclusive()
        clients.take_shared()  # succeeds: an exclusive holder would hold the lifecycle lock too
        try:
            cluster = await _start(paths, account, start_limit)
            lifecycle.release()
            yield cluster
        finally:
            with anyio.move_on_after(_LONGEST_STOP, shield=True):
                await lifecycle.wait_exclusive()
                if clients.take_exclusive() and clients.is_in_place():
                    await stop(paths.pgdata)


async def restart(cluster: Cluster, *, start_limit: float = 300.0) -> None:
    """Start the server again if it died during use. Its DSNs stay the same.

    For callers inside run_embedded whose connections fail. Raises StartRefused, also if the data
    were deleted: an empty database must not silently replace them.
    """
    account = await to_thread.run_sync(find_account)
    paths = ClusterPaths(cluster.data.parent, int(cluster.data.name.removeprefix("postgres-")))
    if not (paths.pgdata / "PG_VERSION").exists():
        raise StartRefused(
            f"{paths.pgdata} was deleted while it was in use. Put it back, or restart textrawl to "
            "begin with an empty one."
        )
    with FileLock(paths.lifecycle, account) as lifecycle:
        await lifecycle.wait_exclusive()
        await _start(paths, account, start_limit)


async def _start(paths: ClusterPaths, account: Account, limit: float) -> Cluster:
    try:
        programs = await to_thread.run_sync(_make_ready, paths, account)
        return await start(paths, programs, account, limit)
    except OSError as error:
        raise StartRefused(
            f"Postgres cannot be started: {error.strerror}, {error.filename or paths.data_dir}. "
            "Fix that, or set TEXTRAWL_DATABASE_URL."
        ) from error


async def start(paths: ClusterPaths, programs: Path, account: Account, limit: float) -> Cluster:
    """Start a server on `paths.pgdata`, which exists, and wait until it accepts connections.

    The caller holds the lifecycle lock. Raises StartRefused after `limit` seconds, and OSError.
    """
    with anyio.move_on_after(limit):
        for failures in count(1):
            cluster = await _wait_for_server(paths, programs, account)
            try:
                await to_thread.run_sync(_prepare, cluster)
            except psycopg.Error as error:
                _refuse_lasting_failure(paths, error, failures)
                await anyio.sleep(_PAUSE_AFTER_DEATH)
            else:
                return cluster
    raise StartRefused(
        f"Postgres did not take connections within {limit:.0f} s; see {paths.log}. "
        "Start again if it was recovering, or set TEXTRAWL_DATABASE_URL."
    )


def _make_ready(paths: ClusterPaths, account: Account) -> Path:
    refuse_other_major(paths)  # again: an upgrade may have ended while we waited for the lock
    chown_new_folder(paths, account)
    refuse_closed_folder(paths.data_dir, account)
    programs = find_programs(paths, account)
    create_data_folder(paths, programs, account)
    return programs


def _prepare(cluster: Cluster) -> None:
    prepare_server(cluster.dsn(SUPERUSER, "postgres"))
    prepare_extension(cluster.dsn(SUPERUSER))


def _refuse_lasting_failure(paths: ClusterPaths, error: psycopg.Error, failures: int) -> None:
    # Transient: a server process was killed, and the server restarts all of them.
    if isinstance(error, psycopg.OperationalError) and failures < _MOST_FAILURES:
        return
    refuse_full_disk(paths)
    raise StartRefused(
        f"Postgres runs but its database cannot be set up: {error}. See {paths.log}, "
        "or set TEXTRAWL_DATABASE_URL."
    ) from error


async def _wait_for_server(paths: ClusterPaths, programs: Path, account: Account) -> Cluster:
    """Wait until the server accepts connections. Spawn one whenever none is alive."""
    spawned, deaths = 0, 0
    began = reported = anyio.current_time()
    while True:
        address = read_pid_file(paths.pgdata)
        answer = await to_thread.run_sync(ping, address)
        if answer is pq.Ping.OK and address and address.socket_dir:
            return Cluster(address.socket_dir, address.port, paths.pgdata, programs)
        lives = find_postmaster(paths.pgdata) or is_postmaster(spawned, paths.pgdata)
        if answer is not pq.Ping.REJECT and not lives:
            if spawned:
                deaths += 1
                await _wait_after_death(paths, deaths)
            spawned = await to_thread.run_sync(spawn, paths, programs, account)
        if anyio.current_time() - reported > _PROGRESS:
            reported = anyio.current_time()
            logger.warning("Postgres is starting or recovering, %.0f s so far", reported - began)
        await anyio.sleep(_PAUSE)


async def _wait_after_death(paths: ClusterPaths, deaths: int) -> None:
    # Children of a killed server keep its shared memory until they notice its death. Until then
    # a new server gives up. A child that is computing notices late, so it is killed after some
    # failed starts. If the server still dies, the cause is another one: look at the disk.
    if deaths == _DEATHS_BEFORE_KILL:
        await to_thread.run_sync(kill_orphans, paths.pgdata)
    if deaths > _DEATHS_BEFORE_KILL:
        refuse_full_disk(paths)
    if deaths >= _MOST_DEATHS:
        raise StartRefused(
            f"Postgres does not start; the reason is at the end of {paths.log}. "
            "Fix that, or set TEXTRAWL_DATABASE_URL."
        )
    await anyio.sleep(_PAUSE_AFTER_DEATH)
