"""Answers that are remembered until something is written."""

import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from cachetools import TTLCache

Answer = TypeVar("Answer")

_MOST = 100  # answers
_LONGEST = 60.0  # seconds: some answers change with the time alone, such as the number of old facts


class Remembered(Generic[Answer]):
    """The last answers, each with the state of the database in which it was made."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._kept = TTLCache[Hashable, tuple[str, Answer]](_MOST, _LONGEST, timer=clock)

    async def find(
        self, key: Hashable, state: str, make: Callable[[], Awaitable[Answer]]
    ) -> Answer:
        """Return the answer for `key` in `state`, for at most a minute. Make it if it is missing.

        Read the state before the call. A write during `make` then makes the answer out of date.
        """
        kept = self._kept.get(key)
        if kept is not None and kept[0] == state:
            return kept[1]
        answer = await make()
        self._kept[key] = (state, answer)
        return answer
