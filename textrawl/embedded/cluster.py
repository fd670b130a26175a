"""An embedded Postgres under one `async with`: run_embedded.

Every user of a cluster, in whatever process or thread, shares `clients.lock` for as long as it
lasts. Whoever starts or stops the server holds `lifecycle.lock` alone. The one who leaves and
can have `clients.lock` alone is the last one, and stops the server. The kernel drops the locks
of a killed process, so nothing has to be remembered or cleaned up.
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
from textrawl.embedded.postmaster import (
    end_leftovers,
    find_postmaster,
    is_postmaster,
    ping,
    read_pid_file,
    spawn,
    stop,
)
from textrawl.embedded.programs import find_programs
from textrawl.embedded.site import (
    Site,
    claim_site,
    give_new_folder,
    refuse_closed_folder,
    refuse_full_disk,
    refuse_other_major,
)
from textrawl.errors import StartRefused

logger = logging.getLogger("textrawl")

_PAUSE = 0.05
_PROGRESS = 5.0
_MOST_DEATHS = 20
_DEATHS_OF_MERCY = 4
_PAUSE_AFTER_DEATH = 0.5
_MOST_FAILURES = 5
_LONGEST_LEAVE = 45.0


@dataclass(frozen=True)
class Cluster:
    """A Postgres that takes connections through a Unix socket.

    `data` is its data folder (PGDATA), `bin_path` the folder with its programs.
    """

    socket_dir: Path
    port: int
    data: Path
    bin_path: Path

    def dsn(self, role: str, database: str = DATABASE) -> str:
        """Conninfo of libpq for `role` on `database`; the OS user is the password."""
        return make_conninfo(host=str(self.socket_dir), port=self.port, user=role, dbname=database)


@asynccontextmanager
async def run_embedded(
    data_dir: Path, *, postgres_version: int = 18, start_limit: float = 300.0
) -> AsyncGenerator[Cluster]:
    """Start the cluster in `data_dir`, or join it, and stop it if nobody else uses it.

    `postgres_version` is 18 or 16. A server that recovers from a crash is given `start_limit`
    seconds. Raises StartRefused, which says what to do, when the folder cannot be used or the
    server does not come up.
    """
    account = await to_thread.run_sync(find_account)
    site = await to_thread.run_sync(claim_site, data_dir, postgres_version, account)
    with FileLock(site.lifecycle, account) as lifecycle, FileLock(site.clients, account) as clients:
        await lifecycle.wait_alone()
        clients.take_shared()  # granted: whoever has it alone has the lifecycle too
        try:
            cluster = await _start(site, account, start_limit)
            lifecycle.release()
            yield cluster
        finally:
            with anyio.move_on_after(_LONGEST_LEAVE, shield=True):
                await lifecycle.wait_alone()
                if clients.take_alone() and clients.is_in_place():
                    await stop(site.pgdata)


async def revive(cluster: Cluster, *, start_limit: float = 300.0) -> None:
    """Start the server again if it died under its users; its dsn stay what they were.

    For callers inside run_embedded whose connections fail. Raises StartRefused, also when the
    data were deleted: nobody who used them is given an empty database in their place.
    """
    account = await to_thread.run_sync(find_account)
    site = Site(cluster.data.parent, int(cluster.data.name.removeprefix("postgres-")))
    if not (site.pgdata / "PG_VERSION").exists():
        raise StartRefused(
            f"{site.pgdata} was deleted while it was in use. Put it back, or restart textrawl to "
            "begin with an empty one."
        )
    with FileLock(site.lifecycle, account) as lifecycle:
        await lifecycle.wait_alone()
        await _start(site, account, start_limit)


async def _start(site: Site, account: Account, limit: float) -> Cluster:
    try:
        programs = await to_thread.run_sync(_make_ready, site, account)
        return await start(site, programs, account, limit)
    except OSError as error:
        raise StartRefused(
            f"Postgres cannot be started: {error.strerror}, {error.filename or site.data_dir}. "
            "Fix that, or set TEXTRAWL_DATABASE_URL."
        ) from error


async def start(site: Site, programs: Path, account: Account, limit: float) -> Cluster:
    """A server on `site.pgdata`, which exists, that takes connections; the lifecycle lock is held.

    Raises StartRefused after `limit` seconds, and OSError.
    """
    with anyio.move_on_after(limit):
        for failures in count(1):
            cluster = await _wait_for_server(site, programs, account)
            try:
                await to_thread.run_sync(_prepare, cluster)
            except psycopg.Error as error:
                _bear_failure(site, error, failures)
                await anyio.sleep(_PAUSE_AFTER_DEATH)
            else:
                return cluster
    raise StartRefused(
        f"Postgres did not take connections within {limit:.0f} s; see {site.log}. "
        "Start again if it was recovering, or set TEXTRAWL_DATABASE_URL."
    )


def _make_ready(site: Site, account: Account) -> Path:
    refuse_other_major(site)  # again: an upgrade may have ended while we waited for the lock
    give_new_folder(site, account)
    refuse_closed_folder(site.data_dir, account)
    programs = find_programs(site, account)
    create_data_folder(site, programs, account)
    return programs


def _prepare(cluster: Cluster) -> None:
    prepare_server(cluster.dsn(SUPERUSER, "postgres"))
    prepare_extension(cluster.dsn(SUPERUSER))


def _bear_failure(site: Site, error: psycopg.Error, failures: int) -> None:
    # One of its processes was killed and it starts all of them anew: wait for it again.
    if isinstance(error, psycopg.OperationalError) and failures < _MOST_FAILURES:
        return
    refuse_full_disk(site)
    raise StartRefused(
        f"Postgres runs but its database cannot be set up: {error}. See {site.log}, "
        "or set TEXTRAWL_DATABASE_URL."
    ) from error


async def _wait_for_server(site: Site, programs: Path, account: Account) -> Cluster:
    """Wait until the server takes connections; spawn it whenever none lives."""
    spawned, deaths = 0, 0
    began = reported = anyio.current_time()
    while True:
        address = read_pid_file(site.pgdata)
        answer = await to_thread.run_sync(ping, address)
        if answer is pq.Ping.OK and address and address.socket_dir:
            return Cluster(address.socket_dir, address.port, site.pgdata, programs)
        lives = find_postmaster(site.pgdata) or is_postmaster(spawned, site.pgdata)
        if answer is not pq.Ping.REJECT and not lives:
            if spawned:
                deaths += 1
                await _bear_death(site, deaths)
            spawned = await to_thread.run_sync(spawn, site, programs, account)
        if anyio.current_time() - reported > _PROGRESS:
            reported = anyio.current_time()
            logger.warning("Postgres is starting or recovering, %.0f s so far", reported - began)
        await anyio.sleep(_PAUSE)


async def _bear_death(site: Site, deaths: int) -> None:
    # Children of a killed server keep its shared memory until they notice, and as long as they
    # do a new server gives up. One that is computing notices at the end, and has to be killed.
    # More than that is a fault that waiting does not mend.
    if deaths == _DEATHS_OF_MERCY:
        await to_thread.run_sync(end_leftovers, site.pgdata)
    if deaths > _DEATHS_OF_MERCY:
        refuse_full_disk(site)
    if deaths >= _MOST_DEATHS:
        raise StartRefused(
            f"Postgres does not start; the reason is at the end of {site.log}. "
            "Fix that, or set TEXTRAWL_DATABASE_URL."
        )
    await anyio.sleep(_PAUSE_AFTER_DEATH)
