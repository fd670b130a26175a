"""Processes of Postgres that are killed, frozen, busy or slow to come back."""

import logging
import os
import re
import shutil
import signal
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import anyio
import psutil
import psycopg
import pytest
from psycopg import pq

from textrawl.embedded.cluster import Cluster, restart, run_embedded
from textrawl.embedded.paths import find_account
from textrawl.embedded.postmaster import OWNER, ping, read_pid_file
from textrawl.errors import StartRefused

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

Postmasters = Callable[[], list[int]]


def write(cluster: Cluster) -> None:
    with psycopg.connect(cluster.dsn(OWNER)) as connection:
        connection.execute("create table note as select from generate_series(1, 1000)")


def count(cluster: Cluster) -> int:
    with psycopg.connect(cluster.dsn(OWNER)) as connection:
        row = connection.execute("select count(*) from note").fetchone()
    assert row is not None
    return row[0]


def find_family(server: int, title: str = "") -> list[psutil.Process]:
    """Processes of a server whose title has this in it."""
    children = psutil.Process(server).children()
    return [child for child in children if title in " ".join(child.cmdline())]


async def count_when_it_is_back(cluster: Cluster, postmasters: Postmasters) -> int:
    """As a server does: pool and watchdog try again, and the watchdog revives what is dead."""
    with anyio.fail_after(30):
        while True:
            with suppress(psycopg.OperationalError):
                return count(cluster)
            if not postmasters():
                await restart(cluster)


@pytest.mark.parametrize(
    "title",
    ["checkpointer", "walwriter", "background writer", "io worker", OWNER, "postmaster", ""],
)
async def test_whichever_process_is_killed_hard_what_was_acknowledged_is_back(
    data_dir: Path, postmasters: Postmasters, title: str
) -> None:
    async with run_embedded(data_dir) as cluster:
        write(cluster)
        with psycopg.connect(cluster.dsn(OWNER)):
            [server] = postmasters()
            victims = find_family(server, title) if title != "postmaster" else []
            if not victims or not title:
                victims.append(psutil.Process(server))
            for victim in victims:
                with suppress(psutil.NoSuchProcess):
                    victim.kill()

        assert await count_when_it_is_back(cluster, postmasters) == 1000
        assert len(postmasters()) == 1
    assert postmasters() == []


async def test_a_backend_that_computes_on_does_not_keep_a_killed_server_from_returning(
    data_dir: Path, postmasters: Postmasters
) -> None:
    async with run_embedded(data_dir) as cluster:
        write(cluster)
        with closing(psycopg.connect(cluster.dsn(OWNER))) as connection:
            busy = psutil.Process(connection.info.backend_pid)
            connection.pgconn.send_query(b"do 'begin loop end loop; end'")
            connection.pgconn.flush()
            with anyio.fail_after(60):
                while not any("DO" in part for part in busy.cmdline()):  # noqa: ASYNC110 - another process wakes nobody
                    await anyio.sleep(0.01)
            os.kill(postmasters()[0], signal.SIGKILL)

            await restart(cluster)

            assert count(cluster) == 1000
            with suppress(psutil.NoSuchProcess):
                assert busy.status() == psutil.STATUS_ZOMBIE


def hold_recovery(pgdata: Path, hold: Path) -> None:
    """Lets it ask for an archived file, and gives no answer while `hold` is there."""
    hold.touch()
    os.close(find_account().open(pgdata / "recovery.signal", os.O_RDWR))
    (pgdata / "local.conf").write_text(
        f"restore_command = 'while test -e {hold}; do sleep 0.1; done; false'\nhot_standby = off\n",
        encoding="utf-8",
    )


async def test_a_recovery_of_more_than_ten_seconds_is_awaited_and_told(
    data_dir: Path, home: Path, postmasters: Postmasters, caplog: pytest.LogCaptureFixture
) -> None:
    async with run_embedded(data_dir) as cluster:
        write(cluster)
        os.kill(postmasters()[0], signal.SIGKILL)
    hold_recovery(data_dir / "postgres-18", hold := home / "hold")

    with caplog.at_level(logging.WARNING, "textrawl"):
        async with anyio.create_task_group() as beside:

            async def let_go_after_ten_seconds() -> None:
                while not re.search(r"recovering, 1\d s so far", caplog.text):  # noqa: ASYNC110 - a log wakes nobody
                    await anyio.sleep(0.1)
                hold.unlink()

            async def use() -> None:
                async with run_embedded(data_dir) as cluster:
                    assert count(cluster) == 1000

            beside.start_soon(let_go_after_ten_seconds)
            beside.start_soon(use)
            beside.start_soon(use)

    seconds = re.findall(r"starting or recovering, (\d+) s so far", caplog.text)
    assert [5 <= int(seconds[0]) < 10, 10 <= int(seconds[1]) < 20] == [True, True]
    assert f"it holds {data_dir / 'lifecycle.lock'}" in caplog.text


@pytest.mark.parametrize("left", ["postgres-18.new-*", "postgres-18/postmaster.pid"])
@pytest.mark.usefixtures("fresh")
async def test_a_user_killed_hard_during_the_first_start_of_all_hinders_nobody(
    data_dir: Path, guest: Callable[..., Any], postmasters: Postmasters, left: str
) -> None:
    killed = guest()
    with anyio.fail_after(30):
        while not list(data_dir.glob(left)):  # noqa: ASYNC110, ASYNC240 - another process wakes nobody
            await anyio.sleep(0.01)
    killed.kill()

    async with run_embedded(data_dir) as cluster:
        write(cluster)
        assert count(cluster) == 1000
    assert postmasters() == []
    assert not list(data_dir.glob("*.new-*"))  # noqa: ASYNC240


async def test_a_frozen_server_is_awaited_while_everything_else_goes_on(
    data_dir: Path, postmasters: Postmasters
) -> None:
    async with run_embedded(data_dir) as cluster:
        write(cluster)
        [server] = postmasters()
        os.kill(server, signal.SIGSTOP)
        joined, beats = anyio.Event(), 0

        async def join() -> None:
            async with run_embedded(data_dir) as same:
                assert count(same) == 1000
                joined.set()

        async with anyio.create_task_group() as beside:
            beside.start_soon(join)
            with anyio.move_on_after(1):
                while True:
                    await anyio.sleep(0.01)
                    beats += 1
            assert not joined.is_set()
            os.kill(server, signal.SIGCONT)

    assert joined.is_set()
    assert beats > 5  # PQping would have held up the loop for five seconds


async def test_a_frozen_server_is_stopped_by_the_last_who_leaves(
    data_dir: Path, postmasters: Postmasters
) -> None:
    with anyio.fail_after(60):
        async with run_embedded(data_dir):
            os.kill(postmasters()[0], signal.SIGSTOP)

    assert postmasters() == []


async def test_a_frozen_server_is_told_from_a_ready_one_within_the_limit(
    data_dir: Path, postmasters: Postmasters
) -> None:
    async with run_embedded(data_dir) as cluster:
        address = read_pid_file(cluster.data)
        assert ping(address) is pq.Ping.OK
        os.kill(postmasters()[0], signal.SIGSTOP)
        assert ping(address, limit=0.2) is pq.Ping.NO_RESPONSE

    assert ping(address) is pq.Ping.NO_RESPONSE


async def test_data_that_were_deleted_in_use_are_not_replaced_by_empty_ones(
    data_dir: Path, postmasters: Postmasters
) -> None:
    async with run_embedded(data_dir) as cluster:
        [leftover] = postmasters()
        shutil.rmtree(data_dir)
        with pytest.raises(StartRefused, match="was deleted while it was in use"):
            await restart(cluster)

    assert not await anyio.Path(data_dir).exists()
    with suppress(ProcessLookupError):  # it may have noticed already that its data are gone
        os.kill(leftover, signal.SIGKILL)


async def test_a_cluster_deleted_under_its_server_is_made_anew_by_the_next_start(
    data_dir: Path, postmasters: Postmasters
) -> None:
    async with run_embedded(data_dir):
        [leftover] = postmasters()
        shutil.rmtree(data_dir / "postgres-18")
        async with run_embedded(data_dir) as cluster:
            write(cluster)
            assert count(cluster) == 1000
            assert leftover not in postmasters()

    assert postmasters() == []
