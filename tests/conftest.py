"""A real Postgres for every test: a cluster a session, a fresh database a test."""

import gc
import logging
import os
import shutil
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AsyncExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Literal, cast

import hypothesis
import psycopg
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from psycopg import sql as query

from tests.clients.matrix import print_matrix
from tests.frameworks.table import print_frameworks
from tests.support.both_memories import ON_CLUSTER
from tests.support.citus_servers import MISSING, find_pg_config
from tests.support.cluster import CitusCluster, run_citus
from tests.support.encoder import hide_encoder
from tests.support.folders import copy, make_once, open_folder
from tests.support.forks import Forks
from tests.support.gateway import Gateway, run_gateway
from tests.support.hosts import end_noted_hosts
from tests.support.releases import FIRST, SLOW, is_for_releases
from tests.support.repetitions import repeat_nothing
from tests.support.whole_memory import ClusterMemories
from tests.support.whole_schema import create_whole
from textrawl import Settings, create_server, migrate, read_settings
from textrawl.access.access_token import hash_token, make_token
from textrawl.embedded.cluster import Cluster, run_embedded
from textrawl.embedded.postmaster import APP, OWNER, SUPERUSER
from textrawl.environment import is_setting

# Where the environment forbids bytecode, each process of a test would compile all packages again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

TOKEN = make_token()  # of one who may do everything in the default space
ACTOR = "ada"

hide_encoder()  # here and in other processes, so that `auto` is the quick local model

CITUS = "citus"
MIGRATED = "migrated"  # the template of the databases of tests
# Nothing that these tests write has to survive the machine.
HASTE = (
    "alter system set fsync = off",
    "alter system set full_page_writes = off",
    "select pg_reload_conf()",
)
Era = Literal["auto", "legacy"]

# A machine with other things to do is no failure.
_CHECKS = hypothesis.HealthCheck
_PATIENT: dict[str, Any] = {
    "deadline": None, "suppress_health_check": [_CHECKS.too_slow, _CHECKS.function_scoped_fixture]
}  # fmt: skip
# A checkout gives the same result on each day. New examples are sought each week (weekly.yml).
hypothesis.settings.register_profile("patient", **_PATIENT, derandomize=True, max_examples=30)
hypothesis.settings.register_profile(
    "thorough", **_PATIENT, derandomize=False, max_examples=1200, print_blob=True
)
hypothesis.settings.load_profile("patient")

gc.disable()  # until everything is collected


def pytest_addoption(parser: pytest.Parser) -> None:
    """Find Citus, and let the tests of an ordinary memory run on a distributed one."""
    parser.addoption(
        "--citus",
        metavar="PG_CONFIG",
        help="pg_config of a PostgreSQL with Citus (default: the one on the PATH, if it has Citus)",
    )
    parser.addoption("--on-citus", action="store_true", help="run tests on a cluster of Citus")


def pytest_xdist_auto_num_workers() -> int:
    """Return three processes for two cores. Two processes kept the load of two cores at 1.5."""
    return (os.cpu_count() or 1) * 3 // 2


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Let some tests run on a cluster too, among the slow ones."""
    if metafunc.definition.nodeid in ON_CLUSTER and not metafunc.config.getoption("--on-citus"):
        assert "postgres" not in metafunc.fixturenames, "it asks for one Postgres"
        places = [
            pytest.param("postgres", id=pytest.HIDDEN_PARAM),
            pytest.param(CITUS, id=CITUS, marks=[pytest.mark.slow, pytest.mark.citus]),
        ]
        metafunc.parametrize("databases", places, indirect=True)


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is slow and what only a release repeats. Start with the longest tests."""
    for item in items:
        if is_for_releases(item):
            item.add_marker(pytest.mark.release)
        if item.nodeid.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: not item.nodeid.startswith(FIRST))
    choose_for_cluster(config, items)


def choose_for_cluster(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --on-citus, keep the tests that need a memory, and skip those of an ordinary one."""
    if not config.getoption("--on-citus"):
        return
    kept = [item for item in items if is_of_any_memory(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept
    for item in items:
        reasons = [mark.args[0] for mark in item.iter_markers("ordinary")]
        if "gateway" in getattr(item, "fixturenames", ()):
            reasons.append("the gateway stands before one Postgres")
        for reason in reasons:
            item.add_marker(pytest.mark.skip(f"ordinary: {reason}"))


def is_of_any_memory(item: pytest.Item) -> bool:
    """Whether a test takes a fresh memory from the fixtures below, of whatever kind."""
    names = {*getattr(item, "fixturenames", ())}
    return bool(names & {"databases", "postgres", "sql"}) and not names & {"postgres_16", "citus"}


def pytest_collection_finish() -> None:
    """What was collected stays: looking through it again and again took a fifth of the time."""
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what `pytest -m clients` and `pytest -m frameworks` found, where they ran."""
    print_matrix(terminalreporter)
    print_frameworks(terminalreporter)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


def hide_settings(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Keep the environment and the .env files of whoever runs the tests out of them."""
    for name in [name for name in os.environ if is_setting(name)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    monkeypatch.chdir(folder)


@pytest.fixture(scope="session", autouse=True)
def _no_repetitions() -> Iterator[None]:
    with repeat_nothing():
        yield


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """A process of which the hosts of commands are forked."""
    with closing(Forks()) as forks:
        yield forks


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hide_settings(monkeypatch, tmp_path)


@pytest.fixture(autouse=True)
def _no_host_left() -> Iterator[None]:
    yield
    end_noted_hosts()


@pytest.fixture(autouse=True)
def _no_log_level_from_before() -> Iterator[None]:
    """A command that a test ran in this process has set what is logged."""
    loggers = [logging.getLogger(name) for name in ("textrawl", "psycopg")]
    levels = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


@pytest.fixture
def uncovered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines that a test's many processes run are measured elsewhere: it takes half as long."""
    for name in ("COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START"):
        monkeypatch.delenv(name, raising=False)


class Databases:
    """Databases of one cluster, cloned from a template that was migrated once.

    A thread makes and drops them one after the other. So while a test runs, its predecessor's
    database is dropped and its successor's made.
    """

    def __init__(self, cluster: Cluster, superuser: psycopg.Connection) -> None:
        self.cluster = cluster
        self._superuser = superuser
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._clone: Future[str] | None = None
        self._drops: list[Future[None]] = []

    def execute(self, statement: str, **names: str) -> None:
        self._thread.submit(self._execute, statement, **names).result()

    def _execute(self, statement: str, **names: str) -> None:
        identifiers = {key: query.Identifier(name) for key, name in names.items()}
        self._superuser.execute(query.SQL(statement).format(**identifiers))  # pyright: ignore[reportArgumentType]

    @contextmanager
    def create(self, template: str = "template1") -> Generator[str]:
        """A new database, owned by textrawl_owner; dropped afterwards."""
        name = self._take_clone() if template == MIGRATED else self._create(template).result()
        try:
            yield name
        finally:
            drop = "drop database {name} with (force)"
            self._drops.append(self._thread.submit(self._execute, drop, name=name))

    def _take_clone(self) -> str:
        name = (self._clone or self._create(MIGRATED)).result()
        self._clone = self._create(MIGRATED)
        self.check_drops(wait=False)
        return name

    def _create(self, template: str) -> Future[str]:
        def create() -> str:
            name = f"test_{uuid.uuid4().hex}"
            # Without a strategy, each page of the template would be written to the log too.
            make = "create database {name} template {template} owner {owner} strategy file_copy"
            self._execute(make, name=name, template=template, owner=OWNER)
            return name

        return self._thread.submit(create)

    def check_drops(self, *, wait: bool) -> None:
        """Raise what went wrong in the thread since the last call."""
        done = [drop for drop in self._drops if wait or drop.done()]
        self._drops = [drop for drop in self._drops if drop not in done]
        for drop in done:
            drop.result()

    def rest(self) -> None:
        """Wait until the thread makes and drops nothing."""
        self._thread.submit(int).result()

    def close(self) -> None:
        """Wait for the thread."""
        self._thread.shutdown()
        self.check_drops(wait=True)

    @contextmanager
    def open(self, name: str) -> Generator[psycopg.Connection]:
        """A session of the owner, with the memory in its search path."""
        with psycopg.connect(self.cluster.dsn(OWNER, name), autocommit=True) as connection:
            connection.execute("set search_path = textrawl, public")
            yield connection


def enrol(conninfo: str) -> None:
    """Gives ACTOR their TOKEN, as a team's administrator would."""
    scopes = ["read", "write", "forget", "admin", "metrics"]
    with psycopg.connect(conninfo, autocommit=True) as owner:
        owner.execute("set search_path = textrawl, public")
        owner.execute(
            """with member as (insert into actor (name) values (%(actor)s) returning id),
               granted as (insert into space_grant (space_id, actor_id, scopes)
                           select default_space(), id, %(scopes)s from member)
               insert into token (hash, kind, prefix, actor_id, home_space_id, scopes)
               select %(hash)s, 'bearer', 'trl_test', id, default_space(), %(scopes)s
               from member""",
            {"actor": ACTOR, "scopes": scopes, "hash": hash_token(TOKEN)},
        )


def shrink_catalogs(conninfo: str) -> None:
    """Leave out what a migration leaves behind: it was a fifth of the time of each clone."""
    with psycopg.connect(conninfo, autocommit=True) as superuser:
        for (catalog,) in superuser.execute(
            "select relname from pg_class where relkind = 'r' and not relisshared"
            " and relnamespace = 'pg_catalog'::regnamespace"
        ).fetchall():
            superuser.execute(query.SQL("vacuum (full) {}").format(query.Identifier(catalog)))


@contextmanager
def start_cluster(folder: Path, version: int) -> Generator[tuple[Databases, BlockingPortal]]:
    """The cluster in a folder, and the event loop in which it runs."""
    with start_blocking_portal() as portal:
        running = run_embedded(folder, postgres_version=version)
        with (
            portal.wrap_async_context_manager(running) as cluster,
            psycopg.connect(cluster.dsn(SUPERUSER, "postgres"), autocommit=True) as superuser,
            closing(Databases(cluster, superuser)) as databases,
        ):
            yield databases, portal


def make_cluster(folder: Path, version: int) -> None:
    """Make a cluster with a template, and stop it."""
    with start_cluster(folder, version) as (databases, portal):
        cluster = databases.cluster
        for statement in HASTE:
            databases.execute(statement)
        databases.execute("create database {name} owner {owner}", name=MIGRATED, owner=OWNER)
        with psycopg.connect(cluster.dsn(SUPERUSER, MIGRATED), autocommit=True) as own:
            own.execute("create extension vector")
        portal.call(migrate, cluster.dsn(OWNER, MIGRATED))
        shrink_catalogs(cluster.dsn(SUPERUSER, MIGRATED))


@contextmanager
def run_cluster(
    factory: pytest.TempPathFactory, version: int, *, own_settings: str = ""
) -> Generator[Databases]:
    """A cluster of a Postgres, with settings of its owner's in local.conf, and a template."""
    made = make_once(factory, f"cluster-{version}", lambda folder: make_cluster(folder, version))
    with open_folder() as folder:
        copy(made, folder)
        if own_settings:
            local = folder / f"postgres-{version}" / "local.conf"
            local.write_text(own_settings, encoding="utf-8")
        with start_cluster(folder, version) as (databases, _):
            enrol(databases.cluster.dsn(OWNER, MIGRATED))  # the TOKEN of this process
            yield databases


@pytest.fixture(scope="session")
def postgres(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Databases]:
    """PostgreSQL 18, or a cluster that looks like it (--on-citus)."""
    if request.config.getoption("--on-citus"):
        yield cast("Databases", ClusterMemories(request.getfixturevalue("citus")))
        return
    with run_cluster(tmp_path_factory, 18) as databases:
        yield databases


@pytest.fixture(scope="session")
def postgres_16(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    """PostgreSQL 16, the oldest that is supported."""
    with run_cluster(tmp_path_factory, 16) as databases:
        yield databases


@pytest.fixture(scope="session")
def pg_config(request: pytest.FixtureRequest) -> Path:
    """The pg_config of a PostgreSQL with Citus. Without one, the test is skipped."""
    found = find_pg_config(request.config.getoption("--citus"))
    if found is None:
        pytest.skip(MISSING)
    return found


@pytest.fixture(scope="session")
def citus(pg_config: Path) -> Iterator[CitusCluster]:
    """A coordinator and two workers of Citus."""
    with run_citus(pg_config, enrol, create_whole) as cluster:
        yield cluster


@pytest.fixture
def databases(request: pytest.FixtureRequest) -> Databases:
    """The Postgres or the cluster of a test."""
    if getattr(request, "param", None) == CITUS:
        return cast("Databases", ClusterMemories(request.getfixturevalue("citus")))
    return request.getfixturevalue("postgres")


@pytest.fixture
def database(databases: Databases) -> Iterator[str]:
    """Name of a fresh, migrated database."""
    with databases.create("migrated") as name:
        yield name


@pytest.fixture
def database_url(databases: Databases, database: str) -> str:
    """Its connection string as the application's role."""
    return databases.cluster.dsn(APP, database)


@pytest.fixture
def owner(databases: Databases, database: str) -> Iterator[psycopg.Connection]:
    """A connection of the owner, who sees every table: to look at what a tool really stored."""
    with databases.open(database) as connection:
        yield connection


@pytest.fixture
def settings(database_url: str) -> Callable[..., Settings]:
    """Makes settings on the fresh database; arguments replace what it says."""

    def make(**changes: Any) -> Settings:
        return read_settings(**{"database_url": database_url, "access_token": TOKEN, **changes})

    return make


Connect = Callable[..., Awaitable[Client]]


@pytest.fixture
async def connect(settings: Callable[..., Settings]) -> AsyncIterator[Connect]:
    """Connects MCP clients in memory: `era` is auto (2026-07-28) or legacy (2025-11-25)."""
    async with AsyncExitStack() as stack:

        async def open_client(era: Era = "auto", *, callback: Any = None, **changes: Any) -> Client:
            server = create_server(settings(**changes))
            options = {"elicitation_callback": callback} if callback else {}
            return await stack.enter_async_context(Client(server, mode=era, **options))

        yield open_client


@pytest.fixture(params=["auto", "legacy"], ids=["2026-07-28", "2025-11-25"])
def era(request: pytest.FixtureRequest) -> Era:
    """Both protocol eras."""
    return request.param


@pytest.fixture
async def client(connect: Connect, era: Era) -> Client:
    """A client of a server with default settings, once in each era."""
    return await connect(era)


@pytest.fixture
async def gateway(database_url: str) -> AsyncIterator[Gateway]:
    """A way to the fresh database that can be cut, closed and frozen."""
    folder = Path(tempfile.mkdtemp(prefix="textrawl-"))  # short enough for the path of a socket
    try:
        async with run_gateway(folder, database_url) as gateway:
            yield gateway
    finally:
        shutil.rmtree(folder)
