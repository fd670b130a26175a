"""The owner's view of a distributed memory: one session that sees the content of all cells.

A test looks at what is stored, or prepares it, with SQL for one Postgres. On a cluster, this SQL
finds the schema `whole` of the coordinator in front of the schema textrawl. The directory is the
coordinator's own. So no statement of a test is changed, and what it calls runs where it runs for a
server.
"""

import re
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Any, Self, cast

import psycopg
from psycopg import sql
from psycopg.abc import Params, Query
from tenacity import Retrying, stop_after_delay, wait_fixed

from tests.support.cluster import CitusCluster, ClusterMemory, ClusterNode
from tests.support.whole_schema import list_shown
from textrawl.embedded.postmaster import OWNER

_MODELS = re.compile(r"\b(?:register|start|drop)_embedding_model\b")
_VECTORS = re.compile(r"\bembedding_\d+\b")
_CHANGES = re.compile(
    r"\b(?:insert|update|delete|truncate|\w*_(?:space|token|access|login|analyst|actors?|tier|policy"
    r"|review|language|model)|vouch)\b"
)


class WholeCursor(psycopg.Cursor[Any]):
    """A cursor that sends each change of the directory to the workers before it returns."""

    def execute(self, query: Query, params: Params | None = None, **options: Any) -> Self:
        """Execute a statement, whose names of the schema textrawl are those of `whole`."""
        whole = cast("WholeSession", self.connection)
        text = whole.show(query)
        super().execute(text.encode(), params, **options)
        if whole.info.transaction_status is psycopg.pq.TransactionStatus.IDLE:
            whole.send_changes(text)
        return self


class WholeSession(psycopg.Connection[Any]):
    """A connection of the owner to the coordinator that sees the content of all cells."""

    workers: list[psycopg.Connection[Any]]
    names: frozenset[str]

    def show(self, query: Query) -> str:
        """Return a statement with the names of `whole`."""
        assert isinstance(query, sql.Composable | str | bytes)
        text = query.as_string(self) if isinstance(query, sql.Composable) else query
        text = text.decode() if isinstance(text, bytes) else text
        if _VECTORS.search(text):
            self._ask("select whole.show_tables()")
        if change := re.match(r"alter table (\w+) (.*)", text, re.DOTALL):
            values = sql.Literal(change[1]), sql.Literal(change[2])
            return sql.SQL("select whole.alter_table({}, {})").format(*values).as_string(self)
        return re.sub(
            r'(?<![\w"])"?textrawl"?\."?(\w+)"?',
            lambda found: f"whole.{found[1]}" if found[1] in self.names else found[0],
            text,
        )

    def send_changes(self, text: str) -> None:
        """Wait until the workers know what a statement has changed in the directory."""
        if not _CHANGES.search(text):
            return
        [(mark,)] = self._ask("select textrawl_content.mark_directory()")
        for worker in self.workers:
            for attempt in Retrying(stop=stop_after_delay(60), wait=wait_fixed(0.005)):
                with attempt:
                    query = "select textrawl_content.read_mark()"
                    assert worker.execute(query).fetchall() >= [(mark,)]
        if _MODELS.search(text):
            self._distribute_models()

    def _distribute_models(self) -> None:
        self._ask("select textrawl_content.drop_models()")
        self._ask("select textrawl_content.distribute_models()")
        for worker in self.workers:
            worker.execute("select textrawl_content.match_models()")

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        # Not the cursor above, which would send the change again.
        return psycopg.Cursor(self).execute(query.encode()).fetchall()


@contextmanager
def open_whole(memory: ClusterMemory) -> Generator[WholeSession]:
    """Open a session of the owner that sees the whole memory."""
    with ExitStack() as stack:
        connection = WholeSession.connect(
            memory.dsn(OWNER), autocommit=True, cursor_factory=WholeCursor
        )
        session = stack.enter_context(connection)
        session.workers = [
            stack.enter_context(memory.open(OWNER, node)) for node in memory.cluster.workers
        ]
        session.names = frozenset()
        session.execute("set search_path = whole, textrawl, public")
        session.names = list_shown(session)
        yield session


class ClusterMemories:
    """Memories of one cluster, for tests that expect the databases of one Postgres."""

    def __init__(self, citus: CitusCluster) -> None:
        self._citus = citus
        self._memories: dict[str, ClusterMemory] = {}

    @property
    def cluster(self) -> ClusterNode:
        """The coordinator, which knows the connection string of a memory."""
        return self._citus.coordinator

    @contextmanager
    def create(self, template: str = "template1") -> Generator[str]:
        """A fresh memory, or an empty database on each node; dropped afterwards."""
        if template != "migrated":
            with self._citus.create_database() as name:
                yield name
            return
        with self._citus.create_memory() as memory:
            self._memories[memory.name] = memory
            yield memory.name
            del self._memories[memory.name]

    @contextmanager
    def open(self, name: str) -> Generator[psycopg.Connection[Any]]:
        """A session of the owner that sees the whole memory."""
        with open_whole(self._memories[name]) as session:
            yield session
