"""The server process: found by what it is, never by its number alone; spawned; stopped."""

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
from textrawl.embedded.site import PORT, Site, choose_socket_dir

logger = logging.getLogger("textrawl")

_LARGEST_LOG = 5_000_000  # bytes; then the log is put aside, one older one is kept
_STOPS = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0))  # fast, then immediate
_PAUSE = 0.02
_LONGEST_END = 10.0
_WHO = f"user\0{SUPERUSER}\0database\0postgres\0\0".encode()
_HELLO = struct.pack("!ii", 8 + len(_WHO), 3 << 16) + _WHO  # StartupMessage of protocol 3.0
_GOODBYE = b"X\0\0\0\4"  # Terminate
_CANNOT_CONNECT_NOW = b"\0C57P03\0"  # field C, the SQLSTATE, of an ErrorResponse
# The shell leaves at once and the server becomes a child of init, which buries it when it
# dies, whichever of the processes that use it goes first.
_DETACH = '"$@" </dev/null >&2 & echo $!'


@dataclass(frozen=True)
class PidFile:
    """What postmaster.pid says; true or stale."""

    pid: int
    port: int
    socket_dir: Path | None


def read_pid_file(pgdata: Path) -> PidFile | None:
    """postmaster.pid of `pgdata`; None when it is absent or not a process's."""
    with suppress(FileNotFoundError, ValueError, IndexError):
        lines = (pgdata / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        lines += [""] * 5  # a server that has just begun has written only the first ones
        folder = Path(lines[4]) if lines[4] else None
        if folder is not None and not folder.exists():
            folder = pgdata.parent / "socket"  # another container knows it by another path
        return PidFile(int(lines[0]), int(lines[3] or PORT), folder)
    return None


def is_postmaster(pid: int, pgdata: Path) -> bool:
    """Whether `pid` is a living Postgres on `pgdata`: neither a zombie nor another program."""
    if pid <= 0:
        return False
    try:
        command = psutil.Process(pid).cmdline()
    except psutil.ZombieProcess:
        _bury(pid)
        return False
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False
    runs_postgres = any(Path(part).name == "postgres" for part in command)
    return runs_postgres and str(pgdata) in command


def find_postmaster(pgdata: Path) -> int | None:
    """Process id of the server that runs on `pgdata`."""
    found = read_pid_file(pgdata)
    return found.pid if found and is_postmaster(found.pid, pgdata) else None


def ping(address: PidFile | None, *, limit: float = 5.0) -> pq.Ping:
    """Ask the server at `address` whether it takes connections, waiting at most `limit` seconds.

    By hand, since PQping holds up every thread of this process while a frozen server says nothing.
    """
    if address is None or address.socket_dir is None:
        return pq.Ping.NO_RESPONSE
    path = address.socket_dir / f".s.PGSQL.{address.port}"
    try:
        with socket.socket(socket.AF_UNIX) as channel:
            channel.settimeout(limit)
            channel.connect(str(path))
            channel.sendall(_HELLO + _GOODBYE)
            answer = channel.makefile("rb").read()
    except OSError:
        return pq.Ping.NO_RESPONSE
    if not answer:
        return pq.Ping.NO_RESPONSE
    # Whoever refuses us for another reason than that it is starting or stopping takes others.
    return pq.Ping.REJECT if _CANNOT_CONNECT_NOW in answer else pq.Ping.OK


def spawn(site: Site, programs: Path, account: Account) -> int:
    """Start a server on `site.pgdata` without waiting for it; its process id.

    The lifecycle lock is held and no server runs there.
    """
    socket_dir = choose_socket_dir(site, account)
    site.pgdata.chmod(0o700)  # Postgres refuses more, which a restored backup often has
    write_configuration(site.pgdata, account)
    options = account.process_options()
    stale = read_pid_file(site.pgdata)
    if stale is not None:
        # Postgres believes a stale file whose number now belongs to another program. It takes
        # its own ancestors' numbers for reused ones, and still checks shared memory, which
        # children of a killed server hold for a moment.
        options["env"] = environment(PG_GRANDPARENT_PID=str(stale.pid))
    command = [programs / "postgres", "-D", site.pgdata, "-p", str(PORT), "-k", socket_dir]
    with _open_log(site, account) as log:
        done = subprocess.run(  # noqa: S603 - arguments are passed, not pasted, into the shell
            ["/bin/sh", "-c", _DETACH, "sh", *map(str, command)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,  # Ctrl-C in the terminal is for us
            check=True,
            **options,
        )
    return int(done.stdout)


async def stop(pgdata: Path) -> None:
    """Stop the server on `pgdata`, if one runs, even a frozen one: fast, after 30 s at once.

    Also one that was spawned a moment ago and has not written its pid file.
    """
    pid = find_postmaster(pgdata) or _search_postmaster(pgdata)
    address = read_pid_file(pgdata)
    for number, seconds in _STOPS:
        with anyio.move_on_after(seconds):
            while is_postmaster(pid, pgdata):
                address = read_pid_file(pgdata) or address
                _signal(pid, number)  # again: one that has just begun does not listen yet
                await anyio.sleep(_PAUSE)
            _remove_socket_dir(address)
            return
    logger.error("Postgres (process %d) on %s does not stop", pid, pgdata)


def end_leftovers(pgdata: Path) -> None:
    """Kill children of a killed server on `pgdata`, or a server on a deleted one of that name.

    For callers who know that no other lives there. What children did not commit is lost anyway,
    and what they did is in the write-ahead log.
    """
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            # A server's processes work in its folder, under a title in place of a command.
            if process.name() == "postgres" and process.cwd() == str(pgdata):
                process.kill()


async def end_programs(names: Collection[str], folder: Path) -> None:
    """Kill programs of these names that were started with a path in `folder`."""
    with anyio.move_on_after(_LONGEST_END):
        while found := [one for one in psutil.process_iter() if _works_in(one, names, folder)]:
            for one in found:
                with suppress(psutil.NoSuchProcess):
                    one.kill()
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
        os.kill(pid, signal.SIGCONT)  # one that was frozen hears nothing else


def _remove_socket_dir(address: PidFile | None) -> None:
    # One in a temporary folder would stay there for ever; after a crash it is not empty.
    if address is not None and address.socket_dir is not None:
        with suppress(OSError):
            address.socket_dir.rmdir()


def _bury(pid: int) -> None:
    # As process 1 of a container we inherit the server and nobody else will.
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def _open_log(site: Site, account: Account) -> BinaryIO:
    if site.log.exists() and site.log.stat().st_size > _LARGEST_LOG:
        site.log.replace(site.log.with_suffix(".log.1"))
    return os.fdopen(account.open(site.log, os.O_WRONLY | os.O_APPEND), "ab")
