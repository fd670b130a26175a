"""Memories to write to files and to bring back from them."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from tests.conftest import ACTOR, TOKEN, Databases
from tests.support.commands import Outcome, Run, data_dir, home, launch, run, seed
from textrawl.embedded.postmaster import OWNER, SUPERUSER

__all__ = ["data_dir", "home", "launch", "run", "seed"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep these tests on one Postgres."""
    for item in items:
        if item.nodeid.startswith("tests/archive/"):
            item.add_marker(pytest.mark.ordinary("it reads and fills the tables of one Postgres"))


AWKWARD = "naïve 東京大学 \\N \\. \t “quoted” 'it''s' {\"a\": 1} 👩‍💻"


def read_all(conninfo: str) -> dict[str, list[str]]:
    """Every row of every table, as text in one order; `conninfo` is a superuser's."""
    names = "select relname from pg_class where relnamespace = 'textrawl'::regnamespace"
    with psycopg.connect(conninfo) as connection:
        tables = [name for (name,) in connection.execute(f"{names} and relkind = 'r'")]
        rows = sql.SQL("select t::text from textrawl.{} t order by 1")
        return {
            name: [row for (row,) in connection.execute(rows.format(sql.Identifier(name)))]
            for name in tables
        }


def read_walls(conninfo: str) -> list[Any]:
    """Row security, policies, rights and triggers of all tables and functions."""
    with psycopg.connect(conninfo) as connection:
        return connection.execute("""
            select relname::text, relrowsecurity::text || relforcerowsecurity, relacl::text
            from pg_class where relnamespace = 'textrawl'::regnamespace and relkind in ('r', 'v')
            union all
            select tablename || '.' || policyname, roles::text || cmd, qual from pg_policies
            where schemaname = 'textrawl'
            union all
            select p.oid::regprocedure::text, prosecdef::text, proacl::text from pg_proc p
            where pronamespace = 'textrawl'::regnamespace
            union all
            select tgname::text, tgenabled::text, tgrelid::regclass::text from pg_trigger
            where not tgisinternal
            order by 1, 2, 3""").fetchall()


def correct(owner: psycopg.Connection) -> None:
    """Store a correction and two facts with unusual values."""
    for name, fact, more in (
        ("Ada", "likes coffee", {"replaces": "likes tea", "client": "c 1", "request": "r1"}),
        ("Straße 東京", AWKWARD, {"source": "note", "confidence": 0.3}),
        ("Atlas", "ships on Fridays", {"valid_until": "2031-01-01 00:00:00.000001+00"}),
    ):
        given = {"entity": name, "type": "project", "observation": fact, **more}
        call = sql.SQL("select remember_fact({})").format(
            sql.SQL(", ").join(
                sql.SQL("{} => {}").format(sql.Identifier(key), sql.Literal(value))
                for key, value in given.items()
            )
        )
        owner.execute(call)
    said = "update observation set evidence = content, evidence_start = 7 where content = %s"
    owner.execute(said, [AWKWARD])


def dismiss(owner: psycopg.Connection) -> None:
    """Decide that two entities are not the same."""
    owner.execute(
        "select dismiss_candidates('same', array[e.id, o.id], space => 1) from entity e, entity o"
        " where e.space_id = 1 and o.space_id = 1 and e.name = 'Ada' and o.name = 'Atlas'"
    )


def fill(conninfo: str) -> None:
    """A team's memory: two spaces, vectors, tokens, a correction, a relation, an undo."""
    with psycopg.connect(conninfo, autocommit=True) as owner:
        owner.execute("set search_path = textrawl, public")
        owner.execute("select register_embedding_model('test:three', 3, 0.1, 0.9, 0.5)")
        owner.execute("select create_space('team')")
        owner.execute("select create_token(sha256('x'), 'trl_x', 'ana', 'team', '{write,read}')")
        owner.execute(
            "select remember_fact('Ada', 'person', 'likes tea', model => 1,"
            " embedding => '[1,0.5,0]')"
        )
        correct(owner)
        owner.execute(
            "select remember_fact('Ada', 'person', 'is on the team', space => 2,"
            " credential => sha256('x'), tool => 'remember_fact')"
        )
        owner.execute("select relate_entities('Ada', 'works at', 'Atlas')")
        owner.execute("select add_reflection('global', 'on everything', 'Bo')")
        owner.execute(
            "select add_reflection('relation', 'on one', 'Bo', target => node_number(id))"
            " from relation"
        )
        owner.execute(
            "select remember_fact('Bad', 'fact', 'nonsense', space => 2, credential => sha256('x'))"
        )
        owner.execute("select undo_author('ana', (select max(at) from event))")
        dismiss(owner)
        owner.execute(
            'update entity set metadata = \'{"a": [1, null, "x\\n"]}\','
            " description = 'a ''person''' where name = 'Ada'"
        )


@contextmanager
def create_empty(databases: Databases) -> Generator[str]:
    """Name of a database with pgvector and nothing else."""
    with databases.create() as name:
        with psycopg.connect(databases.cluster.dsn(SUPERUSER, name), autocommit=True) as own:
            own.execute("create extension vector")
        yield name


@pytest.fixture
def empty(postgres: Databases) -> Iterator[str]:
    """Its connection string, for the owner."""
    with create_empty(postgres) as name:
        yield postgres.cluster.dsn(OWNER, name)


@pytest.fixture
def url(postgres: Databases, database: str) -> str:
    """Connection string of a memory that holds something, for its owner."""
    fill(postgres.cluster.dsn(OWNER, database))
    return postgres.cluster.dsn(OWNER, database)


def succeed(run: Run, *arguments: str, **environment: object) -> Outcome:
    """What a command says that has to succeed."""
    outcome = run(*arguments, **environment)
    assert outcome.code == 0, outcome.err
    return outcome


def as_superuser(url: str) -> str:
    return make_conninfo(url, user=SUPERUSER)


def write_backup(run: Run, url: str, folder: Path) -> Path:
    succeed(run, "backup", str(folder / "memory.dump"), DATABASE_URL=url)
    return folder / "memory.dump"


def write_export(run: Run, url: str, file: Path, *more: str) -> bytes:
    succeed(run, "export", str(file), *more, DATABASE_URL=url)
    return file.read_bytes()


def list_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def fresh(postgres: Databases) -> Iterator[str]:
    """Connection string of a memory without anything, for its owner."""
    with postgres.create("migrated") as name:
        yield postgres.cluster.dsn(OWNER, name)


@pytest.fixture
def given(postgres: Databases, database: str, owner: psycopg.Connection) -> dict[str, Any]:
    """The environment of a command of the owner, on a memory with a graph."""
    owner.execute("select create_space('handbook', tier => 'personal')")
    scopes = ["read", "write", "forget", "admin"]
    owner.execute("select grant_access(%s, 'handbook', %s)", (ACTOR, scopes))
    url = postgres.cluster.dsn(OWNER, database)
    return {"DATABASE_URL": url, "ACCESS_TOKEN": TOKEN, "EMBEDDING_PROVIDER": "local"}
