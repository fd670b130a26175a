"""Every caller reads their own writes, however many and however fast."""

import logging
import time
from statistics import quantiles

import anyio
import pytest

from tests.replicas.conftest import Guest, Visit
from tests.support.replicas import Pair
from tests.support.tool_calls import remember, text_of

_log = logging.getLogger(__name__)

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(1500)]

_CLIENTS, _FACTS = 4, 2_500  # of each client


class Own:
    """Writes, each followed at once by a read of the same fact."""

    def __init__(self, guest: Guest) -> None:
        self._guest = guest
        self.stale = 0
        self.seconds: list[float] = []

    async def write_and_read(self, name: str) -> None:
        for number in range(_FACTS):
            entity = f"{name} {number}"
            await remember(self._guest.client, entity, f"has the number{number}")
            began = time.monotonic()
            answer = await self._guest.client.call_tool("query_memory", {"entityName": entity})
            self.seconds.append(time.monotonic() - began)
            self.stale += f"number{number}" not in text_of(answer)


async def test_none_of_ten_thousand_own_reads_is_stale(pair: Pair, visit: Visit) -> None:
    async with visit(pair, embedding_provider="none") as guest:
        await guest.wait_for_standby()
        own = Own(guest)
        async with anyio.create_task_group() as group:
            for name in ("Ada", "Ben", "Cleo", "Dan")[:_CLIENTS]:
                group.start_soon(own.write_and_read, name)
        share = guest.count("standby_reads") / len(own.seconds)
        median, *_, slow = quantiles(own.seconds, n=100)[49:]
        _log.info("share %.3f, p50 %.1f ms, p99 %.1f ms", share, median * 1000, slow * 1000)
        assert len(own.seconds) == _CLIENTS * _FACTS
        assert own.stale == 0
        assert share > 0.9
