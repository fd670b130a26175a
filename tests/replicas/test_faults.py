"""A standby that dies, hangs, is promoted, or never was one."""

import signal
import time

import anyio
import pytest

from tests.conftest import Databases
from tests.replicas.conftest import Guest, Visit, search
from tests.support.replicas import Pair
from tests.support.tool_calls import remember
from textrawl.embedded.configuration import APP

pytestmark = pytest.mark.anyio


class Readers:
    """Clients that search one fact until the end. A search that does not find it fails the test."""

    def __init__(self, guest: Guest) -> None:
        self._guest, self._ended = guest, False
        self.count, self.slowest = 0, 0.0

    async def read(self) -> None:
        while not self._ended:
            began = time.monotonic()
            assert "theremin" in await search(self._guest, "theremin")
            self.slowest = max(self.slowest, time.monotonic() - began)
            self.count += 1

    def end(self) -> None:
        self._ended = True


async def test_a_standby_that_dies_or_hangs_under_load_costs_no_error(
    doomed_pair: Pair, visit: Visit
) -> None:
    pair = doomed_pair
    async with visit(pair) as guest:
        await guest.wait_for_standby()
        await remember(guest.client, "Ada", "plays the theremin")
        readers = Readers(guest)
        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(readers.read)
            await pair.standby.kill()
            await guest.wait_for_standby(used=False)
            await pair.standby.start()
            await guest.wait_for_standby()
            pair.standby.signal(signal.SIGSTOP)
            await guest.wait_for_standby(used=False)
            pair.standby.signal(signal.SIGCONT)
            await guest.wait_for_standby()
            readers.end()
        assert readers.slowest < 6


async def test_a_server_that_is_no_standby_of_the_primary_answers_nothing(
    doomed_pair: Pair, visit: Visit, postgres: Databases, database: str
) -> None:
    pair = doomed_pair
    stranger = postgres.cluster.dsn(APP, database)
    async with visit(pair, database_read_url=stranger) as guest:
        await remember(guest.client, "Ada", "plays the theremin")
        assert "theremin" in await search(guest, "theremin")
        assert guest.count("standby_reads") == 0
    async with visit(pair) as guest:
        await guest.wait_for_standby()
        pair.standby.promote()
        assert "theremin" in await search(guest, "theremin")
        await guest.wait_for_standby(used=False)


async def test_without_positions_in_the_wal_the_primary_answers_everything(
    pair: Pair, visit: Visit
) -> None:
    """Some providers do not offer them."""
    pair.primary.execute("revoke execute on function pg_control_system from public")
    try:
        async with visit(pair) as guest:
            await remember(guest.client, "Eve", "repairs accordions")
            assert "accordions" in await search(guest, "accordions")
            assert guest.count("standby_reads") == 0
    finally:
        pair.primary.execute("grant execute on function pg_control_system to public")
