"""The server process: its settings; finding, starting and stopping it.

The server is recognised by its command line. A process id alone is not enough, because another
program can get the same id.
"""

import logging
import os
import signal
import socket
import struct
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import anyio
import psutil
from psycopg import pq

from textrawl.embedded.paths import (
    PORT,
    Account,
    ClusterPaths,
    choose_socket_dir,
    environment,
    refuse_damaged_folder,
    refuse_other_major,
)
from textrawl.errors import StartRefused

OWNER = "textrawl_owner"
APP = "textrawl_app"
ANALYST = "textrawl_analyst"
SUPERUSER = "postgres"

_POSTGRESQL = """\
# Written by textrawl before each start. Put your own settings into local.conf beside this file.

listen_addresses = ''                   # no connections through a network
unix_socket_permissions = 0700          # none from other OS users of this machine
max_connections = 100

synchronous_commit = on                 # an acknowledged write is never lost
fsync = on
full_page_writes = on
max_wal_size = 256MB                    # short recovery: 1GB of WAL took more than half a minute

shared_buffers = {buffers}MB                  # as much as the data needs, not more
maintenance_work_mem = 256MB            # an HNSW graph that fits is built many times faster
max_parallel_maintenance_workers = 0    # parallel builds need /dev/shm: 64MB in most containers
jit = off                               # compiling costs more than it saves in these queries
huge_pages = off
{queue}max_logical_replication_workers = 0     # there is no replication

timezone = 'UTC'                        # answers do not depend on the machine
datestyle = 'iso, ymd'
default_text_search_config = 'pg_catalog.english'
lc_messages = 'C'

log_timezone = 'UTC'
log_min_messages = warning
log_checkpoints = off
log_line_prefix = '%m [%p] '
log_min_error_statement = panic         # statements and details of errors
log_error_verbosity = terse             # can hold contents of a memory

include_if_exists = 'local.conf'
"""

_LEAST_BUFFERS = 128 << 20
_SPARE_BUFFERS = 512 << 20  # enough for new data until the next start
_FIRST_WITH_QUEUE = 17  # first major version with a setting for the queue of notifications
_MEMORY_LIMIT = Path("/sys/fs/cgroup/memory.max")  # the memory limit of a container

_HBA = "# Written by textrawl. The OS user decides which roles may log in, without passwords.\n"


def _choose_buffers(pgdata: Path) -> int:
    """Return the size of shared_buffers in MB: twice the size of the stored data, within limits.

    It is at least 512 MB, because the data can grow. It is at most a quarter of the machine's
    memory, but never less than 128 MB. Pages that are not in shared_buffers are copied from the
    cache of the operating system. This copying took a seventh of the time of a search among 100,000
    facts. Postgres takes memory for shared_buffers only when it uses that memory.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if _MEMORY_LIMIT.is_file() and (limit := _MEMORY_LIMIT.read_text("ascii").strip()).isdigit():
        memory = min(memory, int(limit))
    stored = sum(file.stat().st_size for file in pgdata.glob("base/*/*"))
    return max(_LEAST_BUFFERS, min(max(2 * stored, _SPARE_BUFFERS), memory // 4)) >> 20


def write_configuration(pgdata: Path, account: Account) -> None:
    """Write postgresql.conf, pg_hba.conf and pg_ident.conf into `pgdata`."""
    # Root can become the server's OS user anyway, so a login of root adds no risk.
    users = sorted({account.name, "root"})
    # A + means every member of the role, such as the logins of `textrawl analyst`.
    roles = (SUPERUSER, OWNER, APP, f"+{ANALYST}")
    ident = "".join(f'textrawl "{name}" {role}\n' for name in users for role in roles)
    # Any login can fill the notification queue, so limit it to 512 kB.
    limit = "max_notify_queue_pages = 64             # textrawl sends none\n"
    queue = limit if int((pgdata / "PG_VERSION").read_text("ascii")) >= _FIRST_WITH_QUEUE else ""
    files = {
        "postgresql.conf": _POSTGRESQL.format(buffers=_choose_buffers(pgdata), queue=queue),
        "pg_hba.conf": f"{_HBA}local all all peer map=textrawl\n",
        "pg_ident.conf": f"# Written by textrawl.\n{ident}",
    }
    os.close(account.open(pgdata / "local.conf", os.O_RDWR))
    for name, text in files.items():
        draft = pgdata / f"{name}.new"
        draft.unlink(missing_ok=True)
        with os.fdopen(account.open(draft, os.O_WRONLY), "w", encoding="utf-8") as file:
            file.write(text)
        draft.replace(pgdata / name)


logger = logging.getLogger("textrawl")

_PROGRAM = "postgres"  # the name of the server's process, and of its children
_LARGEST_LOG = 5_000_000  # bytes; a larger log is renamed at a start, and one older log is kept
_STOPS = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0))  # a fast, then an immediate shutdown
_PAUSE = 0.02
_PARAMETERS = f"user\0{SUPERUSER}\0database\0postgres\0\0".encode()
_STARTUP_MESSAGE = struct.pack("!ii", 8 + len(_PARAMETERS), 3 << 16) + _PARAMETERS  # protocol 3.0
_TERMINATE = b"X\0\0\0\4"
_CANNOT_CONNECT_NOW = b"\0C57P03\0"  # field C, the SQLSTATE, of an ErrorResponse
# The shell ends immediately, so the server becomes a child of init. Init reaps the server at its
# end, even if the process that started the server has ended earlier.
_DETACH = '"$@" </dev/null >&2 & echo $!'


@dataclass(frozen=True)
class PidFile:
    """The contents of postmaster.pid. The server in it may have ended."""

    pid: int
    port: int
    socket_dir: Path | None


def read_pid_file(pgdata: Path) -> PidFile | None:
    """Return the contents of postmaster.pid, or None if it is missing or unreadable."""
    with suppress(FileNotFoundError, ValueError, IndexError):
        lines = (pgdata / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        lines += [""] * 5  # a server that is starting has written only the first lines
        folder = Path(lines[4]) if lines[4] else None
        if folder is not None and not folder.exists():
            folder = pgdata.parent / "socket"  # in a container, the folder had another path
        return PidFile(int(lines[0]), int(lines[3] or PORT), folder)
    return None


def is_postmaster(pid: int, pgdata: Path) -> bool:
    """Return True if `pid` is a running Postgres on `pgdata`, but not for a zombie."""
    if pid <= 0:
        return False
    try:
        command = psutil.Process(pid).cmdline()
    except psutil.ZombieProcess:
        # If this process is process 1 of a container, it becomes the parent of the server. Its
        # other children belong to whoever started them and waits for their exit codes.
        with suppress(ChildProcessError, psutil.Error):
            if psutil.Process(pid).name() == _PROGRAM:
                os.waitpid(pid, os.WNOHANG)
        return False
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False
    runs_postgres = any(Path(part).name == _PROGRAM for part in command)
    return runs_postgres and str(pgdata) in command


def find_postmaster(pgdata: Path) -> int | None:
    """Return the process id of the server that runs on `pgdata`, or None."""
    file = read_pid_file(pgdata)
    return file.pid if file and is_postmaster(file.pid, pgdata) else None


def ping(address: PidFile | None, *, limit: float = 5.0) -> pq.Ping:
    """Ask the server at `address` if it accepts connections. Wait at most `limit` seconds.

    PQping is not used, because it blocks all threads of this process if the server is frozen.
    """
    if address is None or address.socket_dir is None:
        return pq.Ping.NO_RESPONSE
    path = address.socket_dir / f".s.PGSQL.{address.port}"
    try:
        with socket.socket(socket.AF_UNIX) as channel:
            channel.settimeout(limit)
            channel.connect(str(path))
            channel.sendall(_STARTUP_MESSAGE + _TERMINATE)
            answer = channel.makefile("rb").read()
    except OSError:
        return pq.Ping.NO_RESPONSE
    if not answer:
        return pq.Ping.NO_RESPONSE
    # 57P03 means that the server is starting or stopping. With any other error, the server accepts
    # connections.
    return pq.Ping.REJECT if _CANNOT_CONNECT_NOW in answer else pq.Ping.OK


def spawn(paths: ClusterPaths, programs: Path, account: Account) -> int:
    """Start a server on `paths.pgdata`, and return its process id without waiting for it.

    The caller must hold the lifecycle lock, and no other server may run on `paths.pgdata`.
    """
    socket_dir = choose_socket_dir(paths, account)
    paths.pgdata.chmod(
        0o700
    )  # a restored backup often has wider permissions, which Postgres refuses
    write_configuration(paths.pgdata, account)
    options = account.process_options()
    stale = read_pid_file(paths.pgdata)
    if stale is not None:
        # If another program has the id in an old postmaster.pid, Postgres does not start, except
        # if the program is an ancestor of Postgres. Therefore declare this id as an ancestor.
        # Postgres still checks the shared memory, which children of a killed server keep for a
        # moment.
        options["env"] = environment(PG_GRANDPARENT_PID=str(stale.pid))
    command = [programs / "postgres", "-D", paths.pgdata, "-p", str(PORT), "-k", socket_dir]
    if paths.log.exists() and paths.log.stat().st_size > _LARGEST_LOG:
        paths.log.replace(paths.log.with_suffix(".log.1"))
    with os.fdopen(account.open(paths.log, os.O_WRONLY | os.O_APPEND), "ab") as log:
        done = subprocess.run(  # noqa: S603 - arguments are separate words, not part of the script
            ["/bin/sh", "-c", _DETACH, "sh", *map(str, command)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,  # Ctrl-C in the terminal must not stop the server
            check=True,
            **options,
        )
    return int(done.stdout)


async def stop(pgdata: Path) -> None:
    """Stop the server on `pgdata`, if it runs: fast, and after 30 s with an immediate shutdown.

    This also stops a frozen server, and a server that has not written its pid file yet.
    """
    pids = (pid for pid in psutil.pids() if is_postmaster(pid, pgdata))
    pid = find_postmaster(pgdata) or next(pids, 0)
    address = read_pid_file(pgdata)
    for number, seconds in _STOPS:
        with anyio.move_on_after(seconds):
            while is_postmaster(pid, pgdata):
                address = read_pid_file(pgdata) or address
                with suppress(ProcessLookupError):
                    os.kill(pid, number)  # repeat it, because a starting server ignores signals
                    os.kill(pid, signal.SIGCONT)  # a frozen process handles others only after this
                await anyio.sleep(_PAUSE)
            if address is not None and address.socket_dir is not None:
                # Nothing else would remove a temporary folder. After a crash, it is not empty.
                with suppress(OSError):
                    address.socket_dir.rmdir()
            return
    logger.error("Postgres (process %d) on %s does not stop", pid, pgdata)


def kill_orphans(pgdata: Path) -> None:
    """Kill the children of a killed server on `pgdata`, or a server with a deleted `pgdata`.

    No other server may run on `pgdata`. The children could not commit their work without their
    server. Committed work is in the write-ahead log.
    """
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            # Compare the current folder, because the command line of a child is only a title.
            if process.name() == _PROGRAM and process.cwd() == str(pgdata):
                process.kill()


Phase = Literal["not initialised", "stopped", "starting", "running"]


@dataclass(frozen=True)
class State:
    """The state of a cluster. `size` is the size of its files in bytes. `log` need not exist."""

    phase: Phase
    version: str | None
    size: int
    log: Path


def read_state(data_dir: Path, *, postgres_version: int = 18) -> State:
    """Return the state of the cluster in `data_dir`.

    Raises StartRefused if the folder cannot be read or contains data of another major version.
    """
    paths = ClusterPaths(data_dir.expanduser().resolve(), postgres_version)
    try:
        refuse_other_major(paths)
        version_file = paths.pgdata / "PG_VERSION"
        refuse_damaged_folder(paths)
        if not version_file.exists():
            return State("not initialised", None, 0, paths.log)
        version = version_file.read_text(encoding="utf-8").strip()
        if ping(read_pid_file(paths.pgdata)) is pq.Ping.OK:
            phase = "running"
        else:
            phase = "starting" if find_postmaster(paths.pgdata) else "stopped"
        return State(phase, version, _measure(paths.pgdata), paths.log)
    except PermissionError as error:
        raise StartRefused(
            f"{error.filename} cannot be read. Run textrawl as the user who owns {paths.data_dir}."
        ) from error


def _measure(folder: Path) -> int:
    size = 0
    for path in folder.rglob("*"):
        try:
            size += path.lstat().st_size
        except FileNotFoundError:
            continue  # a running server has removed this file meanwhile
    return size
