"""A server of a distributed memory whose coordinator dies, and whose standby is promoted."""

from dataclasses import dataclass

import anyio
import pytest
from psycopg.conninfo import make_conninfo

from tests.cluster.settlers import Settlers
from tests.support.cluster import ClusterMemory, ClusterNode
from tests.support.cluster_standby import replace_by, run_standby
from textrawl.cluster.cluster import ClusterDatabase
from textrawl.embedded.postmaster import APP
from textrawl.errors import StartRefused
from textrawl.memory.opening import open_memory
from textrawl.settings import read_settings

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Hit:
    content: str


def name_both(memory: ClusterMemory, first: ClusterNode, second: ClusterNode) -> str:
    """The connection string with both hosts."""
    return make_conninfo(
        memory.dsn(APP),
        host=f"{first.host},{second.host}",
        port=f"{first.port},{second.port}",
        target_session_attrs="read-write",
    )


class Readers:
    """Callers whose rights are asked from the coordinator at each search."""

    def __init__(self, database: ClusterDatabase, settlers: Settlers) -> None:
        self._database = database
        self._ask = {"query": "tea", "credential": settlers.ana, "spaces": settlers.spaces[:1]}
        self.count, self._changed = 0, anyio.Event()

    async def read(self) -> None:
        while True:
            self._database.cells.forget_map()
            self._database.cells.forget_rights()
            hits = await self._database.call("search_memory", Hit, **self._ask)
            assert hits == [Hit("drinks tea")]
            self.count += 1
            self._changed.set()

    async def wait_for(self, count: int) -> None:
        end = self.count + count
        while self.count < end:
            self._changed = anyio.Event()
            await self._changed.wait()


async def test_a_server_continues_with_the_promoted_standby_of_the_coordinator(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    settlers.remember(settlers.spaces[0], "Ana", "drinks tea")
    coordinator = memory.cluster.coordinator
    with run_standby(coordinator) as standby:
        database = ClusterDatabase(name_both(memory, coordinator, standby), timeout=10)
        await database.open()
        readers = Readers(database, settlers)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(database.watch)
                for _ in range(4):
                    group.start_soon(readers.read)
                await readers.wait_for(10)
                await anyio.to_thread.run_sync(replace_by, coordinator, standby)
                await readers.wait_for(10)
                group.cancel_scope.cancel()
        finally:
            await database.close()
    memory.send_directory()  # the workers follow the coordinator again


async def test_a_url_of_a_standby_is_refused_for_a_distributed_memory(
    memory: ClusterMemory,
) -> None:
    settings = read_settings(database_url=memory.dsn(), database_read_url=memory.dsn())
    with pytest.raises(StartRefused, match="Unset TEXTRAWL_DATABASE_READ_URL"):
        async with open_memory(settings, serving=True):
            pass
