"""A probe of the primary, which works while all calls wait, and finds the host that replaced it."""

import logging
import time
from collections.abc import Callable

import anyio
import psycopg

from textrawl.postgres.connection import Connection
from textrawl.postgres.conninfo import put_first, split_hosts
from textrawl.postgres.pool import ServerPool
from textrawl.postgres.positions import find_system, find_timeline

logger = logging.getLogger("textrawl")

_PAUSE = 1.0  # seconds between two questions
_LOOK_LIMIT = 1.0  # seconds that another host gets to answer
_RARELY = 5.0  # seconds between two looks at other hosts, as long as the primary answers


class PrimaryProbe:
    """Asks the primary behind `pool` for the end of its WAL, and looks at the hosts of `conninfo`.

    A primary that does not answer can be slow, so this is no reason to leave it. The reason is
    another host with a later timeline: somebody has promoted it. Then running calls fail at once,
    and those that can be repeated go to the new primary. `note` gets each end of the WAL, and the
    time on the monotonic clock before the question. `timeout` is the time limit of a question.
    """

    def __init__(
        self,
        pool: ServerPool,
        conninfo: str,
        *,
        timeout: float,
        note: Callable[[float, int], None] | None = None,
    ) -> None:
        self._pool, self._conninfo, self._timeout = pool, conninfo, timeout
        self._note = note
        hosts = split_hosts(conninfo)
        self._hosts = hosts if len(hosts) > 1 else []
        self._asked_at: float | None = None
        self._looked_at = 0.0

    async def run(self) -> None:
        """Ask and look until cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._ask_often)
            if self._hosts:
                tasks.start_soon(self._look_often)

    async def _ask_often(self) -> None:
        while True:
            await self.ask()
            await anyio.sleep(_PAUSE)

    async def ask(self) -> None:
        """Ask the primary for the end of its WAL. Without an answer, do nothing."""
        asked_at = time.monotonic()
        if self._asked_at is None:
            self._asked_at = asked_at
        try:
            with anyio.fail_after(self._timeout):
                end = await self._pool.find_end(self._timeout)
        except (TimeoutError, psycopg.Error) as error:
            logger.debug("The primary did not answer the probe: %s", type(error).__name__)
            return
        self._asked_at = None
        if self._note is not None:
            self._note(asked_at, end)

    async def _look_often(self) -> None:
        while True:
            await anyio.sleep(_PAUSE)
            now = time.monotonic()
            silent = self._asked_at is not None and now - self._asked_at > _PAUSE
            if silent or now - self._looked_at > _RARELY:
                self._looked_at = now
                await self.look()

    async def look(self) -> None:
        """Leave the primary if another host has a later timeline."""
        async with anyio.create_task_group() as tasks:
            for place in range(len(self._hosts)):
                tasks.start_soon(self._look_at, place)

    async def _look_at(self, place: int) -> None:
        try:
            with anyio.fail_after(_LOOK_LIMIT):
                system, timeline = await _identify(self._hosts[place])
        except (TimeoutError, psycopg.Error) as error:
            logger.debug("Host %d did not answer: %s", place + 1, type(error).__name__)
            return
        later = put_first(self._conninfo, place)
        if system is not None and await self._pool.follow(system, timeline, later):
            logger.warning("Host %d of TEXTRAWL_DATABASE_URL was promoted and is used", place + 1)


async def _identify(conninfo: str) -> tuple[str | None, int]:
    connection = await Connection.connect(
        conninfo, autocommit=True, application_name="textrawl", connect_timeout=2
    )
    async with connection:
        return await find_system(connection), await find_timeline(connection)
