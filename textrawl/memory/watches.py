"""Watches: resources whose changes somebody wants to hear about.

Any process can change a resource. Therefore this process asks the trail, with one statement for all
its watches. Without watches it asks nothing.
"""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from itertools import count

import anyio
from anyio.abc import TaskGroup

from textrawl.errors import ServerBusy, TextrawlError
from textrawl.postgres.database import Database

logger = logging.getLogger("textrawl")

Notify = Callable[[], Awaitable[None]]
"""A function that tells one client that a resource has changed."""

_PAUSE = 1.0  # seconds between two checks
_LIST_PAUSES = 10  # between two checks of lists alone, because spaces are rarely created
_LONGEST_DELIVERY = 5.0  # seconds until a client that does not read misses a notification
_MOST = 10_000  # watches of this process: one check of so many takes a tenth of a second


@dataclass(frozen=True)
class Watch:
    """What is watched: an entity, the digest of a space, or the list of resources.

    `credential` and `spaces` decide what can be read, as in every SQL function that reads. A watch
    of nothing never changes. With `documents`, the list has the identity files too.
    """

    credential: bytes | None = None
    spaces: tuple[int, ...] | None = None
    entity: str | None = None
    digest: str | None = None
    list: bool = False
    documents: bool = False

    def describe(self) -> dict[str, object]:
        """Return the watch as `changed_watches` reads it."""
        fields: dict[str, object] = {
            "credential": self.credential.hex() if self.credential is not None else None,
            "spaces": None if self.spaces is None else [*self.spaces],
            "entity": self.entity,
            "digest": self.digest,
            "list": self.list or None,
            "documents": self.documents or None,
        }
        return {name: value for name, value in fields.items() if value is not None}


@dataclass(eq=False)
class _Listener:
    notify: Notify
    busy: bool = False


@dataclass
class _Watched:
    state: str | None = None
    listeners: list[_Listener] = field(default_factory=list[_Listener])


@dataclass(frozen=True)
class _ChangeRow:
    cursor: str
    place: int | None
    state: str | None


class Watches:
    """The watches of this process. `run` looks for changes, about once a second."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._watched = dict[Watch, _Watched]()
        self._cursor: str | None = None
        self._looking = anyio.Lock()
        self.endings = set[Callable[[], None]]()
        """What to call before the server ends, so that streams to clients end too."""
        self._needed = anyio.Event()

    async def add(self, wanted: Mapping[Watch, Notify]) -> Callable[[], None]:
        """Begin to watch, and return the function that ends it.

        Each later change calls its `Notify`. Raises ServerBusy, DatabaseUnavailable.
        """
        added = {watch: _Listener(notify) for watch, notify in wanted.items()}
        kept = {
            watch: listener
            for watch, listener in added.items()
            if watch.list or not (watch.entity is None and watch.digest is None)
        }
        async with self._looking:
            fresh = [watch for watch in kept if watch not in self._watched]
            if len(self._watched) + len(fresh) > _MOST:
                raise ServerBusy("Too many resources are watched: end a subscription first")
            if fresh:
                cursor, states = await self._compare(fresh, None)
                self._cursor = self._cursor or cursor
                self._watched |= {watch: _Watched(states.get(watch)) for watch in fresh}
            for watch, listener in kept.items():
                self._watched[watch].listeners.append(listener)
        if kept:
            self._needed.set()

        def remove() -> None:
            for watch, listener in kept.items():
                watched = self._watched.get(watch)
                if watched is None or listener not in watched.listeners:
                    continue
                watched.listeners.remove(listener)
                if not watched.listeners:
                    del self._watched[watch]
                if not self._watched:
                    self._cursor, self._needed = None, anyio.Event()

        return remove

    def end(self) -> None:
        """End the streams of all clients that listen."""
        for end in list(self.endings):
            end()

    async def run(self) -> None:
        """Look for changes until cancelled. A check that fails is repeated."""
        async with anyio.create_task_group() as deliveries:
            for number in count(1):
                await self._needed.wait()
                await anyio.sleep(_PAUSE)
                if number % _LIST_PAUSES and all(watch.list for watch in self._watched):
                    continue
                try:
                    await self._look(deliveries)
                except TextrawlError as error:
                    logger.info("Subscriptions wait: %s", error)

    async def _look(self, deliveries: TaskGroup) -> None:
        async with self._looking:
            if self._cursor is None:
                return
            cursor, changed = await self._compare(list(self._watched), self._cursor)
            if self._watched:  # otherwise the last listener has gone meanwhile
                self._cursor = cursor
            for watch, state in changed.items():
                watched = self._watched.get(watch)
                if watched is None:
                    continue
                watched.state = state
                for listener in watched.listeners:
                    if not listener.busy:
                        listener.busy = True
                        deliveries.start_soon(_deliver, listener)

    async def _compare(
        self, watches: list[Watch], after: str | None
    ) -> tuple[str, dict[Watch, str | None]]:
        """Return the next cursor, and the watches that have changed with their states."""
        described = [
            {**watch.describe(), "state": known.state if known else None}
            for watch in watches
            for known in (self._watched.get(watch),)
        ]
        rows = await self._database.call(
            "changed_watches", _ChangeRow, watches=json.dumps(described), after=after
        )
        changed = {watches[row.place - 1]: row.state for row in rows if row.place}
        if changed:
            # A client that hears about a change then reads it, and must not read an older state.
            await self._database.catch_up()
        return rows[0].cursor, changed


async def _deliver(listener: _Listener) -> None:
    with anyio.move_on_after(_LONGEST_DELIVERY):
        try:
            await listener.notify()
        finally:
            listener.busy = False
