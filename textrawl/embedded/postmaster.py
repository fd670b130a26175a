"""The server process: finding, starting and stopping it.

The server is recognised by its command line. A process id alone is not enough, because another
program can get the same id.
"""

import logging
import os
import signal
import socket
import struct
import subprocess
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import anyio
import psutil
from psycopg import pq

from textrawl.embedded.account import Account, environment
from textrawl.embedded.configuration import SUPERUSER, write_configuration
from textrawl.embedded.paths import PORT, ClusterPaths, choose_socket_dir

logger = logging.getLogger("textrawl")

_PROGRAM = "postgres"  # the name of the server's process, and of its children
_LARGEST_LOG = 5_000_000  # bytes; a larger log is renamed at a start, and one older log is kept
_STOPS = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0))  # a fast, then an immediate shutdown
_PAUSE = 0.02
_LONGEST_END = 10.0
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
        _reap(pid)
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
    with _open_log(paths, account) as log:
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
    pid = find_postmaster(pgdata) or _search_postmaster(pgdata)
    address = read_pid_file(pgdata)
    for number, seconds in _STOPS:
        with anyio.move_on_after(seconds):
            while is_postmaster(pid, pgdata):
                address = read_pid_file(pgdata) or address
                _signal(pid, number)  # repeat the signal, because a starting server ignores signals
                await anyio.sleep(_PAUSE)
            _remove_socket_dir(address)
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


async def end_programs(names: Collection[str], folder: Path) -> None:
    """Kill the programs with these names that have a path inside `folder` as an argument."""
    with anyio.move_on_after(_LONGEST_END):
        while processes := [
            process for process in psutil.process_iter() if _works_in(process, names, folder)
        ]:
            for process in processes:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            await anyio.sleep(_PAUSE)


def _works_in(process: psutil.Process, names: Collection[str], folder: Path) -> bool:
    try:
        command = process.cmdline()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False
    named = bool(command) and Path(command[0]).name in names
    return named and any(f"{folder}/" in part for part in command)


def _search_postmaster(pgdata: Path) -> int:
    return next((pid for pid in psutil.pids() if is_postmaster(pid, pgdata)), 0)


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
        os.kill(pid, signal.SIGCONT)  # a frozen process handles other signals only after this


def _remove_socket_dir(address: PidFile | None) -> None:
    # Nothing else would remove a temporary socket folder. After a crash it stays, because it is not
    # empty.
    if address is not None and address.socket_dir is not None:
        with suppress(OSError):
            address.socket_dir.rmdir()


def _reap(pid: int) -> None:
    # If this process is process 1 of a container, it becomes the parent of the server. Its other
    # children belong to whoever started them and waits for their exit codes.
    with suppress(ChildProcessError, psutil.Error):
        if psutil.Process(pid).name() == _PROGRAM:
            os.waitpid(pid, os.WNOHANG)


def _open_log(paths: ClusterPaths, account: Account) -> BinaryIO:
    if paths.log.exists() and paths.log.stat().st_size > _LARGEST_LOG:
        paths.log.replace(paths.log.with_suffix(".log.1"))
    return os.fdopen(account.open(paths.log, os.O_WRONLY | os.O_APPEND), "ab")
