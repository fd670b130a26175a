"""Faults, and the time until everything works again."""

import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import anyio
import psutil
import psycopg
from anyio import to_thread
from psycopg import sql

from benchmarks.chaos.ledger import Ledger
from benchmarks.chaos.servers import HttpServer, PipeServer
from tests.support.clock import set_back
from textrawl.embedded.cluster import Cluster
from textrawl.embedded.postmaster import OWNER, SUPERUSER, find_postmaster, read_pid_file

_APP = "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'textrawl_app'"


_TABLES = """
    select c.relname::text from pg_class c
    where c.relnamespace = 'textrawl'::regnamespace and c.relkind = 'r' order by c.relname"""


@dataclass(frozen=True)
class Plan:
    """The number of each fault, the seconds that Postgres is frozen, and the number of writes.

    `disk` is the size in MB of a disk in memory for the data, which `full_disks` fill. `older` is
    the checkout of another version, whose server also serves the memory, and makes it.
    """

    server_kills: int = 50
    postmaster_kills: int = 20
    restarts: int = 20
    terminations: int = 200
    freeze: float = 30.0
    server_freezes: int = 20
    clocks: int = 10
    full_disks: int = 0
    disk: int = 0
    deeds: bool = True
    older: str = ""
    writes: int = 40_000
    clients: int = 8
    pipes: int = 2


@dataclass
class Wounds:
    """The seconds until everything worked again, by kind of fault."""

    healed: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    def add(self, kind: str, seconds: float) -> None:
        """Add a fault from which everything has recovered."""
        self.healed.setdefault(kind, []).append(seconds)


def _fill(filler: Path) -> None:
    """Write a file until the disk has no room."""
    with filler.open("ab") as file, suppress(OSError):
        while True:
            os.write(file.fileno(), bytes(1 << 16))


def find_cluster(pgdata: Path) -> Cluster:
    """Return the cluster that runs on `pgdata`, without taking its locks."""
    address = read_pid_file(pgdata)
    assert address is not None
    assert address.socket_dir is not None
    return Cluster(address.socket_dir, address.port, pgdata, pgdata)


class Chaos:
    """Causes faults one after another. After each fault, it waits until every way works again."""

    def __init__(
        self, pgdata: Path, http: HttpServer, pipes: dict[str, PipeServer], ledger: Ledger
    ) -> None:
        self._pgdata = pgdata
        self._http = http
        self._pipes = pipes
        self._ledger = ledger
        self.ways = {"HTTP", *pipes}
        self.wounds = Wounds()

    async def run(self, plan: Plan) -> None:
        """Cause every fault of the plan."""
        faults: list[tuple[int, str, Callable[[int], Awaitable[float]]]] = [
            (plan.terminations, "all backends terminated", self._terminate),
            (plan.server_kills, "server killed", self._kill_server),
            (plan.postmaster_kills, "Postgres killed", self._kill_postmaster),
            (plan.restarts, "Postgres stopped fast", self._stop_postmaster),
            (plan.server_freezes, "server frozen", self._freeze_server),
            (plan.clocks, "clock set", self._set_clock),
            (plan.full_disks, "disk full", self._fill_disk),
        ]
        await self._ledger.wait_for_success(self.ways, time.monotonic())
        for times, kind, do in faults:
            for number in range(times):
                self.wounds.add(kind, await do(number))
                await anyio.sleep(0.3)
            self._tell(kind)
        if plan.freeze:
            kind = f"Postgres frozen {plan.freeze:g} s"
            self.wounds.add(kind, await self._freeze(plan.freeze))
            self._tell(kind)

    def _tell(self, kind: str) -> None:
        done = self._ledger.count
        print(f"{kind}: done, {done:,} writes acknowledged", file=sys.stderr, flush=True)

    async def _terminate(self, _: int) -> float:
        began = time.monotonic()
        await to_thread.run_sync(self._execute, _APP)
        return await self._ledger.wait_for_success(self.ways, began)

    def _execute(self, statement: str) -> None:
        dsn = find_cluster(self._pgdata).dsn(SUPERUSER)
        with psycopg.connect(dsn, autocommit=True) as administrator:
            administrator.execute(statement.encode())

    async def _kill_server(self, number: int) -> float:
        """Kill the server over HTTP, a server over stdio, or all servers at once."""
        names = sorted(self._pipes)
        chosen = [{"HTTP"}, set(names[:1]), {"HTTP"}, set(names[-1:]), {"HTTP", *names}][number % 5]
        began = time.monotonic()
        for way in chosen:
            (self._http if way == "HTTP" else self._pipes[way]).kill()
        return await self._ledger.wait_for_success(chosen, began)

    async def _freeze_server(self, number: int) -> float:
        """Freeze a server for three seconds, or for ten. Time begins when it goes on."""
        server = [self._http, *self._pipes.values()][number % (1 + len(self._pipes))]
        server.send_signal(signal.SIGSTOP)
        await anyio.sleep(10 if number % 5 == 4 else 3)
        began = time.monotonic()
        server.send_signal(signal.SIGCONT)
        return await self._ledger.wait_for_success(self.ways, began)

    async def _set_clock(self, number: int) -> float:
        """Set the clock of the database back, or forth every second time, by up to 90 days."""
        days = (1 + 37 * number % 90) * (-1) ** number
        await to_thread.run_sync(self._move_times, timedelta(days=days))
        return await self._ledger.wait_for_success(self.ways, time.monotonic())

    def _move_times(self, by: timedelta) -> None:
        with psycopg.connect(find_cluster(self._pgdata).dsn(OWNER), autocommit=True) as owner:
            while True:
                with suppress(psycopg.errors.LockNotAvailable), owner.transaction():
                    # Give up before Postgres looks for deadlocks.
                    owner.execute("set local lock_timeout = '500ms'")
                    tables = sql.SQL(", ").join(
                        sql.Identifier("textrawl", name) for (name,) in owner.execute(_TABLES)
                    )
                    owner.execute(sql.SQL("lock table {}").format(tables))
                    set_back(owner, by)
                    return

    async def _fill_disk(self, _: int) -> float:
        """Leave no room on the disk for three seconds. Time begins when there is room again."""
        filler = self._pgdata.parent / "filler"
        await to_thread.run_sync(_fill, filler)
        await anyio.sleep(3)
        filler.unlink()
        return await self._ledger.wait_for_success(self.ways, time.monotonic())

    async def _kill_postmaster(self, number: int) -> float:
        """Kill Postgres, every second time with its children. Time begins when it is back."""
        return await self._end_postmaster(signal.SIGKILL, children=number % 2 == 1)

    async def _stop_postmaster(self, _: int) -> float:
        return await self._end_postmaster(signal.SIGINT, children=False)

    async def _end_postmaster(self, number: signal.Signals, *, children: bool) -> float:
        pid = await self._wait_for_postmaster()
        doomed = [pid, *([c.pid for c in psutil.Process(pid).children()] if children else [])]
        began = time.monotonic()
        for victim in doomed:
            with suppress(ProcessLookupError):
                os.kill(victim, number)
        ready = await self._wait_for_another(pid)
        self.wounds.add(f"(until Postgres took connections after {number.name})", ready - began)
        return max(0.0, await self._ledger.wait_for_success(self.ways, ready))

    async def _wait_for_postmaster(self) -> int:
        with anyio.fail_after(120):
            while True:
                pid = find_postmaster(self._pgdata)
                if pid is not None:
                    return pid
                await anyio.sleep(0.02)

    async def _wait_for_another(self, pid: int) -> float:
        """Return the time at which Postgres, in another process than `pid`, took connections."""
        with anyio.fail_after(300):
            while True:
                found = find_postmaster(self._pgdata)
                if found not in (None, pid) and await to_thread.run_sync(self._answers):
                    return time.monotonic()
                await anyio.sleep(0.02)

    def _answers(self) -> bool:
        try:
            psycopg.connect(find_cluster(self._pgdata).dsn(OWNER), connect_timeout=2).close()
        except (psycopg.Error, AssertionError):
            return False
        return True

    async def _freeze(self, seconds: float) -> float:
        pid = await self._wait_for_postmaster()
        frozen = [pid, *(child.pid for child in psutil.Process(pid).children())]
        for process in frozen:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGSTOP)
        await anyio.sleep(seconds)
        began = time.monotonic()
        for process in frozen:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)
        return await self._ledger.wait_for_success(self.ways, began)
