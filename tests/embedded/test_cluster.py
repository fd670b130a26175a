"""The life of an embedded cluster: first start, sharing, leaving."""

import os
import stat
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import psycopg
import pytest

from textrawl.embedded.cluster import Cluster, find_programs, run_embedded
from textrawl.embedded.paths import find_account, prepare_paths
from textrawl.embedded.postmaster import APP, OWNER, SUPERUSER, read_state, spawn, stop

pytestmark = pytest.mark.anyio

Postmasters = Callable[[], list[int]]


def ask(cluster: Cluster, query: str, role: str = OWNER) -> tuple[Any, ...]:
    with psycopg.connect(cluster.dsn(role)) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row


def inspect_process(pid: int) -> tuple[set[Path], bytes]:
    process = Path(f"/proc/{pid}")
    files = {link.readlink() for link in (process / "fd").iterdir()}
    return files, (process / "environ").read_bytes()


@pytest.mark.parametrize("major", [16, 18])
@pytest.mark.usefixtures("fresh")
async def test_a_first_start_makes_a_database_with_pgvector_and_words_of_every_script(
    data_dir: Path, postmasters: Postmasters, major: int
) -> None:
    """Its state is told before, meanwhile and afterwards, without starting anything."""
    assert read_state(data_dir, postgres_version=major).phase == "not initialised"

    async with run_embedded(data_dir, postgres_version=major) as cluster:
        assert read_state(data_dir, postgres_version=major).phase == "running"
        assert len(postmasters()) == 1
        assert ask(cluster, "select '[1,2]'::vector <-> '[1,2]'::vector", APP) == (0.0,)
        assert ask(cluster, "select current_database(), current_user") == ("textrawl", OWNER)
        assert ask(cluster, "show data_checksums") == ("on",)
        assert ask(cluster, "show listen_addresses") == ("",)
        assert ask(cluster, "show synchronous_commit") == ("on",)
        words = ask(cluster, "select to_tsvector('simple', '“Émile”—ПРИВЕТ…')::text")
        version = ask(cluster, "select current_setting('server_version_num')::int / 10000")

    assert words == ("'émile':1 'привет':2",)
    assert version == (major,)
    found = read_state(data_dir, postgres_version=major)
    assert (found.phase, found.version, postmasters()) == ("stopped", str(major), [])
    assert found.size > 10_000_000


async def test_a_memory_that_has_grown_is_kept_in_shared_buffers_at_the_next_start(
    data_dir: Path,
) -> None:
    async with run_embedded(data_dir) as cluster:
        assert ask(cluster, "show shared_buffers") == ("512MB",)
        pgdata = cluster.data
    with (pgdata / "base" / "1" / "99999999").open("wb") as relation:
        relation.truncate(300 << 20)

    async with run_embedded(data_dir) as cluster:
        [megabytes] = ask(cluster, "select pg_size_bytes(current_setting('shared_buffers')) >> 20")

    assert 600 < megabytes < 700


async def test_a_second_start_finds_what_the_first_one_stored(
    data_dir: Path, postmasters: Postmasters
) -> None:
    async with run_embedded(data_dir) as cluster:
        with psycopg.connect(cluster.dsn(OWNER)) as connection:
            connection.execute("create table note as select 'kept' as content")
    assert postmasters() == []

    async with run_embedded(data_dir) as cluster:
        assert ask(cluster, "select content from note") == ("kept",)


async def test_the_last_of_two_processes_stops_postgres(
    data_dir: Path, guest: Callable[..., Any], postmasters: Postmasters
) -> None:
    first = guest()
    first.wait_ready()

    async with run_embedded(data_dir) as cluster:
        [server] = postmasters()
        first.leave()
        assert ask(cluster, "select 1") == (1,)
        assert postmasters() == [server]

    assert postmasters() == []


@pytest.mark.slow
@pytest.mark.usefixtures("fresh")
async def test_eight_threads_on_a_fresh_folder_share_one_server(
    data_dir: Path, postmasters: Postmasters
) -> None:
    together = threading.Barrier(8, timeout=60)

    async def use() -> list[int]:
        async with run_embedded(data_dir) as cluster:
            await anyio.to_thread.run_sync(together.wait)
            assert ask(cluster, "select 1") == (1,)
            return postmasters()

    def run(_: int) -> list[int]:
        return anyio.run(use)

    with ThreadPoolExecutor(8) as threads:
        seen = await anyio.to_thread.run_sync(lambda: list(threads.map(run, range(8))))

    assert all(len(found) == 1 for found in seen)
    assert len({found[0] for found in seen}) == 1
    assert postmasters() == []


@pytest.mark.slow
@pytest.mark.usefixtures("fresh")
async def test_eight_processes_on_a_fresh_folder_share_one_server(
    guest: Callable[..., Any], postmasters: Postmasters
) -> None:
    guests = [guest() for _ in range(8)]
    for one in guests:
        one.wait_ready()
    assert len(postmasters()) == 1

    async with anyio.create_task_group() as leaving:
        for one in guests:
            leaving.start_soon(anyio.to_thread.run_sync, one.leave)
    assert postmasters() == []


@pytest.mark.parametrize("language", [None, "tlh_XX.klingon-9"])
@pytest.mark.usefixtures("fresh")
async def test_a_language_that_is_unset_or_unknown_changes_nothing(
    data_dir: Path, guest: Callable[..., Any], language: str | None
) -> None:
    one = guest(LANG=language, LC_ALL=language, LC_CTYPE=language, LANGUAGE=language)
    one.wait_ready()

    async with run_embedded(data_dir) as cluster:
        words = ask(cluster, "select to_tsvector('simple', '“Émile”—ПРИВЕТ…')::text")
        rows = ask(cluster, "select upper('été'), current_setting('lc_messages')")

    assert words == ("'émile':1 'привет':2",)
    assert rows == ("ÉTÉ", "C")


async def test_a_cancelled_user_leaves_no_server_behind(
    data_dir: Path, postmasters: Postmasters
) -> None:
    with anyio.CancelScope() as scope:
        async with run_embedded(data_dir):
            scope.cancel()
            await anyio.sleep_forever()

    assert scope.cancelled_caught
    assert postmasters() == []


@pytest.mark.parametrize("seconds", [0.02, 0.3, 0.55])
@pytest.mark.usefixtures("fresh")
async def test_a_cancelled_start_leaves_nothing_that_hinders_the_next(
    data_dir: Path, postmasters: Postmasters, seconds: float
) -> None:
    with anyio.move_on_after(seconds):
        async with run_embedded(data_dir):
            await anyio.sleep_forever()
    assert postmasters() == []

    async with run_embedded(data_dir) as cluster:
        assert ask(cluster, "select 1") == (1,)


async def test_a_server_that_has_not_said_yet_who_it_is_is_stopped(
    data_dir: Path, postmasters: Postmasters
) -> None:
    account = find_account()
    site = prepare_paths(data_dir, 18, account)
    for _ in range(10):
        spawn(site, find_programs(site, account), account)
        await stop(site.pgdata)

        assert postmasters() == []


async def test_an_error_in_the_body_is_raised_as_it_is(
    data_dir: Path, postmasters: Postmasters
) -> None:
    with pytest.raises(KeyError, match="mine"):
        async with run_embedded(data_dir):
            raise KeyError("mine")

    assert postmasters() == []


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_the_server_gets_neither_our_locks_nor_our_secrets(
    data_dir: Path, postmasters: Postmasters, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")

    async with run_embedded(data_dir):
        files, environment = inspect_process(postmasters()[0])

    assert data_dir / "postgres-18.log" in files
    assert not files & {data_dir / "lifecycle.lock", data_dir / "clients.lock"}
    assert b"LC_ALL" in environment
    assert b"sk-secret" not in environment


async def test_no_folder_above_the_data_changes_its_mode(home: Path) -> None:
    above = home / "a"
    above.mkdir(mode=0o711)
    folders = [above, home, *home.parents]
    before = [stat.S_IMODE(folder.stat().st_mode) for folder in folders]

    async with run_embedded(above / "data") as cluster:
        mode = stat.S_IMODE(cluster.socket_dir.stat().st_mode)

    assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == before
    assert mode == 0o700


@pytest.mark.parametrize("name", ["x" * 120, 'a, "b"', "two words"])
async def test_any_path_works_even_where_a_socket_cannot_lie(home: Path, name: str) -> None:
    async with run_embedded(home / name) as cluster:
        assert ask(cluster, "select 1") == (1,)
        async with run_embedded(home / name) as same:
            assert same == cluster


async def test_roles_are_plain_again_at_each_start_and_a_login_is_of_its_own_os_user_alone(
    data_dir: Path,
) -> None:
    more = "rolsuper or rolbypassrls or rolcreaterole or rolcreatedb"
    plain = f"select array_agg({more}) from pg_roles where rolname in ('{OWNER}', '{APP}')"  # noqa: S608
    async with run_embedded(data_dir) as cluster:
        assert ask(cluster, plain) == ([False, False],)
        with psycopg.connect(cluster.dsn(SUPERUSER), autocommit=True) as connection:
            connection.execute("alter role textrawl_app superuser")
            connection.execute("create role eve login superuser")
        with pytest.raises(psycopg.OperationalError, match="Peer authentication failed"):
            psycopg.connect(cluster.dsn("eve"))
        async with run_embedded(data_dir):
            assert ask(cluster, plain) == ([False, False],), "a role that was given more"


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another OS user")
async def test_another_user_of_the_machine_does_not_reach_the_socket(data_dir: Path) -> None:
    async with run_embedded(data_dir) as cluster:
        command = ["/bin/sh", "-c", f"cd '{cluster.socket_dir}'"]
        refused = await anyio.run_process(command, check=False, user="nobody", cwd="/")

    assert refused.returncode != 0
    assert b"denied" in refused.stderr or b"can't cd" in refused.stderr
