"""Reads from a standby: which calls it may answer, and how new its answers are.

The primary answers whenever the standby cannot. So a standby never makes a call fail. A caller
reads their own writes: each write tells the end of the WAL after its commit, and the caller's later
reads wait until the standby has replayed the WAL up to this point.
"""

import logging
import math
import time
from collections import deque
from typing import TypeVar

import anyio
import psycopg
from cachetools import TTLCache
from psycopg_pool import PoolTimeout, TooManyRequests

from textrawl.postgres.connection import Connection, is_broken
from textrawl.postgres.functions import PRIMARY_ONLY
from textrawl.postgres.pool import (
    Position,
    ServerPool,
    Statement,
    find_followed_timeline,
    find_position,
)
from textrawl.scheduling import account

logger = logging.getLogger("textrawl")

Row = TypeVar("Row")

MOST_LAG = 5.0  # seconds; a standby that is further behind answers nothing
_LONGEST_WAIT = 0.25  # seconds that a read waits for the caller's own writes
_PAUSES = (0.001, 0.02)  # the first and the longest pause of such a wait
_LONGEST_LOAN = 1.0  # seconds that a read waits for a connection to the standby
_PROBE_PAUSE = 1.0  # seconds between two probes
_PROBE_LIMIT = 1.0  # seconds that each server gets to answer a probe
_RENEWAL_PAUSE = 5.0  # seconds between two attempts to find a standby instead of a primary
_MOST_ACCOUNTS = 10_000
# A write without an answer ends within a second. The standby then gets it within its lag.
_DOUBT = MOST_LAG + 1.0


class _Behind(Exception):
    """The standby has not replayed the WAL that a read needs."""


class Marks:
    """The ends of the WAL that reads need: one of each account, and one of all accounts."""

    def __init__(self) -> None:
        # With the time, because the marks of a former primary end when the new one is known.
        self._written: dict[str | None, tuple[float, int]] = {}
        self._doubted = TTLCache[str | None, bool](_MOST_ACCOUNTS, _DOUBT)
        self._all = (0.0, 0)

    def note(self, account: str | None, end: int) -> None:
        """Let later reads of `account` need the WAL up to `end`."""
        if len(self._written) >= _MOST_ACCOUNTS:
            self.note_for_all(max(known for _, known in self._written.values()))
            self._written.clear()
        _, known = self._written.get(account, (0.0, 0))
        self._written[account] = (time.monotonic(), max(end, known))

    def note_for_all(self, end: int) -> None:
        """Let later reads of all accounts need the WAL up to `end`."""
        self._all = (time.monotonic(), max(end, self._all[1]))

    def doubt(self, account: str | None) -> None:
        """Note a write of `account` that got no answer, so nobody knows whether it is stored."""
        self._doubted[account] = True

    def is_known(self, account: str | None) -> bool:
        """Return whether `find` covers all writes of `account`."""
        return account not in self._doubted

    def reset(self, end: int, asked_at: float) -> None:
        """Forget the marks of a former primary. The new one had the WAL up to `end` at `asked_at`.

        Later marks can be those of writes to the new primary, beyond `end`.
        """
        self._written = {name: one for name, one in self._written.items() if one[0] >= asked_at}
        if self._all[0] < asked_at:
            self._all = (asked_at, end)

    def find(self, account: str | None) -> int:
        """Return the end of the WAL that a read of `account` needs."""
        _, written = self._written.get(account, (0.0, 0))
        return max(self._all[1], written)


class Standby:
    """The standby of `primary`. `watch` finds out whether it can be used.

    `note_end` has to get the ends of the WAL of the primary. Without news of the primary, the lag
    grows.
    """

    def __init__(self, pool: ServerPool, primary: ServerPool) -> None:
        self._pool, self._primary = pool, primary
        self.marks = Marks()
        self.reads = {"standby": 0, "primary": 0}
        self._replayed = self._missed = 0
        self._answers = False
        self._renewed_at = -math.inf
        self._fresh_at = -math.inf  # all older writes are replayed; on the monotonic clock
        self._ends: deque[tuple[float, int]] = deque(maxlen=600)  # that are not replayed yet
        self._last_ends: deque[tuple[float, int]] = deque()  # one that is older than MOST_LAG first

    async def open(self) -> None:
        """Start to connect in the background."""
        await self._pool.open()

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.close()

    @property
    def follows(self) -> bool:
        """True if the standby and the primary are known to have the same data and login."""
        return self._primary.system is not None and self._pool.system == self._primary.system

    @property
    def lag(self) -> float:
        """The age in seconds of the newest state that the standby is known to have."""
        return time.monotonic() - self._fresh_at

    @property
    def usable(self) -> bool:
        """True if the standby answers and is not too far behind."""
        return self._answers and self.lag <= MOST_LAG

    def describe(self) -> dict[str, object]:
        """Return the state for /readyz. The lag is null if the standby has never answered."""
        lag = round(self.lag, 3) if math.isfinite(self.lag) else None
        return {"standby": "used" if self.usable else "not used", "lag_seconds": lag}

    def serves(self, function: str) -> bool:
        """Return whether to ask the standby: only for functions that write nothing."""
        if function not in self._primary.reads or function in PRIMARY_ONLY:
            return False
        serves = self.usable and self.marks.is_known(account.get())
        self.reads["standby" if serves else "primary"] += 1
        return serves

    async def read(self, statement: Statement[Row]) -> list[Row] | None:
        """Return the rows of `statement`, or None if the primary has to answer.

        Only a statement that was canceled raises an error, because it would take as long there.
        """
        needed = max(self.marks.find(account.get()), self._find_oldest())
        rows: list[Row] | None = None
        try:
            rows = await self._read(statement, needed)
        except psycopg.errors.QueryCanceled:
            raise
        except (_Behind, PoolTimeout, TooManyRequests):
            pass  # the standby may answer the next read
        except psycopg.Error as error:
            logger.info("The primary repeats a read: %s", error.sqlstate or "no connection")
            if is_broken(error):
                self._answers = False
        if rows is None:
            self.reads["standby"] -= 1
            self.reads["primary"] += 1
        return rows

    async def _read(self, statement: Statement[Row], needed: int) -> list[Row] | None:
        async with self._pool.lend(_LONGEST_LOAN) as connection:
            if not await self._follows_timeline(connection):
                raise _Behind
            await self._wait(connection, needed)
            position, rows = await self._pool.read(connection, statement)
        self._note(position)
        return rows if position.in_recovery and position.replayed >= needed else None

    def _find_oldest(self) -> int:
        """Return the end of the WAL that every read needs, because it is older than MOST_LAG.

        The probe measures the lag of one server, but the pool can have connections to several.
        """
        latest, ends = time.monotonic() - MOST_LAG, self._last_ends
        while len(ends) > 1 and ends[1][0] <= latest:
            ends.popleft()
        return ends[0][1] if ends and ends[0][0] <= latest else 0

    async def _follows_timeline(self, connection: Connection) -> bool:
        """Return whether the standby is known to have the timeline of the primary.

        A standby that had more of the WAL than the one that was promoted keeps the rest, and cannot
        follow. Its position is beyond the end of the new primary, but other data are there.
        """
        if connection.followed < self._primary.timeline:
            connection.followed = await find_followed_timeline(connection)
        return connection.followed >= self._primary.timeline

    async def _wait(self, connection: Connection, needed: int) -> None:
        """Wait until the standby has replayed the WAL up to `needed`. Raises _Behind."""
        end = time.monotonic() + _LONGEST_WAIT
        pause, longest = _PAUSES
        while needed > self._replayed:
            # Another read has already waited in vain for this point.
            if self._missed > self._replayed and needed >= self._missed:
                raise _Behind
            self._note(await find_position(connection))
            if needed > self._replayed:
                if time.monotonic() > end:
                    self._missed = needed
                    raise _Behind
                await anyio.sleep(pause)
                pause = min(2 * pause, longest)

    def _note(self, position: Position) -> None:
        if not position.in_recovery:
            self._answers = False
            return
        self._replayed = position.replayed
        while self._ends and self._ends[0][1] <= position.replayed:
            self._fresh_at = self._ends.popleft()[0]

    async def watch(self) -> None:
        """Measure the lag until cancelled."""
        while True:
            await self.probe()
            await anyio.sleep(_PROBE_PAUSE)

    async def probe(self) -> None:
        """Measure the lag once. If the standby does not answer, end the reads that wait for it."""
        before = self._answers
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._break_off_late)
            try:
                self._answers = await self._probe_standby()
            except psycopg.Error:
                self._pool.break_off()
                await self._pool.renew()
                self._answers = False
            tasks.cancel_scope.cancel()
        if self._answers != before:
            state = "is used" if self._answers else "is not used"
            logger.warning("The server of TEXTRAWL_DATABASE_READ_URL %s for reads", state)

    async def _break_off_late(self) -> None:
        # A request to cancel would also wait for a server that hangs.
        await anyio.sleep(_PROBE_LIMIT)
        self._pool.break_off()

    def note_end(self, asked_at: float, end: int) -> None:
        """Note that the WAL of the primary ended at `end` after `asked_at`."""
        # A standby without the last writes was promoted.
        if self._last_ends and end < self._last_ends[-1][1]:
            self._ends.clear()
            self._last_ends.clear()
            self.marks.reset(end, asked_at)
        self._ends.append((asked_at, end))
        self._last_ends.append((asked_at, end))
        self._find_oldest()  # forgets the ends before it

    async def _probe_standby(self) -> bool:
        """Return whether the server is a standby of the primary."""
        async with self._pool.lend(_PROBE_LIMIT, short=True) as connection:
            position = await find_position(connection)
            self._note(position)
            if not position.in_recovery:
                if time.monotonic() - self._renewed_at > _RENEWAL_PAUSE:
                    self._renewed_at = time.monotonic()
                    await self._pool.renew()  # the name or another host may lead to a standby now
                return False
            if self._ends:
                try:
                    await self._wait(connection, self._ends[-1][1])
                except _Behind:
                    logger.debug("The standby is behind")
            return self.follows and await self._follows_timeline(connection)
