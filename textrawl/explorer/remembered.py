"""Answers that are remembered until something is written."""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

Answer = TypeVar("Answer")

_MOST = 100  # answers
_LONGEST = 60.0  # seconds: some answers change with the time alone, such as the number of old facts


@dataclass(frozen=True)
class _Kept(Generic[Answer]):
    state: str
    until: float
    answer: Answer


class Remembered(Generic[Answer]):
    """The last answers, each with the state of the database in which it was made."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[Hashable, _Kept[Answer]] = OrderedDict()

    async def find(
        self, key: Hashable, state: str, make: Callable[[], Awaitable[Answer]]
    ) -> Answer:
        """Return the answer for `key` in `state`, for at most a minute. Make it if it is missing.

        Read the state before the call. A write during `make` then makes the answer out of date.
        """
        kept = self._kept.get(key)
        if kept is not None and kept.state == state and self._clock() < kept.until:
            self._kept.move_to_end(key)
            return kept.answer
        until = self._clock() + _LONGEST
        answer = await make()
        self._kept[key] = _Kept(state, until, answer)
        self._kept.move_to_end(key)
        while len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        return answer
