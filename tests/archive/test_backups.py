"""`textrawl backup` and `textrawl restore`: all of a memory, or an error and nothing changed."""

import itertools
import json
import stat
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.archive.conftest import (
    as_superuser,
    create_empty,
    fill,
    list_names,
    read_all,
    read_walls,
    succeed,
    write_backup,
)
from tests.conftest import Databases
from tests.support.commands import Launch, Run
from textrawl.archive.backups import find_program, run_program
from textrawl.embedded.postmaster import APP, OWNER
from textrawl.errors import StartRefused

pytestmark = pytest.mark.slow


def test_a_backup_comes_back_with_every_row_and_its_walls(
    run: Run, url: str, empty: str, tmp_path: Path
) -> None:
    file = tmp_path / "memory.dump"
    before, walls = read_all(as_superuser(url)), read_walls(as_superuser(url))

    written = succeed(run, "backup", str(file), DATABASE_URL=url)
    restored = succeed(run, "restore", str(file), DATABASE_URL=empty)

    assert read_all(as_superuser(empty)) == before
    assert read_walls(as_superuser(empty)) == walls
    assert sum(map(len, before.values())) > 40
    assert all(before[name] for name in ("embedding_1", "token", "undone", "event", "relation"))
    facts = len(before["observation"]) - len(before["relation"])  # without statements
    rows = f"{facts} facts, {len(before)} tables, "
    assert f"MB, {rows}" in written.out
    assert written.out.startswith(f"Wrote {file}: ")
    assert written.out.replace("Wrote", "Restored") == restored.out
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list_names(tmp_path) == [file.name]


def test_a_restored_memory_answers_and_is_written_to(
    run: Run, url: str, empty: str, tmp_path: Path
) -> None:
    succeed(run, "restore", str(write_backup(run, url, tmp_path)), DATABASE_URL=empty)

    with psycopg.connect(empty, autocommit=True) as owner:
        owner.execute("select textrawl.remember_fact('Ada', 'person', 'plays chess')")
        search = "select content from textrawl.search_memory(%s)"
        found = owner.execute(search, ("chess",)).fetchone()
        other = owner.execute(search, ("coffee",)).fetchone()
    assert (found, other) == (("plays chess",), ("likes coffee",))
    assert json.loads(succeed(run, "stats", "--json", DATABASE_URL=empty).out)["facts"] > 1


def test_a_backup_moves_to_a_newer_postgres_and_back_to_its_own(
    run: Run, empty: str, postgres_16: Databases, tmp_path: Path
) -> None:
    with create_empty(postgres_16) as one, create_empty(postgres_16) as other:
        older, also_older = (postgres_16.cluster.dsn(OWNER, name) for name in (one, other))
        succeed(run, "migrate", DATABASE_URL=older)
        fill(older)
        file = write_backup(run, older, tmp_path)
        for target in (empty, also_older):
            succeed(run, "restore", str(file), DATABASE_URL=target)
            assert read_all(as_superuser(target)) == read_all(as_superuser(older))


def test_a_backup_of_a_newer_postgres_says_how_to_move_to_an_older_one(
    run: Run, url: str, postgres_16: Databases, tmp_path: Path
) -> None:
    file = write_backup(run, url, tmp_path)
    with create_empty(postgres_16) as name:
        older = postgres_16.cluster.dsn(OWNER, name)
        outcome = run("restore", str(file), DATABASE_URL=older)
        with psycopg.connect(older) as owner:
            left = owner.execute("select to_regnamespace('textrawl')").fetchone()
    assert "textrawl export" in outcome.complaint
    assert left == (None,)


def test_a_backup_is_restored_by_an_owner_of_another_name(
    run: Run, url: str, postgres: Databases, tmp_path: Path
) -> None:
    file = write_backup(run, url, tmp_path)
    before = read_all(as_superuser(url))
    postgres.execute("create role other_owner login")
    try:
        with create_empty(postgres) as name:
            postgres.execute("alter database {name} owner to other_owner", name=name)
            superuser = as_superuser(postgres.cluster.dsn(OWNER, name))
            with psycopg.connect(superuser, autocommit=True) as own:
                own.execute("set role other_owner; create schema textrawl")
            # A superuser restores as the one who owns the schema, as it migrates.
            succeed(run, "restore", str(file), DATABASE_URL=superuser)
            after = read_all(superuser)
            with psycopg.connect(superuser) as own:
                own.execute("set role other_owner")
                seen = own.execute("select count(*) from textrawl.observation").fetchone()
                owners = own.execute(
                    "select distinct relowner::regrole::text from pg_class"
                    " where relnamespace = 'textrawl'::regnamespace"
                ).fetchall()
    finally:
        postgres.execute("drop role other_owner")
    assert after == before
    assert seen == (len(before["observation"]),)
    assert owners == [("other_owner",)]


def test_a_memory_of_an_embedded_postgres_moves_to_another(
    launch: Launch, data_dir: Path, home: Path
) -> None:
    file, other = home / "memory.dump", home / "other"
    with launch("serve", DATA_DIR=data_dir).popen as server:
        server.communicate("", timeout=60)

    written = launch("backup", str(file), "--json", DATA_DIR=data_dir).end()
    restored = launch("restore", str(file), "--json", DATA_DIR=other).end()
    again = launch("backup", str(home / "again.dump"), "--json", DATA_DIR=other).end()

    assert (written.code, restored.code, again.code) == (0, 0, 0), written.err + restored.err
    tables = json.loads(written.out)["tables"]
    assert tables["space"] == 1
    assert json.loads(restored.out)["tables"] == tables == json.loads(again.out)["tables"]


def test_an_older_backup_is_brought_up_to_date(
    run: Run, url: str, empty: str, tmp_path: Path
) -> None:
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("update textrawl.code set fingerprint = 'of another version'")
        owner.execute("create function textrawl.left_over() returns integer return 1")
    file = write_backup(run, url, tmp_path)

    succeed(run, "restore", str(file), DATABASE_URL=empty)

    assert succeed(run, "migrate", DATABASE_URL=empty).out.startswith("Up to date already")
    with psycopg.connect(empty) as owner:
        assert owner.execute("select to_regproc('textrawl.left_over')").fetchone() == (None,)


def test_a_backup_that_row_security_would_empty_is_refused(
    run: Run, url: str, tmp_path: Path
) -> None:
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("drop policy owner on textrawl.observation")

    outcome = run("backup", str(tmp_path / "memory.dump"), DATABASE_URL=url)

    assert outcome.code == 1
    assert "hides rows of observation" in outcome.complaint
    assert list_names(tmp_path) == []


def test_a_memory_that_row_security_hides_is_not_taken_for_an_empty_one(
    run: Run, url: str, tmp_path: Path
) -> None:
    file = write_backup(run, url, tmp_path)
    before = read_all(as_superuser(url))
    with psycopg.connect(url, autocommit=True) as owner:
        for table in ("observation", "entity", "event", "token"):
            owner.execute(f"drop policy owner on textrawl.{table}".encode())

    outcome = run("restore", str(file), DATABASE_URL=url)

    assert "hides rows of" in outcome.complaint
    assert read_all(as_superuser(url)) == before


def test_a_restore_that_was_killed_is_run_again(
    run: Run, url: str, empty: str, tmp_path: Path
) -> None:
    file = write_backup(run, url, tmp_path)
    succeed(run, "restore", str(file), DATABASE_URL=empty)
    with psycopg.connect(empty, autocommit=True) as owner:
        # As it is left after the rows are there and before they may be seen.
        owner.execute("create schema textrawl_former")
        owner.execute("""do $$ declare p record; begin
            for p in select * from pg_policies where schemaname = 'textrawl' loop
                execute format('drop policy %I on textrawl.%I', p.policyname, p.tablename);
            end loop; end $$""")

    succeed(run, "restore", str(file), DATABASE_URL=empty)

    assert read_all(as_superuser(empty)) == read_all(as_superuser(url))
    assert read_walls(as_superuser(empty)) == read_walls(as_superuser(url))


def test_others_than_the_owner_get_no_backup(run: Run, url: str, tmp_path: Path) -> None:
    theirs = make_conninfo(url, user=APP)

    outcome = run("backup", str(tmp_path / "memory.dump"), DATABASE_URL=theirs)

    assert outcome.code == 1
    assert "does not own this memory" in outcome.complaint
    assert list_names(tmp_path) == []


def test_a_file_that_is_there_is_replaced_only_on_demand(
    run: Run, url: str, tmp_path: Path
) -> None:
    file = tmp_path / "memory.dump"
    file.write_text("precious")
    (tmp_path / "link.dump").symlink_to(tmp_path / "nowhere")

    refused = [run("backup", str(tmp_path / name), DATABASE_URL=url)
               for name in ("memory.dump", "link.dump", "")]  # fmt: skip

    assert [outcome.code for outcome in refused] == [1, 1, 1]
    assert "add --force" in refused[0].complaint
    assert file.read_text() == "precious"
    assert "name a file" in refused[2].complaint
    succeed(run, "backup", str(file), "--force", DATABASE_URL=url)
    assert file.read_bytes().startswith(b"PGDMP")
    assert list_names(tmp_path) == ["link.dump", "memory.dump"]


def test_a_backup_into_a_folder_that_is_not_there_says_so(
    run: Run, url: str, tmp_path: Path
) -> None:
    outcome = run("backup", str(tmp_path / "no" / "memory.dump"), DATABASE_URL=url)
    assert outcome.code == 1
    assert "cannot be written" in outcome.complaint


@pytest.mark.parametrize(
    ("words", "fault"), [(["backup"], "written"), (["export"], "written"), (["restore"], "read")]
)
def test_a_path_that_the_system_refuses_is_one_line(
    run: Run, url: str, tmp_path: Path, words: list[str], fault: str
) -> None:
    outcome = run(*words, str(tmp_path / ("x" * 300)), DATABASE_URL=url)

    assert outcome.code == 1
    assert f"cannot be {fault}: File name too long" in outcome.complaint


@pytest.mark.parametrize("part", [0, 0.3, 0.7, 0.95, 1.0])
def test_a_truncated_backup_is_refused_and_changes_nothing(
    run: Run, url: str, empty: str, tmp_path: Path, part: float
) -> None:
    file = write_backup(run, url, tmp_path)
    whole = file.read_bytes()
    file.write_bytes(whole[: min(int(len(whole) * part), len(whole) - 1)])

    outcome = run("restore", str(file), DATABASE_URL=empty)

    assert outcome.code == 1
    assert outcome.complaint
    with psycopg.connect(empty) as owner:
        assert owner.execute("select to_regnamespace('textrawl')").fetchone() == (None,)


def test_a_file_that_is_no_backup_is_refused_and_changes_nothing(
    run: Run, url: str, empty: str, postgres: Databases, tmp_path: Path
) -> None:
    foreign = tmp_path / "foreign.dump"
    with create_empty(postgres) as name:
        dsn = postgres.cluster.dsn(OWNER, name)
        with psycopg.connect(dsn) as other:
            other.execute("create schema textrawl; create table textrawl.mine ()")
        outcome = run("backup", str(foreign), DATABASE_URL=dsn)
        assert outcome.code == 1
    for text in ("", "PGDMP", "not a dump\n" * 100):
        foreign.write_text(text)
        outcome = run("restore", str(foreign), DATABASE_URL=empty)
        assert outcome.code == 1
        assert outcome.complaint
    assert "There is no file" in run("restore", str(tmp_path), DATABASE_URL=empty).complaint
    with psycopg.connect(empty) as owner:
        assert owner.execute("select to_regnamespace('textrawl')").fetchone() == (None,)


def test_a_backup_of_a_newer_textrawl_is_refused(
    run: Run, url: str, empty: str, tmp_path: Path
) -> None:
    with psycopg.connect(url) as owner:
        owner.execute("insert into textrawl.migration (name) values ('9999_future')")
    file = write_backup(run, url, tmp_path)

    outcome = run("restore", str(file), DATABASE_URL=empty)

    assert "newer textrawl (it has 9999_future)" in outcome.complaint


def test_no_backup_is_made_of_a_memory_from_before_the_first_release(
    run: Run, url: str, tmp_path: Path
) -> None:
    make_unreleased(url)

    outcome = run("backup", str(tmp_path / "memory.dump"), DATABASE_URL=url)

    assert outcome.code == 1
    assert "The database was made by a textrawl from before the first release" in outcome.complaint
    assert "run `textrawl export " in outcome.complaint
    assert list_names(tmp_path) == []


def test_a_backup_from_before_the_first_release_is_refused(
    run: Run, url: str, empty: str, tmp_path: Path
) -> None:
    make_unreleased(url)
    file = tmp_path / "memory.dump"
    words = ["--format=custom", "--schema=textrawl", f"--file={file}", as_superuser(url)]
    subprocess.run([find_program("pg_dump"), *words], check=True)

    outcome = run("restore", str(file), DATABASE_URL=empty)

    assert outcome.code == 1
    assert "The backup was made by a textrawl from before the first release" in outcome.complaint
    assert "Restore it with the version that made it" in outcome.complaint
    with psycopg.connect(empty) as owner:
        assert owner.execute("select to_regnamespace('textrawl')").fetchone() == (None,)


def make_unreleased(url: str) -> None:
    """Record another first migration, as versions before the first release did."""
    with psycopg.connect(url) as owner:
        owner.execute(
            """update textrawl.migration set name = '0001_memory' where name = '0001_actors';
               alter table textrawl.entity add column mood text"""
        )


def test_nothing_is_restored_over_a_memory_that_holds_anything(
    run: Run, url: str, tmp_path: Path
) -> None:
    file = write_backup(run, url, tmp_path)
    before = read_all(as_superuser(url))

    outcome = run("restore", str(file), DATABASE_URL=url)

    assert outcome.code == 1
    assert "There is a memory already, with " in outcome.complaint
    assert "facts" in outcome.complaint
    assert read_all(as_superuser(url)) == before


def test_a_restore_that_fails_brings_the_empty_memory_back(
    run: Run, url: str, empty: str, tmp_path: Path
) -> None:
    with psycopg.connect(url, autocommit=True) as owner:
        # What is outside of our schema is in no backup.
        owner.execute("create domain public.foreign_type as integer")
        owner.execute("alter table textrawl.code add extra public.foreign_type")
    succeed(run, "migrate", DATABASE_URL=empty)
    before = read_all(as_superuser(empty))
    file = write_backup(run, url, tmp_path)

    outcome = run("restore", str(file), DATABASE_URL=empty)

    assert outcome.code == 1
    assert "foreign_type" in outcome.complaint
    assert read_all(as_superuser(empty)) == before
    with psycopg.connect(empty) as owner:
        assert owner.execute("select to_regnamespace('textrawl_former')").fetchone() == (None,)


def test_no_process_shows_the_password_of_the_database(
    tmp_path: Path,
) -> None:
    # A program of that name on PATH that notes what everybody may see of it.
    seen = tmp_path / "seen"
    program = tmp_path / "pg_dump"
    program.write_text(f'#!/bin/sh\necho "$@" > {seen}\necho "$PGPASSWORD" >> {seen}\nexit 1\n')
    program.chmod(0o755)

    async def go() -> None:
        await run_program(program, [], conninfo="postgresql://ana:hunter2@db:5432/memory")

    with pytest.raises(StartRefused, match="pg_dump says: it failed"):
        anyio.run(go)
    words, password = seen.read_text().splitlines()
    assert "hunter2" not in words
    assert "user=ana" in words
    assert password == "hunter2"


@contextmanager
def write_all_the_time(url: str) -> Generator[None]:
    stop = threading.Event()

    def write() -> None:
        with psycopg.connect(url, autocommit=True) as owner:
            for place in itertools.takewhile(lambda _: not stop.is_set(), itertools.count()):
                owner.execute("select textrawl.remember_fact('Ada', 'person', %s)", [f"is {place}"])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        stop.set()
        writer.join()


def test_a_backup_is_whole_while_others_write(
    run: Run, url: str, empty: str, tmp_path: Path
) -> None:
    with write_all_the_time(url):
        file = write_backup(run, url, tmp_path)
    succeed(run, "restore", str(file), DATABASE_URL=empty)

    counts = "select count(*) from textrawl.observation"
    with psycopg.connect(url) as before, psycopg.connect(empty) as after:
        [there], [here] = before.execute(counts).fetchall(), after.execute(counts).fetchall()
        missing = after.execute(
            "select count(*) from textrawl.event e where action = 'remembered' and observation_id"
            " not in (select id from textrawl.observation)"
        ).fetchone()
    assert here < there
    assert missing == (1,)  # which an undo took
