"""An analyst's login, as `textrawl analyst create` makes it, tries to stop what others do."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import psycopg
import pytest
from psycopg import errors

from tests.conftest import TOKEN, Databases, run_cluster
from tests.support.commands import Run, data_dir, home, run, seed
from textrawl.access.access_token import hash_token
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import APP, OWNER, SUPERUSER
from textrawl.errors import StartRefused
from textrawl.postgres.migrations import MigrationReport, migrate

__all__ = ["data_dir", "home", "run", "seed"]

pytestmark = pytest.mark.ordinary("it fills or locks one Postgres, which it also starts itself")

ROLE = "analyst_of_all"
FORMER_LOCKS = (
    *(
        f"hashtextextended('textrawl.{name}', 0)"
        for name in ("removal", "embedding_model", "vector_index")
    ),
    "x'7465787472'::bigint",
)
REMEMBER = "select count(*) from textrawl.remember_fact('Ada', 'person', %s, credential => %s)"
ALL_MODES = ("access share", "row share", "row exclusive", "share update exclusive", "share",
             "share row exclusive", "exclusive", "access exclusive")  # fmt: skip


@dataclass(frozen=True)
class Place:
    """A database of a cluster, and the login of an analyst in it."""

    databases: Databases
    name: str

    def connect(self, role: str) -> psycopg.Connection:
        dsn = self.databases.cluster.dsn(role, self.name)
        connection = psycopg.connect(dsn, autocommit=True)
        connection.execute("set search_path = textrawl, public")
        return connection

    def fetch(self, role: str, statement: str) -> list[tuple[object, ...]]:
        with self.connect(role) as connection:
            connection.execute("set lock_timeout = '2s'")
            return connection.execute(statement.encode()).fetchall()


@contextmanager
def admit(databases: Databases, name: str) -> Generator[Place]:
    place = Place(databases, name)
    with place.connect(SUPERUSER) as superuser:
        superuser.execute("select create_analyst(%s, 'cy', array['default'])", (ROLE,))
        try:
            yield place
        finally:
            superuser.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where usename = %s", (ROLE,)
            )
            superuser.execute("update actor set role_name = null")
            superuser.execute(f"drop owned by {ROLE}; drop role {ROLE}".encode())


@pytest.fixture
def place(postgres: Databases, database: str) -> Iterator[Place]:
    with admit(postgres, database) as place:
        yield place


SHORT_QUEUE = "max_notify_queue_pages = 64\n"


@pytest.fixture(scope="module")
def cramped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A cluster whose queue of notifications holds half a megabyte, not eight gigabytes."""
    with (
        run_cluster(tmp_path_factory, 18, own_settings=SHORT_QUEUE) as databases,
        databases.create("migrated") as name,
        admit(databases, name) as place,
    ):
        yield place


def fill_queue(analyst: psycopg.Connection) -> None:
    """Notifies until there is no room for another one."""
    flood = "loop perform pg_notify('textrawl_event', repeat('x', 7900)); commit; end loop;"
    with pytest.raises(errors.ProgramLimitExceeded):
        analyst.execute(f"do $$ begin {flood} end $$".encode())


@pytest.mark.slow
def test_writes_go_on_while_an_analyst_keeps_the_queue_of_notifications_full(
    cramped: Place,
) -> None:
    with cramped.connect(APP) as app:
        with cramped.connect(ROLE) as listener, cramped.connect(ROLE) as analyst:
            listener.execute("listen textrawl_event")
            listener.execute("begin; select 1")
            fill_queue(analyst)
            row = app.execute(REMEMBER, ("drinks tea", hash_token(TOKEN))).fetchone()
            assert row == (1,)

        row = app.execute(REMEMBER, ("eats bread", hash_token(TOKEN))).fetchone()
        assert row == (1,)
    assert cramped.fetch(OWNER, "select count(*) from observation") == [(2,)]


def test_no_advisory_lock_of_an_analyst_stops_anything(place: Place) -> None:
    with place.connect(ROLE) as analyst:
        for key in FORMER_LOCKS:
            analyst.execute(f"select pg_advisory_lock({key})".encode())
        for statement in (
            "select remember_fact('Ada', 'person', 'drinks tea')",
            "select forget_entity('Ada')",
            "select remember_fact('Bo', 'person', 'eats bread')",
            "select undo_author(session_user, now() - interval '1 hour')",
            "select delete_nodes(array['Ada', 'Bo'])",
            "select register_embedding_model('test:model', 3)",
        ):
            place.fetch(OWNER, statement)
        for statement in ("refresh_search_statistics(true)", "claim_vector_indexes()"):
            assert place.fetch(OWNER, f"select {statement}") == [(True,)], statement
        place.fetch(OWNER, "update code set fingerprint = 'of another' returning 1")
        with anyio.from_thread.start_blocking_portal() as portal:
            report = portal.call(migrate, place.databases.cluster.dsn(OWNER, place.name))
        assert report == MigrationReport([], rebuilt=True)


def test_an_analyst_can_lock_no_table_against_anybody(place: Place) -> None:
    tables = place.fetch(
        OWNER,
        "select relname from pg_class"
        " where relnamespace = 'textrawl'::regnamespace and relkind = 'r'",
    )
    names = [str(name) for (name,) in tables]
    assert {"observation", "removal_lock", "vector_index_claim", "migration"} <= set(names)
    with place.connect(ROLE) as analyst:
        analyst.execute("set default_transaction_read_only = off")
        for name in names:
            for mode in ALL_MODES[1:]:
                with pytest.raises(errors.InsufficientPrivilege), analyst.transaction():
                    analyst.execute(f"lock table {name} in {mode} mode".encode())
            for strength in ("key share", "update"):
                with pytest.raises(errors.InsufficientPrivilege):
                    analyst.execute(f"select from {name} for {strength}".encode())


@pytest.mark.slow
def test_a_migration_takes_from_an_analyst_what_its_open_transaction_holds(place: Place) -> None:
    dsn = place.databases.cluster.dsn(OWNER, place.name)
    place.fetch(OWNER, "update code set fingerprint = 'of another' returning 1")
    with place.connect(ROLE) as analyst:
        analyst.execute("begin")
        analyst.execute("select count(*) from memory_stale")

        assert anyio.run(migrate, dsn) == MigrationReport([], rebuilt=True)

        with pytest.raises(psycopg.OperationalError, match="terminating connection"):
            analyst.execute("select 1")


@pytest.mark.slow
def test_a_migration_names_who_keeps_it_waiting(place: Place) -> None:
    dsn = place.databases.cluster.dsn(OWNER, place.name)
    place.fetch(OWNER, "update code set fingerprint = 'of another' returning 1")

    async def attempt() -> MigrationReport:
        return await migrate(dsn, retry_limit=1)

    with place.connect(OWNER) as holder:
        holder.execute("begin")
        holder.execute("select count(*) from memory_stale")
        pid = holder.info.backend_pid
        with pytest.raises(StartRefused, match=rf"textrawl_owner \(process {pid}\).*terminate"):
            anyio.run(attempt)
    assert anyio.run(attempt) == MigrationReport([], rebuilt=True)


def test_a_command_of_the_owner_names_who_keeps_it_waiting(place: Place, run: Run) -> None:
    for name in ("test:active", "test:building"):
        place.fetch(OWNER, f"select start_embedding_model('{name}', 3)")
    url = place.databases.cluster.dsn(OWNER, place.name)
    with place.connect(ROLE) as analyst:
        analyst.execute("begin")
        analyst.execute("select count(*) from observation")
        pid = analyst.info.backend_pid
        refused = run("embed", "drop", "test:building", DATABASE_URL=url)
        assert f"{ROLE} (process {pid}) holds a lock that this command needs" in refused.err

    assert run("embed", "drop", "test:building", DATABASE_URL=url).code == 0


FILLING = (
    "select lo_from_bytea(0, repeat('x', 1000)::bytea)", "select lo_create(0)",
    "select lo_creat(1)",
    "select pg_logical_emit_message(false, 'x', repeat('x', 1000))",
    "select pg_logical_emit_message(true, 'x', repeat('x', 1000)::bytea)",
    "select pg_export_snapshot()", "select pg_advisory_lock(1)",
    "select count(pg_try_advisory_xact_lock_shared(g)) from generate_series(1, 100000) g",
    "create temp table mine (a text)", "create temp sequence mine",
    "set temp_file_limit = -1",
)  # fmt: skip
SPILL = """
    set work_mem = '64kB';
    select count(*) from (
        select g, repeat(md5(g::text), 40) from generate_series(1, 700000) g order by 2) t
"""


@pytest.mark.slow
def test_an_analyst_of_the_embedded_memory_fills_nothing(run: Run, data_dir: Path) -> None:
    made = run("analyst", "create", ROLE, "--space", "default", DATA_DIR=data_dir)
    assert made.code == 0, made.err
    with anyio.from_thread.start_blocking_portal() as portal:
        running = portal.wrap_async_context_manager(run_embedded(data_dir))
        with running as cluster:
            with psycopg.connect(cluster.dsn(ROLE), autocommit=True) as analyst:
                analyst.execute("set default_transaction_read_only = off")
                analyst.execute("set statement_timeout = 0")
                for statement in FILLING:
                    with pytest.raises(errors.InsufficientPrivilege):
                        analyst.execute(statement.encode())
                with pytest.raises(errors.ConfigurationLimitExceeded, match="temp_file_limit"):
                    analyst.execute(SPILL)
                analyst.execute("listen textrawl_event")
                analyst.execute("begin; select 1")
                with psycopg.connect(cluster.dsn(ROLE), autocommit=True) as flooding:
                    fill_queue(flooding)
            for other in ("postgres", "template1"):
                with pytest.raises(psycopg.OperationalError, match="permission denied"):
                    psycopg.connect(cluster.dsn(ROLE, other))
