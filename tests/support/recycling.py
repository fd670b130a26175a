"""Memories that tests use one after the other, with sessions that have their plans already.

A new database takes 40 ms of processor time, and the first calls of its sessions take 150 ms more:
each session reads the catalogue and plans each SQL function. So what a test has stored is removed
(20 ms), and the next test gets the idle sessions. A database is dropped if anything else has
changed, if it had many rows, or if somebody still uses it.
"""

import select
from collections import defaultdict
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg import generators, pq
from psycopg.conninfo import conninfo_to_dict

# What does not come and go with a model and with statistics.
_CATALOGUE = """
    select 'pg_class', count(*), sum(hashtext(concat_ws(' ', oid, relname, relowner, relfilenode,
        relnatts, relchecks, relhasrules, relhastriggers, relrowsecurity, relforcerowsecurity,
        relreplident, relacl, reloptions)))
    from pg_class
    union all
    select 'pg_rewrite', count(*), sum(xmin::text::bigint) from pg_rewrite
    where ev_class <> 'embedding'::regclass
    union all
    select 'pg_database', (select count(*) from pg_db_role_setting where setdatabase = d.oid),
        hashtext(concat_ws(' ', datconnlimit, datallowconn, datacl))
    from pg_database d where datname = current_database()"""
_CATALOGS = (
    "pg_attrdef", "pg_attribute", "pg_cast", "pg_collation", "pg_constraint", "pg_default_acl",
    "pg_event_trigger", "pg_extension", "pg_index", "pg_largeobject_metadata", "pg_namespace",
    "pg_operator", "pg_policy", "pg_proc", "pg_publication", "pg_statistic_ext", "pg_trigger",
    "pg_ts_config", "pg_ts_config_map", "pg_ts_dict", "pg_type",
)  # fmt: skip
_MOST_ROWS = 1500  # that were removed, before a database is dropped: they stay in its files
_RESET = (
    b"rollback; close all; set session authorization default; reset all; deallocate all;"
    b" unlisten *; select pg_advisory_unlock_all(); discard temp; discard sequences"
)
_QUIET = (pq.TransactionStatus.IDLE, pq.TransactionStatus.INTRANS, pq.TransactionStatus.INERROR)
_OTHERS = "select from pg_stat_activity where datname = current_database() and pid <> all(%s)"
_TABLES = """
    select relname::text from pg_class
    where relnamespace = 'textrawl'::regnamespace and relkind = 'r' order by 1"""
_COLUMNS = """
    select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
    where attrelid = %s::regclass and attnum > 0 and not attisdropped and attgenerated = ''"""
_SEQUENCES = """
    select concat_ws('.', schemaname, sequencename), coalesce(last_value, start_value),
        last_value is not null from pg_sequences"""
_FORGET_STATISTICS = """
    delete from pg_statistic where starelid in (
        select oid from pg_class where relnamespace = 'textrawl'::regnamespace)"""
_FORGET_SIZES = """
    update pg_class set reltuples = -1, relpages = 0, relallvisible = 0
    where reltuples >= 0 and oid = any(%s)"""
_CONNECT = generators.connect


class Sessions:
    """Idle sessions of recycled memories, by their connection strings."""

    def __init__(self) -> None:
        self._hosts: dict[str, str] = {}  # of the databases whose sessions are kept
        self._idle = defaultdict[str, list[Any]](list)
        self._opened: dict[int, tuple[Any, str, str]] = {}
        self._closed = pq.PGconn.connect_start(b"host=/nowhere")
        self._closed.finish()

    def admit(self, name: str, host: str) -> None:
        """Keep the sessions of a database from now on."""
        self._hosts[name] = host

    def connect(self, conninfo: str) -> Generator[Any, Any, Any]:
        """Lend an idle session, or open one. It takes the place of psycopg's generator."""
        idle = self._idle.get(conninfo, [])
        while idle:
            session = idle.pop()
            if not select.select([session.socket], [], [], 0)[0]:
                return session
            session.finish()  # somebody has ended it
        session = yield from _CONNECT(conninfo)
        given = conninfo_to_dict(conninfo)
        name = str(given.get("dbname"))
        if self._hosts.get(name) == given.get("host"):
            self._opened[id(session)] = session, name, conninfo
        return session

    def take(self, connection: Any) -> None:
        """Keep the session of a connection that is about to be closed, if the session is idle."""
        session = connection.pgconn
        _, name, conninfo = self._opened.get(id(session), (None, "", ""))
        if name not in self._hosts or session.transaction_status not in _QUIET:
            return
        session.notice_handler = session.notify_handler = None
        if session.exec_(_RESET).status == pq.ExecStatus.COMMAND_OK:
            self._idle[conninfo].append(session)
            connection.pgconn = self._closed

    def find_pids(self, name: str) -> list[int]:
        """The processes of the idle sessions of a database."""
        kept = {conninfo for _, at, conninfo in self._opened.values() if at == name}
        return [session.backend_pid for conninfo in kept for session in self._idle[conninfo]]

    def end(self, name: str) -> None:
        """End the sessions of a database that will be dropped."""
        self._hosts.pop(name, None)
        for key, (_, at, conninfo) in [*self._opened.items()]:
            if at == name:
                del self._opened[key]
                for session in self._idle.pop(conninfo, []):
                    session.finish()


SESSIONS = Sessions()


@contextmanager
def keep_sessions() -> Generator[None]:
    """Lend the idle sessions of recycled memories to psycopg, and keep what it would close."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generators, "connect", SESSIONS.connect)
        for kind in (psycopg.Connection, psycopg.AsyncConnection):
            patch.setattr(kind, "close", _take_first(kind.close))
        yield


def _take_first(close: Any) -> Any:
    def take_and_close(connection: Any) -> Any:
        SESSIONS.take(connection)
        return close(connection)

    return take_and_close


class Recycler:
    """What a fresh memory has, and the way back to it."""

    def __init__(self, conninfo: str) -> None:
        """Read the state of a fresh memory, as the superuser of `conninfo`."""
        given = conninfo_to_dict(conninfo)
        self._name = str(given["dbname"])
        options = "-c session_replication_role=replica -c allow_system_table_mods=on"
        self._session: Any = psycopg.connect(conninfo, autocommit=True, options=options)
        self._session.execute("set search_path = textrawl, public")
        self._session.execute(_FORGET_STATISTICS)
        self._tables = [name for (name,) in self._fetch(_TABLES)]
        self._rows = {
            name: self._copy(name) for name, count, _ in self._count(self._tables) if count
        }
        self._sequences = {*self._fetch(_SEQUENCES)}
        self._unknown = [
            oid for (oid,) in self._fetch("select oid from pg_class where reltuples < 0")
        ]
        self._removed = 0
        self._counts = self._count(self._tables)
        self._catalogue = self._look()
        SESSIONS.admit(self._name, str(given["host"]))

    def close(self) -> None:
        """End all sessions of the memory, which will be dropped."""
        SESSIONS.end(self._name)
        self._session.close()

    def recycle(self) -> bool:
        """Leave what a fresh memory has, or return False if that cannot be."""
        try:
            own = [*SESSIONS.find_pids(self._name), self._session.info.backend_pid]
            if self._fetch(_OTHERS, own):
                return False
            with self._session.transaction():
                self._remove_models()
                self._remove_rows()
                self._set_sequences()
                self._session.execute(_FORGET_STATISTICS)
                self._session.execute(_FORGET_SIZES, (self._unknown,))
                self._session.execute("select pg_stat_reset()")
            self._counts = self._count(self._tables)
            return self._removed < _MOST_ROWS and self._look() == self._catalogue
        except psycopg.Error:  # a test has ended this session, for instance
            return False

    def _fetch(self, statement: Any, *values: Any) -> list[Any]:
        return self._session.execute(statement, values or None).fetchall()

    def _count(self, tables: Iterable[str]) -> list[Any]:
        """The number of rows of each table, and a sum that no write leaves as it was."""
        count = "select '{}', count(*), coalesce(sum(xmin::text::bigint), 0) from {}"
        return self._fetch(" union all ".join(count.format(name, name) for name in tables))

    def _look(self) -> list[Any]:
        return self._fetch(_CATALOGUE) + self._count(_CATALOGS)

    def _copy(self, table: str) -> tuple[str, bytes]:
        [[columns]] = self._fetch(_COLUMNS, table)
        with self._session.cursor().copy(f"copy {table} ({columns}) to stdout") as copy:
            return columns, b"".join(copy)

    def _remove_models(self) -> None:
        for (model,) in self._fetch("delete from embedding_model returning id"):
            self._session.execute("select unite_embeddings()")
            self._session.execute(f"drop table if exists embedding_{model}")
            self._session.execute(f"drop index if exists item_vector_{model}_idx")

    def _remove_rows(self) -> None:
        for counted in {*self._count(self._tables)} - {*self._counts}:
            table = counted[0]
            self._removed += self._session.execute(f"delete from {table}").rowcount  # noqa: S608
            columns, rows = self._rows.get(table, ("", b""))
            if rows:
                with self._session.cursor().copy(f"copy {table} ({columns}) from stdin") as copy:
                    copy.write(rows)

    def _set_sequences(self) -> None:
        used = {name for name, *_ in {*self._fetch(_SEQUENCES)} - self._sequences}
        for name, last, called in self._sequences:
            if name in used:
                self._session.execute("select setval(%s, %s, %s)", (name, last, called))
