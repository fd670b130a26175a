"""`textrawl migrate` and `textrawl stats`."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tests.conftest import TOKEN, Databases
from tests.support.commands import Launch, Run
from textrawl.embedded.postmaster import APP, OWNER, SUPERUSER
from textrawl.postgres.sql_files import read_folder

FILES = list(read_folder("migrations"))


@pytest.fixture
def empty(postgres: Databases) -> Iterator[str]:
    """Name of an empty database without pgvector."""
    with postgres.create() as name:
        yield name


@pytest.fixture
def with_vectors(postgres: Databases, empty: str) -> str:
    """Name of an empty database with pgvector."""
    with psycopg.connect(postgres.cluster.dsn(SUPERUSER, empty), autocommit=True) as connection:
        connection.execute("create extension vector")
    return empty


def test_migrate_says_what_it_applied_and_the_second_time_that_nothing_is_left(
    run: Run, postgres: Databases, with_vectors: str
) -> None:
    url = postgres.cluster.dsn(OWNER, with_vectors)

    first, second = run("migrate", DATABASE_URL=url), run("migrate", DATABASE_URL=url)

    assert (first.code, first.out) == (
        0,
        f"Applied {', '.join(FILES)} and built the functions.\n",
    )
    assert (second.code, second.out) == (0, "Up to date already: nothing to do.\n")


def test_migrate_tells_scripts_what_it_did(
    run: Run, postgres: Databases, with_vectors: str
) -> None:
    url = postgres.cluster.dsn(OWNER, with_vectors)

    reports = [json.loads(run("migrate", "--json", DATABASE_URL=url).out) for _ in range(2)]

    assert reports == [
        {"applied": FILES, "rebuilt": True},
        {"applied": [], "rebuilt": False},
    ]


def test_migrate_rebuilds_functions_that_are_of_another_textrawl(
    run: Run, owner: psycopg.Connection, postgres: Databases, database: str
) -> None:
    owner.execute("update code set fingerprint = 'older'")

    outcome = run("migrate", DATABASE_URL=postgres.cluster.dsn(OWNER, database))

    assert outcome.out == "Rebuilt the functions.\n"


def test_a_database_from_before_the_first_release_is_not_migrated(
    run: Run, owner: psycopg.Connection, postgres: Databases, database: str
) -> None:
    owner.execute("""update migration set name = '0001_memory' where name = '0001_actors';
                     alter table entity add column mood text""")
    url = postgres.cluster.dsn(OWNER, database)

    outcomes = [run(command, DATABASE_URL=url) for command in ("migrate", "export", "doctor")]

    assert [outcome.code for outcome in outcomes] == [1, 1, 1]
    for outcome in outcomes:
        message = " ".join((outcome.out + outcome.err).split())
        assert "from before the first release" in message


def cut(file: Path) -> None:
    file.write_bytes(b"")


def change_checksum(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[200] ^= 255
    file.write_bytes(content)


DAMAGES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "no version": ("PG_VERSION", Path.unlink),
    "empty version": ("PG_VERSION", cut),
    "no control file": ("global/pg_control", Path.unlink),
    "empty control file": ("global/pg_control", cut),
    "control file of zeros": ("global/pg_control", lambda file: file.write_bytes(bytes(8192))),
    "changed control file": ("global/pg_control", change_checksum),
    "no write-ahead log": ("pg_wal", lambda folder: [each.unlink() for each in folder.glob("0*")]),
}
"""Damages of a data folder: the file, and what happens to it."""


@pytest.mark.parametrize(
    "damage",
    ["no version", *(pytest.param(one, marks=pytest.mark.slow) for one in list(DAMAGES)[1:])],
)
def test_a_damaged_data_folder_names_restore_at_once(
    launch: Launch, data_dir: Path, damage: str
) -> None:
    name, spoil = DAMAGES[damage]
    pgdata = data_dir / "postgres-18"
    spoil(pgdata / name)

    ended = {
        words: launch(*words.split(), DATA_DIR=data_dir, EMBEDDING_PROVIDER="none").end()
        for words in ("search tea", "remember Ada tea", "doctor", "migrate")
    }

    for words, outcome in ended.items():
        said = " ".join((outcome.out + outcome.err).split())
        assert (words, outcome.code) == (words, 1)
        assert f"{pgdata} cannot be used" in said
        assert "run `textrawl restore FILE` with your newest backup" in said
    assert (data_dir / "postgres-18.log").read_text("utf-8").count("checksum in control file") <= 6


def test_migrate_without_pgvector_says_which_statement_a_superuser_has_to_run(
    run: Run, postgres: Databases, empty: str
) -> None:
    outcome = run("migrate", DATABASE_URL=postgres.cluster.dsn(OWNER, empty))

    assert outcome.code == 1
    assert "pgvector is missing" in outcome.complaint
    assert "`create extension vector` in this database as a superuser" in outcome.complaint


def test_migrate_as_a_role_without_rights_says_who_has_to_run_it(
    run: Run, postgres: Databases, with_vectors: str
) -> None:
    outcome = run("migrate", DATABASE_URL=postgres.cluster.dsn(APP, with_vectors))

    assert outcome.code == 1
    assert "may not create the schema" in outcome.complaint
    assert (
        "Run `textrawl migrate` with a TEXTRAWL_DATABASE_URL of the database's owner"
        in outcome.complaint
    )


def test_migrate_brings_the_embedded_postgres_up_to_date_and_stops_it(
    run: Run, data_dir: Path, postmasters: Callable[[], list[int]]
) -> None:
    outcome = run("migrate", "--json", DATA_DIR=data_dir)

    assert json.loads(outcome.out) == {"applied": [], "rebuilt": False}
    assert postmasters() == []


def test_stats_count_what_was_stored(
    run: Run, owner: psycopg.Connection, database_url: str
) -> None:
    owner.execute("select register_embedding_model('toy', 3)")
    owner.execute(
        "select remember_fact(entity => e, type => t, observation => o)"
        " from (values ('Ada', 'person', 'likes tea'), ('Ada', 'person', 'likes maps'),"
        " ('Acme', 'organization', 'makes anvils')) as given(e, t, o)"
    )
    owner.execute(
        "update observation set valid_until = now() - interval '1 day' where content = 'likes tea'"
    )

    report = json.loads(run("stats", "--json", DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN).out)
    shown = run("stats", DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN).out

    assert (report["entities"], report["facts"], report["valid_facts"]) == (2, 3, 2)
    assert report["types"] == {"organization": 1, "person": 1}
    assert report["models"] == [{"name": "toy", "dimensions": 3, "pending": 3}]
    assert "and 1 no longer valid" in shown
    assert "1 organization, 1 person" in shown
    assert "toy; 3 facts without a vector yet" in shown


def test_stats_of_an_embedded_memory_start_its_postgres_which_ends_with_the_process_that_stays(
    run: Run, data_dir: Path, postmasters: Callable[[], list[int]]
) -> None:
    outcome = run("stats", "--json", DATA_DIR=data_dir)

    assert json.loads(outcome.out)["entities"] == 0
    assert len(postmasters()) == 1
    assert run("stop", DATA_DIR=data_dir).code == 0
    assert postmasters() == []


def test_stats_of_a_memory_that_is_not_there_make_none(run: Run, home: Path) -> None:
    outcome = run("stats", DATA_DIR=home / "data")

    assert outcome.code == 1
    assert outcome.complaint.startswith(f"There is no memory in {home / 'data'} yet")
    assert list(home.iterdir()) == []


def test_stats_of_a_database_without_a_memory_say_what_to_run(
    run: Run, postgres: Databases, with_vectors: str
) -> None:
    outcome = run("stats", DATABASE_URL=postgres.cluster.dsn(OWNER, with_vectors))

    assert outcome.code == 1
    assert outcome.complaint == "This database has no memory yet: run `textrawl migrate`"
