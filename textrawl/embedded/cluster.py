"""A running embedded Postgres as one `async with`: `run_embedded`.

Each user of a cluster is a process or a thread. It holds `clients.lock` as a shared lock while it
uses the cluster. To start or stop the server, it holds `lifecycle.lock` as an exclusive lock. When
a user leaves, it tries to get `clients.lock` as an exclusive lock. If this succeeds, it is the last
user and stops the server. The kernel drops the locks of a killed process, so no cleanup is needed.
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
    refuse_few_files,
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
_MOST_DEATHS = 20  # failed starts in a row, after which StartRefused is raised
_DEATHS_BEFORE_KILL = 4  # failed starts, after which children of a killed server are killed
_PAUSE_AFTER_DEATH = 0.5
_MOST_FAILURES = 5
_LONGEST_STOP = 45.0


@dataclass(frozen=True)
class Cluster:
    """A Postgres that accepts connections through a Unix socket.

    `data` is its data folder (PGDATA). `bin_path` is the folder with its programs.
    """

    socket_dir: Path
    port: int
    data: Path
    bin_path: Path

    def dsn(self, role: str, database: str = DATABASE) -> str:
        """Return a conninfo for `role` in `database`. Postgres checks the OS user (peer)."""
        return make_conninfo(host=str(self.socket_dir), port=self.port, user=role, dbname=database)


@asynccontextmanager
async def run_embedded(
    data_dir: Path, *, postgres_version: int = 18, start_limit: float = 300.0
) -> AsyncGenerator[Cluster]:
    """Start or join the cluster in `data_dir`. At the end, stop it if it has no other user.

    `postgres_version` is 18 or 16. `start_limit` is the time limit in seconds for a start,
    including recovery from a crash. Raises StartRefused with the fix if the folder cannot be used
    or the server does not start.
    """
    account = await to_thread.run_sync(find_account)
    paths = await to_thread.run_sync(prepare_paths, data_dir, postgres_version, account)
    with (
        FileLock(paths.lifecycle, account) as lifecycle,
        FileLock(paths.clients, account) as clients,
    ):
        await lifecycle.wait_exclusive()
        # This always succeeds: for an exclusive lock on `clients`, a process also needs the
        # lifecycle lock, and this process holds it.
        clients.take_shared()
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
    """Start the server again if it has died. Its addresses stay the same.

    Call it inside `run_embedded` if connections fail. Raises StartRefused, also if the data were
    deleted, because an empty database must not replace them silently.
    """
    account = await to_thread.run_sync(find_account)
    paths = ClusterPaths(cluster.data.parent, int(cluster.data.name.removeprefix("postgres-")))
    if not (paths.pgdata / "PG_VERSION").exists():
        raise StartRefused(
            f"{paths.pgdata} was deleted while it was in use. Put it back, or restart textrawl to "
            "begin with an empty memory."
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
    """Start a server on the existing `paths.pgdata`, and wait until it accepts connections.

    The caller must hold the lifecycle lock. Raises StartRefused after `limit` seconds, and OSError.
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
        f"Postgres did not accept connections within {limit:.0f} s; see {paths.log}. "
        "If it was recovering, start again; otherwise set TEXTRAWL_DATABASE_URL."
    )


def _make_ready(paths: ClusterPaths, account: Account) -> Path:
    refuse_other_major(paths)  # check again after the wait for the lock: an upgrade may have ended
    chown_new_folder(paths, account)
    refuse_closed_folder(paths.data_dir, account)
    programs = find_programs(paths, account)
    create_data_folder(paths, programs, account)
    return programs


def _prepare(cluster: Cluster) -> None:
    prepare_server(cluster.dsn(SUPERUSER, "postgres"))
    prepare_extension(cluster.dsn(SUPERUSER))


def _refuse_lasting_failure(paths: ClusterPaths, error: psycopg.Error, failures: int) -> None:
    # An OperationalError can be temporary: if one process of the server was killed, all processes
    # of the server restart.
    if isinstance(error, psycopg.OperationalError) and failures < _MOST_FAILURES:
        return
    refuse_full_disk(paths)
    raise StartRefused(
        f"Postgres runs but its database cannot be set up: {error}. See {paths.log}, "
        "or set TEXTRAWL_DATABASE_URL."
    ) from error


async def _wait_for_server(paths: ClusterPaths, programs: Path, account: Account) -> Cluster:
    """Wait until the server accepts connections. Start a server whenever none is running."""
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
    # Children of a killed server keep its shared memory until they notice its end. Until then, a
    # new server does not start. A busy child notices this late, so it is killed after some failed
    # starts. If the server dies again after that, check the disk for space.
    refuse_few_files()
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
