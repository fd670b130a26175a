"""Sliding windows of one minute, which count events."""

import math
import time
from collections import deque
from collections.abc import Callable, Hashable

from cachetools import TTLCache

_MINUTE = 60.0
_MOST_KEYS = 10_000  # kept at a time: more than there are tokens, fewer than there are addresses


class Window:
    """At most `most` events of a key in any minute; `clock` returns seconds.

    Events are kept in memory, because one process serves all clients. The library `limits` starts
    a thread or visits every key at each event. Measured with 1,000 keys, that takes 0.16 ms and
    17 ms of processor time.
    """

    def __init__(self, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._events = TTLCache[Hashable, deque[float]](_MOST_KEYS, _MINUTE, timer=clock)

    def __len__(self) -> int:
        """Return the number of keys that are kept."""
        return len(self._events)

    def find_wait(self, key: Hashable) -> int:
        """Return the whole seconds until another event is allowed; 0 if it is allowed now."""
        events = self._events.get(key)
        if events is None:
            return 0
        now = self._clock()
        while events and events[0] <= now - _MINUTE:
            events.popleft()
        if len(events) < self._most:
            return 0
        return max(1, math.ceil(events[0] + _MINUTE - now))

    def add(self, key: Hashable) -> None:
        """Record an event now."""
        events = self._events.get(key) or deque[float](maxlen=self._most)
        events.append(self._clock())
        self._events[key] = events  # set again, so that the entry is kept for another minute
