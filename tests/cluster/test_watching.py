"""Followers of changes while the cell of a space is moved to another worker."""

import json
from collections import Counter
from dataclasses import dataclass
from datetime import datetime

import anyio
import pytest
from anyio import to_thread

from tests.cluster.commands import find_other_node, run
from tests.cluster.settlers import Settlers
from tests.support.cluster import ClusterMemory
from textrawl.cluster.opening import open_connection
from textrawl.embedded.postmaster import OWNER
from textrawl.postgres.database import Database

pytestmark = pytest.mark.anyio

_AROUND = 10  # writes after the move
_AHEAD = 5  # writes that the follower may not know yet


@dataclass(frozen=True)
class _Stored:
    observation_id: object


@dataclass(frozen=True)
class _Change:
    cursor: str
    place: int | None
    state: str | None


@dataclass(frozen=True)
class _Event:
    cursor: str
    at: datetime
    action: str
    entity_name: str


class Follower:
    """Watches entities, counts how often each is told, and lists the events of the space."""

    def __init__(self, database: Database, space: int) -> None:
        self._database, self._space = database, space
        self._watches: list[dict[str, object]] = []
        self._cursor: str | None = None
        self.told: Counter[str] = Counter()
        self.events: dict[str, _Event] = {}

    async def begin(self, names: list[str]) -> None:
        """Ask for the states before the first write."""
        self._watches = [{"spaces": [self._space], "entity": name} for name in names]
        await self.ask()
        self.told.clear()

    async def ask(self) -> None:
        """Ask what has changed since the last question."""
        arguments = {"watches": json.dumps(self._watches), "after": self._cursor}
        for change in await self._database.call("changed_watches", _Change, **arguments):
            self._cursor = change.cursor
            if change.place is not None:
                watch = self._watches[change.place - 1]
                watch["state"] = change.state
                self.told[str(watch["entity"])] += 1

    async def list(self) -> None:
        """List the newest events. No event may vanish during the move."""
        asked = {"space": self._space, "max_rows": 10_000}
        rows = await self._database.call("list_events", _Event, **asked)
        found = {row.cursor: row for row in rows}
        assert len(found) == len(rows)
        assert found.keys() >= self.events.keys()
        self.events = found

    async def follow(self, ended: anyio.Event) -> None:
        """Ask again and again, and once more after the last write."""
        last = False
        while not last:
            last = ended.is_set()
            await self.ask()
            await self.list()


class Writer:
    """Writes about another person each time, so that each changes once."""

    def __init__(self, database: Database, space: int, names: list[str]) -> None:
        self._database, self._space, self._names = database, space, names
        self.written: list[str] = []

    async def write(self, follower: Follower, moved: anyio.Event) -> None:
        """Write until some time after the move."""
        after = 0
        while after < _AROUND:
            after += moved.is_set()
            fact = {"entity": self._names[len(self.written)], "type": "person"}
            fact |= {"observation": "sings", "tool": "test"}
            await self._database.call("remember_fact", _Stored, space=self._space, **fact)
            self.written.append(fact["entity"])
            while len(self.written) - len(follower.told) > _AHEAD:  # noqa: ASYNC110 - its own loop
                await anyio.sleep(0.01)


async def test_a_follower_is_told_each_change_once_while_a_cell_moves(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    space = settlers.spaces[0]
    name = settlers.names[space]
    target = await to_thread.run_sync(find_other_node, memory, name)
    names = [f"person {number}" for number in range(1000)]
    moved, ended = anyio.Event(), anyio.Event()
    async with (
        open_connection(memory.dsn(OWNER), timeout=60) as writing,
        open_connection(memory.dsn(OWNER), timeout=60) as reading,
    ):
        writer, follower = Writer(writing, space, names), Follower(reading, space)
        await follower.begin(names)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follower.follow, ended)
            async with anyio.create_task_group() as writers:
                writers.start_soon(writer.write, follower, moved)
                await to_thread.run_sync(run, memory, "cluster", "move", name, target, "--yes")
                moved.set()
            ended.set()

    remembered = Counter(
        event.entity_name for event in follower.events.values() if event.action == "remembered"
    )
    assert len(writer.written) > _AROUND
    assert follower.told == Counter(writer.written)
    assert remembered == Counter(writer.written)
    settlers.find_cells()
    assert settlers.cells[space].node.address == target
