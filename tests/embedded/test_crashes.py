"""What is killed without warning is found, recovered and stopped by the next one."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import psutil
import psycopg
import pytest

from textrawl.embedded.cluster import Cluster, restart, run_embedded
from textrawl.embedded.paths import find_account
from textrawl.embedded.postmaster import OWNER

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
    with anyio.fail_after(60):
        while pid in postmasters():  # noqa: ASYNC110 - another process wakes nobody
            await anyio.sleep(0.01)


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

        await restart(cluster)

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


@pytest.fixture
def stranger() -> Iterator[int]:
    """Process id of a living program that is no Postgres, of the OS user that runs Postgres."""
    command, options = ["/bin/sh", "-c", "read line"], find_account().process_options()
    with subprocess.Popen(command, stdin=subprocess.PIPE, **options) as process:
        yield process.pid
        process.kill()


async def test_a_stale_pid_file_that_names_another_program_is_seen_through(
    data_dir: Path, stranger: int, postmasters: Postmasters
) -> None:
    pgdata, socket = data_dir / "postgres-18", data_dir / "socket" / ".s.PGSQL.5432.lock"
    files = [pgdata / "postmaster.pid", socket]
    async with run_embedded(data_dir) as cluster:
        write(cluster)
        [server] = postmasters()
        await kill(server, postmasters)
    for path in files:  # written in place, so their owner and mode stay
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(f"{server}\n", f"{stranger}\n", 1), encoding="utf-8")

    async with run_embedded(data_dir) as cluster:
        assert count(cluster) == 1000
        assert len(postmasters()) == 1


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
    data_dir: Path, guest: Guests, postmasters: Postmasters
) -> None:
    async with run_embedded(data_dir):
        [leftover] = postmasters()
        shutil.rmtree(data_dir)
        other = guest()
        other.wait_ready()
        [successor] = {*postmasters()} - {leftover}
    assert successor in postmasters()

    other.leave()
    assert successor not in postmasters()
    with suppress(ProcessLookupError):  # it may have noticed already that its data are gone
        os.kill(leftover, signal.SIGKILL)
