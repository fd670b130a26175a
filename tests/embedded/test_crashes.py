"""What is killed without warning is found, recovered and stopped by the next one."""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import psutil
import psycopg
import pytest

from textrawl.embedded.cluster import Cluster, revive, run_embedded
from textrawl.embedded.configuration import OWNER
from textrawl.embedded.postmaster import find_postmaster

pytestmark = pytest.mark.anyio

Guests = Callable[..., Any]
Postmasters = Callable[[], list[int]]


def count(cluster: Cluster) -> int:
    with psycopg.connect(cluster.dsn(OWNER)) as connection:
        row = connection.execute("select count(*) from note").fetchone()
    assert row is not None
    return row[0]


def write(cluster: Cluster) -> None:
    with psycopg.connect(cluster.dsn(OWNER)) as connection:
        connection.execute("create table note as select from generate_series(1, 1000)")


async def kill(pid: int, postmasters: Postmasters) -> None:
    os.kill(pid, signal.SIGKILL)
    with anyio.fail_after(10):
        while pid in postmasters():
            await anyio.lowlevel.checkpoint()


async def test_a_user_killed_hard_does_not_keep_postgres_alive(
    data_dir: Path, guest: Guests, postmasters: Postmasters
) -> None:
    killed = guest()
    killed.wait_ready()

    async with run_embedded(data_dir) as cluster:
        write(cluster)
        killed.kill()
        assert count(cluster) == 1000

    assert postmasters() == []


async def test_a_server_whose_users_were_all_killed_is_joined_and_stopped(
    data_dir: Path, guest: Guests, postmasters: Postmasters
) -> None:
    guests = [guest(), guest()]
    for one in guests:
        one.wait_ready()
    [server] = postmasters()
    for one in guests:
        one.kill()
    assert postmasters() == [server]

    async with run_embedded(data_dir):
        assert postmasters() == [server]

    assert postmasters() == []


async def test_a_killed_server_loses_nothing_that_was_committed(
    data_dir: Path, guest: Guests, postmasters: Postmasters
) -> None:
    one = guest()
    one.wait_ready()
    async with run_embedded(data_dir) as cluster:
        write(cluster)
        [server] = postmasters()
        await kill(server, postmasters)
        one.kill()

    async with run_embedded(data_dir) as cluster:
        assert count(cluster) == 1000
        assert postmasters() != [server]


async def test_a_server_that_died_in_use_is_revived_under_the_same_address(
    data_dir: Path, postmasters: Postmasters
) -> None:
    async with run_embedded(data_dir) as cluster:
        write(cluster)
        await kill(postmasters()[0], postmasters)

        await revive(cluster)

        assert count(cluster) == 1000
        assert len(postmasters()) == 1
    assert postmasters() == []


@pytest.mark.skipif(sys.platform != "linux", reason="prctl")
async def test_a_dead_server_that_nobody_buried_is_not_taken_for_a_living_one(
    data_dir: Path, guest: Guests, postmasters: Postmasters
) -> None:
    parent = guest("adopts")
    parent.wait_ready()
    [server] = postmasters()
    await kill(server, postmasters)
    assert psutil.Process(server).status() == psutil.STATUS_ZOMBIE

    async with run_embedded(data_dir) as cluster:
        write(cluster)
        assert count(cluster) == 1000


async def test_a_stale_pid_file_that_names_another_program_is_seen_through(
    data_dir: Path, postmasters: Postmasters
) -> None:
    pgdata, socket = data_dir / "postgres-18", data_dir / "socket" / ".s.PGSQL.5432.lock"
    files = [pgdata / "postmaster.pid", socket]
    async with run_embedded(data_dir) as cluster:
        write(cluster)
        kept = [(path, path.read_text(encoding="utf-8"), path.stat()) for path in files]
    for path, text, status in kept:
        _, _, rest = text.partition("\n")
        path.write_text(f"{os.getppid()}\n{rest}", encoding="utf-8")
        path.chmod(0o600)
        os.chown(path, status.st_uid, status.st_gid)

    async with run_embedded(data_dir) as cluster:
        assert count(cluster) == 1000
        assert postmasters() != [os.getppid()]


@pytest.fixture
def half_made(data_dir: Path, fresh: None) -> Path:
    """What a process leaves that is killed during initdb."""
    folder = data_dir / "postgres-18.new-half"
    folder.mkdir(parents=True)
    data_dir.chmod(0o755)
    (folder / "PG_VERSION").write_text("18\n", encoding="utf-8")
    return folder


async def test_what_a_killed_start_left_half_made_is_removed(
    data_dir: Path, half_made: Path
) -> None:
    async with run_embedded(data_dir) as cluster:
        write(cluster)
        left = await anyio.Path(half_made).exists()

    assert not left


async def test_one_who_leaves_deleted_data_does_not_stop_their_successor(
    data_dir: Path, postmasters: Postmasters
) -> None:
    async with run_embedded(data_dir) as old:
        leftover = find_postmaster(old.data)
        assert leftover is not None
        shutil.rmtree(data_dir)
        async with run_embedded(data_dir) as new:
            write(new)
            successor = find_postmaster(new.data)
            assert successor not in (None, leftover)
    assert successor not in postmasters()
    os.kill(leftover, signal.SIGKILL)
