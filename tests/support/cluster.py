"""A real cluster of Citus: a coordinator, two workers and memories that are distributed over them.

Tests that need the cluster are skipped where no PostgreSQL with Citus is installed.
"""

import signal
import uuid
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString

import psutil
import psycopg
from anyio.from_thread import start_blocking_portal
from psycopg import sql
from tenacity import Retrying, stop_after_delay, wait_fixed

from tests.support.citus_servers import CitusServer, start_servers
from tests.support.folders import open_folder
from textrawl.cluster.layout import Cell, CitusNode
from textrawl.cluster.migration import migrate_distributed
from textrawl.embedded.postmaster import APP, OWNER, SUPERUSER

CELLS = 4
_TEMPLATE = "template_memory"
_DIRECTORY = "textrawl_directory"  # the publication and the subscriptions

Session = psycopg.Connection[Any]


@dataclass(frozen=True)
class ClusterNode(CitusServer):
    """One server of a cluster."""

    @contextmanager
    def open(self, database: str = "postgres", role: str = SUPERUSER) -> Generator[Session]:
        """A session. Each of its statements is a transaction."""
        with psycopg.connect(self.dsn(role, database), autocommit=True) as connection:
            yield connection

    def kill(self) -> None:
        """Kill it and all its processes with -9, and wait until they are gone."""
        doomed = self._send(signal.SIGKILL)
        _, alive = psutil.wait_procs(doomed, timeout=20)
        assert alive == []

    def freeze(self) -> None:
        """Stop all its processes, as a machine that hangs."""
        self._send(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let them go on."""
        self._send(signal.SIGCONT)

    def _send(self, number: signal.Signals) -> list[psutil.Process]:
        pid = int((self.data / "postmaster.pid").read_text("ascii").split()[0])
        postmaster = psutil.Process(pid)
        processes = [postmaster, *postmaster.children(recursive=True)]
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        return processes


@dataclass(frozen=True)
class CitusCluster:
    """The nodes, the coordinator first. A memory on them is the template of others."""

    nodes: tuple[ClusterNode, ...]

    @property
    def coordinator(self) -> ClusterNode:
        return self.nodes[0]

    @property
    def workers(self) -> tuple[ClusterNode, ...]:
        return self.nodes[1:]

    def find_node(self, node: CitusNode) -> ClusterNode:
        """The server of a node of the map."""
        [found] = [one for one in self.nodes if one.port == node.port]
        return found

    def execute(
        self, statement: LiteralString, *, database: str = "postgres", **names: str
    ) -> None:
        """Execute a statement of the superuser on all nodes at the same time."""
        text = sql.SQL(statement).format(
            **{key: sql.Identifier(name) for key, name in names.items()}
        )

        def run(node: ClusterNode) -> None:
            with node.open(database) as connection:
                connection.execute(text)

        on_each(run, self.nodes)

    @contextmanager
    def create_database(self, *extensions: str) -> Generator[str]:
        """An empty database on every node; dropped afterwards."""
        name = _make_name()
        try:
            self._create(name, *extensions)
            yield name
        finally:
            self._drop(name)

    def _create(self, name: str, *extensions: str) -> None:
        self.execute("create database {name} owner {owner}", name=name, owner=OWNER)
        for extension in extensions:
            self.execute("create extension {name}", database=name, name=extension)

    def join_workers(self, database: str) -> None:
        """Make the nodes one cluster, for a database that knows Citus."""
        with self.coordinator.open(database) as connection:
            host, port = self.coordinator.host, self.coordinator.port
            connection.execute("select citus_set_coordinator_host(%s, %s)", (host, port))
            for node in self.workers:
                connection.execute("select citus_add_node(%s, %s)", (node.host, node.port))

    def prepare_template(
        self, enrol: Callable[[str], None], show: Callable[["ClusterMemory"], None]
    ) -> None:
        """Distribute the memory that others are copies of, and let nobody connect to it again."""
        self._create(_TEMPLATE, "vector", "citus")
        self.join_workers(_TEMPLATE)
        with start_blocking_portal() as portal:
            url = self.coordinator.dsn(SUPERUSER, _TEMPLATE)
            portal.call(lambda: migrate_distributed(url, cells=CELLS))
        template = ClusterMemory(self, _TEMPLATE)
        enrol(template.dsn(OWNER))
        template.send_directory()
        show(template)
        on_each(lambda node: _unsubscribe(node, _TEMPLATE), self.workers)
        self.execute("alter database {name} allow_connections false", name=_TEMPLATE)
        on_each(_end_sessions, self.nodes)

    @contextmanager
    def create_memory(self) -> Generator["ClusterMemory"]:
        """A fresh memory; dropped afterwards."""
        # Citus keeps its metadata in the database, and a copy of it has the same identifiers.
        self.execute(
            "create database {name} template {template} owner {owner} strategy file_copy",
            name=(name := _make_name()),
            template=_TEMPLATE,
            owner=OWNER,
        )
        try:
            # The settings of a database are not copied with it.
            setting: LiteralString = "citus.override_table_visibility = off"
            self.execute("alter database {name} set " + setting, name=name)
            on_each(lambda node: _subscribe(node, self.coordinator, name), self.workers)
            yield ClusterMemory(self, name)
        finally:
            self._drop(name)

    def _drop(self, name: str) -> None:
        on_each(lambda node: _unsubscribe(node, name), self.workers)
        self.execute("drop database {name} with (force)", name=name)


@dataclass(frozen=True)
class ClusterMemory:
    """A distributed memory: a database of the same name on every node."""

    cluster: CitusCluster
    name: str

    def dsn(self, role: str = APP, node: ClusterNode | None = None) -> str:
        """The connection string of the coordinator or of another node."""
        return (node or self.cluster.coordinator).dsn(role, self.name)

    @contextmanager
    def open(self, role: str = APP, node: ClusterNode | None = None) -> Generator[Session]:
        """A session on the coordinator or on another node."""
        with (node or self.cluster.coordinator).open(self.name, role) as connection:
            yield connection

    @contextmanager
    def enter(self, cell: Cell, role: str = APP) -> Generator[Session]:
        """A session on the node of a cell, with the cell in its search path."""
        with self.open(role, self.cluster.find_node(cell.node)) as connection:
            path = sql.SQL("set search_path = {}, public").format(sql.Identifier(cell.schema))
            connection.execute(path)
            yield connection

    @property
    def cells(self) -> dict[int, Cell]:
        """The cells by their shards."""
        query = """
            select shard, low, high, placement, node, host, port
            from textrawl_content.list_cells()"""
        with self.open() as connection:
            rows = connection.execute(query).fetchall()
        return {
            shard: Cell(shard, low, high, CitusNode(node, host, port), placement)
            for shard, low, high, placement, node, host, port in rows
        }

    def find_cells(self, spaces: list[int]) -> dict[int, Cell]:
        """The cell of each space."""
        with self.open() as connection:
            query = "select space, shard from textrawl_content.find_shards(%s)"
            rows = connection.execute(query, (spaces,)).fetchall()
        return {space: self.cells[shard] for space, shard in rows}

    def send_directory(self, *nodes: ClusterNode) -> None:
        """Wait until the workers know what the coordinator knows."""
        with self.open(SUPERUSER) as connection:
            [(mark,)] = connection.execute("select textrawl_content.mark_directory()").fetchall()
        for node in nodes or self.cluster.workers:
            with self.open(SUPERUSER, node) as worker:
                for attempt in Retrying(stop=stop_after_delay(60), wait=wait_fixed(0.01)):
                    with attempt:
                        query = "select textrawl_content.read_mark()"
                        assert worker.execute(query).fetchall() >= [(mark,)]


@contextmanager
def run_citus(
    pg_config: Path, enrol: Callable[[str], None], show: Callable[["ClusterMemory"], None]
) -> Generator[CitusCluster]:
    """Start a cluster with a template. `enrol` adds somebody to it, and `show` what tests read."""
    with run_nodes(pg_config, workers=2) as nodes:
        cluster = CitusCluster(nodes)
        cluster.prepare_template(enrol, show)
        yield cluster


@contextmanager
def run_nodes(pg_config: Path, workers: int) -> Generator[tuple[ClusterNode, ...]]:
    """Start a coordinator and workers, without a database."""
    with (
        open_folder() as folder,
        start_servers(pg_config, folder / "citus", workers) as servers,
    ):
        yield tuple(ClusterNode(each.data, each.programs, each.host, each.port) for each in servers)


def on_each(act: Callable[[ClusterNode], object], nodes: Iterable[ClusterNode]) -> None:
    """Do something on several nodes at the same time."""
    with ThreadPoolExecutor() as pool:
        list(pool.map(act, nodes))


def _make_name() -> str:
    return f"test_{uuid.uuid4().hex[:16]}"


def _subscribe(worker: ClusterNode, coordinator: ClusterNode, database: str) -> None:
    """Let a copy of the template follow the copy on the coordinator, whose directory is equal."""
    text = sql.SQL(
        "create subscription {name} connection {dsn} publication {name} "
        "with (slot_name = {slot}, run_as_owner, copy_data = false)"
    ).format(
        name=sql.Identifier(_DIRECTORY),
        dsn=sql.Literal(coordinator.dsn("textrawl_replicator", database)),
        slot=sql.Literal(f"{database}_{worker.port}"),
    )
    with worker.open(database) as connection:
        connection.execute(text)


def _unsubscribe(worker: ClusterNode, database: str) -> None:
    with worker.open(database) as connection:
        connection.execute(f"drop subscription if exists {_DIRECTORY}".encode())


def _end_sessions(node: ClusterNode) -> None:
    """End the background sessions of Citus, because no database with sessions can be copied."""
    with node.open() as connection:
        query = "select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = %s"
        connection.execute(query, (_TEMPLATE,))
