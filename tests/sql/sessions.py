"""Several sessions of one database, each at its own statement, led into each other's way."""

import time
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any

import psycopg

_BLOCKERS = "select pg_blocking_pids(%s)"
_PATIENCE = 60.0  # seconds until a statement that neither waits nor ends is a failure


class Session:
    """A session beside that of the test, whose statements run in the background."""

    def __init__(self, observer: psycopg.Connection, pool: ThreadPoolExecutor) -> None:
        self._observer = observer
        self._pool = pool
        self._future: Future[list[Any]] | None = None
        self.connection = psycopg.connect(observer.info.dsn, autocommit=True)
        self.connection.execute("set search_path = textrawl, public")
        self.connection.execute("set lock_timeout = '15s'")

    def start(self, statement: str, *values: object) -> None:
        """Begins a statement, and returns once it waits for somebody or has ended."""
        self._future = self._pool.submit(self._execute, statement, values)
        self._settle(self._find_blockers)

    def wait_behind(self, other: "Session") -> None:
        """Returns once its statement waits for that session, or has ended."""
        pid = other.connection.info.backend_pid
        self._settle(lambda: pid in self._find_blockers())

    def _settle(self, is_settled: Callable[[], object]) -> None:
        over, pause = time.monotonic() + _PATIENCE, Event()
        while self.is_waiting and not is_settled():
            assert time.monotonic() < over
            pause.wait(0.002)

    def _find_blockers(self) -> list[int]:
        row = self._observer.execute(_BLOCKERS, (self.connection.info.backend_pid,)).fetchone()
        assert row is not None
        return row[0]

    @property
    def is_waiting(self) -> bool:
        """Whether its statement has not ended."""
        return self._future is not None and not self._future.done()

    def end(self) -> list[Any]:
        """Rows of the statement. Raises psycopg.Error, as for a deadlock."""
        assert self._future is not None
        return self._future.result(_PATIENCE)

    def do(self, statement: str, *values: object) -> list[Any]:
        """A statement from its beginning to its end."""
        self.start(statement, *values)
        return self.end()

    def hold(self, statement: str, *values: object) -> None:
        """Locks what a statement locks until release()."""
        self.do("begin")
        self.do(statement, *values)

    def release(self) -> None:
        """Ends its transaction."""
        self.do("commit")

    def _execute(self, statement: str, values: tuple[object, ...]) -> list[Any]:
        cursor = self.connection.execute(statement.encode(), values)
        return cursor.fetchall() if cursor.description else []


Three = tuple[Session, Session, Session]
"""A gate and two sessions that meet."""


@contextmanager
def open_sessions(observer: psycopg.Connection, many: int) -> Generator[list[Session]]:
    """So many sessions on the database of `observer`."""
    with ThreadPoolExecutor(many) as pool:
        sessions = [Session(observer, pool) for _ in range(many)]
        try:
            yield sessions
        finally:
            for session in sessions:
                session.connection.cancel()
            pool.shutdown()
            for session in sessions:
                session.connection.close()


def scan_tables(session: Session) -> None:
    """Lets a session find rows as they lie there, as the planner has it with other statistics."""
    for way in ("indexscan", "bitmapscan", "nestloop", "mergejoin", "sort"):
        session.do(f"set enable_{way} = off")


def move_last(sql: psycopg.Connection[Any], change: str, value: object) -> None:
    """Gives a row a new version, which lies behind all others."""
    sql.execute(f"update {change} = %s".encode(), (value,))


def fetch(sql: psycopg.Connection[Any], query: str, *values: object) -> Any:
    row = sql.execute(query.encode(), values).fetchone()
    assert row is not None
    return row[0]
