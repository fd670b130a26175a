"""`textrawl upgrade`: what an older Postgres held is there afterwards, whatever is killed."""

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import psutil
import psycopg
import pytest

from tests.support.commands import Launch, Process, Run, wait_for
from tests.support.folders import open_folder
from textrawl.embedded.cluster import Cluster, run_embedded
from textrawl.embedded.postmaster import APP, OWNER, SUPERUSER
from textrawl.embedded.upgrade import Inventory, take_inventory, upgrade_cluster
from textrawl.errors import StartRefused
from textrawl.postgres.migrations import migrate

pytestmark = pytest.mark.slow

_FURNITURE = """
    create role ana login password 'canary';
    create database diary owner ana;
    alter system set work_mem = '6MB';
    create table textrawl.many as select i, '[1,2]'::vector(2) as v from generate_series(1, 1000) i;
    create index on textrawl.many using hnsw (v vector_l2_ops);
"""


async def furnish(data_dir: Path) -> None:
    """A memory of Postgres 16, and what people add to a cluster besides."""
    async with run_embedded(data_dir, postgres_version=16) as cluster:
        await migrate(cluster.dsn(OWNER))
        with psycopg.connect(cluster.dsn(SUPERUSER), autocommit=True) as connection:
            for statement in _FURNITURE.split(";\n"):
                connection.execute(statement.encode())
        with psycopg.connect(cluster.dsn(SUPERUSER, "diary"), autocommit=True) as connection:
            connection.execute("create table page as select 'dear diary' as words")
    local = data_dir / "postgres-16" / "local.conf"
    local.write_text("work_mem = '5MB'\nstatement_timeout = '77s'\n", encoding="utf-8")


async def look(data_dir: Path, major: int = 18) -> Inventory:
    async with run_embedded(data_dir, postgres_version=major) as cluster:
        return take_inventory(cluster)


def ask(cluster: Cluster, query: str, role: str = OWNER, database: str = "textrawl") -> Any:
    with psycopg.connect(cluster.dsn(role, database)) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


def list_folders(data_dir: Path) -> list[str]:
    return sorted(path.name for path in data_dir.glob("postgres-*") if path.is_dir())


@pytest.fixture(scope="session")
def furnished() -> Iterator[Path]:
    """A folder with data of Postgres 16, to copy from."""
    with open_folder() as folder:
        anyio.run(furnish, folder / "data")
        yield folder / "data"


@pytest.fixture
def home(launch: Launch) -> Iterator[Path]:
    """An empty folder, removed when nothing that was launched is left."""
    with open_folder() as folder:
        yield folder


@pytest.fixture
def old(home: Path, furnished: Path) -> Path:
    """A data folder that only Postgres 16 can read."""
    folder = home / "two words"
    subprocess.run(["cp", "-a", furnished, folder], check=True)
    return folder


@pytest.fixture
def servers(home: Path) -> Callable[[], list[int]]:
    """Process ids of everything that runs from a path in home."""

    def find() -> list[int]:
        return [
            process.pid
            for process in psutil.process_iter(["name", "cmdline"])
            if process.info["name"] in {"postgres", "pg_upgrade", "pg_ctl"}
            and any(str(home) in part for part in process.info["cmdline"] or ())
        ]

    return find


def test_everything_is_carried_over_and_the_old_data_are_kept(
    run: Run, old: Path, servers: Callable[[], list[int]]
) -> None:
    before = anyio.run(look, old, 16)

    outcome = run("upgrade", DATA_DIR=old)

    assert outcome.code == 0
    assert "Upgraded from Postgres 16 to 18" in outcome.out
    assert f"rm -r '{old / 'postgres-16.old'}'" in outcome.out
    assert "Copying to Postgres 18" in outcome.err
    assert servers() == []
    assert list_folders(old) == ["postgres-16.old", "postgres-18"]
    after = anyio.run(look, old)
    assert before.find_differences(after) == []
    assert after.tables["textrawl.textrawl.many"] == 1000
    assert {name for name, password in after.roles if password} == {"ana"}
    anyio.run(check_details, old)


async def check_details(data_dir: Path) -> None:
    async with run_embedded(data_dir) as cluster:
        assert ask(cluster, "select words from page", SUPERUSER, "diary") == "dear diary"
        assert ask(cluster, "show statement_timeout") == "77s"
        assert ask(cluster, "show work_mem") == "6MB"
        assert ask(cluster, "select '[1,2]'::vector <-> '[1,2]'", APP) == 0.0


def test_a_start_on_older_data_says_what_to_run_and_touches_nothing(run: Run, old: Path) -> None:
    output = [run(command, DATA_DIR=old) for command in ("serve", "stats", "migrate")]

    assert [outcome.code for outcome in output] == [1, 1, 1]
    assert all("run `textrawl upgrade`" in outcome.complaint for outcome in output)
    assert list_folders(old) == ["postgres-16"]


def test_doctor_says_what_to_run_on_older_data(run: Run, old: Path) -> None:
    outcome = run("doctor", "--json", DATA_DIR=old)

    [finding] = [one for one in json.loads(outcome.out)["findings"] if one["name"] == "database"]
    assert (outcome.code, finding["verdict"]) == (1, "broken")
    assert "run `textrawl upgrade`" in finding["told"]


def test_where_nothing_is_older_there_is_nothing_to_do(run: Run, home: Path) -> None:
    outcome = run("upgrade", DATA_DIR=home / "data")
    output = run("upgrade", "--json", DATA_DIR=home / "data")

    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("Nothing to upgrade")
    assert json.loads(output.out) == {"upgraded": False}
    assert list(home.iterdir()) == []


def test_a_path_that_pg_upgrade_would_take_apart_is_refused(run: Run, home: Path) -> None:
    (odd := home / "o'brien" / "postgres-16").mkdir(parents=True)
    (odd / "PG_VERSION").write_text("16\n", encoding="utf-8")

    outcome = run("upgrade", DATA_DIR=odd.parent)

    assert outcome.code == 1
    assert f"does not understand the path {odd.parent}" in outcome.complaint


def test_a_server_of_somebody_else_is_not_upgraded(run: Run) -> None:
    outcome = run("upgrade", DATABASE_URL="postgresql://127.0.0.1:1/memory")

    assert outcome.code == 1
    assert "upgrade it with its own tools" in outcome.complaint


def test_a_memory_in_use_is_not_upgraded(launch: Launch, old: Path) -> None:
    async def try_while_in_use() -> Process:
        async with run_embedded(old, postgres_version=16) as cluster:
            refused = launch("upgrade", DATA_DIR=old)
            await anyio.to_thread.run_sync(refused.popen.wait)
            assert ask(cluster, "select count(*) from textrawl.many", SUPERUSER) == 1000
        return refused

    refused = anyio.run(try_while_in_use).end()

    assert (refused.code, refused.out) == (1, "")
    assert "is in use: end every editor, server and command" in refused.err
    assert list_folders(old) == ["postgres-16"]


def test_of_two_upgrades_at_once_one_waits_and_finds_nothing_to_do(
    launch: Launch, old: Path
) -> None:
    both = [launch("upgrade", "--json", DATA_DIR=old) for _ in range(2)]

    outcomes = [process.end() for process in both]

    assert [outcome.code for outcome in outcomes] == [0, 0]
    assert sorted(json.loads(outcome.out)["upgraded"] for outcome in outcomes) == [False, True]
    assert any("Waiting for another process" in outcome.err for outcome in outcomes)


def said(old: Path, words: str) -> bool:
    log = old / "upgrade.log"
    return log.exists() and words in log.read_text(encoding="utf-8")


STEPS: dict[str, Callable[[Path], object]] = {
    "counting": lambda old: (old / "postgres-16" / "postmaster.pid").exists(),
    "checking": lambda old: said(old, "Consistency"),
    "copying": lambda old: said(old, "Copying user relation files"),
    "comparing": lambda old: said(old, "Upgrade Complete"),
}


@pytest.mark.parametrize("step", STEPS)
def test_an_upgrade_killed_hard_is_repeated(
    launch: Launch, old: Path, servers: Callable[[], list[int]], step: str
) -> None:
    killed = launch("upgrade", DATA_DIR=old)
    wait_for(lambda: STEPS[step](old))
    killed.end(signal.SIGKILL)

    outcome = launch("upgrade", DATA_DIR=old).end()

    assert outcome.code == 0, outcome.err
    assert list_folders(old) == ["postgres-16.old", "postgres-18"]
    assert servers() == []
    assert anyio.run(look, old).tables["textrawl.textrawl.many"] == 1000


def test_an_upgrade_that_is_interrupted_leaves_the_old_data_and_no_process(
    launch: Launch, old: Path, servers: Callable[[], list[int]]
) -> None:
    process = launch("upgrade", DATA_DIR=old)
    wait_for(lambda: STEPS["checking"](old))

    outcome = process.end(signal.SIGTERM)

    assert outcome.code == 128 + signal.SIGTERM
    assert servers() == []
    assert list_folders(old) == ["postgres-16"]


def test_an_upgrade_killed_between_its_two_renames_is_finished(run: Run, data_dir: Path) -> None:
    original = data_dir / "postgres-16"
    original.mkdir()
    (original / "PG_VERSION").write_text("16\n", encoding="utf-8")
    (data_dir / "postgres-18" / "upgraded-from").write_text("postgres-16\n", encoding="utf-8")
    assert "run `textrawl upgrade`" in run("stats", DATA_DIR=data_dir).complaint

    outcome = run("upgrade", DATA_DIR=data_dir)

    assert (outcome.code, outcome.err) == (0, "")
    assert list_folders(data_dir) == ["postgres-16.old", "postgres-18"]
    assert run("stats", DATA_DIR=data_dir).code == 0


def test_what_an_earlier_upgrade_kept_is_not_written_over(run: Run, data_dir: Path) -> None:
    for name in ("postgres-16", "postgres-16.old"):
        (data_dir / name).mkdir()
        (data_dir / name / "PG_VERSION").write_text("16\n", encoding="utf-8")
    (data_dir / "postgres-18" / "upgraded-from").write_text("postgres-16\n", encoding="utf-8")

    report = json.loads(run("upgrade", "--json", DATA_DIR=data_dir).out)

    assert report["kept"] == str(data_dir / "postgres-16.old-2")
    assert list_folders(data_dir) == ["postgres-16.old", "postgres-16.old-2", "postgres-18"]


def test_two_clusters_that_both_count_are_not_chosen_between(run: Run, old: Path) -> None:
    subprocess.run(["cp", "-a", old / "postgres-16", old / "postgres-18"], check=True)

    outcome = run("upgrade", DATA_DIR=old)

    assert outcome.code == 1
    assert "can use only one of them" in outcome.complaint
    assert list_folders(old) == ["postgres-16", "postgres-18"]


def test_data_of_a_newer_postgres_need_a_newer_textrawl(run: Run, home: Path) -> None:
    newer = home / "data" / "postgres-99"
    newer.mkdir(parents=True)
    (newer / "PG_VERSION").write_text("99\n", encoding="utf-8")
    (home / "data").chmod(0o755)

    output = [run(command, DATA_DIR=home / "data") for command in ("serve", "upgrade")]

    assert all("upgrade textrawl" in outcome.complaint for outcome in output)


def test_a_copy_that_postgres_refuses_leaves_the_old_data_and_the_reason(
    run: Run, old: Path, servers: Callable[[], list[int]]
) -> None:
    local = old / "postgres-16" / "local.conf"
    local.write_text("old_snapshot_threshold = -1\n", encoding="utf-8")  # gone since 17

    outcome = run("upgrade", DATA_DIR=old)

    assert outcome.code == 1
    assert "Your data are unchanged in" in outcome.err
    assert said(old, "old_snapshot_threshold")
    assert servers() == []
    assert list_folders(old) == ["postgres-16"]


@pytest.mark.anyio
async def test_a_copy_that_cannot_be_brought_up_to_date_does_not_count(
    old: Path, servers: Callable[[], list[int]]
) -> None:
    steps: list[str] = []

    async def refuse(cluster: Cluster) -> None:
        assert ask(cluster, "select count(*) from textrawl.many", SUPERUSER) == 1000
        raise StartRefused("made by a newer textrawl")

    with pytest.raises(StartRefused, match="newer"):
        await upgrade_cluster(old, refuse, report=steps.append)

    assert steps[-1] == "Comparing the copy with the original"
    assert servers() == []
    assert list_folders(old) == ["postgres-16"]


@pytest.mark.anyio
async def test_a_copy_that_differs_is_told_from_the_original(old: Path) -> None:
    async with run_embedded(old, postgres_version=16) as cluster:
        before = take_inventory(cluster)
        with psycopg.connect(cluster.dsn(SUPERUSER), autocommit=True) as connection:
            connection.execute("delete from textrawl.many where i = 7")
            connection.execute("alter role ana password 'other'")
        after = take_inventory(cluster)

    assert before.find_differences(after) == [
        "textrawl.textrawl.many has 999 rows, not 1000",
        "role ana",
    ]
